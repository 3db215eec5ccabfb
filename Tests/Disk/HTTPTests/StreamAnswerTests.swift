import FoundationEssentials
import SyncCore
import SyncHTTP
import SyncTestSupport
import Testing

/// Server-sent events: pieces go when they come.
@Suite struct StreamAnswerTests {
    private struct Source: Sendable {
        let pieces: AsyncStream<Data>
        let continuation: AsyncStream<Data>.Continuation
        let isOver = Gate()

        init() {
            (pieces, continuation) = AsyncStream.makeStream(of: Data.self)
            continuation.onTermination = { [isOver] _ in isOver.open() }
        }

        var response: WebResponse {
            WebResponse(headers: [WebRequest.Field("content-type", "text/event-stream")], body: .stream(pieces))
        }
    }

    @Test func `Each piece is sent at once, and the end of the stream is told`() async throws {
        let source = Source()
        try await TestedServer.run({ $0.segments == ["events"] ? source.response : WebResponse(echoing: $0) }) {
            server in
            let visitor = try Visitor(port: server.port)
            await visitor.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
            let head = await visitor.read(until: "\r\n\r\n")
            #expect(head.lowercased().contains("transfer-encoding: chunked\r\n"))
            for number in 1...3 {
                source.continuation.yield(Data("data: \(number)\n\n".utf8))
                #expect(
                    await visitor.read(until: "\n\n") == (number == 1 ? "9\r\n" : "\r\n9\r\n") + "data: \(number)\n\n")
            }
            source.continuation.finish()
            #expect(await visitor.read(until: "0\r\n\r\n") == "\r\n0\r\n\r\n")
            #expect(await visitor.ask("GET /").status == 200)
        }
    }

    @Test func `A client of old gets the pieces, and then the end of the connection`() async throws {
        let source = Source()
        source.continuation.yield(Data("abc".utf8))
        source.continuation.finish()
        try await TestedServer.run({ _ in source.response }) { server in
            let visitor = try Visitor(port: server.port)
            await visitor.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            #expect(await visitor.read(until: "\r\n\r\n").lowercased().contains("connection: close"))
            #expect(String(decoding: await visitor.readToEnd(), as: UTF8.self) == "abc")
        }
    }

    @Test func `The stream is told when its client is gone, though nothing is sent`() async throws {
        let source = Source()
        try await TestedServer.run({ _ in source.response }) { server in
            do {
                let visitor = try Visitor(port: server.port)
                await visitor.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = await visitor.read(until: "\r\n\r\n")
            }
            await source.isOver.pass()
        }
    }

    @Test func `The stream is told when only its head was asked for`() async throws {
        let source = Source()
        try await TestedServer.run({ _ in source.response }) { server in
            let visitor = try Visitor(port: server.port)
            let reply = await visitor.ask("HEAD /")
            #expect(reply.status == 200 && reply.headers["transfer-encoding"] == nil)
            await source.isOver.pass()
            #expect(await visitor.ask("HEAD /").status == 200)
        }
    }

    @Test func `The stream ends with the server`() async throws {
        let source = Source()
        try await TestedServer.run({ _ in source.response }) { server in
            let visitor = try Visitor(port: server.port)
            await visitor.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = await visitor.read(until: "\r\n\r\n")
            server.stop()
            await source.isOver.pass()
            #expect(String(decoding: await visitor.readToEnd(), as: UTF8.self) == "0\r\n\r\n")
        }
    }
}
