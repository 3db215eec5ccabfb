import SyncCore
import SyncDigest
import SyncS3
import SyncTestSupport
import Testing

@Suite struct S3CopyTests {
    typealias Answer = ScriptedTransport.Answer

    struct Row: Sendable {
        var key = "b"
        var endpoint: String?
        var storageClass = StorageClass.standard
        var condition = PutCondition.ifAbsent
        let answers: [Answer]
        let requests: [String]
        var error: StoreError.Code?
    }

    private static let other = "http://nas:9000"
    private static let nothing = Answer.reply(404)
    private static let done = Answer.reply(200, [:], "<CopyObjectResult><ETag>\"x\"</ETag></CopyObjectResult>")

    private static func listing(_ storageClass: String, key: String = "a") -> Answer {
        .reply(
            200, [:],
            "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>\(key)</Key><Size>5</Size>"
                + "<StorageClass>\(storageClass)</StorageClass></Contents></ListBucketResult>")
    }

    private static func object(_ storageClass: String? = nil, restore: String? = nil) -> Answer {
        var headers: HTTPHeaders = ["Content-Length": "5", "Last-Modified": "Fri, 21 Dec 2012 00:00:00 GMT"]
        headers["x-amz-storage-class"] = storageClass
        headers["x-amz-restore"] = restore
        return .reply(200, headers)
    }

    @Test(arguments: [
        Row(answers: [object(), nothing, done], requests: ["HEAD /b/a", "HEAD /b/b", "PUT /b/b"]),
        Row(answers: [nothing], requests: ["HEAD /b/a"], error: .notFound),
        Row(answers: [object("DEEP_ARCHIVE")], requests: ["HEAD /b/a"], error: .archived),
        Row(
            answers: [object("GLACIER", restore: "ongoing-request=\"false\""), nothing, done],
            requests: ["HEAD /b/a", "HEAD /b/b", "PUT /b/b"]),
        Row(answers: [object(), object()], requests: ["HEAD /b/a", "HEAD /b/b"], error: .alreadyExists),
        Row(
            answers: [object(), nothing, .error(412, "PreconditionFailed")],
            requests: ["HEAD /b/a", "HEAD /b/b", "PUT /b/b"], error: .alreadyExists),
        Row(
            answers: [object(), nothing, .reply(501), done],
            requests: ["HEAD /b/a", "HEAD /b/b", "PUT /b/b", "PUT /b/b"]),
        Row(
            condition: .overwrite, answers: [object(), object("GLACIER")], requests: ["HEAD /b/a", "HEAD /b/b"],
            error: .archived),
        Row(
            condition: .overwrite, answers: [object(), object(), done],
            requests: ["HEAD /b/a", "HEAD /b/b", "PUT /b/b"]),
        // Archived between the look and the copy.
        Row(
            answers: [object(), nothing, .error(403, "ObjectNotInActiveTierError")],
            requests: ["HEAD /b/a", "HEAD /b/b", "PUT /b/b"], error: .archived),
        Row(
            answers: [object(), nothing, .error(501, "NotImplemented"), .error(501, "NotImplemented")],
            requests: ["HEAD /b/a", "HEAD /b/b", "PUT /b/b", "PUT /b/b"], error: .unsupported),
        // 200 is no copy yet.
        Row(
            answers: [object(), nothing, .error(200, "InternalError")],
            requests: ["HEAD /b/a", "HEAD /b/b", "PUT /b/b"], error: .serverFailed),
        Row(
            answers: [object(), nothing, .reply(200, [:], "<CopyObjectResult><ETag>")],
            requests: ["HEAD /b/a", "HEAD /b/b", "PUT /b/b"], error: .invalidResponse),
        Row(
            answers: [object(), nothing, .reply(200)], requests: ["HEAD /b/a", "HEAD /b/b", "PUT /b/b"],
            error: .invalidResponse),
        // In place.
        Row(
            key: "a", storageClass: .deepArchive, condition: .overwrite, answers: [object(), done],
            requests: ["HEAD /b/a", "PUT /b/a"]),
        Row(
            key: "a", storageClass: .glacierInstantRetrieval, condition: .overwrite, answers: [object("GLACIER_IR")],
            requests: ["HEAD /b/a"]),
        Row(
            key: "a", storageClass: .deepArchive, condition: .overwrite, answers: [object("DEEP_ARCHIVE")],
            requests: ["HEAD /b/a"], error: .archived),
        // Elsewhere a class has to be seen.
        Row(
            key: "a", endpoint: other, storageClass: .deepArchive, condition: .overwrite,
            answers: [object(), done, object("DEEP_ARCHIVE"), listing("DEEP_ARCHIVE")],
            requests: ["HEAD /b/a", "PUT /b/a", "HEAD /b/a", "GET /b"]),
        // What is listed is believed, also of what seems to be there already.
        Row(
            key: "a", endpoint: other, storageClass: .deepArchive, condition: .overwrite,
            answers: [object(), done, object("DEEP_ARCHIVE"), listing("STANDARD")],
            requests: ["HEAD /b/a", "PUT /b/a", "HEAD /b/a", "GET /b"], error: .unsupported),
        Row(
            key: "a", endpoint: other, storageClass: .glacierInstantRetrieval, condition: .overwrite,
            answers: [object("GLACIER_IR"), listing("STANDARD")], requests: ["HEAD /b/a", "GET /b"],
            error: .unsupported),
        Row(
            key: "a", endpoint: other, storageClass: .deepArchive, condition: .overwrite,
            answers: [object(), done, object()], requests: ["HEAD /b/a", "PUT /b/a", "HEAD /b/a"], error: .unsupported),
        Row(endpoint: other, answers: [object(), nothing, done], requests: ["HEAD /b/a", "HEAD /b/b", "PUT /b/b"]),
    ])
    func `A copy happens where it may, and is told only when it is there`(row: Row) async throws {
        let made = try ScriptedStore(row.answers, endpoint: row.endpoint)
        let code = try await ScriptedStore.code {
            try await made.store.copy(
                try ObjectKey("a"), to: try ObjectKey(row.key), storageClass: row.storageClass,
                condition: row.condition)
        }
        #expect(code == row.error)
        #expect(made.transport.lines == row.requests)
    }

    @Test(arguments: [
        [object(), Answer.error(400, "InvalidStorageClass")], [object(), done, object()],
        // Ceph says no more than this.
        [object(), Answer.error(400, "InvalidArgument")],
    ])
    func `A class that the store lacks is named, and not asked for again`(answers: [Answer]) async throws {
        let made = try ScriptedStore(answers, endpoint: Self.other)
        let key = try ObjectKey("a")
        for _ in 1...2 {
            let error = await #expect(throws: StoreError.self) {
                try await made.store.copy(key, to: key, storageClass: .deepArchive, condition: .overwrite)
            }
            #expect(error?.code == .unsupported)
            #expect(error?.message.contains("http://nas:9000 does not have the storage class DEEP_ARCHIVE") == true)
        }
        #expect(made.transport.requests.count == answers.count)
    }

    @Test func `A class that was seen once is believed`() async throws {
        let made = try ScriptedStore(
            [
                Self.object(), Self.done, Self.object("GLACIER"), Self.listing("GLACIER"), Self.object(), Self.done,
            ], endpoint: Self.other)
        for key in [try ObjectKey("a"), try ObjectKey("b")] {
            try await made.store.copy(key, to: key, storageClass: .glacier, condition: .overwrite)
        }
        #expect(made.transport.lines == ["HEAD /b/a", "PUT /b/a", "HEAD /b/a", "GET /b", "HEAD /b/b", "PUT /b/b"])
    }

    @Test func `Where a copy onto itself is called illegal, it names type and metadata anew, from then on at once`()
        async throws
    {
        let source = Answer.reply(
            200,
            [
                "Content-Length": "5", "Content-Type": "image/jpeg", "Cache-Control": "private", "ETag": "\"x\"",
                "x-amz-meta-md5": "0123", "x-amz-meta-taken-at": "2024-06-15T07:30:00Z",
            ])
        let illegal = Answer.reply(
            400, [:],
            "<Error><Code>InvalidRequest</Code><Message>This copy request is illegal because it is trying to copy an "
                + "object to itself without changing the object's metadata</Message></Error>")
        let made = try ScriptedStore(
            [
                source, illegal, Self.done, Self.object("GLACIER"), Self.listing("GLACIER"), source, Self.done,
            ], endpoint: Self.other)
        for key in [try ObjectKey("a"), try ObjectKey("b")] {
            try await made.store.copy(key, to: key, storageClass: .glacier, condition: .overwrite)
        }
        let puts = made.transport.requests.filter { $0.method == .put }
        #expect(puts.map { $0.headers["x-amz-metadata-directive"] } == ["COPY", "REPLACE", "REPLACE"])
        for put in puts.dropFirst() {
            #expect(put.headers["Content-Type"] == "image/jpeg")
            #expect(put.headers["Cache-Control"] == "private")
            #expect(put.headers["x-amz-meta-md5"] == "0123")
            #expect(put.headers["x-amz-meta-taken-at"] == "2024-06-15T07:30:00Z")
            #expect(put.headers["x-amz-storage-class"] == "GLACIER")
            #expect(put.headers["ETag"] == nil)
        }
    }

    @Test(arguments: [nil, other])
    func `The condition goes along where it is honoured`(endpoint: String?) async throws {
        let made = try ScriptedStore([Self.object(), Self.nothing, Self.done], endpoint: endpoint)
        try await made.store.copy(
            try ObjectKey("a"), to: try ObjectKey("b"), storageClass: .standard, condition: .ifAbsent)
        #expect(made.transport.requests.last?.headers["If-None-Match"] == (endpoint == nil ? "*" : nil))
    }

    @Test func `A demanded condition is never left out`() async throws {
        let made = try ScriptedStore(
            [Self.object(), Self.nothing, .reply(501)], change: { $0.conditionalWrites = true })
        let code = try await ScriptedStore.code {
            try await made.store.copy(
                try ObjectKey("a"), to: try ObjectKey("b"), storageClass: .standard, condition: .ifAbsent)
        }
        #expect(code == .unsupported)
        #expect(made.transport.requests.count == 3)
    }

    @Test func `A copy with metadata of its own names that, and the type of its source`() async throws {
        let source = Answer.reply(
            200,
            [
                "Content-Length": "5", "Last-Modified": "Fri, 21 Dec 2012 00:00:00 GMT", "Content-Type": "image/jpeg",
                "x-amz-meta-md5": "0123",
            ])
        let made = try ScriptedStore([source, Self.nothing, Self.done])
        try await made.store.copy(
            try ObjectKey("a"), to: try ObjectKey("b"), storageClass: .standard, metadata: ["width": "4"],
            condition: .ifAbsent)
        #expect(made.transport.lines == ["HEAD /b/a", "HEAD /b/b", "PUT /b/b"])
        let headers = made.transport.requests[2].headers
        #expect(headers["x-amz-metadata-directive"] == "REPLACE" && headers["Content-Type"] == "image/jpeg")
        #expect(headers["x-amz-meta-width"] == "4" && headers["x-amz-meta-md5"] == nil)
    }

    @Test func `A copy is encrypted as it is asked for, or taken back`() async throws {
        let encrypted = Answer.reply(
            200, ["x-amz-server-side-encryption": "AES256"], "<CopyObjectResult></CopyObjectResult>")
        let made = try ScriptedStore(
            [
                Self.object(), Self.nothing, encrypted, Self.object(), Self.nothing, Self.done, Self.object(),
                .reply(200, ["ETag": "x"]), .reply(204),
            ], change: { $0.encryption = .ownKeys })
        let key = try ObjectKey("a")
        try await made.store.copy(key, to: try ObjectKey("b"), storageClass: .standard, condition: .ifAbsent)
        let code = try await ScriptedStore.code {
            try await made.store.copy(key, to: try ObjectKey("c"), storageClass: .standard, condition: .ifAbsent)
        }
        #expect(code == .settingRefused)
        #expect(made.transport.lines.suffix(4) == ["PUT /b/c", "HEAD /b/c", "HEAD /b/c", "DELETE /b/c"])
        #expect(made.transport.requests[2].headers["x-amz-server-side-encryption"] == "AES256")
    }

    @Test func `A store that encrypts copies and does not say so is looked at`() async throws {
        let encrypted = Answer.reply(200, ["Content-Length": "5", "x-amz-server-side-encryption": "AES256"])
        let made = try ScriptedStore(
            [Self.object(), Self.done, encrypted], change: { $0.encryption = .ownKeys })
        let key = try ObjectKey("a")
        try await made.store.copy(key, to: key, storageClass: .glacier, condition: .overwrite)
        #expect(made.transport.lines == ["HEAD /b/a", "PUT /b/a", "HEAD /b/a"])
    }

    @Test func `Where a copy in place has lost its encryption, no other object does, also in the next run`()
        async throws
    {
        let memory = InMemoryEndpointFacts()
        let made = try ScriptedStore(
            [Self.object(), Self.done, Self.object("GLACIER")], memory: memory, change: { $0.encryption = .ownKeys })
        let next = try ScriptedStore([], memory: memory, change: { $0.encryption = .ownKeys })
        var words: [String] = []
        for (store, name) in [(made.store, "a"), (made.store, "b"), (next.store, "b")] {
            let key = try ObjectKey(name)
            let error = await #expect(throws: StoreError.self) {
                try await store.copy(key, to: key, storageClass: .glacier, condition: .overwrite)
            }
            #expect(error?.code == .settingRefused)
            words.append(error?.message ?? "")
        }
        #expect(words.allSatisfy { $0.contains("does not encrypt copies as store.encryption asks") })
        #expect(words.map { $0.contains("has lost its encryption") } == [true, false, false])
        #expect(made.transport.requests.count == 3)
        // Without encryption in the configuration there is nothing to lose.
        let plain = try ScriptedStore([Self.object(), Self.done], memory: memory)
        try await plain.store.copy(
            try ObjectKey("a"), to: try ObjectKey("a"), storageClass: .glacier, condition: .overwrite)
        #expect(plain.transport.requests.count == 2)
    }

    @Test func `A store that does not encrypt puts is not asked for copies`() async throws {
        let stored = Answer.reply(200, ["ETag": "\"x\""])
        let made = try ScriptedStore([stored, stored, .reply(204)], change: { $0.encryption = .ownKeys })
        let key = try ObjectKey("a")
        let body = ObjectBody(bytes: [1], digest: ContentDigest(of: [1]))
        let put = try await ScriptedStore.code {
            _ = try await made.store.put(
                body, at: key, attributes: ObjectAttributes(contentType: "image/jpeg"), condition: .ifAbsent)
        }
        let copy = try await ScriptedStore.code {
            try await made.store.copy(key, to: key, storageClass: .glacier, condition: .overwrite)
        }
        #expect([put, copy] == [.settingRefused, .settingRefused])
        #expect(made.transport.lines == ["PUT /b/a", "HEAD /b/a", "DELETE /b/a"])
    }
}
