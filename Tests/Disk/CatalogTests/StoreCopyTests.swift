import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// Copies between stores, of which each may fail.
struct StoreCopyTests {
    private let tree: TemporaryTree
    private let old = InMemoryStore()
    private let new = InMemoryStore(now: { Date(timeIntervalSince1970: 1_767_225_700) })
    private let pool = BlockingPool(name: "test", threads: 2)
    private let time = ManualTime()

    init() throws { tree = try TemporaryTree() }

    private func copy(
        from source: (any ObjectStore)? = nil, to target: (any ObjectStore)? = nil
    ) throws -> StoreCopy {
        StoreCopy(
            from: source ?? old, to: target ?? new, prefixes: ["users/ana/", "gallery-archive/ana/"],
            folder: try tree.makeFolder("state"), pool: pool, time: time.source)
    }

    @discardableResult private func put(
        _ text: String, at key: String, in store: InMemoryStore, _ storageClass: StorageClass = .standard,
        photo: String? = nil
    ) async throws -> ObjectKey {
        let (key, digest) = (try ObjectKey(key), ContentDigest(of: Array(text.utf8)))
        var metadata = [MetadataName.sha256: "\(digest.sha256)", "other": "é"]
        if let photo { metadata[MetadataName.md5] = "\(ContentDigestOf(photo).md5)" }
        _ = try await store.put(
            ObjectBody(bytes: Array(text.utf8), digest: digest), at: key,
            attributes: ObjectAttributes(contentType: "image/png", metadata: metadata, storageClass: storageClass),
            condition: .overwrite)
        return key
    }

    private func text(_ key: ObjectKey, in store: InMemoryStore) async throws -> String {
        let bytes = Lock<[UInt8]>([])
        _ = try await store.get(key, range: nil) { piece in bytes.withLock { $0.append(contentsOf: piece) } }
        return String(decoding: bytes.withLock { $0 }, as: UTF8.self)
    }

    private func fill() async throws {
        for number in 0..<30 { try await put("photo \(number)", at: "users/ana/photos/\(number).dat", in: old) }
        try await put("event", at: "gallery-archive/ana/p/2026/01/1.jpg", in: old)
        try await put("another's", at: "users/ben/photos/1.dat", in: old)
    }

    @Test(arguments: [
        "machines/m.json": true, "jobs/2026-01-01.json": true, "vacations/Rome.json": true, "projects/p.jpg": false,
    ])
    func `what machines tell of themselves is newer there, and holds nothing up`(name: String, isNote: Bool)
        async throws
    {
        let key = try await put("before", at: "users/ana/\(name)", in: old)
        try await put("after", at: "users/ana/\(name)", in: new)
        let summary = try await copy().run()
        #expect(summary.isWhole == isNote && summary.present.objects == (isNote ? 1 : 0))
        #expect(try await text(key, in: new) == "after")
    }

    @Test func `everything of the user is there with its type and metadata, and a second time nothing is sent`()
        async throws
    {
        try await fill()
        let first = try await copy().run()
        #expect(first.isWhole && first.copied.objects == 31 && first.total == first.copied)
        let key = try ObjectKey("users/ana/photos/7.dat")
        #expect(try await text(key, in: new) == "photo 7")
        let (was, info) = (try #require(try await old.head(key)), try #require(try await new.head(key)))
        #expect(info.contentType == "image/png" && info.metadata == was.metadata && info.storageClass == .standard)
        #expect(try await new.head(try ObjectKey("users/ben/photos/1.dat")) == nil)
        let again = FaultyStore(new)
        let second = try await copy(to: again).run()
        #expect(second.isWhole && second.copied.objects == 0 && second.present.objects == 31)
        #expect(again.count(.put) == 0)
        #expect(try tree.files(below: "state") == [])
    }

    @Test func `what is in the archive waits for its restore, and then keeps its class`() async throws {
        let key = try await put("old", at: "users/ana/photos/1.dat", in: old, .deepArchive)
        let locked = try await copy().run()
        #expect(!locked.isWhole && locked.archived.objects == 1 && locked.copied.objects == 0)
        #expect(try await copy().survey().archived.objects == 1)
        _ = try await old.restore(key, RestoreRequest(days: 1, tier: .standard))
        let ready = InMemoryStore(restoreDuration: .zero)
        try await put("old", at: "users/ana/photos/1.dat", in: ready, .deepArchive)
        _ = try await ready.restore(key, RestoreRequest(days: 1, tier: .standard))
        let whole = try await copy(from: ready).run()
        #expect(whole.isWhole && whole.copied.objects == 1 && whole.classes == [:])
        #expect(try await new.head(key)?.storageClass == .deepArchive)
        #expect(try await copy(from: ready).survey().isWhole)
    }

    @Test func `bytes that rot on the way or in the old store do not arrive`() async throws {
        try await fill()
        let rotten = FaultyStore(old) { call in
            call.operation == .get && call.key.hasSuffix("/7.dat") ? [.failBefore(.badDigest)] : []
        }
        let summary = try await copy(from: rotten).run()
        #expect(!summary.isWhole && summary.problems.count == 1)
        #expect(summary.problems.first.map(\.key.rawValue) == ["users/ana/photos/7.dat"])
        #expect(try await new.head(try ObjectKey("users/ana/photos/7.dat")) == nil)
        #expect(summary.copied.objects == 30)
        #expect(try await copy().run().copied.objects == 1)
    }

    @Test func `what is listed and not given is named, and what is deleted meanwhile is not`() async throws {
        try await fill()
        let gone = try ObjectKey("users/ana/photos/8.dat")
        let forgetful = FaultyStore(old) { [old] call in
            guard call.operation == .head else { return [] }
            if call.key.hasSuffix("/7.dat") { return [.sayAbsent] }
            return call.key == gone.rawValue ? [.meanwhile { old.lose(gone) }] : []
        }
        let summary = try await copy(from: forgetful).run()
        #expect(!summary.isWhole && summary.problems.count == 1 && summary.copied.objects == 29)
        #expect(summary.problems.first.map(\.key.rawValue) == ["users/ana/photos/7.dat"])
        let again = try await copy().run()
        #expect(again.isWhole && again.copied.objects == 1)
    }

    @Test(arguments: [StoreOperation.head, .get])
    func `an object that the old store denies is named, and the others are copied`(operation: StoreOperation)
        async throws
    {
        try await fill()
        let closed = FaultyStore(old) { call in
            call.operation == operation && call.key.hasSuffix("/7.dat") ? [.failBefore(.accessDenied)] : []
        }
        let summary = try await copy(from: closed).run()
        #expect(!summary.isWhole && summary.problems.count == 1 && summary.copied.objects == 30)
        #expect(summary.problems.first.map(\.key.rawValue) == ["users/ana/photos/7.dat"])
        #expect(try tree.files(below: "state") == [])
    }

    @Test(arguments: [
        (StoreOperation.head, StoreError.Code.accessDenied), (.head, .invalidResponse), (.get, .accessDenied),
    ])
    func `an old store that gives nothing is not asked for each object`(
        operation: StoreOperation, code: StoreError.Code
    ) async throws {
        for number in 0..<60 { try await put("photo \(number)", at: "users/ana/photos/\(number).dat", in: old) }
        let closed = FaultyStore(old, faults: [StoreFault(operation, .failBefore(code))])
        let error = await #expect(throws: StoreError.self) { _ = try await copy(from: closed).run() }
        #expect(error?.code == code && error?.key == nil)
        #expect(closed.count(.head) < 30)
    }

    @Test func `what an old store denies holds up nothing else when the rest is copied already`() async throws {
        try await fill()
        var faults: [StoreFault] = []
        for number in 0..<25 {
            let key = try await put("denied \(number)", at: "users/ana/photos/x\(number).dat", in: old)
            faults.append(StoreFault(.get, key: key.rawValue, .failBefore(.accessDenied)))
        }
        for copied in [31, 0] {
            let summary = try await copy(from: FaultyStore(old, faults: faults)).run()
            #expect(summary.copied.objects == copied && summary.problems.count == 25)
        }
        try await put("late", at: "users/ana/photos/y.dat", in: old)
        #expect(try await copy(from: FaultyStore(old, faults: faults)).run().copied.objects == 1)
    }

    @Test func `what the new store denies ends the copying`() async throws {
        try await fill()
        let closed = FaultyStore(new, faults: [StoreFault(.put, .failBefore(.accessDenied))])
        let error = await #expect(throws: StoreError.self) { _ = try await copy(to: closed).run() }
        #expect(error?.code == .accessDenied)
    }

    @Test func `an object that this disk does not hold on its way is named, and the others are copied`() async throws {
        for number in 1...3 { try await put("photo \(number)", at: "users/ana/photos/\(number).dat", in: old) }
        // Somebody else has the file of the first one.
        let held = try NewFile(for: try tree.makeFolder("state").appending("move-0"), leftover: .kept)
        let summary = try await copy().run()
        #expect(!summary.isWhole && summary.problems.count == 1 && summary.copied.objects == 2)
        let problem = try #require(summary.problems.first.first)
        #expect(problem.key.rawValue == "users/ana/photos/1.dat" && problem.error.code == .sourceUnreadable)
        #expect(problem.reason.contains(tree.path("state").string))
        try held.remove()
        #expect(try await copy().run().isWhole)
    }

    @Test func `sizes whose sum no number holds end no preview`() async throws {
        try await fill()
        let summary = try await copy(from: HugeStore(base: old)).survey()
        #expect(summary.total.objects == 31 && summary.total.bytes == .max)
    }

    @Test func `what was written again since is copied again, and what the new store has of its own stays`()
        async throws
    {
        let catalog = try await put("first", at: "users/ana/projects/projects.json", in: old)
        _ = try await copy().run()
        let later = InMemoryStore(now: { Date(timeIntervalSince1970: 1_767_225_800) })
        try await put("second", at: "users/ana/projects/projects.json", in: later)
        #expect(try await copy(from: later).run().copied.objects == 1)
        #expect(try await text(catalog, in: new) == "second")

        let own = try await put("newer", at: "users/ana/projects/1.jpg", in: new)
        try await put("older", at: "users/ana/projects/1.jpg", in: old)
        let summary = try await copy().run()
        #expect(!summary.isWhole && summary.problems.first.contains { $0.key == own })
        #expect(try await text(own, in: new) == "newer")
    }

    @Test func `where listings tell no digests, as of objects in parts, each is asked for, and none is sent twice`()
        async throws
    {
        try await fill()
        let (from, to) = (UndigestedStore(base: old), UndigestedStore(base: new))
        #expect(try await copy(from: from, to: to).run().copied.objects == 31)
        let again = try await copy(from: from, to: to).run()
        #expect(again.isWhole && again.copied.objects == 0 && again.present.objects == 31)
        #expect(try await copy(from: from, to: to).survey().isWhole)
    }

    @Test func `requests that something on the way sends twice copy each object once`() async throws {
        try await fill()
        let twice = FaultyStore(new) { call in call.operation == .put ? [.failAfter(.alreadyExists)] : [] }
        let summary = try await copy(to: twice).run()
        #expect(summary.isWhole && summary.copied.objects == 31)
    }

    @Test func `another machine's copy of the same photo is left as it is`() async throws {
        let key = try await put("of 1024 pixels", at: "users/ana/photos/1.dat", in: new, photo: "photo")
        try await put("of 2048 pixels, say", at: "users/ana/photos/1.dat", in: old, photo: "photo")
        let summary = try await copy().run()
        #expect(summary.isWhole && summary.copied.objects == 0)
        #expect(try await text(key, in: new) == "of 1024 pixels")
    }

    @Test func `a store that takes and does not keep is seen by the next look`() async throws {
        let key = try await put("photo", at: "users/ana/photos/1.dat", in: old)
        let forgetful = FaultyStore(new) { [new] call in
            call.operation == .put ? [.afterwards { new.lose(key) }] : []
        }
        _ = try await copy(to: forgetful).run()
        #expect(try await copy().survey().missing.objects == 1)
    }
}

/// A store whose listings tell sizes alone.
private struct UndigestedStore: WrappedStore {
    let base: any ObjectStore

    func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        var page = try await base.list(prefix: prefix, after: after, limit: limit)
        for index in page.objects.indices {
            page.objects[index].md5 = nil
            page.objects[index].sha256 = nil
        }
        return page
    }
}

/// A store whose listings call every object as large as can be.
private struct HugeStore: WrappedStore {
    let base: any ObjectStore

    func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        var page = try await base.list(prefix: prefix, after: after, limit: limit)
        for index in page.objects.indices { page.objects[index].size = .max }
        return page
    }
}

/// Which store it is, when it is reached by another name.
struct StoreRecognitionTests {
    private let bench: CatalogBench

    init() throws { bench = try CatalogBench() }

    private func recognition(_ machine: CatalogMachine, of store: any ObjectStore) -> StoreRecognition {
        StoreRecognition(store: store, ledger: LedgerQueue(machine.ledger), keys: bench.keys)
    }

    private func marked(_ store: InMemoryStore, id: String) async throws {
        let bytes = try StoreMarker(id: id, about: "test").encoded()
        _ = try await store.put(
            ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes)), at: try ObjectKey(StoreMarker.name),
            attributes: ObjectAttributes(contentType: "application/json"), condition: .overwrite)
    }

    @Test func `the id tells the same store, its origin a copy, and objects what neither tells`() async throws {
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a", "b.jpg": "b"])
        try await marked(bench.memory, id: "one")
        try await recognition(machine, of: bench.memory).makeKnown()
        #expect(try machine.ledger.storeID() == "one")
        let same = try await recognition(machine, of: bench.memory).compare()
        #expect(same.kinship == .same && same.known == 2 && same.found == 2)

        let other = InMemoryStore()
        #expect(try await recognition(machine, of: other).compare().kinship == .other)
        try await marked(other, id: "two")
        #expect(try await recognition(machine, of: other).compare().kinship == .other)
        let first = recognition(machine, of: bench.memory)
        try await recognition(machine, of: other).noteOrigin("one", first)
        let copy = try await recognition(machine, of: other).compare()
        #expect(copy.kinship == .copy && copy.found == 0 && copy.id == "two")
        try await recognition(machine, of: other).noteOrigin("zero", first)
        #expect(try await recognition(machine, of: other).kinship().kinship == .copy)

        // What it was made from goes along; nothing is made from itself.
        let third = InMemoryStore()
        try await marked(third, id: "three")
        try await recognition(machine, of: third).noteOrigin("two", recognition(machine, of: other))
        #expect(try await recognition(machine, of: third).kinship().kinship == .copy)
        try await first.noteOrigin("three", recognition(machine, of: third))
        let origin = String(decoding: try await bench.memory.bytes(of: bench.keys.storeOrigin()), as: UTF8.self)
        #expect(origin.contains("three") && origin.contains("two") && !origin.contains("\"one\""))

        try await bench.memory.delete(try ObjectKey(StoreMarker.name))
        #expect(try await recognition(machine, of: bench.memory).compare().kinship == .alike)
    }

    @Test func `a ledger that goes on with a copy believes nothing of versions and restores`() throws {
        let ledger = try Ledger.inMemory()
        _ = try ledger.bind(to: "old for user ana")
        try ledger.adopt(store: "new for user ana", id: "two", isCopy: true)
        #expect(try ledger.boundStore() == "new for user ana" && ledger.storeID() == "two")
        #expect(ledger.unfinishedUploads() == [])
    }
}
