import FoundationEssentials
import SyncCore
import SyncDigest
import SyncS3
import Testing

@Suite struct S3StoreTests {
    typealias Answer = ScriptedTransport.Answer

    private static let amazon: String? = nil
    private static let other: String? = "http://localhost:9000"
    private let key: ObjectKey
    private let body = ObjectBody(bytes: Array("hello".utf8), digest: ContentDigest(of: Array("hello".utf8)))
    private let attributes = ObjectAttributes(contentType: "image/jpeg")

    init() throws {
        key = try ObjectKey("a")
    }

    private func make(
        _ answers: [Answer], endpoint: String? = amazon, variables: [String: String] = keys,
        now: @escaping @Sendable () -> Date = { Date(timeIntervalSince1970: 1_356_048_000) }
    ) throws -> (store: S3Store, transport: ScriptedTransport) {
        let transport = ScriptedTransport(answers)
        let environment = AWSEnvironment(variables: variables, profile: nil) { _ throws(StoreError) in nil }
        let store = try S3Store(
            settings: S3Settings(bucket: "b", endpoint: endpoint, addressing: .path), environment: environment,
            transport: transport, now: now)
        return (store, transport)
    }

    private static let keys = ["AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret"]
    private static let stored = Answer.reply(200, ["ETag": "\"5d41402abc4b2a76b9719d911017c592\""])
    private static let nothing = Answer.reply(404)
    private static let emptyList = ScriptedStore.emptyList
    private static let changed = "Fri, 21 Dec 2012 00:00:00 GMT"
    private static let there = Answer.reply(200, ["Content-Length": "5", "Last-Modified": changed])
    /// Of a network that wants a login first.
    private static let portal = Answer.reply(200, ["Content-Length": "5", "Content-Type": "text/html"], "hello")
    /// Of a proxy that is being set up: it has an ETag as any file has.
    private static func page(_ status: Int) -> Answer {
        .reply(status, ["ETag": "\"page\"", "Last-Modified": changed], "\n<!DOCTYPE html><title>Maintenance</title>")
    }

    private static let archived = Answer.reply(200, ["Content-Length": "5", "x-amz-storage-class": "DEEP_ARCHIVE"])
    private static let restored = Answer.reply(
        200,
        [
            "Content-Length": "5", "x-amz-storage-class": "GLACIER", "x-amz-restore": "ongoing-request=\"false\"",
        ])

    typealias Put = (
        condition: PutCondition, endpoint: String?, answers: [Answer], requests: [String], error: StoreError.Code?
    )

    @Test(
        arguments: [
            (.ifAbsent, amazon, [stored], ["PUT"], nil),
            (.ifAbsent, amazon, [.error(412, "PreconditionFailed")], ["PUT"], .alreadyExists),
            (.ifAbsent, amazon, [.error(409, "ConditionalRequestConflict")], ["PUT"], .conflict),
            (.ifAbsent, other, [nothing, stored], ["HEAD", "PUT"], nil),
            (.ifAbsent, other, [there], ["HEAD"], .alreadyExists),
            (.ifAbsent, other, [nothing, .reply(412)], ["HEAD", "PUT"], .alreadyExists),
            (.ifAbsent, other, [nothing, .reply(412, [:], "Precondition Failed")], ["HEAD", "PUT"], .alreadyExists),
            (.ifAbsent, other, [nothing, .error(501, "NotImplemented"), stored], ["HEAD", "PUT", "PUT"], nil),
            (.overwrite, amazon, [nothing, stored], ["HEAD", "PUT"], nil),
            (.overwrite, amazon, [there, stored], ["HEAD", "PUT"], nil),
            (.overwrite, amazon, [restored, stored], ["HEAD", "PUT"], nil),
            (.overwrite, amazon, [archived], ["HEAD"], .archived),
            (.overwrite, amazon, [.reply(500)], ["HEAD"], .serverFailed),
            (.ifAbsent, amazon, [.reply(501), nothing, stored], ["PUT", "HEAD", "PUT"], nil),
            (.ifAbsent, amazon, [.reply(501), there], ["PUT", "HEAD"], .alreadyExists),
            (.overwrite, amazon, [nothing, .reply(204)], ["HEAD", "PUT"], .invalidResponse),
            (.overwrite, amazon, [portal], ["HEAD"], .invalidResponse),
            (.ifAbsent, other, [portal], ["HEAD"], .invalidResponse),
            (.ifAbsent, amazon, [portal], ["PUT"], .invalidResponse),
            (.ifAbsent, amazon, [page(200)], ["PUT"], .invalidResponse),
            (.ifAbsent, amazon, [page(403)], ["PUT"], .invalidResponse),
            (.ifAbsent, amazon, [page(404)], ["PUT"], .invalidResponse),
            (.ifAbsent, amazon, [page(409)], ["PUT"], .invalidResponse),
            (.ifAbsent, amazon, [page(412)], ["PUT"], .invalidResponse),
            (.ifAbsent, amazon, [page(501)], ["PUT"], .invalidResponse),
        ] as [Put])
    func `A put looks first where the condition is not enough`(row: Put) async throws {
        let (store, transport) = try make(row.answers, endpoint: row.endpoint)
        let code = try await code {
            let receipt = try await store.put(body, at: key, attributes: attributes, condition: row.condition)
            #expect(receipt.md5 == body.digest.md5)
        }
        #expect(code == row.error)
        #expect(transport.requests.map(\.method.rawValue) == row.requests)
    }

    @Test func `Only a conditional put that was refused proves that the store honours it`() async throws {
        let (store, transport) = try make(
            [Self.nothing, Self.stored, Self.nothing, .reply(412), .reply(412)], endpoint: Self.other)
        for expected in [nil, .alreadyExists, .alreadyExists] as [StoreError.Code?] {
            let code = try await code {
                _ = try await store.put(body, at: key, attributes: attributes, condition: .ifAbsent)
            }
            #expect(code == expected)
        }
        #expect(transport.requests.map(\.method.rawValue) == ["HEAD", "PUT", "HEAD", "PUT", "PUT"])
        #expect(transport.requests.filter { $0.method == .put }.allSatisfy { $0.headers["If-None-Match"] == "*" })
    }

    @Test func `A store that refuses the condition is not asked again`() async throws {
        let (store, transport) = try make(
            [Self.nothing, .reply(501), Self.stored, Self.nothing, Self.stored], endpoint: Self.other)
        _ = try await store.put(body, at: key, attributes: attributes, condition: .ifAbsent)
        _ = try await store.put(body, at: key, attributes: attributes, condition: .ifAbsent)
        #expect(transport.requests.map { $0.headers["If-None-Match"] } == [nil, "*", nil, nil, nil])
    }

    /// Of the error that `work` throws; `nil` when it ends normally.
    private func code(_ work: () async throws -> Void) async throws -> StoreError.Code? {
        do {
            try await work()
            return nil
        } catch let error as StoreError {
            return error.code
        }
    }

    @Test(
        arguments: [
            ([reply("hello")], nil, nil),
            ([reply("hello", ["x-amz-meta-sha256": sha256])], nil, nil),
            ([reply("jello")], nil, .badDigest),
            ([reply("jello", ["ETag": "\"not-an-md5\"", "x-amz-meta-sha256": sha256])], nil, .badDigest),
            ([reply("jello", ["ETag": "\"not-an-md5\""])], nil, nil),
            ([reply("hello", ["x-amz-checksum-sha256": checksum])], nil, nil),
            ([reply("jello", ["ETag": "\"not-an-md5\"", "x-amz-checksum-sha256": checksum])], nil, .badDigest),
            ([reply("")], nil, .badDigest), ([reply("", ["x-amz-meta-sha256": sha256])], nil, .badDigest),
            // The store has what its writer did not mean.
            (
                [reply("hello", ["x-amz-checksum-sha256": checksum, "x-amz-meta-sha256": String(sha256.reversed())])],
                nil, .badDigest
            ),
            ([reply("hell", ["Content-Length": "5", "Last-Modified": changed])], nil, .connectionLost),
            ([.reply(206, ["Content-Range": "bytes 1-2/5", "Last-Modified": changed], "el")], 1..<3, nil),
            ([.reply(206, ["Content-Range": "bytes 1-2/5", "Last-Modified": changed], "e")], 1..<3, .connectionLost),
            ([portal], nil, .invalidResponse),
            ([.reply(206, ["Content-Range": "bytes 1-2/5"], "el")], 1..<3, .invalidResponse),
            ([.reply(200, ["Content-Length": "5"], "hello")], 1..<3, .invalidResponse),
            ([.error(403, "InvalidObjectState")], nil, .archived),
            ([.error(404, "NoSuchKey")], nil, .notFound),
            ([.error(404, "NoSuchBucket")], nil, .storeMissing), ([.reply(404)], nil, .invalidResponse),
            ([.reply(404, [:], "404 page not found\n")], nil, .invalidResponse),
            ([.reply(404, [:], "<html>no such page</html>")], nil, .invalidResponse),
            ([.error(416, "InvalidRange")], 9..<10, .invalidRange),
            ([there], 5..<5, nil), ([there], 6..<6, .invalidRange), ([nothing], 0..<0, .notFound),
            ([archived], 0..<0, .archived),
            ([.failure(TransportError(.connectionLost, "cut"))], nil, .connectionLost),
        ] as [([Answer], Range<Int64>?, StoreError.Code?)])
    func `A read ends normally only with the bytes that were stored`(
        answers: [Answer], range: Range<Int64>?, expected: StoreError.Code?
    ) async throws {
        let (store, _) = try make(answers)
        let code = try await code {
            let info = try await store.get(key, range: range) { _ in }
            #expect(info.size == 5)
        }
        #expect(code == expected)
    }

    @Test(
        arguments: [
            ([.reply(204)], nil), ([.reply(200)], nil), ([.error(404, "NoSuchKey")], nil),
            ([.error(404, "NoSuchVersion")], nil), ([.error(404, "NoSuchBucket")], .storeMissing),
            ([.error(200, "InternalError")], .serverFailed),
            ([.reply(200, [:], "\n<!DOCTYPE html><title>Welcome</title>")], .invalidResponse),
            ([.reply(404, [:], "<html>no such page</html>")], .invalidResponse),
            // A 404 in a server's own words, or without any, is held against a HEAD and a listing.
            ([.reply(404, [:], plain), nothing, emptyList], nil), ([.reply(404, [:], plain), there], .invalidResponse),
            ([.reply(404, [:], plain), nothing, listed], .conflict),
            ([.reply(404, [:], plain), nothing, .reply(404, [:], plain)], .storeMissing),
            ([.reply(404, [:], "{\"error\": \"not found\"}"), nothing, emptyList], nil),
            ([.reply(404), nothing, emptyList], nil), ([.reply(404), there], .invalidResponse),
            ([.reply(404), nothing, listed], .conflict), ([.reply(404), nothing, .reply(500)], .serverFailed),
        ] as [([Answer], StoreError.Code?)])
    func `An object is called deleted only when the store itself has said so`(
        answers: [Answer], expected: StoreError.Code?
    ) async throws {
        let (store, transport) = try make(answers)
        #expect(try await code { try await store.delete(key) } == expected)
        #expect(transport.requests.count == answers.count)
    }

    private static let plain = "404 page not found\n"
    private static let listed = Answer.reply(
        200, [:], "<ListBucketResult><Contents><Key>a</Key><Size>5</Size></Contents></ListBucketResult>")

    @Test(arguments: [200, 202, 409, 501])
    func `The page of a network is no restore`(status: Int) async throws {
        let (store, _) = try make([.reply(status, [:], "<!doctype html><title>Welcome</title>")])
        let code = try await code { _ = try await store.restore(key, RestoreRequest(days: 1, tier: .bulk)) }
        #expect(code == .invalidResponse)
    }

    /// Of "hello".
    private static let checksum = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="
    private static let sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

    private static func reply(_ text: String, _ headers: HTTPHeaders = [:]) -> Answer {
        var all: HTTPHeaders = [
            "Content-Length": "\(text.utf8.count)", "ETag": "\"5d41402abc4b2a76b9719d911017c592\"",
        ]
        for field in headers.fields { all[field.name] = field.value }
        return .reply(200, all, text)
    }

    @Test(
        arguments: [
            (.reply(204), nil), (.reply(200), nil), (.error(404, "NoSuchKey"), nil),
            (.error(404, "NoSuchBucket"), .storeMissing), (.error(403, "AccessDenied"), .accessDenied),
        ] as [(Answer, StoreError.Code?)])
    func `Deleting what is not there is no error`(answer: Answer, expected: StoreError.Code?) async throws {
        let (store, _) = try make([answer])
        #expect(try await code { try await store.delete(key) } == expected)
    }

    @Test func `A head that is refused asks a listing why`() async throws {
        let (store, transport) = try make([.reply(403), .error(403, "SignatureDoesNotMatch")])
        let error = await #expect(throws: StoreError.self) { try await store.head(self.key) }
        #expect(error?.code == .credentialsRejected)
        #expect(error?.operation == "head")
        #expect(transport.lines == ["HEAD /b/a", "GET /b"])
    }

    @Test func `A head that alone is refused says so`() async throws {
        let (store, transport) = try make([.reply(403), Self.emptyList, .reply(403)])
        let error = await #expect(throws: StoreError.self) { try await store.head(self.key) }
        #expect(error?.code == .accessDenied)
        #expect(error?.key == "a")
        #expect(transport.lines == ["HEAD /b/a", "GET /b", "HEAD /b/a"])
    }

    @Test func `A head is sent again where the listing is not refused any more`() async throws {
        let (store, transport) = try make([.reply(403), Self.emptyList, Self.there])
        #expect(try await store.head(key)?.size == 5)
        #expect(transport.requests.count == 3)
    }

    @Test(
        arguments: [
            ("<Error><Code>InternalError</Code></Error>", .serverFailed),
            ("<Error><Code>SlowDown</Code></Error>", .throttled),
            ("<Error><Code>Unheard</Code></Error>", .serverFailed),
            ("<?xml version=\"1.0\"?><Error/>", .serverFailed), ("", nil), ("<Other/>", nil),
        ] as [(String, StoreError.Code?)])
    func `A put that is answered with 200 and an error has failed`(document: String, expected: StoreError.Code?)
        async throws
    {
        let (store, _) = try make([.reply(200, ["ETag": "\"5d41402abc4b2a76b9719d911017c592\""], document)])
        let code = try await code {
            _ = try await store.put(body, at: key, attributes: attributes, condition: .ifAbsent)
        }
        #expect(code == expected)
    }

    @Test func `Without credentials nothing is sent`() async throws {
        let (store, transport) = try make([], variables: ["HOME": "/h", "AWS_EC2_METADATA_DISABLED": "true"])
        let error = await #expect(throws: StoreError.self) { try await store.check() }
        #expect(error?.code == .credentialsMissing)
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: [
        ("", nil, "s3://b/"), ("/x/y/", nil, "s3://b/x/y/"), ("x", other, "s3://b/x/ at http://localhost:9000"),
    ])
    func `The store says where it is`(prefix: String, endpoint: String?, location: String) throws {
        let environment = AWSEnvironment(variables: [:], profile: nil) { _ throws(StoreError) in nil }
        let store = try S3Store(
            settings: S3Settings(bucket: "b", endpoint: endpoint, prefix: prefix), environment: environment,
            transport: ScriptedTransport([]), now: { Date(timeIntervalSince1970: 0) })
        #expect(store.identity == StoreIdentity(type: "s3", location: location))
    }

    @Test(arguments: ["a//b", "../x", "a\u{7}"])
    func `A prefix that cannot begin a key is refused`(prefix: String) {
        let environment = AWSEnvironment(variables: [:], profile: nil) { _ throws(StoreError) in nil }
        #expect(throws: StoreError.self) {
            try S3Store(
                settings: S3Settings(bucket: "b", prefix: prefix), environment: environment,
                transport: ScriptedTransport([]), now: { Date(timeIntervalSince1970: 0) })
        }
    }
}
