import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// What happens when something lies under a photo's key already, or the store does not hold what was sent.
@Suite struct UploaderTests {
    private let bench: Bench
    private let key: ObjectKey
    private let path = Bench.gallery.appending("a.jpg")

    init() throws {
        bench = try Bench()
        bench.disk.write("sunset", to: path)
        key = try ObjectKey("users/ana/photos/\(ContentDigest(of: Array("sunset".utf8)).md5).dat")
    }

    private func put(_ text: String, metadata: [String: String] = [:], storageClass: StorageClass = .standard)
        async throws
    {
        _ = try await bench.memory.put(
            ObjectBody(text), at: key,
            attributes: ObjectAttributes(
                contentType: "image/jpeg", metadata: metadata, storageClass: storageClass), condition: .overwrite)
    }

    @Test func `equal bytes that another machine stored are taken as they are`() async throws {
        try await put("SUNSET")
        try await bench.pass()
        #expect(try bench.status(path)?.state == .uploaded)
        #expect(bench.events.summary.alreadyStored == 1)
    }

    @Test func `the ledger knows the class in which the store says that it has put a photo`() async throws {
        let bench = try Bench(through: { CoolStore(base: $0) })
        bench.disk.write("sunset", to: path)
        try await bench.pass()
        #expect(try bench.status(path)?.storageClass == .glacierInstantRetrieval)
    }

    @Test func `an archived copy is never sent again`() async throws {
        try await put("SUNSET")
        bench.memory.setClass(.deepArchive, of: key)
        try await bench.pass()
        let photo = try #require(try bench.status(path))
        #expect(photo.state == .uploaded)
        #expect(photo.storageClass == .deepArchive)
    }

    @Test func `a copy that was reduced with other settings counts, and is described as it is`() async throws {
        try await put(
            "Sunset, small",
            metadata: [
                "md5": "\(ContentDigest(of: Array("sunset".utf8)).md5)",
                "sha256": "\(ContentDigest(of: Array("Sunset, small".utf8)).sha256)", "width": "2", "height": "1",
            ])
        try await bench.pass()
        let photo = try #require(try bench.status(path))
        #expect(photo.state == .uploaded)
        #expect(photo.width == 2)
        #expect(photo.bytesStored == 13)
    }

    @Test func `something else under the key is left as it is, and told`() async throws {
        try await put("not ours")
        try await bench.pass()
        let photo = try #require(try bench.status(path))
        #expect(photo.state == .pending)
        #expect(photo.error?.contains("another object (8 bytes)") == true)
        #expect(bench.memory.content(key) == Array("not ours".utf8))
    }

    /// What this machine, or one with other settings, wrote beside a copy of the photo.
    private func metadata(of text: String) -> [String: String] {
        let digest = ContentDigest(of: Array(text.utf8))
        return [
            "md5": "\(ContentDigest(of: Array("sunset".utf8)).md5)", "sha256": "\(digest.sha256)",
            "stored-md5": "\(digest.md5)",
        ]
    }

    @Test(arguments: ["SUNSET", "Sunset, small"])
    func `a copy whose bytes are not those that its own metadata names is replaced`(written: String) async throws {
        try await put("rotten", metadata: metadata(of: written))
        try await bench.pass()
        #expect(bench.memory.content(key) == Array("SUNSET".utf8))
        #expect(try bench.status(path)?.state == .uploaded)
        #expect(bench.events.summary.uploaded == 1)
    }

    @Test func `a copy that rotted where it lies is replaced, though the store's digests do not tell`() async throws {
        try await bench.pass()
        bench.memory.damage(key)
        let record = try #require(try bench.ledger.object(key))
        let verdict = try await ObjectExaminer(bench.memory).examine(record, reading: .always)
        guard case .broken(let problem) = verdict else {
            Issue.record("it passes for whole")
            return
        }
        try bench.ledger.markBroken([BrokenObject(record, problem)], at: bench.time.now)
        try await bench.pass()
        #expect(bench.memory.content(key) == Array("SUNSET".utf8))
    }

    @Test func `an archived copy that other settings made counts when the store's MD5 is the one it was stored with`()
        async throws
    {
        try await put("Sunset, small", metadata: metadata(of: "Sunset, small"))
        bench.memory.setClass(.deepArchive, of: key)
        try await bench.pass()
        #expect(try bench.status(path)?.state == .uploaded)
        #expect(bench.store.count(.get) == 0)
    }

    @Test func `of a copy that other settings made, what copies of its photo leave out is told, too`() async throws {
        bench.disk.onCopy { ($0.dropped, $0.note) = ([.xmp], "as this machine makes it") }
        try await put("Sunset, small", metadata: metadata(of: "Sunset, small"))
        try await bench.pass()
        let photo = try #require(try bench.status(path))
        #expect(bench.memory.content(key) == Array("Sunset, small".utf8))
        #expect(photo.dropped == [.xmp])
        #expect(photo.note == "as this machine makes it")
    }

    @Test(
        arguments: [(nil, "does not have it"), ("SUNSTE", "holds other bytes than were sent")] as [(String?, String)])
    func `a photo that the store took, and does not hold, waits with the reason`(
        kept: String?, words: String
    ) async throws {
        let bench = try Bench(through: { CarelessStore(base: $0, kept: kept) })
        bench.disk.write("sunset", to: path)
        try await bench.pass()
        let photo = try #require(try bench.status(path))
        #expect(photo.state == .pending)
        #expect(photo.error?.contains(words) == true)
        // Left there, it would pass for the photo at the next try.
        #expect(bench.memory.keys.isEmpty)
        #expect(bench.events.summary.postponed == 1 && bench.events.summary.uploaded == 0)
    }

    @Test(arguments: [StorageClass.standard, .deepArchive])
    func `what another machine has stored stays, though somebody on the way has taken the photo`(
        storageClass: StorageClass
    ) async throws {
        let bench = try Bench(through: { CarelessStore(base: $0, kept: nil) })
        bench.disk.write("sunset", to: path)
        let theirs = "Sunset, small"
        _ = try await bench.memory.put(
            ObjectBody(theirs), at: key,
            attributes: ObjectAttributes(contentType: "image/jpeg", metadata: metadata(of: theirs)),
            condition: .overwrite)
        bench.memory.setClass(storageClass, of: key)
        try await bench.pass()
        #expect(bench.memory.content(key) == Array(theirs.utf8))
        let photo = try #require(try bench.status(path))
        #expect(photo.state == .pending)
        #expect(photo.error?.contains("holds another object under its key") == true, "\(photo.error ?? "")")
    }

    @Test func `a project's file replaces its earlier version`() async throws {
        let path = Bench.projects.appending("projects.json")
        bench.disk.write("text [1]", to: path)
        try await bench.pass()
        bench.disk.write("text [1, 2]", to: path)
        try await bench.pass()
        #expect(bench.memory.content(try ObjectKey("users/ana/projects/projects.json")) == Array("TEXT [1, 2]".utf8))
    }
}

/// Puts everything into GLACIER_IR.
private struct CoolStore: WrappedStore {
    let base: any ObjectStore

    func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        var attributes = attributes
        attributes.storageClass = .glacierInstantRetrieval
        return try await base.put(body, at: key, attributes: attributes, condition: condition)
    }
}

/// Says of nothing what it holds of it, and holds something else.
private struct CarelessStore: WrappedStore {
    let base: any ObjectStore
    /// In the place of each object; `nil` for nothing.
    let kept: String?

    func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        if let kept {
            _ = try await base.put(ObjectBody(kept), at: key, attributes: attributes, condition: condition)
        }
        return PutReceipt()
    }
}
