import Foundation
import SyncCore
import SyncDigest
import SyncS3
import SyncTestSupport
import Testing

@Suite struct CurlTransportTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Empty:\r\n\r\nhello"

    private func url(_ server: LoopbackServer, _ path: String = "/b/k") -> HTTPURL {
        HTTPURL(scheme: "http", host: "127.0.0.1", port: server.port, path: path)
    }

    /// Runs `work` with a transport and a server, and ends both whatever happens.
    private func withServer(
        settings: TransportSettings = TransportSettings(), _ serve: @escaping @Sendable (LoopbackConnection) -> Void,
        work: (CurlTransport, LoopbackServer) async throws -> Void
    ) async throws {
        let server = try LoopbackServer(serve)
        let transport = try CurlTransport(settings: settings)
        do {
            try await work(transport, server)
        } catch {
            await transport.close()
            await server.stop()
            throw error
        }
        await transport.close()
        await server.stop()
    }

    /// Sends a request that has to fail.
    private func expectFailure(
        _ expected: TransportError.Code, of request: HTTPRequest, over transport: CurlTransport
    ) async {
        let error = await #expect(throws: TransportError.self) {
            try await transport.send(request, target: .memory(limit: 5))
        }
        #expect(error?.code == expected, "\(error?.message ?? "no error")")
    }

    @Test func `A reply has status, headers and body, and its connection is used again`() async throws {
        var settings = TransportSettings()
        // However slow the machine is between two requests.
        settings.idleConnectionAge = .seconds(3_600)
        try await withServer(settings: settings) { connection in
            while connection.readHead() != nil { connection.write(Self.ok) }
        } work: { transport, server in
            for connections in [1, 0, 0] {
                let response = try await transport.send(HTTPRequest(.get, url(server)), target: .memory(limit: 5))
                #expect(response.status == 200)
                #expect(response.body == Array("hello".utf8))
                #expect(response.headers["x-empty"] == "")
                #expect(response.newConnections == connections)
            }
        }
    }

    @Test func `A connection that is too old to be used again is closed, though nobody asks for another`()
        async throws
    {
        let closed = Countdown()
        var settings = TransportSettings()
        settings.idleConnectionAge = .zero
        try await withServer(settings: settings) { connection in
            while connection.readHead() != nil { connection.write(Self.ok) }
            _ = closed.fires()
        } work: { transport, server in
            for count in 1...3 {
                let response = try await transport.send(HTTPRequest(.get, url(server)), target: .memory(limit: 5))
                #expect(response.newConnections == 1)
                try await eventually("the end of the connection") { closed.count == count ? () : nil }
            }
        }
    }

    @Test func `Paths, queries and headers arrive as they were given`() async throws {
        let heads = Noted<RequestHead>()
        try await withServer { connection in
            while let head = connection.readHead() {
                heads.note(head)
                connection.write(Self.ok)
            }
        } work: { transport, server in
            var url = url(server, "/b/p/../q//%2E/%20~")
            url.query = [HTTPQueryItem("lifecycle"), HTTPQueryItem("a", "b c+")]
            let request = HTTPRequest(.delete, url, headers: ["x-amz-meta-empty": "", "Host": url.authority])
            _ = try await transport.send(request, target: .memory(limit: 5))
            let head = try #require(heads.all.first)
            #expect(head.line == "DELETE /b/p/../q//%2E/%20~?a=b%20c%2B&lifecycle= HTTP/1.1")
            #expect(head.headers["x-amz-meta-empty"] == "")
            #expect(head.headers["host"] == url.authority)
            #expect(head.headers["accept-encoding"] == nil)
        }
    }

    @Test func `A header value cannot smuggle a second header`() async throws {
        try await withServer { _ in
        } work: { transport, server in
            let request = HTTPRequest(.get, url(server), headers: ["x": "a\r\ny: b"])
            await expectFailure(.failed, of: request, over: transport)
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", TransportError.Code.connectionLost),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", .connectionLost),
        ("", .connectionLost),
        ("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello!", .invalidReply),
        ("220 smtp.example.org ready\r\n", .notHTTP),
    ])
    func `A reply that is cut, too long or no HTTP is an error`(
        text: String, expected: TransportError.Code
    ) async throws {
        try await withServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write(text)
        } work: { transport, server in
            let request = HTTPRequest(.get, url(server))
            await expectFailure(expected, of: request, over: transport)
        }
    }

    @Test func `A redirect is a reply, and is not followed`() async throws {
        let heads = Noted<RequestHead>()
        try await withServer { connection in
            while let head = connection.readHead() {
                heads.note(head)
                connection.write("HTTP/1.1 307 Elsewhere\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n")
            }
        } work: { transport, server in
            let response = try await transport.send(HTTPRequest(.get, url(server)), target: .memory(limit: 5))
            #expect(response.status == 307)
            #expect(heads.all.count == 1)
        }
    }

    @Test func `A sink gets the bytes of the reply it accepts, and no other`() async throws {
        try await withServer { connection in
            while let head = connection.readHead() {
                connection.write(
                    head.line.contains("/good") ? Self.ok : "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno")
            }
        } work: { transport, server in
            for (path, sunk, kept) in [("/good", "hello", ""), ("/bad", "", "no")] {
                let sink = ByteSink()
                let response = try await transport.send(
                    HTTPRequest(.get, url(server, path)),
                    target: .sink(accepts: { $0.status == 200 }, { sink.append($0) }))
                #expect(sink.bytes == Array(sunk.utf8))
                #expect(response.body == Array(kept.utf8))
            }
        }
    }

    @Test func `What a sink throws ends the transfer and comes out`() async throws {
        struct Refusal: Error {}
        try await withServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nhello")
            connection.waitForEnd()
        } work: { transport, server in
            await #expect(throws: Refusal.self) {
                _ = try await transport.send(
                    HTTPRequest(.get, url(server)), target: .sink(accepts: { _ in true }, { _ in throw Refusal() }))
            }
        }
    }

    @Test func `Cancelling closes the connection of a transfer under way`() async throws {
        let arrived = Noted<Bool>()
        let ended = Noted<Bool>()
        try await withServer { connection in
            guard connection.readHead() != nil else { return }
            arrived.note(true)
            connection.waitForEnd()
            ended.note(true)
        } work: { transport, server in
            let url = url(server)
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await #expect(throws: CancellationError.self) {
                        _ = try await transport.send(HTTPRequest(.get, url), target: .memory(limit: 5))
                    }
                }
                #expect(await arrived.next() == true)
                group.cancelAll()
            }
            #expect(await ended.next() == true)
        }
    }

    /// A request that does not end with its task.
    private func lasting(_ patience: Duration, _ server: LoopbackServer) -> HTTPRequest {
        var request = HTTPRequest(.post, url(server), body: HTTPBody(bytes: []))
        request.isCancellable = false
        request.patienceAtEnd = patience
        return request
    }

    @Test func `What does not end with its task ends when its patience is over`() async throws {
        let arrived = Noted<Bool>()
        try await withServer { connection in
            guard connection.readHead() != nil else { return }
            arrived.note(true)
            connection.waitForEnd()
        } work: { transport, server in
            let request = lasting(.milliseconds(20), server)
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await #expect(throws: CancellationError.self) {
                        _ = try await transport.send(request, target: .memory(limit: 5))
                    }
                }
                #expect(await arrived.next() == true)
                group.cancelAll()
            }
        }
    }

    @Test func `What does not end with its task has its answer while its patience lasts`() async throws {
        try await withServer { connection in
            while connection.readHead() != nil { connection.write(Self.ok) }
        } work: { transport, server in
            let request = lasting(.seconds(3_600), server)
            let status = try await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await transport.send(request, target: .memory(limit: 5)).status
            }.value
            #expect(status == 200)
        }
    }

    @Test func `Closing ends what is under way, and refuses what comes later`() async throws {
        let arrived = Noted<Bool>()
        try await withServer { connection in
            guard connection.readHead() != nil else { return }
            arrived.note(true)
            connection.waitForEnd()
        } work: { transport, server in
            let request = HTTPRequest(.get, url(server))
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await expectFailure(.closed, of: request, over: transport) }
                #expect(await arrived.next() == true)
                await transport.close()
            }
            await expectFailure(.closed, of: request, over: transport)
            await transport.close()
        }
    }

    @Test(arguments: [
        ("127.0.0.1", "http", TransportError.Code.unreachable), ("nowhere.invalid", "http", .unreachable),
    ])
    func `Nobody there is told apart`(host: String, scheme: String, expected: TransportError.Code) async throws {
        let silent = try SilentPort(listens: false)
        let transport = try CurlTransport()
        let request = HTTPRequest(.get, HTTPURL(scheme: scheme, host: host, port: silent.number, path: "/"))
        await expectFailure(expected, of: request, over: transport)
        await transport.close()
        withExtendedLifetime(silent) {}
    }

    @Test func `A server without TLS is insecure`() async throws {
        try await withServer { connection in
            connection.write("HTTP/1.1 400 no TLS here\r\n\r\n")
        } work: { transport, server in
            var url = url(server)
            url.scheme = "https"
            let request = HTTPRequest(.get, url)
            await expectFailure(.insecure, of: request, over: transport)
        }
    }

    @Test func `Many requests at once share few connections and leave nothing behind`() async throws {
        let heads = Noted<RequestHead>()
        let connections = Noted<Bool>()
        try await withServer(settings: TransportSettings(hostConnections: 4)) { connection in
            connections.note(true)
            while let head = connection.readHead() {
                heads.note(head)
                connection.write(Self.ok)
            }
        } work: { transport, server in
            let request = HTTPRequest(.get, url(server))
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<200 {
                    group.addTask { try await transport.send(request, target: .memory(limit: 5)).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == [Int](repeating: 200, count: 200))
            #expect(heads.all.count == 200)
            #expect(connections.all.count <= 4)
        }
    }
}
