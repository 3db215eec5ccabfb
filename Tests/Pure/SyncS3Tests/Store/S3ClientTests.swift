import FoundationEssentials
import SyncCore
import SyncS3
import SyncSystem
import Testing

/// What the store sets right by itself, once.
@Suite struct S3ClientTests {
    typealias Answer = ScriptedTransport.Answer

    private static let moved = Answer.reply(
        301, ["x-amz-bucket-region": "eu-west-1"], "<Error><Code>PermanentRedirect</Code></Error>")
    private static let skewed = Answer.error(
        403, "RequestTimeTooSkewed", headers: ["Date": "Fri, 21 Dec 2012 02:00:00 GMT"])
    private static let list = ScriptedStore.emptyList
    private static let there = Answer.reply(
        200, ["Content-Length": "5", "Last-Modified": "Fri, 21 Dec 2012 00:00:00 GMT"])

    // MARK: Region

    @Test func `A redirect is followed, signed anew, and remembered`() async throws {
        let made = try ScriptedStore([Self.moved, Self.list, Self.list])
        try await made.store.check()
        try await made.store.check()
        #expect(
            made.transport.requests.map(\.url.host) == [
                "s3.us-east-1.amazonaws.com", "s3.eu-west-1.amazonaws.com", "s3.eu-west-1.amazonaws.com",
            ])
        let scopes = made.transport.requests.map { $0.headers["Authorization"]?.contains("/eu-west-1/s3/") }
        #expect(scopes == [false, true, true])
        #expect(made.store.knowledge.address.region == "eu-west-1")
    }

    @Test func `A store of one's own is only signed for its region`() async throws {
        let malformed = Answer.reply(
            400, [:], "<Error><Code>AuthorizationHeaderMalformed</Code><Region>garage</Region></Error>")
        let made = try ScriptedStore([malformed, Self.list], endpoint: "http://nas:3900")
        try await made.store.check()
        #expect(made.transport.requests.map(\.url.authority) == ["nas:3900", "nas:3900"])
        #expect(made.transport.requests.last?.headers["Authorization"]?.contains("/garage/s3/") == true)
    }

    @Test(
        arguments: [
            ([moved, moved], 2), ([.reply(301), .reply(403, ["x-amz-bucket-region": "eu-west-1"]), list], 3),
            ([.reply(301), .reply(404)], 2), ([.reply(301, ["x-amz-bucket-region": "us-east-1"])], 1),
            ([.reply(301, ["x-amz-bucket-region": "a/b"])], 1),
        ] as [([Answer], Int)])
    func `A redirect never leads in circles`(answers: [Answer], requests: Int) async throws {
        let made = try ScriptedStore(answers)
        let code = try await ScriptedStore.code { try await made.store.check() }
        #expect(code == (requests == 3 ? nil : .wrongRegion))
        #expect(made.transport.requests.count == requests)
    }

    @Test func `A head that says nothing learns from a listing, and is sent again`() async throws {
        let key = try ObjectKey("a")
        for wrong in [Self.moved, Self.skewed, .error(400, "ExpiredToken")] {
            let made = try ScriptedStore([.reply(403), wrong, Self.list, Self.there])
            #expect(try await made.store.head(key)?.size == 5)
            #expect(made.transport.requests.map(\.method.rawValue) == ["HEAD", "GET", "GET", "HEAD"])
        }
    }

    @Test func `A head that names the region needs no listing`() async throws {
        let made = try ScriptedStore([.reply(400, ["x-amz-bucket-region": "eu-west-1"]), .reply(404)])
        #expect(try await made.store.head(try ObjectKey("a")) == nil)
        #expect(made.transport.lines == ["HEAD /b/a", "HEAD /b/a"])
    }

    // MARK: Clock

    @Test func `A wrong clock is set right in the same operation, and stays so`() async throws {
        let made = try ScriptedStore([Self.skewed, Self.list, Self.list])
        try await made.store.check()
        try await made.store.check()
        #expect(
            made.transport.requests.map { $0.headers["x-amz-date"] } == [
                "20121221T000000Z", "20121221T020000Z", "20121221T020000Z",
            ])
        #expect(made.store.knowledge.clockOffset == 7_200)
    }

    @Test func `A store that only says AccessDenied to a wrong clock gets the right one`() async throws {
        let headers: HTTPHeaders = ["Date": "Fri, 21 Dec 2012 02:00:00 GMT"]
        let made = try ScriptedStore([.error(403, "AccessDenied", headers: headers), Self.list])
        try await made.store.check()
        #expect(made.store.knowledge.clockOffset == 7_200)
        let denied = try ScriptedStore(
            [.error(403, "AccessDenied", headers: headers), .error(403, "AccessDenied", headers: headers)])
        #expect(try await ScriptedStore.code { try await denied.store.check() } == .accessDenied)
        #expect(denied.transport.requests.count == 2)
    }

    @Test func `What is left over is reckoned by the clock as the answer has found it`() async throws {
        let behind = Answer.error(403, "RequestTimeTooSkewed", headers: ["Date": "Sun, 31 Mar 2013 00:00:00 GMT"])
        let right = Answer.error(403, "RequestTimeTooSkewed", headers: ["Date": "Fri, 21 Dec 2012 00:00:00 GMT"])
        let uploads = Answer.reply(
            200, [:],
            "<ListMultipartUploadsResult><Upload><Key>users/ana/a</Key><UploadId>7</UploadId>"
                + "<Initiated>2012-12-20T12:00:00.000Z</Initiated></Upload></ListMultipartUploadsResult>")
        let made = try ScriptedStore([behind, Self.list, right, uploads])
        try await made.store.check()
        #expect(made.store.knowledge.clockOffset == 100 * 86_400)
        // Somebody has set the clock meanwhile; what began half a day ago is under way.
        try await made.store.takeBackUploads(below: "users/ana/")
        #expect(made.store.knowledge.clockOffset == 0)
        #expect(made.transport.requests.map(\.method.rawValue) == ["GET", "GET", "GET", "GET"])
    }

    @Test func `How far the store's clock is ahead is asked of it`() async throws {
        let made = try ScriptedStore([Self.skewed, Self.list, Self.list])
        #expect(try await made.store.clockOffset() == 7_200)
        #expect(try await made.store.clockOffset() == 7_200)
        let right = try ScriptedStore([Self.list])
        #expect(try await right.store.clockOffset() == 0)
    }

    @Test func `A clock that is refused twice is an error with the difference`() async throws {
        let made = try ScriptedStore([Self.skewed, Self.skewed])
        let error = await #expect(throws: StoreError.self) { try await made.store.check() }
        #expect(error?.code == .clockSkew)
        #expect(error?.message.contains("clock is 2 h behind that of https://s3.us-east-1.amazonaws.com") == true)
        #expect(made.transport.requests.count == 2)
    }

    @Test func `Everything can be wrong at once`() async throws {
        let made = try ScriptedStore([Self.moved, Self.skewed, .error(400, "ExpiredToken"), Self.list])
        try await made.store.check()
        #expect(made.transport.requests.count == 4)
    }

    // MARK: Credentials

    /// Files whose key pair has another name at each look.
    private static func rotating(_ reads: Lock<Int>) -> AWSEnvironment.FileReader {
        { path throws(StoreError) in
            guard path == "/h/.aws/credentials" else { return nil }
            let count = reads.withLock { count in
                count += 1
                return count
            }
            return "[default]\naws_access_key_id = KEY\(count)\naws_secret_access_key = s\n"
        }
    }

    @Test(arguments: ["ExpiredToken", "InvalidAccessKeyId", "SignatureDoesNotMatch"])
    func `Refused credentials are read anew, and the request is sent again`(code: String) async throws {
        let reads = Lock(0)
        let made = try ScriptedStore(
            [.error(403, code), Self.list, Self.list], variables: ["HOME": "/h"], readFile: Self.rotating(reads))
        try await made.store.check()
        try await made.store.check()
        let used = made.transport.requests.map { $0.headers["Authorization"]?.split(separator: "/").first?.suffix(4) }
        #expect(used[0] != used[1] && used[1] == used[2])
    }

    @Test(arguments: [("ExpiredToken", 2), ("RequestExpired", 2), ("InvalidAccessKeyId", 1)])
    func `Credentials that stay refused are an error`(code: String, requests: Int) async throws {
        let made = try ScriptedStore([.error(403, code), .error(403, code), Self.list])
        let found = try await ScriptedStore.code { try await made.store.check() }
        #expect(found == .credentialsRejected)
        #expect(made.transport.requests.count == requests)
    }

    // MARK: Nothing else

    @Test(
        arguments: [
            .error(503, "SlowDown"), .error(500, "InternalError"), .error(403, "AccessDenied"), .reply(429),
            .failure(TransportError(.connectionLost, "cut")), .failure(TransportError(.timedOut, "stalled")),
        ] as [Answer])
    func `What may pass is left to whoever retries`(answer: Answer) async throws {
        let made = try ScriptedStore([answer, Self.list])
        await #expect(throws: StoreError.self) { try await made.store.check() }
        #expect(made.transport.requests.count == 1)
    }
}
