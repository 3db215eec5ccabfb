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

    /// `nil` when nothing is to be done any more.
    /// - Parameter now: stands for "at once".
    package init?(for share: ShareRecord, now: Date) {
        switch share.state {
        case .revoked, .expired: return nil
        case .revoking: self.init(.end(.revoked), now)
        case .expiring: self.init(.end(.expired), now)
        case .preparing, .waiting, .live:
            let end = ShareSchedule(.end(.expired), share.expiresAt)
            let next: ShareSchedule? =
                if share.expiresAt <= now {
                    nil
                } else if share.step != .done {
                    ShareSchedule(.publish, now)
                } else {
                    Self.renewal(of: share, now: now)
                }
            self = next.flatMap { $0.dueAt < end.dueAt ? $0 : nil } ?? end
        }
    }

    private init(_ action: Action, _ dueAt: Date) {
        self.action = action
        self.dueAt = dueAt
    }

    /// When less than half of the links' life is left. Links that last as long as the share are left alone.
    private static func renewal(of share: ShareRecord, now: Date) -> ShareSchedule? {
        guard let written = share.pageWrittenAt, let end = share.linksEndAt, end < share.expiresAt else { return nil }
        // They were signed by a clock that was wrong, and nobody can use them.
        if written > now.addingTimeInterval(shortestLife) { return ShareSchedule(.renew, now) }
        let half = max(end.timeIntervalSince(written) / 2, shortestLife)
        return ShareSchedule(.renew, written.addingTimeInterval(half))
    }
}
