import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// Photos that were stored, and of which the store has something else by now, or nothing.
@Suite struct LostInStoreTests {
    private let bench: Bench
    private let path = Bench.gallery.appending("a.jpg")
    private let key: ObjectKey

    init() throws {
        bench = try Bench()
        bench.disk.write("sunset", to: path)
        key = try ObjectKey("users/ana/photos/\(ContentDigest(of: Array("sunset".utf8)).md5).dat")
    }

    private func refresh() async throws -> ClassRefresh.Summary {
        await bench.time.advance(by: .seconds(1))
        return try await ClassRefresh(
            store: bench.store, ledger: LedgerQueue(bench.ledger),
            keys: try KeyLayout(user: "ana"), time: bench.time.source
        ).run()
    }

    private func replace(by text: String) async throws {
        _ = try await bench.memory.put(
            ObjectBody(text), at: key, attributes: ObjectAttributes(contentType: "image/jpeg"), condition: .overwrite)
    }

    @Test func `what a listing leaves out is pending again, and the next pass stores it`() async throws {
        try await bench.pass()
        try await bench.memory.delete(key)
        let result = try await refresh()
        #expect(result.findings.broken.pending == 1)
        #expect(try bench.status(path)?.state == .pending)
        try await bench.pass()
        #expect(bench.memory.content(key) == Array("SUNSET".utf8))
        #expect(try bench.status(path)?.state == .uploaded)
        #expect(try bench.ledger.object(key)?.problem == nil)
    }

    @Test func `what was stored by a clock that was ahead is missed from a listing, too`() async throws {
        await bench.time.advance(by: .seconds(7_200))
        try await bench.pass()
        try await bench.memory.delete(key)
        let result = try await ClassRefresh(
            store: bench.store, ledger: LedgerQueue(bench.ledger), keys: try KeyLayout(user: "ana"),
            time: ManualTime().source
        ).run()
        #expect(result.findings.broken.pending == 1)
        #expect(try bench.status(path)?.state == .pending)
    }

    @Test func `what is left out and whose file is gone is lost, and stored again when it is back in the store`()
        async throws
    {
        try await bench.pass()
        bench.disk.remove(path)
        bench.disk.write("moon", to: Bench.gallery.appending("b.jpg"))
        try await bench.pass()
        try await bench.memory.delete(key)
        #expect(try await refresh().findings.broken.lost == 1)
        #expect(try bench.status(path)?.state == .lost)
        try await replace(by: "SUNSET")
        #expect(try await refresh().findings.mended == 1)
        #expect(try bench.status(path)?.state == .missing)
    }

    @Test(arguments: ["x", "other!", nil] as [String?])
    func `what was damaged and is stored again by another machine heals, and a ruin that stays is read once`(
        text: String?
    ) async throws {
        try await bench.pass()
        bench.disk.remove(path)
        bench.disk.write("moon", to: Bench.gallery.appending("b.jpg"))
        try await bench.pass()
        if let text {
            try await replace(by: text)
            #expect(try await refresh().findings.broken.lost == 1)
        } else {
            // The store tells of it as of what was stored: only who reads it finds out.
            bench.memory.damage(key)
            let record = try #require(try bench.ledger.object(key))
            try bench.ledger.markBroken([BrokenObject(record, .damaged("of a test"))], at: bench.time.now)
            _ = try await refresh()
        }
        #expect(try bench.status(path)?.state == .lost)
        let (heads, gets) = (bench.store.count(.head), bench.store.count(.get))
        _ = try await refresh()
        #expect(bench.store.count(.head) == heads)
        #expect(bench.store.count(.get) == gets)
        try await replace(by: "SUNSET")
        // The clock of this store stands still.
        bench.memory.redate(key, to: bench.time.now)
        #expect(try await refresh().findings.mended == 1)
        #expect(try bench.status(path)?.state == .missing)
        #expect(try bench.ledger.check() == [])
    }

    @Test func `what a listing could not read heals with the first one that can`() async throws {
        try await bench.pass()
        bench.memory.makeUnreadable(key)
        #expect(try await refresh().findings.broken.pending == 1)
        bench.memory.makeReadable(key)
        #expect(try await refresh().findings.mended == 1)
        #expect(try bench.ledger.object(key)?.problem == nil)
    }

    @Test func `an object of which the store cannot read its own record is stored again`() async throws {
        try await bench.pass()
        let store = UnreadableRecord(bench.memory, key)
        await bench.time.advance(by: .seconds(1))
        let result = try await ClassRefresh(
            store: store, ledger: LedgerQueue(bench.ledger),
            keys: try KeyLayout(user: "ana"), time: bench.time.source
        ).run()
        #expect(result.findings.broken.pending == 1)
        #expect(try bench.status(path)?.state == .pending)
        #expect(try bench.ledger.object(key)?.problem?.isDamage == true)
    }

    @Test func `what is gone or damaged counts as stored no more`() async throws {
        try await bench.pass()
        bench.disk.remove(path)
        bench.disk.write("moon", to: Bench.gallery.appending("b.jpg"))
        try await bench.pass()
        let before = try bench.ledger.overview()
        try await bench.memory.delete(key)
        _ = try await refresh()
        let after = try bench.ledger.overview()
        #expect(after.bytesStored == before.bytesStored - 6)
        #expect(after.storedTiers.map(\.objects) == [1] && after.lost == 1)
    }

    @Test func `what is lost can be forgotten, and nothing else can`() async throws {
        try await bench.pass()
        bench.disk.remove(path)
        let other = Bench.gallery.appending("b.jpg")
        bench.disk.write("moon", to: other)
        try await bench.pass()
        try await bench.memory.delete(key)
        _ = try await refresh()
        let (lost, safe) = (try #require(try bench.status(path)), try #require(try bench.status(other)))
        #expect(try bench.ledger.forget(photos: [safe.id], objects: [try #require(safe.key)]) == 0)
        #expect(try bench.ledger.forget(photos: [lost.id], objects: []) == 1)
        #expect(try bench.status(path) == nil)
        #expect(try bench.ledger.object(key) == nil)
        #expect(try bench.ledger.overview().lost == 0)
        #expect(try bench.status(other)?.state == .uploaded)
        #expect(try bench.ledger.verificationStatus(at: bench.time.now).missing == 0)
        #expect(try bench.ledger.check() == [])
    }

    @Test func `a photo with a second name that is here is not told as lost`() async throws {
        let twin = Bench.gallery.appending("twin.jpg")
        bench.disk.write("sunset", to: twin)
        try await bench.pass()
        bench.disk.remove(path)
        try await bench.pass()
        try await bench.memory.delete(key)
        let broken = try await refresh().findings.broken
        #expect((broken.pending, broken.lost) == (1, 0))
        try await bench.pass()
        #expect(try bench.status(path)?.state == .missing)
    }

    @Test func `what was stored of an earlier content is known as a version, until it is the content again`()
        async throws
    {
        try await bench.pass()
        bench.disk.write("moon", to: path)
        try await bench.pass()
        bench.disk.write("stars", to: path)
        try await bench.pass()
        let photo = try #require(try bench.status(path))
        let versions = try bench.ledger.versions(of: photo)
        #expect(versions.map(\.number) == [1, 2])
        #expect(
            Set(versions.map { String(decoding: bench.memory.content($0.object.key) ?? [], as: UTF8.self) }) == [
                "MOON", "SUNSET",
            ])
        #expect(try bench.ledger.photoPaths(of: key, limit: 1) == [path])
        bench.disk.write("sunset", to: path)
        try await bench.pass()
        #expect(try !bench.ledger.versions(of: photo).map(\.object.key).contains(key))
        #expect(try bench.ledger.check() == [])
    }

    @Test func `a page that loses a key costs a request and no photo`() async throws {
        try await bench.pass()
        let store = LeavingOut(bench.memory, key)
        await bench.time.advance(by: .seconds(1))
        let result = try await ClassRefresh(
            store: store, ledger: LedgerQueue(bench.ledger),
            keys: try KeyLayout(user: "ana"), time: bench.time.source
        ).run()
        #expect(result.findings.broken == BrokenCount())
        #expect(try bench.status(path)?.state == .uploaded)
    }

    @Test(arguments: ["other!", "x", ""])
    func `an object of other bytes is stored again in its place`(text: String) async throws {
        try await bench.pass()
        try await replace(by: text)
        #expect(try await refresh().findings.broken.pending == 1)
        try await bench.pass()
        #expect(bench.memory.content(key) == Array("SUNSET".utf8))
        #expect(try bench.status(path)?.state == .uploaded)
    }

    @Test func `an object of other bytes that is archived is not rewritten, and what to do is said`() async throws {
        try await bench.pass()
        try await replace(by: "other!")
        bench.memory.setClass(.deepArchive, of: key)
        #expect(try await refresh().findings.broken.pending == 1)
        try await bench.pass()
        let photo = try #require(try bench.status(path))
        #expect(photo.state == .pending)
        #expect(photo.error?.contains("Remove it from the store by hand") == true)
        #expect(bench.memory.content(key) == Array("other!".utf8))
    }

    @Test func `a listing is enough as long as nothing contradicts it`() async throws {
        try await bench.pass()
        let heads = bench.store.count(.head)
        _ = try await refresh()
        #expect(bench.store.count(.head) == heads)
        #expect(bench.store.count(.get) == 0)
    }

    @Test func `a copy of a photo that the store has lost is no photo that is stored already`() async throws {
        try await bench.pass()
        try await bench.memory.delete(key)
        bench.disk.write("sunset", to: Bench.gallery.appending("copy.jpg"))
        try await bench.pass()
        #expect(bench.memory.content(key) == Array("SUNSET".utf8))
        #expect(try bench.states().values.allSatisfy { $0 == .uploaded })
    }

    @Test func `a 404 for an object that is listed proves nothing`() async throws {
        try await bench.pass()
        let record = try #require(try bench.ledger.object(key))
        await #expect(throws: StoreError.self) {
            _ = try await ObjectExaminer(DenyingHead(bench.memory)).examine(record, reading: .inDoubt)
        }
    }

    @Test func `another ETag of what a copy has moved to the archive is no damage`() async throws {
        try await bench.pass()
        var record = try #require(try bench.ledger.object(key))
        record.etag = record.etag ?? "as it was stored"
        bench.memory.setClass(.deepArchive, of: key)
        let examiner = ObjectExaminer(CopiedInPlace(bench.memory))
        let verdict = try await examiner.examine(record, reading: .inDoubt)
        let isIntact = if case .intact = verdict { true } else { false }
        #expect(isIntact)
        // Nothing moved this one: somebody has put other bytes there.
        record.storageClass = .deepArchive
        let other = try await examiner.examine(record, reading: .inDoubt)
        #expect(other == .broken(.damaged("the store tells another ETag than when it was stored")))
    }

    @Test func `a photo of an event is sent again when the store has lost it`() async throws {
        let file = Bench.gallery.appending("events.json")
        // "c3Vu" is "sun".
        bench.disk.write(
            #"[{"id": "1", "profileId": "p", "eventType": "dailyPhoto", "createdAt": "2024-05-01T10:00:00Z", "#
                + #""photoData": "c3Vu"}]"#, to: file)
        try await bench.pass()
        let sun = try ObjectKey("users/ana/photos/\(ContentDigest(of: Array("sun".utf8)).md5).dat")
        #expect(bench.memory.content(sun) == Array("SUN".utf8))
        try await bench.memory.delete(sun)
        _ = try await refresh()
        #expect(try bench.status(file)?.state == .pending)
        try await bench.pass()
        #expect(bench.memory.content(sun) == Array("SUN".utf8))
        #expect(try bench.ledger.event("1")?.photoState == .stored)
    }
}

/// A store whose listings lose a key.
private struct LeavingOut: WrappedStore {
    let base: any ObjectStore
    let key: ObjectKey

    init(_ base: InMemoryStore, _ key: ObjectKey) {
        self.base = base
        self.key = key
    }

    func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        var page = try await base.list(prefix: prefix, after: after, limit: limit)
        page.objects.removeAll { $0.key == key }
        return page
    }
}

/// A store whose HEADs are answered by a proxy that knows nothing.
private struct DenyingHead: WrappedStore {
    let base: any ObjectStore

    init(_ base: InMemoryStore) {
        self.base = base
    }

    func head(_ key: ObjectKey) async throws -> ObjectInfo? { nil }
}

/// A store whose ETags are no digests, after all was copied in place.
private struct CopiedInPlace: WrappedStore {
    let base: any ObjectStore

    init(_ base: InMemoryStore) {
        self.base = base
    }

    func head(_ key: ObjectKey) async throws -> ObjectInfo? {
        guard var info = try await base.head(key) else { return nil }
        (info.md5, info.sha256, info.etag) = (nil, nil, "of the copy")
        return info
    }
}
