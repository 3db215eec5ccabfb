import SyncCore
import SyncDigest
import SyncS3
import Testing

/// Nothing is stored unencrypted that was to be encrypted.
@Suite struct S3EncryptionTests {
    typealias Answer = ScriptedTransport.Answer

    private static let header = "x-amz-server-side-encryption"
    private let body = ObjectBody(bytes: Array("hello".utf8), digest: ContentDigest(of: Array("hello".utf8)))
    private let attributes = ObjectAttributes(contentType: "image/jpeg")

    private func made(_ encryption: S3Encryption, _ answers: [Answer]) throws -> ScriptedStore {
        try ScriptedStore(answers, change: { $0.encryption = encryption })
    }

    private func put(
        _ made: ScriptedStore, _ condition: PutCondition = .ifAbsent
    ) async throws -> StoreError? {
        do {
            let receipt = try await made.store.put(
                body, at: try ObjectKey("a"), attributes: attributes, condition: condition)
            #expect(receipt.md5 == nil || receipt.md5 == body.digest.md5)
            return nil
        } catch let error as StoreError {
            return error
        }
    }

    private static func stored(_ encryption: String?) -> Answer {
        var headers: HTTPHeaders = ["ETag": "\"5d41402abc4b2a76b9719d911017c592\""]
        headers[header] = encryption
        return .reply(200, headers)
    }

    @Test(
        arguments: [
            (.byBucket, [nil, nil], nil), (.ownKeys, ["AES256", nil], "AES256"),
            (.keyService(key: nil), ["aws:kms", nil], "aws:kms"),
            (.keyService(key: "alias/photos"), ["aws:kms", "alias/photos"], "aws:kms"),
        ] as [(S3Encryption, [String?], String?)])
    func `A put asks for what is configured`(encryption: S3Encryption, sent: [String?], told: String?) async throws {
        let made = try made(encryption, [Self.stored(told)])
        #expect(try await put(made) == nil)
        let headers = made.transport.requests.first?.headers
        #expect([headers?[Self.header], headers?["\(Self.header)-aws-kms-key-id"]] == sent)
    }

    @Test(
        arguments: [
            .reply(501, [:], "<Error><Code>NotImplemented</Code><Header>\(header)</Header></Error>"),
            .reply(
                501, [:], "<Error><Message>Server side encryption specified but KMS is not configured</Message></Error>"
            ),
            .reply(400, [:], "<Error><Code>InvalidArgument</Code><ArgumentName>\(header)</ArgumentName></Error>"),
            .error(400, "InvalidEncryptionAlgorithmError"),
        ] as [Answer])
    func `A store that refuses it gets nothing`(answer: Answer) async throws {
        let made = try made(.ownKeys, [answer])
        let error = try await put(made)
        #expect(error?.code == .settingRefused)
        #expect(error?.message.contains("correct store.encryption") == true, "\(error?.message ?? "")")
        #expect(made.transport.requests.count == 1)
        #expect(made.store.knowledge.capabilities.conditionalPut == .honoured)
    }

    @Test func `Where the store names no reason, other features are left out first`() async throws {
        let made = try made(.ownKeys, [.reply(501), .reply(404), .reply(501), .reply(501)])
        #expect(try await put(made)?.message.contains("store.encryption") == true)
        let requests = made.transport.requests.filter { $0.method == .put }
        #expect(requests.count == 3)
        #expect(requests.allSatisfy { $0.headers[Self.header] == "AES256" })
        // None of them was what the store minded.
        let capabilities = made.store.knowledge.capabilities
        #expect(capabilities.conditionalPut == .honoured && capabilities.checksums)
    }

    @Test(arguments: [nil, "aws:kms"])
    func `A store that takes no notice of it keeps nothing, and is not asked again`(told: String?) async throws {
        let made = try made(.ownKeys, [Self.stored(told), Self.stored(nil), .reply(204)])
        for _ in 0..<2 {
            let error = try await put(made)
            #expect(error?.code == .settingRefused)
            #expect(error?.message.contains("does not encrypt as store.encryption asks") == true)
        }
        #expect(made.transport.lines == ["PUT /b/a", "HEAD /b/a", "DELETE /b/a"])
    }

    @Test func `Whether it is gone is found out to the end, whoever is told to stop meanwhile`() async throws {
        let made = try made(
            .ownKeys, [Self.stored(nil), Self.stored(nil), .reply(404), .reply(404), ScriptedStore.emptyList])
        let error = try await put(made)
        #expect(error?.code == .settingRefused && error?.message.contains("still stored") == false)
        #expect(made.transport.lines == ["PUT /b/a", "HEAD /b/a", "DELETE /b/a", "HEAD /b/a", "GET /b"])
        #expect(made.transport.requests.dropFirst().allSatisfy { !$0.isCancellable })
    }

    @Test(arguments: [
        Answer.reply(200, ["Content-Type": "text/html"], "<!DOCTYPE html><title>Maintenance</title>"),
        .reply(200, ["ETag": "\"page\"", "Last-Modified": changed], "<html>Maintenance</html>"),
        .reply(200, ["Content-Length": "0"]),
    ])
    func `What is no answer of a store says nothing of its encryption, and nothing is taken back`(page: Answer)
        async throws
    {
        let made = try made(.ownKeys, [page, Self.stored("AES256")])
        #expect(try await put(made)?.code == .invalidResponse)
        // The store itself is asked again.
        #expect(try await put(made) == nil)
        #expect(made.transport.lines == ["PUT /b/a", "PUT /b/a"])
    }

    @Test(arguments: [
        Answer.reply(404), .reply(200, ["ETag": "\"another\"", "Last-Modified": changed]),
        .reply(200, ["Last-Modified": changed]),
        // The same bytes have the same ETag, whoever has sent them.
        stored("AES256"), stored("aws:kms"),
    ])
    func `What another machine has stored under the key meanwhile is not taken back`(found: Answer) async throws {
        let made = try made(.ownKeys, [Self.stored(nil), found, .reply(204)])
        #expect(try await put(made)?.code == .settingRefused)
        #expect(made.transport.lines == ["PUT /b/a", "HEAD /b/a"])
    }

    private static let changed = "Fri, 21 Dec 2012 00:00:00 GMT"

    @Test(arguments: [Answer.error(403, "AccessDenied"), .failure(TransportError(.connectionLost, "cut"))])
    func `What cannot be taken back is told, and does not pass for the photo later`(answer: Answer) async throws {
        let error = try await put(try made(.ownKeys, [Self.stored(nil), Self.stored(nil), answer]))
        #expect(error?.code == .settingRefused)
        #expect(error?.message.contains("is still stored under this key") == true, "\(error?.message ?? "")")
        let taken = Answer.error(412, "PreconditionFailed")
        let next = try made(.ownKeys, [taken, Self.stored(nil)])
        let obstacle = try await put(next)
        #expect(obstacle?.code == .invalidRequest)
        #expect(obstacle?.message.contains("not encrypted as store.encryption asks; remove it") == true)
        #expect(next.transport.lines == ["PUT /b/a", "HEAD /b/a"])
    }

    @Test(
        arguments: [
            (.byBucket, nil, .alreadyExists), (.ownKeys, nil, .invalidRequest), (.ownKeys, "AES256", .alreadyExists),
            (.ownKeys, "aws:kms", .alreadyExists), (.keyService(key: nil), "AES256", .invalidRequest),
            (.keyService(key: nil), "aws:kms", .alreadyExists), (.keyService(key: nil), "aws:kms:dsse", .alreadyExists),
        ] as [(S3Encryption, String?, StoreError.Code)])
    func `What is there already counts when it is encrypted so or better`(
        encryption: S3Encryption, found: String?, code: StoreError.Code
    ) async throws {
        let made = try made(encryption, [.error(412, "PreconditionFailed"), Self.stored(found)])
        #expect(try await put(made)?.code == code)
    }

    @Test func `What was overwritten without it stays: nothing else is left of the object`() async throws {
        let made = try made(.ownKeys, [.reply(404), Self.stored(nil)])
        let error = try await put(made, .overwrite)
        #expect(error?.code == .settingRefused && error?.message.contains("still stored") == true)
        #expect(made.transport.lines == ["HEAD /b/a", "PUT /b/a"])
    }

    @Test(arguments: [
        ("KMS.NotFoundException", "Invalid keyId 'alias/x'"), ("KMS.DisabledException", "alias/x is disabled"),
    ])
    func `A key that cannot be used is named`(code: String, words: String) async throws {
        let answer = Answer.reply(400, [:], "<Error><Code>\(code)</Code><Message>\(words)</Message></Error>")
        let error = try await put(try made(.keyService(key: "alias/x"), [answer]))
        #expect(error?.code == .accessDenied)
        #expect(error?.message.contains(words) == true && error?.message.contains("store.kms_key") == true)
    }

    @Test(arguments: [(true, nil), (nil, true)] as [(Bool?, Bool?)])
    func `What the configuration demands is not left out`(checksums: Bool?, conditional: Bool?) async throws {
        let header = checksums == nil ? "If-None-Match" : "x-amz-checksum-sha256"
        let made = try ScriptedStore(
            [.reply(501, [:], "<Error><Header>\(header)</Header></Error>")], endpoint: "http://nas:9000",
            change: {
                $0.checksums = checksums
                $0.conditionalWrites = conditional ?? true
            })
        let error = try await put(made)
        #expect(error?.code == .settingRefused)
        #expect(error?.message.contains("does not take \(header)") == true, "\(error?.message ?? "")")
        #expect(made.transport.requests.count == 1)
    }
}
