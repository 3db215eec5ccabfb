import Foundation
import SyncCore
import SyncDigest
import SyncS3
import SyncTestSupport
import Testing

/// Connections that break or fall silent, at each stage.
@Suite struct BadConnectionTests {
    /// What a server does to its first connection.
    enum Act: String, Sendable, CaseIterable, CustomTestStringConvertible {
        case silentAtOnce, silentAfterRequest, silentInHead, silentInBody, silentInUpload
        case cutAtOnce, cutAfterRequest, cutInHead, cutInBody, cutInUpload
        case refusedInUpload

        var testDescription: String { rawValue }

        /// Whether the client has to give up by itself.
        var isSilent: Bool {
            switch self {
            case .silentAtOnce, .silentAfterRequest, .silentInHead, .silentInBody, .silentInUpload: true
            case .cutAtOnce, .cutAfterRequest, .cutInHead, .cutInBody, .cutInUpload, .refusedInUpload: false
            }
        }

        /// - Parameter isOver: signalled once the client has given up.
        func play(_ connection: LoopbackConnection, until isOver: DispatchSemaphore) {
            switch self {
            case .silentAtOnce: connection.waitForEnd()
            case .silentAfterRequest: after(connection, "")
            case .silentInHead: after(connection, "HTTP/1.1 200 OK\r\nContent-Le")
            case .silentInBody: after(connection, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe")
            case .silentInUpload:
                _ = connection.readHead()
                connection.write("HTTP/1.1 100 Continue\r\n\r\n")
                // Nothing is read, so that the bytes pile up, and the client's end would not be seen either.
                isOver.wait()
            case .cutAtOnce: break
            case .cutAfterRequest: _ = connection.readHead()
            case .cutInHead: cut(connection, "HTTP/1.1 200 OK\r\nContent-Le")
            case .cutInBody: cut(connection, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe")
            case .cutInUpload:
                cut(connection, "HTTP/1.1 100 Continue\r\n\r\n")
                _ = connection.readUpTo(100_000)
            case .refusedInUpload:
                cut(connection, "HTTP/1.1 100 Continue\r\n\r\n")
                _ = connection.readUpTo(100_000)
                connection.write("HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                connection.waitForEnd()
            }
        }

        private func after(_ connection: LoopbackConnection, _ text: String) {
            cut(connection, text)
            connection.waitForEnd()
        }

        private func cut(_ connection: LoopbackConnection, _ text: String) {
            guard connection.readHead() != nil else { return }
            connection.write(text)
        }
    }

    private static let impatient = TransportSettings(connectTimeout: .seconds(1), stallTimeout: .seconds(1))
    /// For what the server does say: it may need as long as it wants on a busy machine.
    private static let patient = TransportSettings(connectTimeout: .seconds(600), stallTimeout: .seconds(600))

    private func send(
        _ body: HTTPBody?, scheme: String = "http", to act: Act
    ) async throws -> Result<Int, TransportError> {
        let isOver = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { act.play($0, until: isOver) }
        let transport = try CurlTransport(settings: act.isSilent ? Self.impatient : Self.patient)
        let url = HTTPURL(scheme: scheme, host: "127.0.0.1", port: server.port, path: "/b/k")
        let outcome: Result<Int, TransportError>
        do {
            let request = HTTPRequest(body == nil ? .get : .put, url, body: body)
            outcome = .success(try await transport.send(request, target: .memory(limit: 5)).status)
        } catch let error as TransportError {
            outcome = .failure(error)
        }
        await transport.close()
        isOver.signal()
        await server.stop()
        return outcome
    }

    @Test(arguments: [
        (Act.silentAfterRequest, TransportError.Code.timedOut), (.silentInHead, .timedOut), (.silentInBody, .timedOut),
        (.cutAtOnce, .connectionLost), (.cutAfterRequest, .connectionLost), (.cutInHead, .connectionLost),
        (.cutInBody, .connectionLost),
    ])
    func `A reply that does not come is given up`(act: Act, expected: TransportError.Code) async throws {
        let outcome = try await send(nil, to: act)
        #expect(throws: TransportError.self) { try outcome.get() }
        guard case .failure(let error) = outcome else { return }
        #expect(error.code == expected, "\(error)")
    }

    @Test(arguments: [(Act.silentInUpload, TransportError.Code.timedOut), (.cutInUpload, .connectionLost)])
    func `An upload that does not get on is given up`(act: Act, expected: TransportError.Code) async throws {
        let outcome = try await send(HTTPBody(bytes: [UInt8].noise(16 << 20)), to: act)
        #expect(throws: TransportError.self) { try outcome.get() }
        guard case .failure(let error) = outcome else { return }
        #expect(error.code == expected, "\(error)")
    }

    @Test func `A reply that has a time for the whole of it is given up then, though it gets on`() async throws {
        let isOver = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { Act.silentInBody.play($0, until: isOver) }
        let transport = try CurlTransport(settings: TransportSettings(stallTimeout: .seconds(600)))
        var request = HTTPRequest(
            .get, HTTPURL(scheme: "http", host: "127.0.0.1", port: server.port, path: "/b/k"))
        request.limit = .milliseconds(300)
        let error = await #expect(throws: TransportError.self) {
            _ = try await transport.send(request, target: .memory(limit: 1_000))
        }
        #expect(error?.code == .timedOut)
        await transport.close()
        isOver.signal()
        await server.stop()
    }

    @Test func `A refusal in the middle of an upload is heard`() async throws {
        let outcome = try await send(HTTPBody(bytes: [UInt8].noise(16 << 20)), to: .refusedInUpload)
        #expect(try outcome.get() == 503)
    }

    @Test(arguments: [(Act.silentAtOnce, TransportError.Code.timedOut), (.cutAtOnce, .insecure)])
    func `A handshake that does not end is given up`(act: Act, expected: TransportError.Code) async throws {
        let outcome = try await send(nil, scheme: "https", to: act)
        #expect(throws: TransportError.self) { try outcome.get() }
        guard case .failure(let error) = outcome else { return }
        #expect(error.code == expected, "\(error)")
    }

    @Test func `A request has a patience of its own`() async throws {
        let server = try LoopbackServer { connection in
            _ = connection.readHead()
            connection.waitForEnd()
        }
        let transport = try CurlTransport()
        var request = HTTPRequest(
            .get, HTTPURL(scheme: "http", host: "127.0.0.1", port: server.port, path: "/b/k"))
        request.patience = .seconds(1)
        let asked = request
        let error = await #expect(throws: TransportError.self) {
            try await transport.send(asked, target: .memory(limit: 5))
        }
        #expect(error?.code == .timedOut)
        await transport.close()
        await server.stop()
    }

    @Test(arguments: [
        (5, "Could not resolve proxy: p", TransportError.Code.proxyFailed),
        (6, "Could not resolve host: nas", .unreachable),
        (7, "Failed to connect to nas port 9000 after 0 ms: Couldn't connect to server", .unreachable),
        (7, "Failed to connect to proxy port 3128 after 0 ms: Couldn't connect to server", .proxyFailed),
        (7, "Failed to connect to nas port 9000 via proxy after 0 ms: Couldn't connect to server", .proxyFailed),
        (7, "Couldn't connect to server", .unreachable),
        (7, "Unsupported proxy scheme for 'foo://x:1'", .proxyFailed),
        (56, "Received HTTP code 403 from proxy after CONNECT", .proxyFailed),
        (56, "CONNECT tunnel failed, response 407", .proxyFailed),
        (56, "Recv failure: Connection reset by peer", .connectionLost), (97, "SOCKS", .proxyFailed),
        (35, "wrong version number", .insecure), (60, "unable to get local issuer certificate", .untrusted),
        (77, "error setting certificate file: /x", .untrusted), (28, "Operation too slow", .timedOut),
        (18, "transfer closed", .connectionLost), (52, "Empty reply from server", .connectionLost),
        (55, "Send failure", .connectionLost), (65, "necessary data rewind was not possible", .connectionLost),
        (1, "Received HTTP/0.9 when not allowed", .notHTTP), (3, "URL", .failed),
    ])
    func `Each failure of curl's has its kind`(code: Int32, text: String, expected: TransportError.Code) {
        let host = HTTPURL(scheme: "http", host: "nas", port: 9_000, path: "/")
        #expect(TransportError.Code(curl: code, text: text, host: host) == expected)
    }

    @Test(arguments: [
        ("Unsupported proxy scheme for 'foo://u:p@ss@x:1'", "Unsupported proxy scheme for 'foo://***@x:1'"),
        ("Could not resolve host: a@b", "Could not resolve host: a@b"), ("foo://x:1", "foo://x:1"),
        (
            "Unsupported proxy syntax in 'ana:secretpw@proxy.invalid:99999'",
            "Unsupported proxy syntax in '***@proxy.invalid:99999'"
        ),
        ("Unsupported proxy syntax in 'ana:x://y@z@proxy:1'", "Unsupported proxy syntax in '***@proxy:1'"),
        ("Unsupported proxy syntax in 'ana:it's@proxy:1'", "Unsupported proxy syntax in '***@proxy:1'"),
        ("Unsupported proxy syntax in 'http://ana:p@proxy:1'", "Unsupported proxy syntax in 'http://***@proxy:1'"),
        ("Failed for 'x' of http://u:p@h", "Failed for 'x' of http://***@h"),
        ("Couldn't connect to server", "Couldn't connect to server"),
    ])
    func `The password of a proxy is not repeated`(text: String, expected: String) {
        #expect(TransportError.withoutPassword(text) == expected)
    }
}
