import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger

extension RestoreReport {
    /// What the exit code says: what is missing of what was asked for.
    var status: ExitStatus {
        let failed = items.count { $0.error != nil }
        if failed > 0, failed == items.count { return .failed }
        let isIncomplete = failed > 0 || skipped.contains { ["unknown", "pending"].contains($0.state) }
        return isIncomplete ? .partlyDone : .done
    }
}

extension RestoreProposal {
    /// Whether nothing is known by any of the names.
    var isAllUnknown: Bool {
        candidates.isEmpty && plan.skipped.isEmpty && !problems.isEmpty && problems.allSatisfy { $0.reason == .unknown }
    }
}

extension RestoreJob {
    /// - Parameter hours: `nil` when it is not known.
    func end(after hours: Double?) -> Date? {
        hours.map { requestedAt.addingTimeInterval($0 * 3_600) }
    }
}
