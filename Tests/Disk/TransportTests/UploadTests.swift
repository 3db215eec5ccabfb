import Foundation
import SyncCore
import SyncDigest
import SyncS3
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct UploadTests {
    private static let stored = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

    struct Arrival: Hashable, Sendable {
        let head: RequestHead
        let body: [UInt8]
    }

    /// Puts one body to a server that takes all that is announced.
    /// - Returns: what arrived, and the error of the transport.
    private func put(_ body: ObjectBody) async throws -> (arrival: Arrival?, error: TransportError.Code?) {
        let arrivals = Noted<Arrival?>()
        let server = try LoopbackServer { connection in
            guard let head = connection.readHead() else { return arrivals.note(nil) }
            if head.headers["expect"] != nil { connection.write("HTTP/1.1 100 Continue\r\n\r\n") }
            arrivals.note(Arrival(head: head, body: connection.readUpTo(head.length)))
            connection.write(Self.stored)
        }
        let transport = try CurlTransport()
        let url = HTTPURL(scheme: "http", host: "127.0.0.1", port: server.port, path: "/b/k")
        var code: TransportError.Code?
        do {
            #expect(
                try await transport.send(HTTPRequest(.put, url, body: HTTPBody(body)), target: .memory(limit: 0)).status
                    == 200)
        } catch let error as TransportError {
            code = error.code
        }
        await transport.close()
        await server.stop()
        return (arrivals.all.first ?? nil, code)
    }

    @Test(arguments: [0, 1, 1_000, 1 << 20, (1 << 20) + 1, 3_000_001])
    func `A body arrives whole, with its length and never in chunks`(size: Int) async throws {
        let tree = try TemporaryTree()
        let bytes = [UInt8].noise(size)
        try tree.write(bytes, to: "photo.jpg")
        for body in [ObjectBody(bytes), try tree.body("photo.jpg")] {
            let (arrival, error) = try await put(body)
            let arrived = try #require(arrival)
            #expect(error == nil)
            #expect(arrived.body == bytes)
            #expect(arrived.head.line == "PUT /b/k HTTP/1.1")
            #expect(arrived.head.headers["content-length"] == "\(size)")
            #expect(arrived.head.headers["transfer-encoding"] == nil)
            // A small body goes out at once.
            #expect(arrived.head.headers["expect"] == (size > 1 << 20 ? "100-continue" : nil))
        }
    }

    @Test func `A file whose bytes are not the promised ones never arrives whole`() async throws {
        let tree = try TemporaryTree()
        try tree.write([UInt8].noise(2_000_000), to: "photo.jpg")
        let good = try tree.body("photo.jpg")
        guard case .file(let path, let stamp) = good.source else { return #expect(Bool(false), "no file") }
        let wrong = ObjectBody(file: path, stamp: stamp, digest: ContentDigest(of: [1]))
        let (arrival, error) = try await put(wrong)
        #expect(error == .digestMismatch)
        #expect(try #require(arrival).body.count < 2_000_000)
    }

    @Test func `A file that was changed or removed is not sent`() async throws {
        let tree = try TemporaryTree()
        try tree.write("one text", to: "photo.jpg")
        let body = try tree.body("photo.jpg")
        try tree.write("two text", to: "photo.jpg")
        try tree.age("photo.jpg", bySeconds: 100)
        #expect(try await put(body) == (nil, .sourceChanged))
        try FileManager.default.removeItem(atPath: tree.path("photo.jpg").string)
        #expect(try await put(body) == (nil, .sourceChanged))
    }

    @Test func `A file that cannot be read now is not one that was changed`() async throws {
        let tree = try TemporaryTree()
        // A folder can be opened, and not be read.
        try tree.write("one text", to: "folder/photo.jpg")
        let body = ObjectBody(
            file: tree.path("folder"), stamp: try tree.stamp("folder"), digest: ContentDigest(of: [1]))
        let (_, error) = try await put(body)
        #expect(error == .sourceUnreadable)
        try tree.write("one text", to: "photo.jpg")
        guard case .file(let path, let stamp) = try tree.body("photo.jpg").source else {
            return #expect(Bool(false), "no file")
        }
        let inside = ObjectBody(file: path.appending("photo.jpg"), stamp: stamp, digest: ContentDigest(of: [1]))
        #expect(try await put(inside) == (nil, .sourceChanged))
    }

    @Test func `A link to the same file in its place is not followed`() async throws {
        let tree = try TemporaryTree()
        try tree.write("one text", to: "photo.jpg")
        let body = try tree.body("photo.jpg")
        try FileManager.default.moveItem(atPath: tree.path("photo.jpg").string, toPath: tree.path("other").string)
        try FileManager.default.createSymbolicLink(
            atPath: tree.path("photo.jpg").string, withDestinationPath: tree.path("other").string)
        #expect(try await put(body) == (nil, .sourceChanged))
    }

    @Test func `A part of a file arrives with nothing before or behind it`() async throws {
        let tree = try TemporaryTree()
        let bytes = [UInt8].noise(3_000_000)
        try tree.write(bytes, to: "photo.jpg")
        guard case .file(let path, let stamp) = try tree.body("photo.jpg").source else {
            return #expect(Bool(false), "no file")
        }
        let range: Range<Int64> = 1_000_001..<2_500_000
        let part = Array(bytes[1_000_001..<2_500_000])
        let body = HTTPBody(file: path, stamp: stamp, range: range, digest: ContentDigest(of: part))
        let arrivals = Noted<[UInt8]>()
        let server = try LoopbackServer { connection in
            guard let head = connection.readHead() else { return }
            connection.write("HTTP/1.1 100 Continue\r\n\r\n")
            arrivals.note(connection.readUpTo(head.length))
            connection.write(Self.stored)
        }
        let transport = try CurlTransport()
        let url = HTTPURL(scheme: "http", host: "127.0.0.1", port: server.port, path: "/b/k")
        _ = try await transport.send(HTTPRequest(.put, url, body: body), target: .memory(limit: 0))
        await transport.close()
        await server.stop()
        #expect(arrivals.all == [part])
    }

    @Test func `A refusal before the body costs no upload`() async throws {
        let server = try LoopbackServer { connection in
            guard let head = connection.readHead(), head.headers["expect"] == "100-continue" else { return }
            connection.write("HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            #expect(connection.readUpTo(1).isEmpty)
        }
        var settings = TransportSettings()
        // However late a busy machine lets the server speak.
        settings.continueTimeout = .seconds(600)
        let transport = try CurlTransport(settings: settings)
        let url = HTTPURL(scheme: "http", host: "127.0.0.1", port: server.port, path: "/b/k")
        let request = HTTPRequest(.put, url, body: HTTPBody(bytes: [UInt8].noise(8 << 20)))
        #expect(try await transport.send(request, target: .memory(limit: 0)).status == 412)
        await transport.close()
        await server.stop()
    }

    @Test func `A body is sent anew when the connection that was kept dies under it`() async throws {
        let bodies = Noted<[UInt8]>()
        let connections = Noted<Bool>()
        let server = try LoopbackServer { connection in
            connections.note(true)
            while let head = connection.readHead() {
                let body = connection.readUpTo(head.length)
                // The first connection breaks when its second request has arrived.
                if connections.all.count == 1, !bodies.all.isEmpty { return }
                bodies.note(body)
                connection.write(Self.stored)
            }
        }
        let transport = try CurlTransport()
        let url = HTTPURL(scheme: "http", host: "127.0.0.1", port: server.port, path: "/b/k")
        let tree = try TemporaryTree()
        let bytes = [UInt8].noise(100_000)
        try tree.write(bytes, to: "photo.jpg")
        for _ in 0..<2 {
            let request = HTTPRequest(.put, url, body: HTTPBody(try tree.body("photo.jpg")))
            #expect(try await transport.send(request, target: .memory(limit: 0)).status == 200)
        }
        #expect(bodies.all == [bytes, bytes])
        #expect(connections.all.count == 2)
        await transport.close()
        await server.stop()
    }
}
