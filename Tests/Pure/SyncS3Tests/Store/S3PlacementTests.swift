import SyncDigest
import SyncS3
import Testing

@testable import SyncCore

/// Storage class, tags and payer of what is put.
@Suite struct S3PlacementTests {
    typealias Answer = ScriptedTransport.Answer

    private static let stored = Answer.reply(200, ["ETag": "\"5d41402abc4b2a76b9719d911017c592\""])
    private let body = ObjectBody(bytes: Array("hello".utf8), digest: ContentDigest(of: Array("hello".utf8)))

    @discardableResult private func put(
        _ made: ScriptedStore, at key: String = "users/ana/photos/a.dat", storageClass: StorageClass = .standard
    ) async throws -> PutReceipt {
        try await made.store.put(
            body, at: try ObjectKey(key),
            attributes: ObjectAttributes(contentType: "image/jpeg", storageClass: storageClass), condition: .ifAbsent)
    }

    @Test(
        arguments: [
            ("users/ana/photos/a.dat", "GLACIER_IR"), ("users/ana/originals/a.dat", "GLACIER_IR"),
            ("gallery-archive/ana/p/2026/01/e.jpg", "GLACIER_IR"), ("users/ana/vacations/x.json", nil),
            ("users/ana/projects/photos/a.jpg", nil), ("users/ana/catalog/m/1-2.jsonl.gz", nil),
            ("shares/x/x_0.jpg", nil), ("sync-agent-store.json", nil), ("users/photos/a.dat", nil),
        ] as [(String, String?)])
    func `Photos are stored in the configured class, everything else in STANDARD`(key: String, sent: String?)
        async throws
    {
        let made = try ScriptedStore([Self.stored], change: { $0.storageClass = .glacierInstantRetrieval })
        let receipt = try await put(made, at: key)
        #expect(made.transport.requests.first?.headers["x-amz-storage-class"] == sent)
        #expect(receipt.storageClass.rawValue == sent ?? "STANDARD")
    }

    @Test func `A server that ignores the class is noticed at the first put, and only asked once`() async throws {
        let there = Answer.reply(200, ["Content-Length": "5", "ETag": "\"5d41402abc4b2a76b9719d911017c592\""])
        let made = try ScriptedStore(
            [.reply(404), Self.stored, there, .reply(404), Self.stored], endpoint: "http://nas:9000",
            change: { $0.storageClass = .standardIA })
        for key in ["users/ana/photos/a.dat", "users/ana/photos/b.dat"] {
            #expect(try await put(made, at: key).storageClass == .standard)
        }
        #expect(made.transport.lines.map { $0.prefix(4) } == ["HEAD", "PUT ", "HEAD", "HEAD", "PUT "])
    }

    @Test func `A server that has the class is asked once, too`() async throws {
        let there = Answer.reply(
            200,
            [
                "Content-Length": "5", "ETag": "\"5d41402abc4b2a76b9719d911017c592\"",
                "x-amz-storage-class": "STANDARD_IA",
            ])
        let made = try ScriptedStore(
            [.reply(404), Self.stored, there, .reply(404), Self.stored], endpoint: "http://nas:9000",
            change: { $0.storageClass = .standardIA })
        for key in ["users/ana/photos/a.dat", "users/ana/photos/b.dat"] {
            #expect(try await put(made, at: key).storageClass == .standardIA)
        }
        #expect(made.transport.requests.count == 5)
    }

    @Test func `A class that the caller names is not changed`() async throws {
        let made = try ScriptedStore([Self.stored], change: { $0.storageClass = .standardIA })
        #expect(try await put(made, storageClass: .deepArchive).storageClass == .deepArchive)
        #expect(made.transport.requests.first?.headers["x-amz-storage-class"] == "DEEP_ARCHIVE")
    }

    @Test(
        arguments: [
            .error(400, "InvalidStorageClass"), .error(400, "InvalidArgument"),
            .reply(501, [:], "<Error><Code>NotImplemented</Code><Header>x-amz-storage-class</Header></Error>"),
        ] as [Answer])
    func `A store that does not have the class gets no photo, also after it was refused before`(answer: Answer)
        async throws
    {
        let made = try ScriptedStore([answer, answer, Self.stored], change: { $0.storageClass = .oneZoneIA })
        for _ in 0..<2 {
            let error = await #expect(throws: StoreError.self) { try await put(made) }
            #expect(error?.code == .settingRefused)
            #expect(error?.message.contains("which store.storage_class asks for") == true, "\(error?.message ?? "")")
        }
        // What is in STANDARD anyway is stored.
        #expect(try await put(made, at: "users/ana/vacations/x.json").storageClass == .standard)
    }

    @Test func `Each object gets the tags, as a query by their names`() async throws {
        let tags = ["owner": "ana b", "album/": "süß=+", "empty": ""]
        let made = try ScriptedStore([Self.stored], change: { $0.tags = tags })
        try await put(made, at: "users/ana/vacations/x.json")
        #expect(
            made.transport.requests.first?.headers["x-amz-tagging"]
                == "album%2F=s%C3%BC%C3%9F%3D%2B&empty=&owner=ana%20b")
    }

    @Test(
        arguments: [
            .reply(501, [:], "<Error><Code>NotImplemented</Code><Header>x-amz-tagging</Header></Error>"),
            .error(400, "InvalidTag"),
        ] as [Answer])
    func `A store that does not take tags gets nothing`(answer: Answer) async throws {
        let made = try ScriptedStore([answer], change: { $0.tags = ["a": "b"] })
        let error = await #expect(throws: StoreError.self) { try await put(made) }
        #expect(error?.code == .settingRefused)
        #expect(error?.message.contains("does not take x-amz-tagging, which store.tags asks for") == true)
        #expect(made.transport.requests.count == 1)
    }

    @Test func `Where the requester pays there is no form for guests, who have no account`() async throws {
        let made = try ScriptedStore([], change: { $0.requesterPays = true })
        let error = await #expect(throws: StoreError.self) {
            try await made.store.uploadForm(
                for: [try ObjectKey("shares/s/guests/1")], UploadRules(mostBytes: 9, contentType: "image/"),
                lasting: .seconds(60))
        }
        #expect(error?.code == .unsupported)
    }

    @Test func `Without tags, class and payer no header tells of them`() async throws {
        let made = try ScriptedStore([Self.stored])
        try await put(made)
        let names = made.transport.requests[0].headers.fields.map { $0.name.lowercased() }
        #expect(!names.contains { ["x-amz-tagging", "x-amz-storage-class", "x-amz-request-payer"].contains($0) })
    }

    @Test func `Where the requester pays, every request says so under its signature`() async throws {
        let made = try ScriptedStore(
            [Self.stored, ScriptedStore.emptyList, .reply(204)], change: { $0.requesterPays = true })
        try await put(made)
        _ = try await made.store.list(prefix: "", after: nil, limit: 1)
        try await made.store.delete(try ObjectKey("a"))
        #expect(made.transport.requests.count == 3)
        for request in made.transport.requests {
            #expect(request.headers["x-amz-request-payer"] == "requester")
            #expect(request.headers["Authorization"]?.contains("x-amz-request-payer") == true)
        }
    }

    @Test func `A link says it, too, in its query`() async throws {
        let made = try ScriptedStore(
            [.reply(200, ["ETag": "\"a\"", "Content-Length": "1"])], change: { $0.requesterPays = true })
        let link = try await made.store.link(to: try ObjectKey("a"), lasting: .seconds(60))
        #expect(link.url.contains("x-amz-request-payer=requester"))
    }
}
