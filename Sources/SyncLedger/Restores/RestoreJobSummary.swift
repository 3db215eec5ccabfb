package import FoundationEssentials
import GRDB

/// A restore job and what became of its items.
package struct RestoreJobSummary: Hashable, Sendable {
    package let job: RestoreJob
    /// States that no item is in are left out.
    package let counts: [RestoreItemState: Int]
    /// Items that are saved in the job's output.
    package let saved: Int
    /// Stored bytes of all items.
    package let bytes: Int64
    /// When the first of the copies ends that can be read now.
    package let earliestExpiry: Date?
    /// When the last of those that came could be read.
    package let latestReadyAt: Date?
    /// Copies of archived objects that can be read now. What was never archived needs none, and stays readable.
    package let copies: Int

    /// - Parameter row: as ``LedgerQuery/progressOfJob`` gives it.
    init(job: RestoreJob, progress row: Row) {
        self.job = job
        counts = RestoreItemState.allCases.enumerated().reduce(into: [:]) { counts, state in
            let count = (row[state.offset] as Int?) ?? 0
            if count > 0 { counts[state.element] = count }
        }
        saved = row[5]
        bytes = (row[6] as Int64?) ?? 0
        earliestExpiry = (row[7] as Int64?).map(Date.init(milliseconds:))
        latestReadyAt = (row[8] as Int64?).map(Date.init(milliseconds:))
        copies = (row[9] as Int?) ?? 0
    }
}
