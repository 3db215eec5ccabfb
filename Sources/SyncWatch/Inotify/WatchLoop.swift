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
    private let mountTable: Lock<[UInt8]>

    init(roots: [FilePath], calls: WatchCalls, pollInterval: Duration, checkInterval: Duration, board: WatcherState) {
        self.board = board
        self.calls = calls
        // Before the table is read: what comes in between is told.
        mountEvents = calls.mountEvents()
        mountTable = Lock(calls.mountTable())
        self.roots = roots.map { root in
            RootWatch(
                root: root, calls: calls, pollInterval: pollInterval, checkInterval: checkInterval,
                isStopping: { board.isStopping })
        }
    }

    /// Watches until the board asks to stop.
    /// - Parameters:
    ///   - untold: roots that are known not to be told of wholly.
    ///   - progress: called with a root when its watches begin to be set, and while that gets on.
    ///   - ready: called once every folder has its watch.
    func run(
        untold: [FilePath: UntoldFile], progress: @escaping @Sendable (FilePath) -> Void, ready: () -> Void
    ) {
        for root in roots {
            let path = root.root
            progress(path)
            SignOfLife.hear({ progress(path) }, of: { root.begin(untold: untold[path]) })
            deliver(root)
        }
        board.publish(roots.map(\.published))
        ready()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 8)
        defer { buffer.deallocate() }
        while !board.isStopping {
            let readable = wait()
            if mountEvents.map({ readable.contains($0.descriptor) }) ?? true { checkMounts() }
            for root in roots {
                root.sawWriting = false
                let appeared = board.takeAppeared(below: root.root)
                // What a scan has seen was in the queue before: so the queue is read first.
                if let queue = root.queue, readable.contains(queue) || !appeared.isEmpty {
                    root.readEvents(into: buffer) { deliver(root) }
                }
                root.judge(appeared)
                root.tick()
                deliver(root)
            }
            board.publish(roots.map(\.published))
            if roots.contains(where: \.sawWriting) { pause() }
        }
    }

    private func checkMounts() {
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
        let hints = root.takeHints()
        guard !hints.isEmpty else { return }
        board.publish(roots.map(\.published))
        board.mailboxes[root.root].post(hints, of: root.root)
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

/// What the watcher asks of the system, as a table, so that tests can script what hardly ever happens: a full table of
/// watches, a dropped event, a network file system.
struct WatchCalls: Sendable {
    typealias WatchID = InotifyEvent.WatchID

    var startThread: @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) throws(Errno) -> OwnedThread
    /// inotify_init1(2). EMFILE: the user has no instance left.
    var openQueue: @Sendable () throws(Errno) -> Int32
    /// inotify_add_watch(2) on an open folder. ENOSPC: the user has no watch left.
    var addWatch: @Sendable (_ queue: Int32, _ folder: DirectoryHandle) throws(Errno) -> WatchID
    /// inotify_rm_watch(2). The watch may be gone already.
    var removeWatch: @Sendable (_ queue: Int32, _ watch: WatchID) -> Void
    /// read(2) of a queue: the bytes read, 0 when the queue is empty.
    var readQueue: @Sendable (_ queue: Int32, _ buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int
    /// The type of the file system with this device number, `nil` when none is mounted.
    var fileSystem: @Sendable (_ device: UInt64) -> String?
    /// The table of mounts, as `/proc/self/mountinfo` has it.
    var mountTable: @Sendable () -> [UInt8]
    /// What tells when the table changes; `nil` where nothing does: then it is looked at with every check of a root.
    var mountEvents: @Sendable () -> MountEvents?
    /// `fs.inotify.max_user_watches` and `fs.inotify.max_user_instances`.
    var maximumWatches: @Sendable () -> Int?
    var maximumQueues: @Sendable () -> Int?
    /// Opens a folder anew while it is watched for that: whether the kernel tells. `nil` where that cannot be tried.
    var reportsOpening: @Sendable (_ folder: DirectoryHandle) -> Bool?
    /// A monotonic reading.
    var now: @Sendable () -> Duration
    /// Nanoseconds since 1970, by the clock that dates files.
    var date: @Sendable () -> Int64
}

extension WatchCalls {
    static let system = WatchCalls(
        startThread: { (name, body) throws(Errno) in try OwnedThread.start(name: name, body) },
        openQueue: { () throws(Errno) in try Inotify.openQueue() },
        addWatch: { (queue, folder) throws(Errno) in
            // By descriptor: a path could have come to mean another folder by now. The system has no call for that, but
            // proc(5) gives every descriptor a name.
            let watch = inotify_add_watch(
                queue, "/proc/self/fd/\(folder.descriptor)", InotifyEvent.Mask.watched.rawValue)
            guard watch >= 0 else { throw Errno(rawValue: errno) }
            return watch
        },
        removeWatch: { queue, watch in _ = inotify_rm_watch(queue, watch) },
        readQueue: { (queue, buffer) throws(Errno) in try Inotify.read(queue, into: buffer) },
        fileSystem: { device in
            ProcFile.text("/proc/self/mountinfo").flatMap { MountTable.type(ofDevice: device, in: $0) }
        },
        mountTable: { ProcFile.bytes("/proc/self/mountinfo") ?? [] },
        mountEvents: { MountEvents() },
        maximumWatches: { ProcFile.number("/proc/sys/fs/inotify/max_user_watches") },
        maximumQueues: { ProcFile.number("/proc/sys/fs/inotify/max_user_instances") },
        reportsOpening: { Inotify.reportsOpening($0) },
        now: {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        },
        date: {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
    )
}

/// The calls of inotify(7) that take more than one line.
private enum Inotify {
    static func openQueue() throws(Errno) -> Int32 {
        let queue = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard queue >= 0 else { throw Errno(rawValue: errno) }
        return queue
    }

    static func read(_ queue: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        while true {
            let count = Glibc.read(queue, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN: return 0
            default: throw Errno(rawValue: errno)
            }
        }
    }

    static func reportsOpening(_ folder: DirectoryHandle) -> Bool? {
        let path = "/proc/self/fd/\(folder.descriptor)"
        guard let queue = try? openQueue() else { return nil }
        defer { close(queue) }
        guard inotify_add_watch(queue, path, UInt32(IN_OPEN) | UInt32(IN_ONLYDIR)) >= 0 else { return nil }
        let again = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard again >= 0 else { return nil }
        close(again)
        // The event is in the queue before open(2) is through.
        return withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
            (try? read(queue, into: buffer)).map { $0 > 0 }
        }
    }
}

/// Wakes a thread that is blocked in poll(2). A pipe, because Swift's Glibc does not show eventfd(2).
final class WakePipe: Sendable {
    private struct Ends {
        var read: FileDescriptor
        var write: FileDescriptor
    }

    private let ends: Lock<Ends?>
    /// To be polled for POLLIN. Valid until ``close()``.
    let descriptor: Int32

    init() throws(Errno) {
        let (read, write) = try FileDescriptor.pipe(options: [.closeOnExec, .nonBlocking])
        ends = Lock(Ends(read: read, write: write))
        descriptor = read.rawValue
    }

    deinit { close() }

    /// A full pipe wakes as well as one more byte would.
    func wake() {
        ends.withLock { ends in _ = try? ends?.write.writeAll([1]) }
    }

    /// Called once nobody polls it any more.
    func close() {
        ends.withLock { open in
            try? open?.read.close()
            try? open?.write.close()
            open = nil
        }
    }
}

/// One record of the kernel's queue (inotify(7), `struct inotify_event`).
struct InotifyEvent: Hashable {
    /// Identifies a watched folder within its queue; the kernel does not use a number twice.
    typealias WatchID = Int32

    struct Mask: OptionSet, Hashable {
        let rawValue: UInt32

        static let modify = Mask(IN_MODIFY)
        static let attributes = Mask(IN_ATTRIB)
        static let closeWrite = Mask(IN_CLOSE_WRITE)
        static let movedFrom = Mask(IN_MOVED_FROM)
        static let movedTo = Mask(IN_MOVED_TO)
        static let create = Mask(IN_CREATE)
        static let delete = Mask(IN_DELETE)
        static let deleteSelf = Mask(IN_DELETE_SELF)
        static let moveSelf = Mask(IN_MOVE_SELF)
        /// The file system was unmounted.
        static let unmount = Mask(IN_UNMOUNT)
        /// The kernel dropped events.
        static let overflow = Mask(IN_Q_OVERFLOW)
        /// The watch is no more.
        static let ignored = Mask(IN_IGNORED)
        /// The event is about a folder.
        static let folder = Mask(IN_ISDIR)

        /// What a folder is watched for. Files that were unlinked and are still written to are left out.
        static let watched: Mask = [
            .modify, .attributes, .closeWrite, .movedFrom, .movedTo, .create, .delete, .deleteSelf, .moveSelf,
            Mask(IN_EXCL_UNLINK), Mask(IN_ONLYDIR),
        ]

        init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        private init(_ bit: Int32) {
            self.init(rawValue: UInt32(bitPattern: bit))
        }
    }

    var watch: WatchID
    var mask: Mask
    /// The entry of the folder that it is about; `nil` when it is about the folder itself.
    var name: EntryName?

    /// Calls `body` with each record of a filled part of a read buffer.
    static func forEach(in buffer: UnsafeRawBufferPointer, _ body: (InotifyEvent) -> Void) {
        var rest = buffer[...]
        while rest.count >= headerSize {
            let record = UnsafeRawBufferPointer(rebasing: rest)
            let length = Int(record.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
            guard record.count >= headerSize + length else { return }
            rest = rest.dropFirst(headerSize + length)
            var event = InotifyEvent(
                watch: record.loadUnaligned(as: WatchID.self),
                mask: Mask(rawValue: record.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
            if length > 0 {
                // The kernel pads names with at least one NUL.
                let name = record[headerSize..<headerSize + length].prefix { $0 != 0 }
                guard name.count < length else { continue }
                let entry = UnsafeRawBufferPointer(rebasing: record[headerSize...])
                    .withMemoryRebound(to: CChar.self) { characters in
                        characters.baseAddress.map { EntryName($0) }
                    }
                guard let entry else { continue }
                event.name = entry
            }
            body(event)
        }
    }

    private static let headerSize = 16
}
