import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// Photos that are forgotten for good, over the bench's disk, store and clock.
struct ForgetBench {
    let bench: Bench

    init() throws { bench = try Bench() }

    var keys: KeyLayout { get throws { try KeyLayout(user: "ana") } }

    func others(_ ledger: Ledger) throws -> OtherReferences {
        OtherReferences(
            store: bench.store, ledger: LedgerQueue(ledger), keys: try keys, spool: "/nowhere/spool",
            pool: BlockingPool(name: "test", threads: 1), time: bench.time.source)
    }

    func planner(_ ledger: Ledger? = nil) throws -> ForgetPlanner {
        ForgetPlanner(
            ledger: LedgerQueue(ledger ?? bench.ledger), others: try others(ledger ?? bench.ledger),
            scanner: bench.disk,
            watched: bench.folders.map(\.path), pool: BlockingPool(name: "test", threads: 1), time: bench.time.source)
    }

    func deletions(_ ledger: Ledger? = nil) throws -> ObjectDeletions {
        ObjectDeletions(
            store: bench.store, ledger: LedgerQueue(ledger ?? bench.ledger), others: try others(ledger ?? bench.ledger),
            time: bench.time.source)
    }

    func plan(_ path: FilePath, onlyGone: Bool = false) async throws -> ForgetPlan {
        var found: [PhotoStatus] = []
        try bench.ledger.photos(at: path) { found.append($0) }
        return try await planner().plan(found, onlyGone: onlyGone)
    }

    /// All of it, as the command does.
    @discardableResult
    func forget(_ path: FilePath) async throws -> (plan: ForgetPlan, result: ObjectDeletions.Summary) {
        let plan = try await planner().begin(try await plan(path))
        return (plan, try await deletions().run())
    }

    static func key(_ text: String) throws -> ObjectKey {
        try ObjectKey("users/ana/photos/\(ContentDigest(of: Array(text.utf8)).md5).dat")
    }

    func isStored(_ text: String) throws -> Bool { bench.memory.content(try Self.key(text)) != nil }

    /// Photos that the ledger calls stored, and of which the store has nothing: there may never be one.
    func wronglySafe(_ ledger: Ledger? = nil) throws -> [FilePath] {
        var wrong: [FilePath] = []
        try (ledger ?? bench.ledger).photos(at: "/pictures") { photo in
            guard let object = photo.object, object.problem == nil else { return }
            if bench.memory.content(object.key) == nil { wrong.append(photo.path) }
        }
        return wrong
    }
}

extension Ledger {
    /// Opens a share of one photo.
    func openShare(of md5: MD5Digest, at path: FilePath) throws {
        let day = try #require(CalendarDay("2024-06-15"))
        let draft = ShareDraft(
            folder: path.removingLastComponent(), selection: nil, quality: .reduced, location: "Paris", startDate: day,
            endDate: day, sharedBy: nil, expiresAt: Date(timeIntervalSince1970: 2_000_000_000),
            photos: [ShareDraft.Photo(md5: md5, path: path, isLocal: false)])
        let id = try #require(ShareID("0b5c2d1e-7c1e-4b3f-9a55-3f1f0a3c9d10"))
        #expect(try addShare(id, draft, by: "test", at: Date(timeIntervalSince1970: 1_700_000_000)))
    }
}
