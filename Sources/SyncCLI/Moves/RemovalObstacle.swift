import SyncCore
import SyncEngine

extension StoreCopy.Removal {
    /// What keeps a move to another store from its end; `nil` where nothing that guests have sent would be lost by it.
    var obstacle: (lines: [String], failure: CommandFailure)? {
        guard let first = failures.first else { return nil }
        var lines = left.first.map { "still there: \($0.key.rawValue): \($0.reason)" }
        if left.unnamed > 0 { lines.append("and \(Quantities.count(left.unnamed)) more") }
        lines += failures.map { "share \($0.share): \($0.reason)" }
        let gravest = failures.first { !$0.isInOtherHands } ?? first
        let shares = Quantities.counted(failures.count, "share")
        return (
            lines.map(\.escapingControls),
            CommandFailure(
                ExitStatus(gravest.error),
                "\(shares) did not end in the old store, which the configuration still names; everything is copied: "
                    + "run the command again")
        )
    }
}

extension StoreCopy.Removal.Failure {
    /// In plain words.
    var reason: String { isInOtherHands ? "in other hands: another process works on it" : "\(error)" }
}
