import SyncTestSupport
import Testing

@Suite struct FaultTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let fault: Fault
        var status: Int?
        var code: String?
        /// Whether the object is there afterwards.
        var isStored = false
        var isWhole = false
        /// Of the upload's five bytes.
        var received = 5
        var isReset = false

        var testDescription: String { "\(fault)" }
    }

    @Test(arguments: [
        Row(fault: .slowDown, status: 503, code: "SlowDown", isWhole: true, received: 0),
        Row(fault: .internalError, status: 500, code: "InternalError", isWhole: true),
        Row(
            fault: .answer(ScriptedAnswer(503, "SlowDown"), at: .beforeReply), status: 503, code: "SlowDown",
            isStored: true, isWhole: true),
        Row(
            fault: .answer(ScriptedAnswer(409, "ConditionalRequestConflict"), at: .afterBody), status: 409,
            code: "ConditionalRequestConflict", isWhole: true),
        Row(fault: .cut(.beforeBody), received: 0), Row(fault: .reset(.beforeBody), received: 0, isReset: true),
        Row(fault: .cut(.duringBody(2)), received: 2), Row(fault: .reset(.duringBody(2)), received: 2, isReset: true),
        Row(fault: .cut(.duringBody(99))), Row(fault: .cut(.afterBody)),
        Row(fault: .cut(.beforeReply), isStored: true), Row(fault: .reset(.beforeReply), isStored: true, isReset: true),
        Row(fault: .cut(.duringReplyHead), isStored: true),
        Row(fault: .cut(.afterReplyHead), status: 200, isStored: true, isWhole: true),
        Row(fault: .cut(.afterReply), status: 200, isStored: true, isWhole: true),
    ])
    func `A put goes wrong at the point that the script names`(row: Row) async throws {
        try await ScriptedS3Server.run { server in
            server.script(row.fault, on: .putObject, key: "a")
            let client = RawClient(server: server)
            let reply = try await client.send("PUT", "a", body: "bytes")
            #expect(reply.status == row.status && reply["Code"] == row.code && reply.isWhole == row.isWhole)
            #expect(server.keys == (row.isStored ? ["a"] : []))
            let record = try #require(server.requests.first)
            #expect(record.received == row.received && record.fault == row.fault && record.operation == .putObject)
            // Unread bytes turn an orderly end into a reset (RFC 9293, 3.10.4): only the other way is told here.
            if row.isReset { #expect(reply.wasReset) }
            #expect(try await client.send("PUT", "a", body: "bytes").status == 200, "once is enough")
        }
    }

    @Test func `A reply is cut under its full length`() async throws {
        try await ScriptedS3Server.run { server in
            server.store(Array("0123456789".utf8), at: "a")
            server.script(.cut(.duringReply(4)), on: .getObject)
            server.script(.reset(.afterReplyHead), on: .getObject, numbers: 2...2)
            server.script(.corruptReply, on: .getObject, numbers: 3...3)
            let client = RawClient(server: server)
            let cut = try await client.send("GET", "a")
            #expect(cut.text == "0123" && cut.headers["content-length"] == "10" && !cut.isWhole)
            let bare = try await client.send("GET", "a")
            #expect(bare.headers["content-length"] == "10" && bare.body.isEmpty && bare.wasReset)
            let corrupt = try await client.send("GET", "a")
            #expect(corrupt.isWhole && corrupt.text != "0123456789" && corrupt.body.count == 10)
            #expect(try await client.send("GET", "a").text == "0123456789")
        }
    }

    @Test func `XML can end in its middle`() async throws {
        try await ScriptedS3Server.run { server in
            server.script(.cutXML, on: .listObjectsV2)
            let reply = try await RawClient(server: server).send("GET", query: "list-type=2")
            #expect(reply.status == 200 && reply.isWhole && !reply.text.contains("</ListBucketResult>"))
        }
    }

    @Test func `Bytes can be stored wrong, told wrong, and go wrong later`() async throws {
        try await ScriptedS3Server.run { server in
            let client = RawClient(server: server)
            server.script(.corruptStored, on: .putObject)
            let stored = try await client.send("PUT", "a", body: "abc")
            #expect(server.object("a")?.bytes == Array("aBc".utf8))
            #expect(stored.headers["etag"] == "\"\(server.object("a")?.etag ?? "")\"")
            #expect(stored.headers["etag"] != "\"900150983cd24fb0d6963f7d28e17f72\"")
            server.script(.wrongETag, on: .putObject)
            let told = try await client.send("PUT", "b", body: "abc")
            #expect(told.headers["etag"] != "\"900150983cd24fb0d6963f7d28e17f72\"")
            #expect(server.object("b")?.etag == "900150983cd24fb0d6963f7d28e17f72")
            server.corrupt("b")
            #expect(server.object("b")?.bytes == Array("aBc".utf8))
            #expect(server.object("b")?.etag == "900150983cd24fb0d6963f7d28e17f72")
        }
    }

    @Test func `Requests are met by their number`() async throws {
        try await ScriptedS3Server.run { server in
            server.script(.slowDown, onRequest: 2)
            server.script(.internalError, numbers: 3...4)
            let client = RawClient(server: server)
            var statuses: [Int?] = []
            for _ in 1...5 { statuses.append(try await client.send("HEAD").status) }
            #expect(statuses == [200, 503, 500, 500, 200])
            #expect(server.requests.map(\.number) == [1, 2, 3, 4, 5])
            #expect(server.requests(.headBucket).count == 5)
        }
    }

    @Test func `A stalled exchange ends when the server stops`() async throws {
        let server = try ScriptedS3Server()
        server.script(.stall(.duringBody(2)), on: .putObject)
        server.script(.stall(.duringReply(3)), on: .getObject)
        server.store(Array("abcdef".utf8), at: "b")
        let client = RawClient(server: server)
        async let put = client.send("PUT", "a", body: "abc")
        async let get = client.send("GET", "b")
        try await eventually("both in their middle") {
            let isSent = server.requests(.getObject).first?.status != nil
            return isSent && server.requests(.putObject).first?.received == 2 ? () : nil
        }
        await server.stop()
        #expect(try await put.status == nil)
        #expect(try await get.isWhole == false)
    }

    @Test func `A client that waits for 100 is answered before it sends`() async throws {
        try await ScriptedS3Server.run { server in
            let head = "PUT /photos/a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
            let refused = try await RawClient(server: server).exchange(head)
            #expect(refused.status == 403 && refused.headers["connection"] == "close")
            let accepted = try await RawClient(server: server).send("PUT", "a", unsigned: ["expect": "100-continue"])
            #expect(accepted.status == 100)
        }
    }
}
