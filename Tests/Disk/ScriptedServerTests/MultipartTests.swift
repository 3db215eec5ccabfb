import SyncCore
import SyncTestSupport
import Testing

@Suite struct MultipartTests {
    private func begin(_ client: RawClient) async throws -> String {
        let reply = try await client.send(
            "POST", "a", query: "uploads=", headers: ["x-amz-meta-n": "1", "x-amz-storage-class": "GLACIER_IR"])
        return try #require(reply["UploadId"])
    }

    private func part(_ client: RawClient, _ upload: String, _ number: Int, _ text: String) async throws -> String {
        let reply = try await client.send("PUT", "a", query: "partNumber=\(number)&uploadId=\(upload)", body: text)
        return try #require(reply.headers["etag"])
    }

    private func complete(_ client: RawClient, _ upload: String, _ parts: [(Int, String)]) async throws -> RawReply {
        let rows = parts.map { "<Part><PartNumber>\($0.0)</PartNumber><ETag>\($0.1)</ETag></Part>" }.joined()
        return try await client.send(
            "POST", "a", query: "uploadId=\(upload)",
            body: "<CompleteMultipartUpload>\(rows)</CompleteMultipartUpload>")
    }

    @Test func `Parts become one object, when the completion says so`() async throws {
        try await ScriptedS3Server.run { server in
            server.imitate { $0.minimumPartBytes = 3 }
            let client = RawClient(server: server)
            let upload = try await begin(client)
            let second = try await part(client, upload, 2, "de")
            let replaced = try await part(client, upload, 1, "xyz")
            let first = try await part(client, upload, 1, "abc")
            #expect(server.keys == [] && server.openUploads == [upload])
            #expect(try await client.send("GET", query: "uploads=")["UploadId"] == upload)
            #expect(try await client.send("GET", "a", query: "uploadId=\(upload)").all("PartNumber") == ["1", "2"])

            let table = [
                ([(2, second), (1, first)], "InvalidPartOrder"), ([(1, replaced), (2, second)], "InvalidPart"),
                ([(1, first), (3, second)], "InvalidPart"), ([], "MalformedXML"),
            ]
            for (parts, code) in table { #expect(try await complete(client, upload, parts)["Code"] == code) }
            let done = try await complete(client, upload, [(1, first), (2, second)])
            #expect(done.status == 200 && done.headers["transfer-encoding"] == "chunked" && done.isWhole)
            // MD5 of the two binary MD5s, computed with Python's hashlib.
            #expect(done["ETag"] == "&quot;fd279fa64fe1fa9a3551a4a88ae83424-2&quot;")
            #expect(done.text.contains("?>\n      <CompleteMultipartUploadResult"))
            #expect(server.object("a")?.bytes == Array("abcde".utf8))
            #expect(server.object("a")?.storageClass == .glacierInstantRetrieval)
            #expect(server.object("a")?.metadata == ["n": "1"])
            #expect(try await complete(client, upload, [(1, first), (2, second)]).status == 200)
            #expect(server.object("a")?.generation == 1)
        }
    }

    @Test func `Small parts, wrong numbers and unknown uploads are refused`() async throws {
        try await ScriptedS3Server.run { server in
            let client = RawClient(server: server)
            let upload = try await begin(client)
            let first = try await part(client, upload, 1, "abc")
            let second = try await part(client, upload, 2, "abc")
            #expect(try await complete(client, upload, [(1, first), (2, second)])["Code"] == "EntityTooSmall")
            for number in ["0", "10001", "x"] {
                let reply = try await client.send("PUT", "a", query: "partNumber=\(number)&uploadId=\(upload)")
                #expect(reply["Code"] == "InvalidArgument")
            }
            #expect(try await client.send("DELETE", "a", query: "uploadId=\(upload)").status == 204)
            let gone = try await client.send("DELETE", "a", query: "uploadId=\(upload)")
            #expect(gone.status == 404 && gone["Code"] == "NoSuchUpload")
            #expect(try await complete(client, upload, [(1, first)])["Code"] == "NoSuchUpload")
            #expect(server.keys == [] && server.openUploads == [])
        }
    }

    @Test func `A completion may fail after its 200`() async throws {
        try await ScriptedS3Server.run { server in
            let client = RawClient(server: server)
            let upload = try await begin(client)
            let etag = try await part(client, upload, 1, "abc")
            server.script(.errorInBody("InternalError"), on: .completeMultipartUpload)
            let reply = try await complete(client, upload, [(1, etag)])
            #expect(reply.status == 200 && reply["Code"] == "InternalError" && reply.isWhole)
        }
    }
}
