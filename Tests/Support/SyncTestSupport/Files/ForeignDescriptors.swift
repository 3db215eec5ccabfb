import Glibc
import SyncSystem

/// What is closed a second time is another thread's by then.
package enum ForeignDescriptors {
    /// Does `body` again and again, while another thread opens and closes files of its own.
    /// - Parameter body: short: no expectation of its own, each of which is an event.
    /// - Returns: how often that thread found a file of its own closed.
    package static func closed(times: Int, by body: () throws -> Void) async throws -> Int {
        let isOver = Observed(false)
        let found = Observed(0)
        let thread = try OwnedThread.start(name: "descriptors") {
            while !isOver.value {
                let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
                sched_yield()
                if file >= 0, close(file) != 0 { found.change { $0 += 1 } }
            }
        }
        for _ in 0..<times { try body() }
        isOver.change { $0 = true }
        await thread.join()
        return found.value
    }
}
