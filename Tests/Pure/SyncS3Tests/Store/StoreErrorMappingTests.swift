import SyncCore
import Testing

@testable import SyncS3

@Suite struct StoreErrorMappingTests {
    typealias Row = (status: Int, code: String?, expected: StoreError.Code, words: String)

    private func context(key: String? = "a/b.jpg") throws -> S3RequestContext {
        let address = try S3Address(
            bucket: "photos", region: "us-east-1", endpoint: "https://s3.example.org", addressing: .auto)
        return S3RequestContext(operation: "put", key: key, address: address)
    }

    private func reply(_ status: Int, _ code: String?, inside: String = "", headers: HTTPHeaders = [:]) -> HTTPResponse
    {
        let body = code.map { "<Error><Code>\($0)</Code><Message>words</Message>\(inside)</Error>" } ?? ""
        return HTTPResponse(status: status, headers: headers, body: Array(body.utf8))
    }

    @Test(
        arguments: [
            (
                404, "NoSuchBucket", .storeMissing,
                "the bucket photos does not exist at https://s3.example.org; create it"
            ),
            (404, "NoSuchKey", .notFound, "nothing is stored"),
            (403, "InvalidAccessKeyId", .credentialsRejected, "AWS_ACCESS_KEY_ID"),
            (403, "SignatureDoesNotMatch", .credentialsRejected, "AWS_SECRET_ACCESS_KEY"),
            (400, "ExpiredToken", .credentialsRejected, "get new credentials"),
            (403, "AccessDenied", .accessDenied, "grant s3:ListBucket"),
            (400, "ExpiredTokenException", .credentialsRejected, "get new credentials"),
            (403, "RequestExpired", .credentialsRejected, "get new credentials"),
            (403, "InvalidSignatureException", .credentialsRejected, "AWS_SECRET_ACCESS_KEY"),
            (404, "NoSuchUpload", .conflict, "starts again"), (407, nil, .unreachable, "https_proxy"),
            (412, "PreconditionFailed", .alreadyExists, "already"),
            (409, "ConditionalRequestConflict", .conflict, "another request"),
            (403, "InvalidObjectState", .archived, "restore it first"),
            (503, "SlowDown", .throttled, "slow down"), (503, "ServiceUnavailable", .throttled, "slow down"),
            (500, "InternalError", .serverFailed, "failed: words"), (400, "RequestTimeout", .timedOut, "waited"),
            (400, "BadDigest", .badDigest, "damaged"), (400, "XAmzContentSHA256Mismatch", .badDigest, "damaged"),
            (416, "InvalidRange", .invalidRange, "ends before"), (400, "EntityTooLarge", .tooLarge, "larger"),
            (400, "InvalidStorageClass", .unsupported, "storage class"),
            (501, "NotImplemented", .unsupported, "operation"),
            (507, "XMinioStorageFull", .noSpace, "no space"), (400, "SomethingNew", .invalidRequest, "says: words"),
            (403, "SomethingNew", .accessDenied, "says: words"), (404, nil, .invalidResponse, "a proxy"),
            (403, nil, .accessDenied, "grant"), (412, nil, .alreadyExists, "already"), (429, nil, .throttled, "slow"),
            (500, nil, .serverFailed, "failed"), (504, nil, .serverFailed, "failed"),
            (418, nil, .invalidRequest, "accept"),
            (301, nil, .wrongRegion, "elsewhere"), (204, nil, .invalidResponse, "no sense"),
        ] as [Row])
    func `A reply becomes an error that says what to do`(row: Row) throws {
        let error = StoreError(reply(row.status, row.code), in: try context())
        #expect(error.code == row.expected)
        #expect(error.message.contains(row.words), "\(error.message)")
        #expect(error.operation == "put" && error.key == "a/b.jpg")
        #expect(error.detail == row.code.map { "\(row.status) \($0)" } ?? "\(row.status)")
    }

    @Test func `Whatever a server says is told shortly, on one line, and without secrets`() throws {
        let long = String(repeating: "why? \u{9B}2J\u{202E} ", count: 75_000)
        let secret = "X-Amz-Signature=" + String(repeating: "ab01", count: 16)
        for (status, code) in [(400, "Odd"), (403, "AccessDenied"), (500, "InternalError"), (400, long)] {
            let body =
                "<Error><Code>\(code)</Code><Message>\(secret) \(long)</Message><RequestId>\(long)</RequestId>"
                + "<Region>\(long)</Region><Endpoint>\(long)</Endpoint></Error>"
            let error = StoreError(
                HTTPResponse(status: status, headers: ["Date": long], body: Array(body.utf8)), in: try context())
            let text = "\(error)"
            #expect(text.count < 1_000, "\(text.count) characters")
            #expect(!text.contains("ab01ab01") && !text.contains("\u{9B}") && !text.contains("\u{202E}"))
        }
    }

    @Test func `The detail has the status, the code and the request id`() throws {
        let inBody = reply(403, "AccessDenied", inside: "<RequestId>4442587FB7D0A2F9</RequestId>")
        #expect(StoreError(inBody, in: try context()).detail == "403 AccessDenied, request 4442587FB7D0A2F9")
        let inHeader = reply(500, nil, headers: ["x-amz-request-id": "17\u{1B}[2J"])
        #expect(StoreError(inHeader, in: try context()).detail == "500, request 17\\u{1b}[2J")
    }

    @Test(
        arguments: [
            (301, "PermanentRedirect", "", ["x-amz-bucket-region": "eu-central-1"]),
            (400, "AuthorizationHeaderMalformed", "<Region>eu-central-1</Region>", [:]),
            (301, nil, "", ["x-amz-bucket-region": "eu-central-1"]),
            (400, nil, "", ["x-amz-bucket-region": "eu-central-1"]),
        ] as [(Int, String?, String, HTTPHeaders)])
    func `The right region is named`(status: Int, code: String?, inside: String, headers: HTTPHeaders) throws {
        let error = StoreError(reply(status, code, inside: inside, headers: headers), in: try context())
        #expect(error.code == .wrongRegion)
        #expect(
            error.message
                == "the bucket photos is in region eu-central-1, not in us-east-1; set store.region: eu-central-1")
    }

    @Test func `A wrong clock is told with the time of the store`() throws {
        let skewed = reply(403, "RequestTimeTooSkewed", headers: ["Date": "Fri, 21 Dec 2012 00:00:00 GMT"])
        let error = StoreError(skewed, in: try context())
        #expect(error.code == .clockSkew)
        #expect(error.message.contains("it is Fri, 21 Dec 2012 00:00:00 GMT there; set the clock"))
    }

    @Test(arguments: [403, 404, 405, 409, 412, 416, 501])
    func `A page says nothing of an object, nor of what the store can do`(status: Int) throws {
        let page = HTTPResponse(status: status, body: Array("<html><body>Forbidden</body></html>".utf8))
        // Of an object, and of a listing or a check.
        for key in ["a/b.jpg", nil] as [String?] {
            let error = StoreError(page, in: try context(key: key))
            #expect(error.code == .invalidResponse && error.isTransient)
            #expect(error.message.contains("answered \(status) and not in the words of a store"), "\(error.message)")
        }
    }

    @Test(
        arguments: [
            (403, .accessDenied), (405, .unsupported), (409, .conflict), (412, .alreadyExists), (416, .invalidRange),
            (501, .unsupported),
        ] as [(Int, StoreError.Code)])
    func `A small server may say a status in a few plain words`(status: Int, expected: StoreError.Code) throws {
        let reply = HTTPResponse(
            status: status, headers: ["Content-Type": "text/plain"], body: Array("Precondition Failed\n".utf8))
        #expect(StoreError(reply, in: try context()).code == expected)
    }

    @Test func `A bucket that is missing is no missing object`() throws {
        #expect(StoreError(reply(404, nil), in: try context(key: nil)).code == .storeMissing)
    }

    @Test(arguments: [
        (TransportError.Code.unreachable, StoreError.Code.unreachable, "check the network"),
        (.proxyFailed, .unreachable, "correct https_proxy"), (.insecure, .unreachable, "write http://"),
        (.untrusted, .unreachable, "AWS_CA_BUNDLE"), (.timedOut, .timedOut, "takes too long"),
        (.connectionLost, .connectionLost, "broke"), (.sourceChanged, .sourceChanged, ""),
        (.sourceUnreadable, .sourceUnreadable, ""), (.sourceSilent, .sourceSilent, "tried again later"),
        (.digestMismatch, .badDigest, ""), (.notHTTP, .unreachable, "correct store.endpoint"),
        (.invalidReply, .invalidResponse, "no valid reply"),
        (.failed, .invalidRequest, "cannot be sent"), (.closed, .unreachable, ""),
    ])
    func `A failure of the transport keeps its words and tells what to do`(
        code: TransportError.Code, expected: StoreError.Code, words: String
    ) throws {
        let error = StoreError(TransportError(code, "curl's words"), in: try context())
        #expect(error.code == expected)
        #expect(error.message.contains("curl's words"))
        #expect(words.isEmpty || error.message.contains(words), "\(error.message)")
    }

    @Test func `Plain HTTP to a port that speaks TLS is told`() throws {
        let plain = S3RequestContext(
            operation: "check", key: nil,
            address: try S3Address(bucket: "b", region: "r", endpoint: "http://nas:9000", addressing: .auto))
        for words in [
            "<html>The plain HTTP request was sent to HTTPS port</html>",
            "Client sent an HTTP request to an HTTPS server.\n",
        ] {
            let error = StoreError(HTTPResponse(status: 400, body: Array(words.utf8)), in: plain)
            #expect(error.code == .unreachable)
            #expect(error.message == "http://nas:9000 speaks TLS; write https:// in store.endpoint")
        }
        for silent in [
            TransportError(.notHTTP, "HTTP/0.9"), TransportError(.connectionLost, "Empty reply from server"),
        ] {
            let message = StoreError(silent, in: plain).message
            #expect(message.contains("write https://") && message.contains("where its port speaks TLS"), "\(message)")
            #expect(!StoreError(silent, in: try context()).message.contains("https:// "))
        }
    }

    @Test(arguments: [
        ("<Error><Code>SlowDown</Code></Error>", StoreError.Code.throttled),
        ("<Error><Code>Unknown</Code></Error>", .serverFailed),
        ("<Error>", .serverFailed),
        ("<html/>", .invalidResponse),
    ])
    func `An error behind a 200 is an error`(body: String, expected: StoreError.Code) throws {
        let response = HTTPResponse(status: 200, body: Array(body.utf8))
        let invalid = #expect(throws: InvalidReply.self) { try ListReply(response.body, prefix: "") }
        let error = StoreError(try #require(invalid), response, in: try context())
        #expect(error.code == expected)
        #expect(error.isTransient)
    }
}
