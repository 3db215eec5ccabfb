import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem

/// What the user's other machines share, as the store's catalogues tell it.
struct SharesElsewhere: Sendable {
    static let mostShown = 200

    private(set) var shares: [OtherShare] = []
    /// What could not be looked at, in plain words.
    fileprivate(set) var problems: [String] = []

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

    private let known = Mutex(Known())

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
            store: store, ledger: try await ledger, keys: try KeyLayout(user: settings.user),
            spool: installation.rebuildSpool, pool: threads.disk, time: time)
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
