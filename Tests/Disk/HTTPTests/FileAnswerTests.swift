import Glibc
import SyncCore
import SyncHTTP
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct FileAnswerTests {
    private static func serve(
        _ file: FilePath, status: Int = 200, _ body: (TestedServer) async throws -> Void
    ) async throws {
        try await TestedServer.run(
            { _ in
                WebResponse(status, headers: [WebRequest.Field("content-type", "text/plain")], body: .file(file))
            }, body)
    }

    @Test func `A file is sent as a whole, whatever its length`() async throws {
        let tree = try TemporaryTree()
        for length in [0, 1, 256 << 10, (1 << 20) + 1] {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
            try await Self.serve(tree.write(bytes, to: "file")) { server in
                let visitor = try Visitor(port: server.port)
                let reply = await visitor.ask("GET /")
                #expect(reply.status == 200 && reply.isWhole && reply.body == bytes)
                #expect(reply.headers["accept-ranges"] == "bytes" && reply.headers["content-type"] == "text/plain")
                let head = await visitor.ask("HEAD /")
                #expect(head.headers["content-length"] == "\(length)")
                #expect(head.headers["etag"] == reply.headers["etag"])
            }
        }
    }

    @Test(arguments: [
        ("bytes=0-3", 206, "abcd", "bytes 0-3/10"), ("bytes=4-", 206, "efghij", "bytes 4-9/10"),
        ("bytes=-3", 206, "hij", "bytes 7-9/10"), ("bytes=-99", 206, "abcdefghij", "bytes 0-9/10"),
        ("bytes=9-99", 206, "j", "bytes 9-9/10"), ("BYTES=0-0", 206, "a", "bytes 0-0/10"),
        ("bytes=0-99999999999999999999", 206, "abcdefghij", "bytes 0-9/10"),
        ("bytes=10-", 416, "", "bytes */10"), ("bytes=-0", 416, "", "bytes */10"),
        ("bytes=99999999999999999999-", 416, "", "bytes */10"),
        ("bytes=3-1", 200, "abcdefghij", nil), ("bytes=0-1,3-4", 200, "abcdefghij", nil),
        ("bytes=-", 200, "abcdefghij", nil), ("bytes=a-b", 200, "abcdefghij", nil),
        ("bytes=+1-2", 200, "abcdefghij", nil), ("lines=0-1", 200, "abcdefghij", nil), ("0-1", 200, "abcdefghij", nil),
    ])
    func `One range is answered with its part`(
        range: String, status: Int, text: String, contentRange: String?
    ) async throws {
        let tree = try TemporaryTree()
        try await Self.serve(tree.write("abcdefghij", to: "file")) { server in
            let visitor = try Visitor(port: server.port)
            let reply = await visitor.ask("GET /", "Range: \(range)\r\n")
            #expect(reply.status == status && reply.text == text && reply.isWhole)
            #expect(reply.headers["content-range"] == contentRange)
            // The connection is still in step.
            #expect(await visitor.ask("GET /").text == "abcdefghij")
        }
    }

    @Test func `A client that has the file is told so, and one that has another state gets all of it`() async throws {
        let tree = try TemporaryTree()
        let file = try tree.write("abc", to: "file")
        try await Self.serve(file) { server in
            let visitor = try Visitor(port: server.port)
            let tag = try #require(await visitor.ask("GET /").headers["etag"])
            for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                let reply = await visitor.ask("GET /", "If-None-Match: \(known)\r\n")
                #expect(reply.status == 304 && reply.headers["etag"] == tag && reply.body.isEmpty)
            }
            #expect(await visitor.ask("GET /", "If-None-Match: \"x\"\r\n").status == 200)
            #expect(await visitor.ask("GET /", "Range: bytes=1-\r\nIf-Range: \(tag)\r\n").text == "bc")
            #expect(await visitor.ask("GET /", "Range: bytes=1-\r\nIf-Range: \"x\"\r\n").text == "abc")
            try tree.age("file", bySeconds: 60)
            #expect(await visitor.ask("GET /", "If-None-Match: \(tag)\r\n").status == 200)
            #expect(await visitor.ask("GET /", "Range: bytes=1-\r\nIf-Range: \(tag)\r\n").text == "abc")
        }
    }

    @Test func `A handler's own status is kept`() async throws {
        let tree = try TemporaryTree()
        try await Self.serve(tree.write("abc", to: "file"), status: 404) { server in
            let reply = try await Visitor(port: server.port).ask("GET /", "Range: bytes=1-\r\nIf-None-Match: *\r\n")
            #expect(reply.status == 404 && reply.text == "abc")
        }
    }

    @Test(arguments: ["missing", "folder", "link", "pipe", "file/below"])
    func `What is no file is 404, a link too`(name: String) async throws {
        let tree = try TemporaryTree()
        try tree.write("abc", to: "file")
        try tree.makeFolder("folder")
        #expect(symlink(tree.path("file").string, tree.path("link").string) == 0)
        #expect(mkfifo(tree.path("pipe").string, 0o600) == 0)
        try await Self.serve(tree.path(name)) { server in
            let visitor = try Visitor(port: server.port)
            #expect(await visitor.ask("GET /").status == 404)
            #expect(await visitor.ask("HEAD /").status == 404)
            #expect(await visitor.ask("GET /").status == 404)
        }
    }

    @Test(arguments: [-1, 1])
    func `A file that changes its length while it is sent ends the connection too early`(change: Int64) async throws {
        let tree = try TemporaryTree()
        let file = try tree.write([], to: "file")
        // More than both kernels' buffers take.
        let length: Int64 = 16 << 20
        #expect(truncate(file.string, Int(length)) == 0)
        try await Self.serve(file) { server in
            let visitor = try Visitor(port: server.port, buffer: 4_096)
            await visitor.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let head = await visitor.read(until: "\r\n\r\n")
            #expect(head.lowercased().contains("content-length: \(length)\r\n"))
            #expect(truncate(file.string, Int(length + change)) == 0)
            #expect(await visitor.readToEnd().count < length)
        }
    }
}
