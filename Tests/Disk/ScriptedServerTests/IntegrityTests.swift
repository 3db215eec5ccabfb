import SyncTestSupport
import Testing

@Suite struct IntegrityTests {
    struct Row: Sendable {
        var headers: [String: String] = [:]
        var unsigned: [String: String] = [:]
        let status: Int
        let code: String?
    }

    /// All of them are puts of "abc".
    @Test(arguments: [
        Row(headers: ["content-md5": "kAFQmDzST7DWlj99KOF/cg=="], status: 200, code: nil),
        Row(headers: ["content-md5": "kAFQmDzST7DWlj99KOF/cQ=="], status: 400, code: "BadDigest"),
        Row(headers: ["content-md5": "kAFQmDzST7DWlj99KOF/cg"], status: 400, code: "InvalidDigest"),
        Row(headers: ["content-md5": "YWJj"], status: 400, code: "InvalidDigest"),
        Row(headers: ["x-amz-content-sha256": "UNSIGNED-PAYLOAD"], status: 200, code: nil),
        Row(
            headers: ["x-amz-content-sha256": ContentDigestText.sha256("abd")], status: 400,
            code: "XAmzContentSHA256Mismatch"),
        Row(headers: ["x-amz-content-sha256": "none"], status: 400, code: "InvalidArgument"),
        Row(
            headers: ["x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER"], status: 501, code: "NotImplemented"
        ),
        Row(
            headers: ["x-amz-checksum-sha256": "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="], status: 200, code: nil),
        Row(
            headers: ["x-amz-checksum-sha256": "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa1="], status: 400,
            code: "BadDigest"),
        Row(headers: ["x-amz-checksum-crc32c": "Nks/tw=="], status: 200, code: nil),
        Row(headers: ["x-amz-checksum-crc32": "NSRBwg=="], status: 200, code: nil),
        Row(headers: ["x-amz-checksum-crc32": "Nks/tw=="], status: 400, code: "BadDigest"),
        Row(headers: ["x-amz-checksum-crc32": "NSRBwg"], status: 400, code: "InvalidRequest"),
        Row(headers: ["x-amz-checksum-md6": "NSRBwg=="], status: 501, code: "NotImplemented"),
        Row(headers: ["x-amz-sdk-checksum-algorithm": "CRC32"], status: 400, code: "InvalidRequest"),
        Row(unsigned: ["content-length": ""], status: 411, code: "MissingContentLength"),
        Row(
            unsigned: ["content-length": "", "transfer-encoding": "chunked"], status: 501, code: "NotImplemented"),
    ])
    func `Digests are checked as Amazon does`(row: Row) async throws {
        try await ScriptedS3Server.run { server in
            let reply = try await RawClient(server: server).send(
                "PUT", "a", headers: row.headers, body: "abc", unsigned: row.unsigned)
            #expect(reply.status == row.status && reply["Code"] == row.code, "\(reply.text)")
            #expect(server.keys == (row.status == 200 ? ["a"] : []))
        }
    }

    @Test func `Stored checksums come back where they are asked for`() async throws {
        try await ScriptedS3Server.run { server in
            let client = RawClient(server: server)
            _ = try await client.send("PUT", "a", headers: ["x-amz-checksum-crc32c": "Nks/tw=="], body: "abc")
            #expect(try await client.send("GET", "a").headers["x-amz-checksum-crc32c"] == nil)
            let asked = ["x-amz-checksum-mode": "ENABLED"]
            let whole = try await client.send("GET", "a", headers: asked)
            #expect(whole.headers["x-amz-checksum-crc32c"] == "Nks/tw==")
            let part = try await client.send("GET", "a", headers: asked.merging(["range": "bytes=0-0"]) { $1 })
            #expect(part.status == 206 && part.headers["x-amz-checksum-crc32c"] == nil, "\(part.text)")
        }
    }
}
