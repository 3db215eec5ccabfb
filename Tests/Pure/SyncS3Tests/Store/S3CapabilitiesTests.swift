import SyncCore
import SyncDigest
import Testing

@testable import SyncS3

/// What a store refuses, and what becomes of it.
@Suite struct S3CapabilitiesTests {
    typealias Answer = ScriptedTransport.Answer

    private static let all: PutFeatures = [.condition, .checksum, .storageClass]
    private let body = ObjectBody(bytes: Array("hello".utf8), digest: ContentDigest(of: Array("hello".utf8)))

    private static func reply(_ status: Int, _ code: String, _ inside: String) -> HTTPResponse {
        HTTPResponse(status: status, body: Array("<Error><Code>\(code)</Code>\(inside)</Error>".utf8))
    }

    @Test(
        arguments: [
            (reply(501, "NotImplemented", ""), all, .condition),
            (reply(501, "NotImplemented", "<Header>x-amz-checksum-sha256</Header>"), all, .checksum),
            (reply(501, "NotImplemented", "<Header>If-None-Match</Header>"), all, .condition),
            (reply(501, "NotImplemented", ""), [.checksum, .storageClass], .checksum),
            (reply(501, "NotImplemented", ""), [.storageClass], .storageClass),
            (reply(501, "NotImplemented", ""), [], nil),
            (
                reply(400, "InvalidArgument", "<Message>Unsupported header 'x-amz-checksum-sha256'</Message>"), all,
                .checksum
            ),
            (reply(400, "InvalidArgument", "<ArgumentName>x-amz-storage-class</ArgumentName>"), all, .storageClass),
            (reply(400, "InvalidStorageClass", ""), all, .storageClass),
            (reply(400, "InvalidStorageClass", ""), [.condition], nil),
            (reply(400, "BadDigest", "<Message>The checksum did not match</Message>"), all, nil),
            (reply(400, "InvalidRequest", "<Message>Something else</Message>"), all, nil),
            (reply(412, "PreconditionFailed", "<Condition>If-None-Match</Condition>"), all, nil),
            (reply(503, "SlowDown", ""), all, nil), (HTTPResponse(status: 501), all, .condition),
            (HTTPResponse(status: 501, body: Array("<html>not implemented</html>".utf8)), all, nil),
        ] as [(HTTPResponse, PutFeatures, PutFeatures?)])
    func `A refusal names what is to be left out`(response: HTTPResponse, sent: PutFeatures, expected: PutFeatures?) {
        #expect(sent.refused(by: response) == expected)
    }

    @Test func `A store is asked once for what it does not have`() async throws {
        let stored = Answer.reply(200, ["ETag": "\"5d41402abc4b2a76b9719d911017c592\""])
        let made = try ScriptedStore([
            .error(400, "InvalidStorageClass"),
            .reply(501, [:], "<Error><Header>x-amz-checksum-sha256</Header></Error>"),
            stored, stored,
        ])
        let attributes = ObjectAttributes(contentType: "image/jpeg", storageClass: .glacier)
        for key in ["a", "b"] {
            _ = try await made.store.put(body, at: try ObjectKey(key), attributes: attributes, condition: .ifAbsent)
        }
        let requests = made.transport.requests
        #expect(requests.map { $0.headers["x-amz-storage-class"] } == ["GLACIER", nil, nil, nil])
        #expect(requests.map { $0.headers["x-amz-checksum-sha256"] != nil } == [true, true, false, false])
        #expect(requests.allSatisfy { $0.headers["If-None-Match"] == "*" })
        let capabilities = made.store.knowledge.capabilities
        #expect(capabilities.refusedClasses == [.glacier])
        #expect(capabilities.features(for: .deepArchive) == [.condition, .storageClass])
        #expect(capabilities.features(for: .standard) == .condition)
        #expect(capabilities.conditionalPut == .honoured)
    }

    @Test(
        arguments: [
            ([.reply(501), .reply(404), .reply(501), .reply(501)], .unsupported),
            ([.reply(501), .reply(404), .reply(405)], .unsupported),
            ([.reply(501), .reply(404), .error(403, "AccessDenied")], .accessDenied),
            ([.reply(501), .reply(404), .error(503, "SlowDown")], .throttled),
        ] as [([Answer], StoreError.Code)])
    func `A put that fails all the same has taught nothing`(answers: [Answer], expected: StoreError.Code) async throws {
        let made = try ScriptedStore(answers)
        let code = try await ScriptedStore.code {
            _ = try await made.store.put(
                body, at: try ObjectKey("a"), attributes: ObjectAttributes(contentType: "image/jpeg"),
                condition: .ifAbsent)
        }
        #expect(code == expected)
        #expect(made.transport.requests.count == answers.count)
        let capabilities = made.store.knowledge.capabilities
        #expect(capabilities.conditionalPut == .honoured && capabilities.checksums)
        #expect(capabilities.refusedClasses.isEmpty)
    }

    /// A put beside it may have learned so after the caller had looked.
    @Test(arguments: [(.condition, 1), ([], 0)] as [(PutFeatures, Int)])
    func `Without the condition, one looks before the first byte goes`(wanted: PutFeatures, looks: Int) async throws {
        let made = try ScriptedStore([.reply(200)], change: { $0.conditionalWrites = false })
        var sent: [Int] = []
        _ = try await made.store.client.store(
            made.store.client.context("put", try ObjectKey("a")), wanting: wanted, storageClass: .standard,
            beforeUnconditional: { sent.append(made.transport.requests.count) }
        ) { requests, _ in requests.headBucket() }
        #expect(sent == Array(repeating: 0, count: looks))
    }

    @Test(arguments: [(nil, true), ("http://nas:9000", false)])
    func `Checksums go where they are known to be kept`(endpoint: String?, sent: Bool) async throws {
        let made = try ScriptedStore(
            [.reply(404), .reply(200, ["ETag": "\"x\""]), .reply(404), .reply(404)], endpoint: endpoint)
        _ = try await made.store.put(
            body, at: try ObjectKey("a"), attributes: ObjectAttributes(contentType: "image/jpeg"), condition: .overwrite
        )
        _ = try await made.store.head(try ObjectKey("a"))
        let requests = made.transport.requests
        #expect(requests.map { $0.headers["x-amz-checksum-sha256"] != nil } == [false, sent, false])
        #expect(requests.map { $0.headers["x-amz-checksum-mode"] != nil } == [sent, false, sent])
        #expect(requests.allSatisfy { $0.headers["x-amz-sdk-checksum-algorithm"] == nil })
    }

    @Test(arguments: [
        ("LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=", true),
        ("LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=-3", false),
        ("short", false),
    ])
    func `The store's own digest is told, that of parts is not`(header: String, isTold: Bool) async throws {
        let made = try ScriptedStore([
            .reply(200, ["x-amz-checksum-sha256": header]),
            .reply(200, ["Content-Length": "5", "x-amz-checksum-sha256": header]),
        ])
        let receipt = try await made.store.put(
            body, at: try ObjectKey("a"), attributes: ObjectAttributes(contentType: "image/jpeg"), condition: .ifAbsent)
        #expect(receipt.sha256 == (isTold ? body.digest.sha256 : nil))
        #expect(try await made.store.head(try ObjectKey("a"))?.sha256 == receipt.sha256)
    }

    @Test func `A read is held against the store's own digest`() async throws {
        let made = try ScriptedStore([
            .reply(
                200,
                ["Content-Length": "5", "x-amz-checksum-sha256": "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="],
                "jello")
        ])
        let code = try await ScriptedStore.code {
            _ = try await made.store.get(try ObjectKey("a"), range: nil) { _ in }
        }
        #expect(code == .badDigest)
    }
}
