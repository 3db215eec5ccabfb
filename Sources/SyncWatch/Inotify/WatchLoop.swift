import Glibc
import SyncCore
import SyncSystem
import SystemPackage

/// What the watching thread does: it waits in poll(2) for events of any root, for the next tick, or to be stopped.
struct WatchLoop {
    /// While something is being written, events are read this often: the kernel joins equal events that wait in a row,
    /// and the writer of a large file costs nothing. Short enough for its queue of 16,384 events not to overflow.
    private static let writingPause = Duration.milliseconds(20)
    private static let bufferSize = 65_536

    private let board: WatcherState
    private let calls: WatchCalls
    private let roots: [RootWatch]
    private let mountEvents: MountEvents?
    private let mountTable: Mutex<[UInt8]>

    init(roots: [FilePath], calls: WatchCalls, pollInterval: Duration, checkInterval: Duration, board: WatcherState) {
        self.board = board
        self.calls = calls
        // Before the table is read: what comes in between is told.
        mountEvents = calls.mountEvents()
        mountTable = Mutex(calls.mountTable())
        self.roots = roots.map { root in
            RootWatch(
                root: root, calls: calls, pollInterval: pollInterval, checkInterval: checkInterval,
                isStopping: { board.isStopping })
        }
    }

    /// Watches until the board asks to stop.
    /// - Parameter ready: called once every folder has its watch.
    func run(ready: () -> Void) {
        for root in roots {
            root.begin()
            deliver(root)
        }
        board.publish(roots.map(\.report))
        ready()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 8)
        defer { buffer.deallocate() }
        while !board.isStopping {
            let readable = wait()
            if mountEvents.map({ readable.contains($0.descriptor) }) ?? true { lookAtMounts() }
            for root in roots {
                root.sawWriting = false
                if let queue = root.queue, readable.contains(queue) {
                    root.readEvents(into: buffer) { deliver(root) }
                }
                root.tick()
                deliver(root)
            }
            board.publish(roots.map(\.report))
            if roots.contains(where: \.sawWriting) { pause() }
        }
    }

    private func lookAtMounts() {
        let table = calls.mountTable()
        let isAsBefore = mountTable.withLock { known in
            defer { known = table }
            return known == table
        }
        guard !isAsBefore else { return }
        for root in roots {
            root.noteMounts(table)
            deliver(root)
        }
    }

    /// Whoever gets a hint finds in the reports what led to it, so those go first.
    private func deliver(_ root: RootWatch) {
        guard !root.hints.isEmpty else { return }
        board.publish(roots.map(\.report))
        board.mailbox.post(root.hints, of: root.root)
        root.hints.removeAll(keepingCapacity: true)
    }

    /// The queues that can be read.
    private func wait() -> Set<Int32> {
        let now = calls.now()
        let next = roots.map(\.nextTick).min() ?? now + .seconds(3_600)
        var polled = [pollfd(fd: board.wakePipe.descriptor, events: Int16(POLLIN), revents: 0)]
        polled += roots.compactMap(\.queue).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        if let mountEvents {
            polled.append(pollfd(fd: mountEvents.descriptor, events: Int16(POLLPRI), revents: 0))
        }
        poll(&polled, nfds_t(polled.count), max(next - now, .zero).pollTimeout)
        return Set(polled.lazy.filter { $0.revents != 0 }.map(\.fd))
    }

    private func pause() {
        var polled = pollfd(fd: board.wakePipe.descriptor, events: Int16(POLLIN), revents: 0)
        poll(&polled, 1, Self.writingPause.pollTimeout)
    }
}

extension Duration {
    /// Milliseconds, rounded up: rounded down, the last millisecond would be spent in a busy loop.
    fileprivate var pollTimeout: Int32 {
        let (seconds, attoseconds) = components
        let milliseconds = seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: milliseconds)
    }
}
