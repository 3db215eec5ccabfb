import FoundationEssentials
import GRDB
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// Photos that are forgotten for good on one machine, and that another one has; and ledgers that cannot be written to.
@Suite struct ForgetElsewhereTests {
    private let bench: CatalogBench

    init() throws { bench = try CatalogBench() }

    /// No disk: every file is gone.
    private struct EmptyDisk: TreeScanner {
        func scan(root: FilePath, from start: FilePath, visit: (ScannedFolder) throws -> Void) throws {
            try visit(ScannedFolder(path: "", files: []))
        }
        func stamp(of file: FilePath) throws(ScanError) -> FileStamp? { nil }
        func isBeingWritten(_ file: FilePath) -> Bool { false }
    }

    private func others(_ machine: CatalogMachine) -> OtherReferences {
        OtherReferences(
            store: bench.store, ledger: LedgerQueue(machine.ledger), keys: bench.keys,
            spool: bench.tree.path("\(machine.name)-forget.part"), pool: bench.pool, time: bench.time.source)
    }

    private func planner(_ machine: CatalogMachine) -> ForgetPlanner {
        ForgetPlanner(
            ledger: LedgerQueue(machine.ledger), others: others(machine), scanner: EmptyDisk(), watched: [],
            pool: bench.pool, time: bench.time.source)
    }

    private func plan(_ machine: CatalogMachine, _ path: FilePath) async throws -> ForgetPlan {
        var found: [PhotoStatus] = []
        try machine.ledger.photos(at: path) { found.append($0) }
        return try await planner(machine).plan(found, onlyGone: false)
    }

    private func deletions(_ machine: CatalogMachine) -> ObjectDeletions {
        ObjectDeletions(
            store: bench.store, ledger: LedgerQueue(machine.ledger), others: others(machine), time: bench.time.source)
    }

    private func isStored(_ text: String) throws -> Bool {
        bench.memory.content(try bench.keys.photo(PhotoID(ContentDigest(of: Array(text.utf8)).md5))) != nil
    }

    @Test func `while another machine stores for the user nothing is deleted, and what it names is told`() async throws
    {
        let (one, two) = (try bench.machine("one"), try bench.machine("two"))
        try await one.see(["a.jpg": "sunset", "b.jpg": "moon"])
        try await two.see(["of two.jpg": "sunset"])
        try await one.write()
        try await two.write()
        let first = try await plan(one, "/pictures/Gallery")
        #expect(first.deleted.isEmpty && first.shared.map(\.reference) == [.machine("two")])
        #expect(first.refused.map(\.refusal) == [.needed(.others(try two.ledger.catalogStatus().machine))])
        _ = try await planner(one).begin(first)
        try await deletions(one).run()
        #expect(try isStored("sunset") && isStored("moon"))
    }

    @Test func `two looks at once read catalogues one after the other`() async throws {
        let (one, two) = (try bench.machine("one"), try bench.machine("two"))
        try await one.see(["a.jpg": "sunset"])
        try await two.see(Dictionary(uniqueKeysWithValues: (0..<300).map { ("\($0).jpg", "photo \($0)") }))
        try await two.write()
        let others = others(one)
        let doubts = try await withThrowingTaskGroup(of: OtherReferences.Doubt?.self) { group in
            for _ in 0..<8 {
                group.addTask { [bench] in
                    try await others.references(to: [try bench.keys.photo(PhotoID(ContentDigest(of: []).md5))]).doubt
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(doubts.count == 8)
        #expect(
            doubts.allSatisfy { doubt in
                if case .unread = doubt { false } else { true }
            })
        #expect(!FileManager.default.fileExists(atPath: bench.tree.path("one-forget.part").string))
    }

    @Test func `a machine that keeps no catalogue is known by its note`() async throws {
        let (one, two) = (try bench.machine("one"), try bench.machine("two"))
        try await one.see(["a.jpg": "sunset"])
        try await two.see(["of two.jpg": "moon"])
        try await two.noteWriter(keepsCatalog: false).run(passEndedAt: bench.time.now)
        let found = try await plan(one, "/pictures/Gallery")
        #expect(found.deleted.isEmpty && found.refused.map(\.refusal) == [.needed(.others("two"))])
    }

    @Test func `a ledger older than its own catalogue deletes nothing`() async throws {
        let one = try bench.machine("one")
        try await one.see(["a.jpg": "sunset"])
        _ = try await planner(one).begin(try await plan(one, "/pictures/Gallery"))
        // Another life of the same state has written since.
        let segment = CatalogSegment(machine: try one.ledger.catalogStatus().machine, from: 1, to: 7)
        try await bench.memory.store([1], at: segment.key(bench.keys))
        let result = try await deletions(one).run()
        #expect(result.deleted.isEmpty && result.failures.count == 1)
        #expect(try isStored("sunset"))
    }

    @Test func `a ledger older than its own note deletes nothing, also where the catalogue is gone`() async throws {
        let one = try bench.machine("one")
        try await one.see(["a.jpg": "sunset"])
        _ = try await planner(one).begin(try await plan(one, "/pictures/Gallery"))
        try await bench.sign(of: one.ledger.catalogStatus().machine, catalogWrite: 7)
        let result = try await deletions(one).run()
        #expect(result.deleted.isEmpty && result.failures.count == 1)
        #expect(try isStored("sunset"))
    }

    @Test(arguments: [StoreError.Code.serverFailed, .conflict, .accessDenied, .archived])
    func `a machine whose own note cannot be read deletes nothing`(code: StoreError.Code) async throws {
        let one = try bench.machine("one")
        try await one.see(["a.jpg": "sunset"])
        _ = try await planner(one).begin(try await plan(one, "/pictures/Gallery"))
        let id = try one.ledger.catalogStatus().machine
        try await bench.sign(of: id, catalogWrite: 7)
        bench.store.add(StoreFault(.get, key: try bench.keys.machine(id).rawValue, .failBefore(code)))
        let result = try await deletions(one).run()
        #expect(result.deleted.isEmpty && result.failures.count == 1)
        #expect(try isStored("sunset"))
    }

    @Test func `a catalogue of another machine that cannot be read keeps everything, and its path`() async throws {
        let (one, two) = (try bench.machine("one"), try bench.machine("two"))
        try await one.see(["a.jpg": "sunset"])
        try await two.see(["b.jpg": "moon"])
        try await two.write()
        let segment = try #require(try await bench.keysOfSegments().first)
        _ = try await bench.memory.put(
            ObjectBody(bytes: Array("ruin".utf8), digest: ContentDigest(of: Array("ruin".utf8))), at: segment,
            attributes: ObjectAttributes(contentType: "application/gzip", metadata: [:]), condition: .overwrite)
        let result = try await plan(one, "/pictures/Gallery")
        #expect(result.photos.isEmpty && result.deleted.isEmpty)
        guard case .needed(.unread) = result.refused.first?.refusal else {
            Issue.record("\(result.refused)")
            return
        }
    }

    @Test func `another machine that stores the photo before the deletion is gone on with keeps it`() async throws {
        let (one, two) = (try bench.machine("one"), try bench.machine("two"))
        try await one.see(["a.jpg": "sunset"])
        _ = try await planner(one).begin(try await plan(one, "/pictures/Gallery"))
        try await two.see(["b.jpg": "sunset"])
        try await two.write()
        let result = try await deletions(one).run()
        #expect(result.deleted.isEmpty && result.kept.map(\.reference) == [.machine("two")])
        #expect(try isStored("sunset"))
        #expect(try one.ledger.openDeletions().isEmpty)
    }

    @Test func `a machine whose place this one has taken needs nothing when it was silent for a month`() async throws {
        let old = try bench.machine("one")
        try await old.see(["a.jpg": "sunset"])
        try await old.write()
        let new = try bench.machine("one")
        try await new.rebuild()
        // It may be alive, and have nothing new to tell.
        #expect(try await plan(new, "/pictures/Gallery").deleted.isEmpty)
        await bench.time.advance(by: .seconds(31 * 86_400))
        let found = try await plan(new, "/pictures/Gallery")
        #expect(found.deleted.count == 1)
        _ = try await planner(new).begin(found)
        try await new.write()
        try await deletions(new).run()
        #expect(try !isStored("sunset"))
        let third = try bench.machine("one")
        #expect(try await third.rebuild().photos == 0)
        #expect(try third.known().isEmpty)
    }

    @Test func `what a rebuild has found without a name goes by the name that it gave`() async throws {
        let old = try bench.machine("one")
        try await old.see(["a.jpg": "sunset", "b.jpg": "moon"])
        let new = try bench.machine("two")
        try await new.rebuild()
        #expect(try new.known().count == 2)
        let found = try await plan(new, LedgerRebuild.recoveredFolder)
        #expect(found.deleted.count == 2)
        _ = try await planner(new).begin(found)
        try await deletions(new).run()
        #expect(try !isStored("sunset") && !isStored("moon"))
        #expect(try new.known().isEmpty)
    }

    // MARK: A ledger that cannot be written to

    static let writes = [
        ("DELETE", "photos"), ("DELETE", "objects"), ("INSERT", "object_deletions"),
        ("UPDATE OF sent_at", "object_deletions"), ("UPDATE OF gone_at", "object_deletions"),
        ("DELETE", "object_deletions"),
    ]

    @Test(
        arguments: writes)
    func `a ledger that takes no writes at any step calls nothing safe that is gone, and the next run goes on`(
        write: (statement: String, table: String)
    ) async throws {
        let path = bench.tree.path("ledger.sqlite")
        let machine = try CatalogMachine(
            "one", in: bench, ledger: try Ledger(at: path), folder: "/pictures/Gallery")
        let database = try DatabaseQueue(path: path.string)
        try await machine.see(["a.jpg": "sunset", "b.jpg": "moon"])
        try await database.write { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER obstacle BEFORE \(write.statement) ON \(write.table) BEGIN
                        SELECT RAISE(ABORT, 'no room');
                    END
                    """)
        }
        let found = try await plan(machine, "/pictures/Gallery")
        await #expect(throws: LedgerError.self) {
            _ = try await planner(machine).begin(found)
            try await deletions(machine).run()
        }
        var wrong: [FilePath] = []
        try machine.ledger.photos(at: "/pictures") { photo in
            if let object = photo.object, bench.memory.content(object.key) == nil { wrong.append(photo.path) }
        }
        #expect(wrong.isEmpty)
        try await database.write { try $0.execute(sql: "DROP TRIGGER obstacle") }
        _ = try await planner(machine).begin(try await plan(machine, "/pictures/Gallery"))
        try await deletions(machine).run()
        #expect(try !isStored("sunset") && !isStored("moon"))
        #expect(try machine.ledger.openDeletions().isEmpty)
        #expect(try machine.ledger.check() == [])
        try database.close()
        try machine.ledger.close()
    }
}
