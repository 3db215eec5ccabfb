import FoundationEssentials
import SyncCore
import SyncDigest
import Testing

@testable import SyncS3

/// Whether what we sign is what real servers compute: those that check take our requests, refuse altered ones, and we
/// tell the reason. What a server does not check is stated, and held against it as well.
@Suite
struct ServerSignatureTests {
    /// A request with something wrong in it.
    enum Lie: String, Sendable, CaseIterable {
        case wrongSecret, unknownKey, clockAnHourAhead, clockAnHourBehind
        /// Altered after signing.
        case otherBody, otherHeader, otherKey
        case wrongMD5
        case expiredLink, alteredLink

        /// What our adapter makes of the refusal.
        var code: StoreError.Code {
            switch self {
            case .wrongSecret, .unknownKey, .otherHeader, .otherKey, .alteredLink: .credentialsRejected
            case .clockAnHourAhead, .clockAnHourBehind: .clockSkew
            case .otherBody, .wrongMD5: .badDigest
            case .expiredLink: .accessDenied
            }
        }
    }

    @Test(arguments: TestServer.available, Lie.allCases)
    func `a lie is refused by each server that checks, and named`(server: TestServer, lie: Lie) async throws {
        let bench = try SigningBench(server)
        let found = try await bench.refusal(of: lie)
        await bench.close()
        #expect(found?.code == server.code(of: lie), "\(found.map { "\($0)" } ?? "taken")")
    }

    @Test(
        arguments: TestServer.available,
        [3_600, -3_600] as [TimeInterval])
    func `a clock that is an hour off is set right by the server's`(server: TestServer, seconds: TimeInterval)
        async throws
    {
        let store = try server.newStore(now: { Date() + seconds })
        await #expect(throws: Never.self) { try await store.check() }
        await store.close()
    }

    @Test(
        arguments: TestServer.available,
        ["plain.jpg", "a b+c&d=e/Zürich~ (1)'.jpg", "per%cent%2F", "trailing."])
    func `a presigned link is taken by every server`(server: TestServer, name: String) async throws {
        let bench = try SigningBench(server)
        try await bench.store("text of \(name)", at: name)
        let response = try await bench.send(HTTPRequest(.get, bench.link(to: name, expiresAfter: 60)))
        await bench.close()
        #expect(response.status == 200)
        #expect(String(decoding: response.body, as: UTF8.self) == "text of \(name)")
    }
}

extension TestServer {
    /// What our adapter makes of its answer; `nil` where the server does not look.
    fileprivate func code(of lie: ServerSignatureTests.Lie) -> StoreError.Code? {
        switch (self, lie) {
        case (.moto, _): nil
        // In headers it knows the key, and does not compare the signature.
        case (.ministack, .unknownKey), (.ministack, .wrongMD5), (.ministack, .expiredLink),
            (.ministack, .alteredLink):
            lie.code
        case (.ministack, _): nil
        // It compares the signature with the SHA-256 that the request tells, and not that with the bytes.
        case (.rclone, .otherBody): nil
        // It says AccessDenied, and no more; only the store, which knows its clock, takes that for what it is (`skew`).
        case (.rclone, .clockAnHourBehind): .accessDenied
        case (.rclone, _), (.ceph, _): lie.code
        }
    }
}

/// Raw requests to one server, below a prefix of their own.
private struct SigningBench {
    private let server: TestServer
    private let address: S3Address
    private let transport: CurlTransport
    private let prefix = "s-\(UUID())/"

    init(_ server: TestServer) throws {
        self.server = server
        address = try S3Address(
            bucket: TestServer.bucket, region: "us-east-1", endpoint: server.endpoint, addressing: .path)
        transport = try CurlTransport(settings: TransportSettings())
    }

    func close() async {
        await transport.close()
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await transport.send(request, target: .memory(limit: 1 << 20))
    }

    func store(_ text: String, at name: String) async throws {
        let response = try await send(signer.signed(put(text, at: name), at: Date()))
        #expect(response.status == 200)
    }

    func link(to name: String, expiresAfter seconds: Int, at date: Date = Date()) -> HTTPURL {
        signer.presigned(HTTPRequest(.get, address.url(key: prefix + name)), expiresAfter: seconds, at: date)
    }

    /// The server's answer as our adapter tells it; `nil` when it takes the request.
    func refusal(of lie: ServerSignatureTests.Lie) async throws -> StoreError? {
        switch lie {
        case .wrongSecret: return try await check(server.newStore(secret: "another-secret"))
        case .unknownKey: return try await check(server.newStore(keyID: "AKIANOBODYNOBODY0001"))
        case .clockAnHourAhead: return try await refusal(of: signer.signed(put("text", at: "lie"), at: Date() + 3_600))
        case .clockAnHourBehind: return try await refusal(of: signer.signed(put("text", at: "lie"), at: Date() - 3_600))
        case .otherBody:
            var request = signer.signed(put("as signed", at: "lie"), at: Date())
            request.body = HTTPBody(bytes: Array("as sent..".utf8))
            return try await refusal(of: request)
        case .otherHeader:
            var request = signer.signed(put("text", at: "lie"), at: Date())
            request.headers["x-amz-meta-a"] = "as sent"
            return try await refusal(of: request)
        case .otherKey:
            var request = signer.signed(put("text", at: "lie"), at: Date())
            request.url = address.url(key: prefix + "other")
            return try await refusal(of: request)
        case .wrongMD5:
            var request = put("text", at: "lie")
            request.headers["Content-MD5"] = Data(ContentDigest(of: []).md5.bytes).base64EncodedString()
            return try await refusal(of: signer.signed(request, at: Date()))
        case .expiredLink:
            try await store("text", at: "lie")
            return try await refusal(
                of: HTTPRequest(.get, link(to: "lie", expiresAfter: 60, at: Date() - 600)))
        case .alteredLink:
            try await store("text", at: "lie")
            var url = link(to: "lie", expiresAfter: 60)
            url.query.append(HTTPQueryItem("response-content-type", "text/html"))
            return try await refusal(of: HTTPRequest(.get, url))
        }
    }

    private var signer: SignatureV4 {
        SignatureV4(
            credentials: AWSCredentials(accessKeyID: TestServer.keyID, secretAccessKey: TestServer.secret),
            region: address.region)
    }

    private func put(_ text: String, at name: String) -> HTTPRequest {
        HTTPRequest(
            .put, address.url(key: prefix + name),
            headers: ["Content-Type": "text/plain", "x-amz-meta-a": "as signed"],
            body: HTTPBody(bytes: Array(text.utf8)))
    }

    private func check(_ store: S3Store) async throws -> StoreError? {
        do {
            try await store.check()
            await store.close()
            return nil
        } catch let error as StoreError {
            await store.close()
            return error
        }
    }

    private func refusal(of request: HTTPRequest) async throws -> StoreError? {
        let response = try await send(request)
        if response.status == 200 { return nil }
        return StoreError(response, in: S3RequestContext(operation: "put", key: "lie", address: address))
    }
}
