import SyncCore
import SyncLedger

extension StatusReport {
    /// Shares that are over, and of which something is still in the store: others may see it.
    struct Shares: Encodable {
        var notRemoved = 0
        /// Of the first one: which it is, and why.
        @Nullable var problem: String?
    }
}

extension StatusReport.Shares {
    init(_ troubles: [ShareTrouble]) {
        let ends = troubles.filter { $0.kind == .end }
        self.init(notRemoved: ends.count, problem: ends.first.map { "\($0.name): \($0.problem)" })
    }

    /// `nil` where all that are over are gone.
    var words: String? {
        guard notRemoved > 0, let problem else { return nil }
        let shares = notRemoved.counted("share that is over is", "shares that are over are")
        return "\(shares) not removed, and others may see the photos (\(problem))"
    }
}

extension ShareTrouble {
    /// Which share it is.
    var name: String { "\(location), share \(share)" }

    /// What is wrong with it.
    var words: String {
        switch kind {
        case .guests: "photos of guests cannot be taken in: \(problem)"
        case .end: "the share is over, and cannot be removed: \(problem)"
        }
    }
}
