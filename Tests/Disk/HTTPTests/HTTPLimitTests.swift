import FoundationEssentials
import SyncCore
import SyncHTTP
import SyncTestSupport
import Testing

/// What is refused, before any handler hears of it.
@Suite struct HTTPLimitTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sent: String
        let status: Int

        init(_ testDescription: String, _ status: Int, _ sent: String) {
            (self.testDescription, self.sent, self.status) = (testDescription, sent, status)
        }
    }

    private static let line = "X-Line: \(String(repeating: "a", count: 1_000))\r\n"

    @Test(arguments: [
        Row("an endless header", 431, "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: line, count: 200)),
        Row("an endless line", 431, "GET / HTTP/1.1\r\nX: \(String(repeating: "a", count: 1 << 20))"),
        Row(
            "65 lines", 431,
            "GET / HTTP/1.1\r\nHost: a\r\n\((1...64).map { "X-\($0): a\r\n" }.joined())\r\n"),
        Row("a long target", 414, "GET /\(String(repeating: "a", count: 8 << 10)) HTTP/1.1\r\nHost: a\r\n\r\n"),
        Row("an endless target", 414, "GET /\(String(repeating: "a", count: 1 << 20))"),
        Row("a long body", 413, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n"),
        Row(
            "a body of any length", 413,
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999999999999999\r\n\r\n"),
        Row(
            "an endless body", 413,
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                + String(repeating: "400\r\n\(String(repeating: "a", count: 1_024))\r\n", count: 200)),
        Row(
            "endless fields behind a body", 431,
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
                + String(repeating: line, count: 200)),
        Row("no length", 411, "POST / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Row("a method of others", 405, "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"),
        Row("a method of nobody", 501, "BREW / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Row("a coding", 501, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
        Row("no host", 400, "GET / HTTP/1.1\r\n\r\n"),
        Row("two hosts", 400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        Row("a space before the colon", 400, "GET / HTTP/1.1\r\nHost : a\r\n\r\n"),
        Row("no HTTP", 501, "hello\r\n\r\n"),
        Row("a TLS handshake", 501, "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{3}\r\n\r\n"),
        Row("two lengths", 400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        Row("two lengths in one", 400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\na"),
        Row("a signed length", 400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\na"),
        Row(
            "a length and chunks", 400,
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Row(
            "chunks and a length", 400,
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
        Row(
            "a chunk without a size", 400,
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n\r\n"),
        Row("chunks of old", 400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ])
    func `What is too much or ambiguous is refused, and the connection ends`(row: Row) async throws {
        try await TestedServer.run(limits: .patient) { _ in
            Issue.record("the handler was asked")
            return WebResponse(500)
        } _: { server in
            let visitor = try Visitor(port: server.port)
            await visitor.send(row.sent)
            let reply = await visitor.reply()
            #expect(reply.status == row.status, "\(reply)")
            #expect(reply.isWhole && reply.headers["connection"] == "close")
            #expect((reply.headers["allow"] == "GET, HEAD, POST") == (row.status == 405))
            #expect(await visitor.readToEnd().isEmpty)
        }
    }

    @Test func `What is just within the limits is answered`() async throws {
        try await TestedServer.run { server in
            let visitor = try Visitor(port: server.port)
            let target = "/" + String(repeating: "a", count: (8 << 10) - 1)
            #expect(await visitor.ask("GET \(target)").status == 200)
            let lines = (1...63).map { "X-\($0): a\r\n" }.joined()
            #expect(await visitor.ask("GET /", lines).status == 200)
            let body = String(repeating: "a", count: 64 << 10)
            let reply = await visitor.ask("POST /", "Content-Length: \(body.utf8.count)\r\n", body: body)
            #expect(reply.text == "post /  \(body)")
        }
    }

    /// Of a path whose handler takes more: at most so much in one body, and in all that are held at one time.
    @Test func `A large body is taken where it may be, and not more of them than there is room for`() async throws {
        var limits = HTTPLimits.patient
        limits.largeBodies = 300_000
        let asked = Observed(0)
        let gate = Gate()
        try await TestedServer.run(limits: limits, largeBody: (["large"], 200_000)) { request in
            asked.change { $0 += 1 }
            await gate.pass()
            return WebResponse(200, body: .bytes(Data("\(request.body.count)".utf8)))
        } _: { server in
            func post(_ target: String, _ bytes: Int) async throws -> Visitor {
                let visitor = try Visitor(port: server.port)
                await visitor.send(
                    "POST \(target) HTTP/1.1\r\nHost: a\r\nContent-Length: \(bytes)\r\n\r\n"
                        + String(repeating: "a", count: bytes))
                return visitor
            }
            #expect(try await post("/other", 100_000).reply().status == 413)
            #expect(try await post("/large", 200_001).reply().status == 413)
            let first = try await post("/large", 200_000)
            _ = try await asked.wait(for: "the first body") { $0 == 1 ? true : nil }
            #expect(try await post("/large", 100_001).reply().status == 503)
            let second = try await post("/large", 100_000)
            _ = try await asked.wait(for: "the second body") { $0 == 2 ? true : nil }
            gate.open()
            #expect(await first.reply().text == "200000")
            #expect(await second.reply().text == "100000")
            // The room is free again, also after one who has gone.
            let gone = try await post("/large", 200_000)
            #expect(await gone.reply().text == "200000")
            #expect(try await post("/large", 200_000).reply().text == "200000")
        }
    }

    /// One who announces much and sends next to nothing would keep all others out.
    @Test func `A large body that dribbles makes room for another one, and one that comes does not`() async throws {
        var limits = HTTPLimits.patient
        limits.largeBodies = 300_000
        limits.largeBodyTime = .seconds(3_600)
        limits.slowBodyTime = .milliseconds(50)
        limits.slowBodyPace = 100
        try await TestedServer.run(limits: limits, largeBody: (["large"], 200_000)) { request in
            WebResponse(200, body: .bytes(Data("\(request.body.count)".utf8)))
        } _: { server in
            func begin(_ bytes: Int, sending: Int) async throws -> Visitor {
                let visitor = try Visitor(port: server.port)
                await visitor.send("POST /large HTTP/1.1\r\nHost: a\r\nContent-Length: \(bytes)\r\n\r\n")
                await visitor.send(String(repeating: "a", count: sending))
                return visitor
            }
            let dribbling = try await begin(200_000, sending: 1)
            // So much has come that it is not slow for a long time.
            let coming = try await begin(100_000, sending: 99_999)
            // By the time that this one is answered, the server has read from both.
            #expect(try await Visitor(port: server.port).ask("GET /").status == 200)
            // There is no room before the dribbling one is slow.
            let large = try await eventually("room for another body") { () -> Visitor.Reply? in
                let reply = try await begin(150_000, sending: 150_000).reply()
                return reply.status == 200 ? reply : nil
            }
            #expect(large.text == "150000")
            #expect(await dribbling.reply().status == 408)
            await coming.send("a")
            #expect(await coming.reply().text == "100000")
        }
    }

    @Test(arguments: [
        "/../a", "/a/..", "/a/../b", "/.", "/a/./b", "//", "//a", "/a//b", "/a//", "/%2e%2e/a", "/.%2E", "/a%00",
        "/a%0a", "/a%7f", "/a%2fb", "/a%5cb", "/a\\b", "/%", "/%2", "/%zz", "/%+1", "/%ff", "/%c0%af", "/%ed%a0%80",
        "/a%", "/%c3",
    ])
    func `A path that no page has is 404`(path: String) async throws {
        try await TestedServer.run(limits: .patient) { _ in
            Issue.record("the handler was asked")
            return WebResponse(500)
        } _: { server in
            let status = try await Visitor(port: server.port).ask("GET \(path)").status
            // What is no byte of a target at all, the parser has refused.
            #expect(status == 404 || path.contains("\\") && status == 400)
        }
    }

    /// RFC 9112, 3.2.2.
    @Test func `The host of a target counts before that of the header`() async throws {
        try await TestedServer.run { request in
            WebResponse(200, body: .bytes(Data((request.header("host") ?? "none").utf8)))
        } _: { server in
            let visitor = try Visitor(port: server.port)
            #expect(await visitor.ask("GET http://other.example:1/a").text == "other.example:1")
            #expect(await visitor.ask("GET /a").text != "other.example:1")
        }
    }

    @Test(arguments: ["*", "a", "ftp://a/b", "/?a=%", "/?%ff=1"])
    func `A target that is none of ours is 400`(target: String) async throws {
        try await TestedServer.run(limits: .patient) { server in
            let visitor = try Visitor(port: server.port)
            #expect(await visitor.ask("GET \(target)").status == 400)
        }
    }

    @Test(arguments: [
        ("/", "get /  "), ("/%252e%252e", "get /%2e%2e  "), ("/a%3Fb", "get /a?b  "), ("/...", "get /...  "),
        ("http://a:1/b?c=d", "get /b c=d "), ("/a?b=/../c", "get /a b=/../c "), ("/a?b", "get /a b= "),
        ("/a?&&b=c=d", "get /a b=c=d "),
    ])
    func `A target is decoded once`(target: String, text: String) async throws {
        try await TestedServer.run { server in
            let visitor = try Visitor(port: server.port)
            #expect(await visitor.ask("GET \(target)").text == text)
        }
    }
}

extension HTTPLimits {
    /// The refused are heard to their end, however long a busy machine takes over it: cut off before, they may miss the
    /// answer.
    static var patient: HTTPLimits {
        var limits = HTTPLimits()
        limits.lingerTime = .seconds(60)
        return limits
    }
}
