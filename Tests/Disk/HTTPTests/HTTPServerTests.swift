import FoundationEssentials
import Logging
import SyncCore
import SyncHTTP
import SyncSystem
import SyncTestSupport
import Testing

@Suite struct HTTPServerTests {
    @Test func `GET, HEAD and POST are answered on one connection`() async throws {
        try await TestedServer.run { server in
            let visitor = try Visitor(port: server.port)
            let get = await visitor.ask("GET /a/b%20c/?x=1&y=%C3%A4+%2B")
            #expect(get.status == 200)
            #expect(get.text == "get /a/b c/ x=1&y=ä + ")
            #expect(get.headers["x-content-type-options"] == "nosniff")
            #expect(get.headers["date"]?.hasSuffix(" GMT") == true)
            #expect(get.headers["connection"] == nil)
            let head = await visitor.ask("HEAD /a")
            #expect(head.status == 200 && head.headers["content-length"] == "\("head /a  ".utf8.count)")
            let post = await visitor.ask("POST /form", "Content-Length: 5\r\n", body: "a=b&c")
            #expect(post.text == "post /form  a=b&c")
            let chunked = await visitor.ask(
                "POST /form", "Transfer-Encoding: chunked\r\n", body: "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
            #expect(chunked.text == "post /form  abcde")
        }
    }

    @Test func `Requests that are sent ahead are answered in their order`() async throws {
        try await TestedServer.run { server in
            let visitor = try Visitor(port: server.port)
            await visitor.send((1...8).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
            for number in 1...8 { #expect(await visitor.reply().text == "get /\(number)  ") }
        }
    }

    @Test(arguments: [
        ("HTTP/1.1", "", false), ("HTTP/1.1", "Connection: close\r\n", true), ("HTTP/1.0", "", true),
        ("HTTP/1.0", "Connection: keep-alive\r\n", false),
        ("HTTP/1.1", "Connection: Upgrade\r\nUpgrade: h2c\r\n", true),
    ])
    func `The connection ends when the client wants it`(version: String, header: String, ends: Bool) async throws {
        try await TestedServer.run { server in
            let visitor = try Visitor(port: server.port)
            await visitor.send("GET / \(version)\r\nHost: a\r\n\(header)\r\n")
            let reply = await visitor.reply()
            #expect(reply.status == 200)
            #expect((reply.headers["connection"] == "close") == ends)
            if ends {
                #expect(await visitor.readToEnd().isEmpty)
            } else {
                #expect(await visitor.ask("GET /").status == 200)
            }
        }
    }

    @Test func `A client that asks before it sends a body is told to go on`() async throws {
        try await TestedServer.run { server in
            let visitor = try Visitor(port: server.port)
            await visitor.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
            #expect(await visitor.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 100 "))
            await visitor.send("abc")
            let reply = await visitor.reply()
            #expect(reply.status == 200 && reply.text == "post /  abc", "\(reply)")
        }
    }

    @Test func `The handler sees who asks, with which header`() async throws {
        try await TestedServer.run({ request in
            let cookie = request.header("cookie") ?? ""
            return WebResponse(
                403, headers: [WebRequest.Field("x-a", "b")], body: .bytes(Data("\(request.peer ?? "") \(cookie)".utf8))
            )
        }) { server in
            let reply = try await Visitor(port: server.port).ask("GET /", "COOKIE: a=b\r\n")
            #expect(reply.status == 403 && reply.text == "127.0.0.1 a=b" && reply.headers["x-a"] == "b")
        }
    }

    @Test func `A header of the handler that would begin another answer is never sent`() async throws {
        try await TestedServer.run({ _ in
            WebResponse(headers: [WebRequest.Field("location", "/a\r\nset-cookie: b")])
        }) { server in
            let visitor = try Visitor(port: server.port)
            await visitor.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(!String(decoding: await visitor.readToEnd(), as: UTF8.self).contains("set-cookie"))
        }
    }

    @Test func `The handler is cancelled when its client is gone`() async throws {
        let (isAsked, isCancelled) = (Gate(), Gate())
        isAsked.open()
        try await TestedServer.run({ request in
            await isAsked.pass()
            let (never, continuation) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            withExtendedLifetime(continuation) { isCancelled.open() }
            return WebResponse(echoing: request)
        }) { server in
            do {
                let visitor = try Visitor(port: server.port)
                await visitor.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                await isAsked.waitForArrivals(1)
            }
            await isCancelled.pass()
            #expect(isAsked.arrivals == 1)
        }
    }

    @Test func `An end lets answers through, and closes what waits`() async throws {
        let gate = Gate()
        try await TestedServer.run({ request in
            if !request.segments.isEmpty { await gate.pass() }
            return WebResponse(echoing: request)
        }) { server in
            let (idle, busy) = (try Visitor(port: server.port), try Visitor(port: server.port))
            #expect(await idle.ask("GET /").status == 200)
            await busy.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
            await gate.waitForArrivals(1)
            server.stop()
            #expect(await idle.readToEnd().isEmpty)
            gate.open()
            let reply = await busy.reply()
            #expect(reply.text == "get /a  " && reply.headers["connection"] == "close")
            #expect(await busy.readToEnd().isEmpty)
        }
    }

    @Test func `An end does not wait for ever for a client that does not read`() async throws {
        var limits = HTTPLimits()
        limits.endTime = .milliseconds(50)
        let isAsked = Gate()
        isAsked.open()
        try await TestedServer.run(
            limits: limits,
            { _ in
                await isAsked.pass()
                return WebResponse(body: .bytes(Data(repeating: 0, count: 64 << 20)))
            }
        ) { server in
            let visitor = try Visitor(port: server.port, buffer: 4_096)
            await visitor.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            await isAsked.waitForArrivals(1)
            _ = await visitor.read(until: "\r\n\r\n")
            server.stop()
            #expect(await visitor.readToEnd().count < 64 << 20)
        }
    }

    @Test func `A port that is taken is told as such`() async throws {
        try await TestedServer.run { server in
            let address = try ListenAddress("127.0.0.1:\(server.port)")
            let second = HTTPServer(
                address: address, handler: ScriptedHandler { WebResponse(echoing: $0) }, logger: Logger(label: "quiet"))
            let error = await #expect(throws: HTTPServerError.self) { try await second.run() }
            #expect(error?.code == .portTaken)
            #expect(error?.description.hasPrefix("cannot listen at \(address): another program") == true)
        }
    }

    @Test func `An address of another machine is told as such`() async throws {
        // Set aside for documents (RFC 5737).
        let server = HTTPServer(
            address: try ListenAddress("192.0.2.1:0"), handler: ScriptedHandler { WebResponse(echoing: $0) },
            logger: Logger(label: "quiet"))
        let error = await #expect(throws: HTTPServerError.self) { try await server.run() }
        #expect(error?.code == .addressNotHere)
    }

    @Test func `A log has paths and no queries`() async throws {
        let log = LogLines(from: .debug)
        try await TestedServer.run(logger: log.logger) { server in
            let visitor = try Visitor(port: server.port)
            #expect(await visitor.ask("GET /page?token=secret").status == 200)
            #expect(await visitor.ask("GET /..?token=secret").status == 404)
        }
        let lines = log.lines.map { "\($0.text) \($0.metadata)" }
        #expect(lines.count == 2)
        #expect(lines.first?.contains("/page") == true)
        #expect(!lines.joined().contains("secret") && !lines.joined().contains("token"))
    }
}
