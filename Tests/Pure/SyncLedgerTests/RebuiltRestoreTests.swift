import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage
import Testing

/// What a ledger that was made anew knows of the restores of the one before, by its catalogue.
@Suite struct RebuiltRestoreTests {
    private static let names = ["users/ana/photos/a.dat", "users/ana/photos/b.dat", "users/ana/photos/c.dat"]

    private let old: Archive
    private let ready: Date

    init() throws {
        old = try Archive(Self.names)
        ready = old.now + 86_400
    }

    /// All that the catalogue tells of an item.
    private struct Told: Equatable {
        let key: ObjectKey
        let path: FilePath?
        let size: Int64
        let storageClass: StorageClass
        let tier: RestoreTier
        let days: Int
        let state: RestoreItemState
        let times: [Date?]

        init(_ item: RestoreItem) {
            (key, path, size, storageClass) = (item.key, item.path, item.size, item.storageClass)
            (tier, days, state) = (item.tier, item.days, item.state)
            times = [item.requestedAt, item.readyAt, item.expiresAt]
        }
    }

    private func ask(_ path: FilePath = "/pictures/gallery/of old.jpg") throws {
        let items = old.keys.map {
            RestoreJobDraft.Item(key: $0, path: path, size: 1_000, storageClass: .deepArchive, tier: .bulk)
        }
        let draft = RestoreJobDraft(requestedBy: "ana", tier: .standard, days: 9, items: items)
        #expect(try old.ledger.addRestoreJob(draft, at: old.now).job != nil)
    }

    private func read(into new: Archive) throws {
        var state = CatalogState()
        for line in try old.ledger.catalogState() { _ = state.take(line) }
        try new.ledger.noteCatalog(state, in: [:], at: new.now)
    }

    @Test func `one of many photos takes several lines, each of which can be read, and is one again`() throws {
        // As long as the paths of some ten thousand photos are together.
        try ask(FilePath("/pictures/" + String(repeating: "n", count: 1_200_000)))
        let lines = try old.ledger.catalogState().filter { if case .restore = $0 { true } else { false } }
        #expect(lines.count == 2)
        let coding = CatalogCoding(keys: try KeyLayout(user: "ana"))
        var state = CatalogState()
        for line in lines { _ = state.take(try #require(coding.line(try coding.data(line)))) }
        #expect(state.restores.map(\.items.count) == [3])
        let new = try Archive(Self.names)
        try new.ledger.noteCatalog(state, in: [:], at: new.now)
        #expect(try new.items().map(\.key) == old.keys)
    }

    @Test func `a restore that is under way goes on as it was, and a second time nothing is new`() throws {
        try ask()
        old.world.now += 5
        try old.move(1, to: .retrieving)
        try old.move(2, to: .retrieving)
        old.world.now += 50
        try old.move(2, to: .restored, until: ready)
        let new = try Archive(Self.names)
        for _ in 0..<2 {
            try read(into: new)
            #expect(try new.items().map(Told.init) == old.items().map(Told.init))
            let (before, after) = (try old.ledger.restoreJobs(limit: 9), try new.ledger.restoreJobs(limit: 9))
            #expect(after.map(\.job.requestedAt) == before.map(\.job.requestedAt))
            #expect(after.map(\.job.tier) == [.standard] && after.map(\.job.days) == [9])
            #expect(after.first?.job.finishedAt == nil && after.first?.job.isAnnounced == false)
        }
        #expect(try new.items().map(\.state) == [.retrieving, .restored, .planned])
        #expect(try new.items().map(\.expiresAt) == [nil, ready, nil])
        // Nobody asks, and pays, for it once more.
        #expect(try new.ask().collided == [new.keys[0], new.keys[2]])
        #expect(try new.ledger.check() == [])
    }

    @Test func `one of which all can be read is over, and is not announced once more`() throws {
        try ask()
        for item: Int64 in 1...3 {
            try old.move(item, to: .retrieving)
            try old.move(item, to: .restored, until: ready)
        }
        let new = try Archive(Self.names)
        try read(into: new)
        let job = try #require(try new.ledger.restoreJobs(limit: 9).first?.job)
        #expect(job.finishedAt == new.now && job.isAnnounced)
        #expect(try new.items().map(\.expiresAt) == [ready, ready, ready])
    }

    @Test func `what the store has no object of is left out, and a job of nothing else, too`() throws {
        try ask()
        let some = try Archive([Self.names[1]])
        try read(into: some)
        #expect(try some.items().map(\.key) == some.keys)
        let none = try Archive([])
        try read(into: none)
        #expect(try none.ledger.restoreJobs(limit: 9).isEmpty)
    }
}
