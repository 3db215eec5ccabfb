import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncPages
import SyncSystem

/// What the user's other machines share, as the store's catalogues tell it.
struct SharesElsewhere: Sendable {
    static let mostShown = 200

    private(set) var shares: [OtherShare] = []
    /// What could not be looked at, in plain words.
    private(set) var problems: [String] = []

    init() {}

    /// Asks the store. Without it there are none, and a problem says so.
    /// - Throws: ``LedgerError``, `CancellationError`.
    init(_ workspace: Workspace, in store: () async throws -> any ReadableStore) async throws {
        do {
            (shares, problems) = try await workspace.otherShares(in: try await store()).run()
        } catch let error as StoreError {
            if try await !workspace.hasNoStoreYet(error) { problems = [Self.unasked(error)] }
        } catch let error as CommandFailure {
            problems = [Self.unasked(error)]
        }
    }

    private static func unasked(_ error: any Error) -> String {
        "shares of other machines are not in the list, since the store cannot be asked: \(error)"
    }
}

/// The same for pages, which are looked at again and again: the store is asked by one of them, each five minutes.
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
            known.withLock { $0.answer = answer }
            return answer
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
    func address(of share: OtherShare, now: Date) async -> ShareLink? {
        guard share.state == .live, share.expiresAt > now else { return nil }
        return try? await link(to: share)
    }
}
