import Glibc
import SyncSystem
import SystemPackage

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
    /// A monotonic reading.
    var now: @Sendable () -> Duration
}

extension WatchCalls {
    static let system = WatchCalls(
        startThread: { (name, body) throws(Errno) in try OwnedThread.start(name: name, body) },
        openQueue: { () throws(Errno) in
            let queue = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
            guard queue >= 0 else { throw Errno(rawValue: errno) }
            return queue
        },
        addWatch: { (queue, folder) throws(Errno) in
            // By descriptor: a path could have come to mean another folder by now. The system has no call for that, but
            // proc(5) gives every descriptor a name.
            let watch = inotify_add_watch(
                queue, "/proc/self/fd/\(folder.descriptor)", InotifyEvent.Mask.watched.rawValue)
            guard watch >= 0 else { throw Errno(rawValue: errno) }
            return watch
        },
        removeWatch: { queue, watch in _ = inotify_rm_watch(queue, watch) },
        readQueue: { (queue, buffer) throws(Errno) in
            while true {
                let count = read(queue, buffer.baseAddress, buffer.count)
                if count >= 0 { return count }
                switch errno {
                case EINTR: continue
                case EAGAIN: return 0
                default: throw Errno(rawValue: errno)
                }
            }
        },
        fileSystem: { device in
            ProcFile.text("/proc/self/mountinfo").flatMap { MountTable.type(ofDevice: device, in: $0) }
        },
        mountTable: { ProcFile.bytes("/proc/self/mountinfo") ?? [] },
        mountEvents: { MountEvents() },
        maximumWatches: { ProcFile.number("/proc/sys/fs/inotify/max_user_watches") },
        maximumQueues: { ProcFile.number("/proc/sys/fs/inotify/max_user_instances") },
        now: {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
    )
}
