import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SystemPackage

/// `shares --json`.
struct ShareListReport: Encodable {
    struct Machine: Encodable {
        var id: String
        @Nullable var name: String?
        var isThis: Bool
    }

    struct Share: Encodable {
        var shareId: String
        var location: String
        var startDate: CalendarDay
        var endDate: CalendarDay
        /// `null` of those of other machines that are over.
        @Nullable var photoCount: Int?
        @Nullable var sharedBy: String?
        var quality: String
        var state: String
        @Nullable var link: String?
        @Nullable var linkEndsAt: Date?
        var createdAt: Date
        var expiresAt: Date
        /// When the last of it was gone.
        @Nullable var endedAt: Date?
        /// Why it is not where it should be.
        @Nullable var problem: String?
        /// By how many photos what others see differs from the folder; `null` where nobody sees it, or nobody can tell.
        @Nullable var changedBy: Int?
        /// What opens with the message ready to be sent.
        @Nullable var message: String?
        /// The one that has it.
        var machine: Machine
        /// The name of the machine on which it was revoked, where that is another one.
        @Nullable var revokedBy: String?
        /// The same as `changedBy`, for people; `nil` where nothing changed.
        @Untold var changes: String?

        private static func words(_ difference: ShareReview.Difference) -> String? {
            let away = difference.whyAway.map { reason in
                "\(Quantities.counted(difference.away, "photo of it is", plural: "photos of it are")) away: \(reason)"
            }
            guard difference.total > 0 else { return away }
            let parts = [(difference.added, "new"), (difference.changed, "changed"), (difference.removed, "gone")]
            let text = parts.filter { $0.0 > 0 }.map { "\(Quantities.count($0.0)) \($0.1)" }.joined(separator: ", ")
            return
                "it no longer shows the folder: "
                + Quantities.counted(difference.total, "photo differs", plural: "photos differ")
                + " (\(text)); share the vacation again to bring it up to date" + (away.map { ". \($0)" } ?? "")
        }

        /// A store that has a clock of its own tells when the share was made, and the agent counts from there. The embedded
        /// one has none: whether this machine's clock was ahead then, or is behind now, only a person knows.
        private static func doubt(about share: ShareRecord, now: Date) -> String? {
            guard share.state.isOpen, share.createdAt.isAhead(of: now, by: ClockTolerance.toAct) else { return nil }
            return
                "it was made on \(CalendarDay(share.createdAt)) by this machine's clock, which says \(CalendarDay(now)) now: "
                + "its end may be far off. When the clock is right, take it back with sync-agent shares --revoke \(share.id), "
                + "and share again"
        }
    }

    var shares: [Share]
    /// Why those of other machines may be missing, in plain words.
    var problems: [String]
}

extension ShareListReport.Share {
    /// - Parameter difference: between what others see and the folder.
    init(
        _ share: ShareRecord, of machine: ShareListReport.Machine, now: Date,
        difference: ShareReview.Difference? = nil
    ) {
        // Nobody may have been there to remove it when its time came.
        let isLate = share.state.isOpen && share.expiresAt <= now
        self.init(
            shareId: share.id.description, location: share.location, startDate: share.startDate,
            endDate: share.endDate, photoCount: share.photoCount, sharedBy: share.sharedBy,
            quality: share.quality.rawValue, state: (isLate ? ShareState.expiring : share.state).rawValue,
            link: share.link?.url, linkEndsAt: share.link.flatMap { $0.isEndKnown ? $0.endsAt : nil },
            createdAt: share.createdAt, expiresAt: share.expiresAt, endedAt: share.endedAt,
            problem: share.problem ?? Self.doubt(about: share, now: now),
            changedBy: isLate ? nil : difference?.total, message: isLate ? nil : ShareMessage.address(share),
            machine: machine, revokedBy: share.endedBy, changes: isLate ? nil : difference.flatMap(Self.words))
    }

    /// One of another machine.
    init(_ share: OtherShare, link: StoreLink?, now: Date) {
        let isLate = share.state.isOpen && share.expiresAt <= now
        self.init(
            shareId: share.id.description, location: share.location, startDate: share.startDate,
            endDate: share.endDate, photoCount: share.photoCount, sharedBy: share.sharedBy, quality: share.quality,
            state: (isLate ? ShareState.expiring : share.state).rawValue, link: link?.url,
            linkEndsAt: link.flatMap { $0.isEndKnown ? $0.endsAt : nil }, createdAt: share.createdAt,
            expiresAt: share.expiresAt, endedAt: share.endedAt,
            machine: ShareListReport.Machine(id: share.machine, name: share.machineName, isThis: false),
            revokedBy: share.endedBy)
    }
}

/// What the user's other machines share, as the store's catalogues tell it.
struct SharesElsewhere: Sendable {
    static let mostShown = 200

    private(set) var shares: [OtherShare] = []
    /// What could not be looked at, in plain words.
    fileprivate(set) var problems: [String] = []

    /// The first ones, and all others of which something is or may be in the store.
    var listed: [OtherShare] {
        shares.enumerated().filter { $0.offset < Self.mostShown || !$0.element.state.isOver }.map(\.element)
    }

    /// The store cannot be asked.
    struct Unasked: Error {
        let reason: String

        /// In place of the shares.
        var problem: String {
            "shares of other machines are not in the list, since the store cannot be asked: \(reason)"
        }

        /// Beside what was known before.
        fileprivate var remark: String {
            "shares of other machines are told as they were known last, since the store cannot be asked: \(reason)"
        }
    }

    /// Without the store there are none, and a problem says so.
    init(_ unasked: Unasked) { problems = [unasked.problem] }

    /// Asks the store.
    /// - Parameter patience: how long it may take; `nil` for as long as the store does.
    /// - Throws: ``Unasked``; ``LedgerError``, `CancellationError`.
    init(
        _ workspace: Workspace, within patience: Duration? = nil,
        in store: @escaping @Sendable () async throws -> any ReadableStore
    ) async throws {
        do {
            let ask: @Sendable () async throws -> ([OtherShare], [String]) = {
                try await workspace.otherShares(in: try await store()).run()
            }
            if let patience {
                let overdue = Unasked(reason: "no answer within \(Quantities.span(patience))")
                (shares, problems) = try await workspace.time.within(patience, else: overdue, ask)
            } else {
                (shares, problems) = try await ask()
            }
        } catch let error as StoreError {
            if try await !workspace.hasNoStoreYet(error) { throw Unasked(reason: "\(error)") }
        } catch let error as CommandFailure {
            throw Unasked(reason: "\(error)")
        }
    }
}

/// The same for pages, which are looked at again and again: the store is asked by one of them, each five minutes. What was
/// known last is told where it cannot be asked.
///
/// What is kept is what the page shows: each link that is signed anew would make it another page, and who follows it would
/// load it again and again.
final class RecentSharesElsewhere: Sendable {
    /// Seconds.
    private static let age = 300.0

    struct Answer: Sendable {
        var rows: [SitePage.Listing.Row] = []
        /// As ``SharesElsewhere/problems``.
        var problems: [String] = []
    }

    private struct Known: Sendable {
        var answer = Answer()
        var askedAt: Date?
        var isAnswered = false
    }

    private let known = Lock(Known())

    func now(_ time: Date, ask: () async throws -> Answer) async throws -> Answer {
        let recent = known.withLock { known -> Answer? in
            if let askedAt = known.askedAt, time < askedAt.addingTimeInterval(Self.age), time >= askedAt {
                return known.answer
            }
            known.askedAt = time
            return nil
        }
        if let recent { return recent }
        do {
            let answer = try await ask()
            known.withLock { ($0.answer, $0.isAnswered) = (answer, true) }
            return answer
        } catch let unasked as SharesElsewhere.Unasked {
            return known.withLock { known in
                known.answer.problems = [known.isAnswered ? unasked.remark : unasked.problem]
                return known.answer
            }
        } catch {
            known.withLock { $0.askedAt = nil }
            throw error
        }
    }
}

extension Workspace {
    func otherShares(in store: any ReadableStore) async throws -> OtherShares {
        OtherShares(
            store: store, ledger: try await ledger, keys: try keys,
            spool: installation.rebuildSpool, pool: threads.disk, time: time)
    }

    /// What the store is asked for; `none` where nobody has stored anything yet.
    func asking<Value>(else none: Value, _ ask: () async throws -> Value) async throws -> Value {
        do {
            return try await ask()
        } catch let error as StoreError {
            guard try await hasNoStoreYet(error) else { throw error }
            return none
        }
    }

    /// Nobody has stored anything yet, so that nobody shares anything.
    func hasNoStoreYet(_ error: StoreError) async throws -> Bool {
        guard error.code == .storeMissing else { return false }
        return try await !ledger.callAsFunction { try $0.knowsStore() }
    }
}

extension ShareLinks {
    /// The address of a share of another machine; `nil` where there is none now.
    func address(of share: OtherShare, now: Date) async -> StoreLink? {
        guard share.state == .live, share.expiresAt > now else { return nil }
        return try? await link(to: share)
    }
}
