import SyncCore
import SyncSystem
import SystemPackage

import struct Synchronization.Atomic

/// What the watching thread and the rest of the program share.
final class WatcherState: Sendable {
    let mailbox: HintMailbox
    let wakePipe: WakePipe
    private let stopping = Atomic(false)
    private let published = Mutex<[WatchReport]>([])

    init(mailbox: HintMailbox) throws(Errno) {
        self.mailbox = mailbox
        wakePipe = try WakePipe()
    }

    var isStopping: Bool { stopping.load(ordering: .relaxed) }

    var reports: [WatchReport] { published.withLock { $0 } }

    func publish(_ reports: [WatchReport]) {
        published.withLock { $0 = reports }
    }

    /// Makes the thread end soon.
    func requestStop() {
        stopping.store(true, ordering: .relaxed)
        wakePipe.wake()
    }
}
