package import FoundationEssentials
package import SyncLedger

/// What the agent has to do for a share, and when.
package struct ShareSchedule: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        case end(ShareEnd)
        case publish
        case renew

        var isEnd: Bool {
            if case .end = self { true } else { false }
        }
    }

    /// Links are not renewed more often, however short they last.
    private static let shortestLife: TimeInterval = 300

    package let action: Action
    /// In the past or now: at once.
    package let dueAt: Date
}

extension ShareSchedule {
    /// `nil` when nothing is to be done any more.
    /// - Parameter now: stands for "at once".
    package init?(for share: ShareRecord, now: Date) {
        switch share.state {
        case .revoked, .expired: return nil
        case .revoking: self.init(action: .end(.revoked), dueAt: now)
        case .expiring: self.init(action: .end(.expired), dueAt: now)
        case .preparing, .waiting, .live:
            let end = ShareSchedule(action: .end(.expired), dueAt: share.expiresAt)
            let next: ShareSchedule? =
                if share.expiresAt <= now {
                    nil
                } else if share.step != .done {
                    ShareSchedule(action: .publish, dueAt: now)
                } else {
                    Self.renewal(of: share, now: now)
                }
            self = next.flatMap { $0.dueAt < end.dueAt ? $0 : nil } ?? end
        }
    }

    /// When less than half of the links' life is left. Links that last as long as the share are left alone.
    private static func renewal(of share: ShareRecord, now: Date) -> ShareSchedule? {
        guard let written = share.pageWrittenAt, let end = share.linksEndAt, end < share.expiresAt else { return nil }
        // They were signed by a clock that was wrong, and nobody can use them.
        if written > now.addingTimeInterval(shortestLife) { return ShareSchedule(action: .renew, dueAt: now) }
        let half = max(end.timeIntervalSince(written) / 2, shortestLife)
        return ShareSchedule(action: .renew, dueAt: written.addingTimeInterval(half))
    }
}
