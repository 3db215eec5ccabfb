import FoundationEssentials
import SyncCore
import SyncS3
import SyncSystem
import SyncTestSupport
import Testing

@Suite struct UploadSpeedTests {
    private static let stored = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

    /// - Returns: how long the uploads took together.
    private func time(_ sizes: [Int], limit: Int?, stall: Duration = .seconds(600)) async throws -> Duration {
        let server = try LoopbackServer { connection in
            while let head = connection.readHead() {
                connection.skipBody(head.length)
                connection.write(Self.stored)
            }
        }
        let transport = try CurlTransport(
            settings: TransportSettings(stallTimeout: stall, uploadBytesPerSecond: limit))
        let url = HTTPURL(scheme: "http", host: "127.0.0.1", port: server.port, path: "/b/k")
        let clock = ContinuousClock()
        let start = clock.now
        try await withThrowingTaskGroup(of: Int.self) { group in
            for size in sizes {
                let request = HTTPRequest(.put, url, body: HTTPBody(bytes: [UInt8].noise(size)))
                group.addTask { try await transport.send(request, target: .memory(limit: 0)).status }
            }
            for try await status in group { #expect(status == 200) }
        }
        let elapsed = start.duration(to: clock.now)
        await transport.close()
        await server.stop()
        return elapsed
    }

    @Test(arguments: [[600_000], [300_000, 300_000], [500_000, 50_000, 50_000]])
    func `All uploads together keep to the limit`(sizes: [Int]) async throws {
        // 600,000 bytes at 400,000 a second. curl lets the first buffers out at once.
        let elapsed = try await time(sizes, limit: 400_000)
        #expect(elapsed > .seconds(1))
    }

    @Test func `A slow limit is no stall`() async throws {
        // A share of the smallest limit: 160 KiB at 16 KiB a second take twice as long as the patience for a stall. That is
        // also what the server's answer may take on a busy machine.
        let elapsed = try await time([80 << 10, 80 << 10], limit: 16 << 10, stall: .seconds(5))
        #expect(elapsed > .seconds(5))
    }

    @Test func `What is received is not limited`() async throws {
        let text = String(repeating: "x", count: 16 << 20)
        let server = try LoopbackServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
        }
        let transport = try CurlTransport(
            settings: TransportSettings(uploadBytesPerSecond: 16 << 10))
        let url = HTTPURL(scheme: "http", host: "127.0.0.1", port: server.port, path: "/b/k")
        let start = ContinuousClock().now
        let response = try await transport.send(HTTPRequest(.get, url), target: .memory(limit: 16 << 20))
        #expect(response.body.count == 16 << 20)
        // At the limit it would take 17 minutes.
        #expect(start.duration(to: ContinuousClock().now) < .seconds(500))
        await transport.close()
        await server.stop()
    }

    @Test(arguments: [true, false])
    func `A limit ends with its hour, also for what is under way`(isUpload: Bool) async throws {
        let size = 8 << 20
        let begun = Observed(false)
        let server = try LoopbackServer { connection in
            guard let head = connection.readHead() else { return }
            begun.change { $0 = true }
            if isUpload {
                connection.skipBody(head.length)
                connection.write(Self.stored)
            } else {
                connection.write(
                    "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n\(String(repeating: "x", count: size))")
            }
        }
        let table = try BandwidthTimetable("08:00,16k:16k 18:00,off:off", atLeast: 1)
        let zone = try #require(TimeZone(identifier: "UTC"))
        // Monday, 5 January 1970, at 17:59.
        let clock = Lock(Date(timeIntervalSince1970: 4 * 86_400 + 17 * 3_600 + 59 * 60))
        let transport = try CurlTransport(
            settings: TransportSettings(stallTimeout: .seconds(600), uploadBytesPerSecond: table.lowestUpload),
            rates: { table.rates(at: clock.withLock { $0 }, in: zone) })
        let url = HTTPURL(scheme: "http", host: "127.0.0.1", port: server.port, path: "/b/k")
        let request =
            isUpload
            ? HTTPRequest(.put, url, body: HTTPBody(bytes: [UInt8](repeating: 7, count: size))) : HTTPRequest(.get, url)
        let start = ContinuousClock().now
        async let status = transport.send(request, target: .memory(limit: size)).status
        _ = try await begun.wait(for: "a request") { $0 ? true : nil }
        clock.withLock { $0 += 60 }
        #expect(try await status == 200)
        // Within the limit it would take eight minutes.
        #expect(start.duration(to: ContinuousClock().now) < .seconds(300))
        await transport.close()
        await server.stop()
    }
}
