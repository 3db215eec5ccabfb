import SyncCore
import SyncDigest
import Testing

@testable import SyncS3

/// Requests whose body is XML, and copies.
@Suite struct DocumentRequestTests {
    private let requests: S3Requests

    init() throws {
        let address = try S3Address(
            bucket: "b", region: "us-east-1", endpoint: "http://localhost:9000", addressing: .auto)
        requests = S3Requests(address: address, prefix: "p/")
    }

    private func text(_ request: HTTPRequest) throws -> String {
        let body = try #require(request.body)
        guard case .bytes(let bytes) = body.source else { return "" }
        #expect(request.headers["Content-MD5"] == Self.base64(ContentDigest(of: bytes).md5.bytes))
        #expect(request.headers["Content-Type"] == "application/xml")
        return String(decoding: bytes, as: UTF8.self)
    }

    /// RFC 4648, by another's hand than the program's.
    private static func base64(_ bytes: [UInt8]) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let word = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << (8 * (3 - UInt32(group.count)))
            text += (0...group.count).map { String(letters[Int(word >> (18 - 6 * UInt32($0)) & 63)]) }.joined()
            text += String(repeating: "=", count: 3 - group.count)
        }
        return text
    }

    @Test(
        arguments: [
            (
                RestoreRequest(days: 7, tier: .bulk), true,
                "<Days>7</Days><GlacierJobParameters><Tier>Bulk</Tier></GlacierJobParameters>"
            ),
            (RestoreRequest(days: 1, tier: .expedited), false, "<Days>1</Days>"),
            (
                RestoreRequest(days: nil, tier: .standard), true,
                "<GlacierJobParameters><Tier>Standard</Tier></GlacierJobParameters>"
            ),
            (
                RestoreRequest(days: nil, tier: .expedited), true,
                "<GlacierJobParameters><Tier>Expedited</Tier></GlacierJobParameters>"
            ),
        ])
    func `A restore names days and tier`(request: RestoreRequest, namesTier: Bool, inside: String) throws {
        let made = requests.restore(try ObjectKey("a b"), request, namesTier: namesTier)
        #expect(made.method == .post && "\(made.url)" == "http://localhost:9000/b/p/a%20b?restore=")
        #expect(
            try text(made)
                == "<RestoreRequest xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\(inside)</RestoreRequest>")
    }

    @Test func `Many are deleted with one document`() throws {
        let made = requests.delete([try ObjectKey("a&<b>"), try ObjectKey(" ü ")])
        #expect(made.method == .post && "\(made.url)" == "http://localhost:9000/b?delete=")
        #expect(
            try text(made)
                == "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>"
                + "<Object><Key>p/a&amp;&lt;b&gt;</Key></Object><Object><Key>p/ ü </Key></Object></Delete>")
    }

    @Test func `Rules go with what the store said of small objects`() throws {
        let made = requests.setLifecycle("<L/>", minimumSize: "varies_by_storage_class")
        #expect(made.method == .put && "\(made.url)" == "http://localhost:9000/b?lifecycle=")
        #expect(made.headers["x-amz-transition-default-minimum-object-size"] == "varies_by_storage_class")
        #expect(try text(made) == "<L/>")
        let silent = requests.setLifecycle("<L/>", minimumSize: nil)
        #expect(silent.headers["x-amz-transition-default-minimum-object-size"] == nil)
    }

    @Test func `A copy names its source as a path is encoded, and always its class`() throws {
        let made = requests.copy(
            try ObjectKey("a b/ü+%~.jpg"), to: try ObjectKey("c"), storageClass: .standard, isConditional: true)
        #expect(made.method == .put && "\(made.url)" == "http://localhost:9000/b/p/c")
        #expect(
            made.headers == [
                "x-amz-copy-source": "b/p/a%20b/%C3%BC%2B%25~.jpg", "x-amz-metadata-directive": "COPY",
                "x-amz-storage-class": "STANDARD", "If-None-Match": "*",
            ])
        #expect(made.body?.size == 0)
    }

    @Test(
        arguments: [
            ("<CopyObjectResult><ETag>\"x\"</ETag></CopyObjectResult>", true), ("<CopyObjectResult/>", true),
            ("<CopyObjectResult><ETag>\"x\"</ETag></CopyObj", false),
            ("<Error><Code>InternalError</Code></Error>", false),
            ("", false),
        ])
    func `Only its own document says that a copy is there`(text: String, isThere: Bool) {
        #expect(((try? XMLElement(document: Array(text.utf8), root: "CopyObjectResult")) != nil) == isThere)
    }

    @Test func `The reply to a delete names what failed`() throws {
        let text = """
            <?xml version="1.0"?>
            <DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Deleted><Key>p/x</Key></Deleted>
            <Error><Key>p/ a&amp;b </Key><Code>AccessDenied</Code><Message>no</Message></Error></DeleteResult>
            """
        let failures = try DeleteReply(Array(text.utf8)).failures
        #expect(failures.map(\.key) == ["p/ a&b "])
        #expect(failures.first?.error == ErrorReply(code: "AccessDenied", message: "no"))
    }

    @Test(
        arguments: [
            ("<DeleteResult/>", 0), ("<DeleteResult></DeleteResult>", 0),
            ("<DeleteResult><Error><Code>InternalError</Code></Error></DeleteResult>", nil),
            ("<DeleteResult><Error>", nil), ("<Error><Code>InternalError</Code></Error>", nil),
        ] as [(String, Int?)])
    func `A reply that does not say which failed is none`(text: String, failures: Int?) {
        #expect((try? DeleteReply(Array(text.utf8)))?.failures.count == failures)
    }
}
