import Foundation
import SyncTestSupport
import Testing

/// The server's verifier against signatures that others made: Amazon's published examples, and botocore's.
@Suite struct SignatureTests {
    struct Example: Sendable {
        let line: String
        var headers = ""
        var body = ""
        let signedHeaders: String
        let signature: String
        let status: Int
    }

    /// Amazon S3 API Reference, "Signature Calculations for the Authorization Header: Transferring Payload in a Single
    /// Chunk". The last is the old list, which the server does not play.
    private static let published = [
        Example(
            line: "GET /test.txt", headers: "Range: bytes=0-9\r\n",
            signedHeaders: "host;range;x-amz-content-sha256;x-amz-date",
            signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41", status: 404),
        Example(
            line: "PUT /test%24file.text",
            headers: "Date: Fri, 24 May 2013 00:00:00 GMT\r\nx-amz-storage-class: REDUCED_REDUNDANCY\r\n",
            body: "Welcome to Amazon S3.",
            signedHeaders: "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
            signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd", status: 200),
        Example(
            line: "GET /?lifecycle", signedHeaders: "host;x-amz-content-sha256;x-amz-date",
            signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543", status: 404),
        Example(
            line: "GET /?max-keys=2&prefix=J", signedHeaders: "host;x-amz-content-sha256;x-amz-date",
            signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7", status: 501),
    ]
    private static let example = ServerCredentials(
        accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")

    private func exampleServer() throws -> ScriptedS3Server {
        try ScriptedS3Server(
            bucket: "examplebucket", region: "us-east-1", credentials: [Self.example],
            now: { Date(timeIntervalSince1970: 1_369_353_600) })
    }

    private func text(_ example: Example) -> String {
        let digest = ContentDigestText.sha256(example.body)
        return "\(example.line) HTTP/1.1\r\nHost: examplebucket.s3.amazonaws.com\r\n\(example.headers)"
            + "x-amz-content-sha256: \(digest)\r\nx-amz-date: 20130524T000000Z\r\n"
            + "Content-Length: \(example.body.utf8.count)\r\n"
            + "Authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
            + "SignedHeaders=\(example.signedHeaders),Signature=\(example.signature)\r\n\r\n\(example.body)"
    }

    @Test(arguments: published)
    func `Amazon's examples are accepted, and nothing near them`(example: Example) async throws {
        let server = try exampleServer()
        let client = RawClient(server: server)
        #expect(try await client.exchange(text(example)).status == example.status)
        let altered = [
            ("Signature=", "Signature=0"), (" /", " /x"), ("0524T000000Z", "0524T000001Z"),
            ("content-sha256: ", "content-sha256: 0"),
        ]
        for (from, to) in altered {
            let reply = try await client.exchange(text(example).replacingOccurrences(of: from, with: to))
            #expect(reply.status == 403 && reply["Code"] == "SignatureDoesNotMatch", "\(to)")
        }
        await server.stop()
    }

    @Test func `Amazon's presigned example is accepted for a day`() async throws {
        let server = try exampleServer()
        let client = RawClient(server: server)
        let text =
            "GET /test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256"
            + "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
            + "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature="
            + "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404 HTTP/1.1\r\n"
            + "Host: examplebucket.s3.amazonaws.com\r\n\r\n"
        #expect(try await client.exchange(text)["Code"] == "NoSuchKey")
        let longer = text.replacingOccurrences(of: "Expires=86400", with: "Expires=86401")
        #expect(try await client.exchange(longer)["Code"] == "SignatureDoesNotMatch")
        let tooLong = try await client.exchange(text.replacingOccurrences(of: "Expires=86400", with: "Expires=604801"))
        #expect(tooLong.status == 400 && tooLong["Code"] == "AuthorizationQueryParametersError")
        let both = text.replacingOccurrences(of: "Host:", with: "Authorization: AWS4-HMAC-SHA256 x\r\nHost:")
        #expect(try await client.exchange(both)["Code"] == "InvalidArgument")
        let header = try await client.exchange(text.replacingOccurrences(of: "Host:", with: "x-amz-extra: 1\r\nHost:"))
        #expect(header.status == 403 && header["HeadersNotSigned"] == "x-amz-extra")
        server.setClock(ahead: .seconds(86_399))
        #expect(try await client.exchange(text)["Code"] == "NoSuchKey")
        server.setClock(ahead: .seconds(86_400))
        let late = try await client.exchange(text)
        #expect(late.status == 403 && late["Message"] == "Request has expired")
        server.setClock(ahead: .seconds(-901))
        #expect(try await client.exchange(text)["Message"] == "Request is not valid yet")
        await server.stop()
    }

    /// PUT of the key's text to `photos.s3.test`, 2026-03-01 12:00, with Content-Type text/plain, x-amz-meta-a
    /// "two  spaces" and x-amz-meta-a-b "z", as botocore 1.43.11 signs it.
    @Test(arguments: [
        ("plain.jpg", "plain.jpg", "1a84558c6c15b9e7095fbbc350362cb2bfa5b08b0b2fcf08f23f67fde07c239b"),
        ("with space", "with%20space", "fab21476042b94f25a2e542ac68868d04f1ee5f7506611200d637ff3ab5ce2d7"),
        ("plus+plus", "plus%2Bplus", "6d25665ab3512a727ccdf70000d7230c8e75ac91cf2a9b55f1304ee5be5d94ae"),
        ("per%cent", "per%25cent", "605581b1fa986b126cb24e0896d07a92f0ce459825d5dbfc5cf75acaac345846"),
        ("%41", "%2541", "f3b5ac3efd9b0089562ed99a4d6cf928ae95b411dbd88d000896c8d2d5d82761"),
        ("tilde~", "tilde~", "de7f8808b1d8b3fad12214183161093144c38a96172a4768bdddce10be217064"),
        ("what?", "what%3F", "006376ed3e16afbbce178b50602247448b6d764c5cb12fd959dcadda8dd3b400"),
        ("a&b=c;d", "a%26b%3Dc%3Bd", "a8b31c2bcbc13a8a8c0def5a179d8d63fb84e30f4a285ecd9cc89a91b1fb2e01"),
        ("quote'\"", "quote%27%22", "26f2a4f813a30e94974e358540e3b8825b8f7ab45d364abf905a41e52dca3e1c"),
        ("Z\u{FC}rich", "Z%C3%BCrich", "d28a8ff5158b00336b63deb64be316fa5465dd9114cb7b018d38e829be230502"),
        ("Zu\u{308}rich", "Zu%CC%88rich", "a3a36b722ae2a170ee7dd5fc7839ce62e916cf5b3e3b253913829a797938c40f"),
        (
            "東京/塔.jpg", "%E6%9D%B1%E4%BA%AC/%E5%A1%94.jpg",
            "2fc4b670a012e2928d44f868677ec65a2c3f8aaf4eaa918b2906c9fd36688867"
        ),
        ("a//b", "a//b", "fbe26636fef2ba078dc7351d19ecf40a93e3161af482c87101d23d3af3c0ffb5"),
        ("trailing.", "trailing.", "6439bd005cf1097b9bb8f6c8778f44a66f35a6460f926caf4f5496e7bedb66a5"),
        ("(a)!*", "%28a%29%21%2A", "05712b1eb2ee35cc720374b2e721c42afc0f20157dc53c305bb530efdfc4f375"),
        // Encoded in another way than it was signed, and still the same key: S3 decodes before it encodes.
        ("(a)!*", "(a)!*", "05712b1eb2ee35cc720374b2e721c42afc0f20157dc53c305bb530efdfc4f375"),
    ])
    func `botocore's signatures of awkward keys are accepted`(
        key: String, path: String, signature: String
    ) async throws {
        let server = try ScriptedS3Server(now: { Date(timeIntervalSince1970: 1_772_366_400) })
        let text =
            "PUT /\(path) HTTP/1.1\r\nHost: photos.s3.test\r\nContent-Type: text/plain\r\nx-amz-meta-a-b: z\r\n"
            + "x-amz-meta-a: two  spaces\r\nx-amz-content-sha256: \(ContentDigestText.sha256(key))\r\n"
            + "x-amz-date: 20260301T120000Z\r\nContent-Length: \(key.utf8.count)\r\n"
            + "Authorization: AWS4-HMAC-SHA256 Credential=AKIASCRIPTEDSERVER01/20260301/eu-central-1/s3/aws4_request, "
            + "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-meta-a;x-amz-meta-a-b, "
            + "Signature=\(signature)\r\n\r\n\(key)"
        let reply = try await RawClient(server: server).exchange(text)
        #expect(reply.status == 200, "\(reply.text)")
        #expect(server.keys.map { Array($0.utf8) } == [Array(key.utf8)])
        #expect(server.object(key)?.metadata == ["a": "two  spaces", "a-b": "z"])
        await server.stop()
    }
}
