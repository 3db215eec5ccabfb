import FoundationEssentials
import SyncCore
import SyncHTTP
import SyncSystem
import SyncTestSupport
import Testing

@Suite struct SlowClientTests {
    @Test(arguments: ["G", "GET / HTTP/1.1\r\nHost: a\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r"])
    func `A header that does not end in time is 408`(sent: String) async throws {
        var limits = HTTPLimits.patient
        limits.headerTime = .milliseconds(50)
        try await TestedServer.run(limits: limits) { server in
            let visitor = try Visitor(port: server.port)
            await visitor.send(sent)
            #expect(await visitor.reply().status == 408)
            #expect(await visitor.readToEnd().isEmpty)
        }
    }

    @Test(arguments: ["Content-Length: 5\r\n\r\nabcd", "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n"])
    func `A body that does not end in time is 408`(sent: String) async throws {
        var limits = HTTPLimits.patient
        limits.bodyTime = .milliseconds(50)
        try await TestedServer.run(limits: limits) { server in
            let visitor = try Visitor(port: server.port)
            await visitor.send("POST / HTTP/1.1\r\nHost: a\r\n\(sent)")
            #expect(await visitor.reply().status == 408)
            #expect(await visitor.readToEnd().isEmpty)
        }
    }

    @Test func `A connection without a request is closed, before the first one and after`() async throws {
        var limits = HTTPLimits()
        limits.idleTime = .milliseconds(50)
        try await TestedServer.run(limits: limits) { server in
            let silent = try Visitor(port: server.port)
            #expect(await silent.readToEnd().isEmpty)
            // One who is late with the request, on a busy machine, finds the connection closed and comes again.
            let visitor = try await eventually("an answer") { () -> Visitor? in
                let visitor = try Visitor(port: server.port)
                return await visitor.ask("GET /").status == 200 ? visitor : nil
            }
            #expect(await visitor.readToEnd().isEmpty)
        }
    }

    @Test func `A client that reads nothing is dropped, and the handler told`() async throws {
        var limits = HTTPLimits()
        limits.stallTime = .milliseconds(100)
        let isDropped = Gate()
        try await TestedServer.run(limits: limits) { _ in
            // More than both kernels' buffers take.
            let piece = Data(repeating: 0, count: 1 << 20)
            let (pieces, continuation) = AsyncStream.makeStream(of: Data.self)
            continuation.onTermination = { _ in isDropped.open() }
            for _ in 0..<32 { continuation.yield(piece) }
            return WebResponse(body: .stream(pieces))
        } _: { server in
            let visitor = try Visitor(port: server.port, buffer: 4_096)
            await visitor.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            await isDropped.pass()
            #expect(await visitor.readToEnd().count < 32 << 20)
        }
    }

    @Test func `Many idle connections keep no neighbour from an answer`() async throws {
        var limits = HTTPLimits()
        limits.lingerTime = .milliseconds(200)
        limits.connections = 512
        // Fewer where the system gives fewer descriptors: other tests need some, too.
        let count = Int(min(10_000, DescriptorLimit.raise(upTo: 20_000) / 2))
        try await TestedServer.run(limits: limits) { [limits] server in
            #expect(count > limits.connections)
            var visitors: [Visitor] = []
            for number in 0..<count {
                let visitor = try Visitor(port: server.port)
                // Some have begun a request that they never end.
                if number % 2 == 0 { await visitor.send("GET / HTTP/1.1\r\nHo") }
                visitors.append(visitor)
                // Often enough: where more wait to be taken than the kernel lets wait, the next one waits for a second.
                if number % 100 == 0 {
                    let visitor = try Visitor(port: server.port)
                    #expect(await visitor.ask("GET /").status == 200)
                }
            }
            let visitor = try Visitor(port: server.port)
            #expect(await visitor.ask("GET /").status == 200)
            // The one that has waited longest was closed for another.
            #expect(await visitors[1].readToEnd().isEmpty)
        }
    }

    @Test func `When all connections are being answered, one more gets 503`() async throws {
        var limits = HTTPLimits()
        limits.connections = 2
        let gate = Gate()
        try await TestedServer.run(limits: limits) { request in
            await gate.pass()
            return WebResponse(echoing: request)
        } _: { server in
            let busy = [try Visitor(port: server.port), try Visitor(port: server.port)]
            for visitor in busy { await visitor.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n") }
            await gate.waitForArrivals(2)
            let refused = try await Visitor(port: server.port).reply()
            #expect(refused.status == 503 && refused.headers["retry-after"] == "1")
            gate.open()
            for visitor in busy { #expect(await visitor.reply().status == 200) }
            // Both wait for another request now: the first one makes room.
            let visitor = try Visitor(port: server.port)
            #expect(await visitor.ask("GET /").status == 200)
        }
    }
}
