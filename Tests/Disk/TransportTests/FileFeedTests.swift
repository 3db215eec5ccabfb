import Dispatch
import FoundationEssentials
import SyncCore
import SyncDigest
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncS3
@testable import SyncSystem

/// Files on disks that stop answering while they are sent.
@Suite struct FileFeedTests {
    private static let stored = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    private let wall = Lock(Duration.zero)
    private let gate = DispatchSemaphore(value: 0)
    /// How often somebody has come to the gate.
    private let entries = Lock(0)

    /// Of all threads; none of them uses the processor.
    private var watch: StepWatch {
        StepWatch(
            makeClock: { [wall] in
                { StepWatch.Reading(wall: wall.withLock { $0 }, processor: .zero) }
            })
    }

    /// Lets so much time pass for a watch that looks each second that what is silent is given up.
    private func passPatience(_ watch: StepWatch) {
        for _ in 0..<Int(SignOfLife.patience / .seconds(1)) {
            wall.withLock { $0 += .seconds(1) }
            watch.check()
        }
    }

    /// Takes whatever is put.
    private func takeAll(noting bodies: Noted<[UInt8]>) throws -> LoopbackServer {
        try LoopbackServer { connection in
            while let head = connection.readHead() {
                if head.headers["expect"] != nil { connection.write("HTTP/1.1 100 Continue\r\n\r\n") }
                bodies.note(connection.readUpTo(head.length))
                connection.write(Self.stored)
            }
        }
    }

    /// A transport of whose files the first million bytes are read, and no more before the gate opens.
    private func transport(
        reading bodies: BlockingPool, disks: DiskThreads<SourceReads.Disk> = DiskThreads()
    ) throws -> CurlTransport {
        try CurlTransport(disks: disks, bodies: bodies) { [gate, entries] place in
            guard place >= 1_000_000 else { return }
            entries.withLock { $0 += 1 }
            gate.wait()
        }
    }

    @Test func `A disk that hangs in the middle of a body stops no other request`() async throws {
        let (tree, bodies) = (try TemporaryTree(), Noted<[UInt8]>())
        let film = [UInt8].noise(3_000_000)
        try tree.write(film, to: "film.mp4")
        let body = HTTPBody(try tree.body("film.mp4"))
        let server = try takeAll(noting: bodies)
        let transport = try transport(reading: BlockingPool(name: "bodies", threads: 1, watch: StepWatch()))
        let url = HTTPURL(scheme: "http", host: "127.0.0.1", port: server.port, path: "/b/k")
        async let sent = transport.send(HTTPRequest(.put, url, body: body), target: .memory(limit: 0))
        // It goes on when the test ends early, too.
        defer { for _ in 1...16 { gate.signal() } }
        try await eventually("the disk") { entries.withLock { $0 } > 0 ? () : nil }
        let other = HTTPRequest(.put, url, body: HTTPBody(bytes: [1, 2, 3]))
        #expect(try await transport.send(other, target: .memory(limit: 0)).status == 200)
        #expect(bodies.all == [[1, 2, 3]])
        for _ in 1...16 { gate.signal() }
        let response = try await sent
        #expect(response.status == 200 && response.sentBytes == 3_000_000)
        #expect(bodies.all.last == film)
        await transport.close()
        await server.stop()
    }

    @Test func `The store is not blamed for a transfer that stalls for want of bytes of its file`() async throws {
        let (tree, pool) = (try TemporaryTree(), BlockingPool(name: "bodies", threads: 1))
        // It sets libcurl up.
        let transport = try CurlTransport()
        try tree.write([UInt8].noise(600_000), to: "film.mp4")
        let body = HTTPBody(try tree.body("film.mp4"))
        let feed = try #require(try await FileFeed.open(body, by: SourceReads(pool: pool), onRead: { _ in }))
        let url = HTTPURL(scheme: "http", host: "127.0.0.1", port: 1, path: "/b/k")
        let request = HTTPRequest(.put, url, body: body)
        /// What the caller hears where nothing has come or gone for too long (CURLE_OPERATION_TIMEDOUT).
        func failure() async throws -> TransportError.Code? {
            do {
                _ = try await withCheckedThrowingContinuation { (reply: CurlMailbox.Reply) in
                    let submission = CurlMailbox.Submission(
                        id: 1, request: request, feed: feed, target: .memory(limit: 0), reply: reply)
                    do {
                        let transfer = try CurlTransfer(submission, settings: TransportSettings())
                        reply.resume(with: transfer.outcome(code: 28))
                    } catch {
                        reply.resume(throwing: error)
                    }
                }
                return nil
            } catch let error as TransportError {
                return error.code
            }
        }
        #expect(try await failure() == .timedOut)
        // What was read when it was opened; nobody reads the rest.
        var window = [UInt8](repeating: 0, count: 600_000)
        let counts = try (1...2).map { _ in try window.withUnsafeMutableBytes { try feed.take(into: $0) } }
        #expect(counts == [262_144, nil])
        #expect(try await failure() == .sourceSilent)
        feed.close()
        await transport.close()
    }

    @Test func `A file whose disk does not answer is one that cannot be read now`() async throws {
        let (tree, bodies) = (try TemporaryTree(), Noted<[UInt8]>())
        try tree.write([UInt8].noise(3_000_000), to: "film.mp4")
        let body = HTTPBody(try tree.body("film.mp4"))
        let server = try takeAll(noting: bodies)
        let (watch, disks) = (watch, DiskThreads<SourceReads.Disk>())
        let transport = try transport(
            reading: BlockingPool(name: "bodies", threads: 1, watch: watch), disks: disks)
        let url = HTTPURL(scheme: "http", host: "127.0.0.1", port: server.port, path: "/b/k")
        async let sent = transport.send(HTTPRequest(.put, url, body: body), target: .memory(limit: 0))
        defer { for _ in 1...16 { gate.signal() } }
        try await eventually("the disk") { entries.withLock { $0 } > 0 ? () : nil }
        passPatience(watch)
        do {
            _ = try await sent
            Issue.record("it was sent")
        } catch let error as TransportError {
            #expect(error.code == .sourceSilent)
            #expect(error.message.contains("does not answer"))
        }
        // Whoever reads parts for the same store learns it, and does not wait for that disk once more.
        let parts = SourceReads(pool: BlockingPool(name: "parts", threads: 1, watch: watch), disks: disks)
        let (film, stamp) = (tree.path("film.mp4"), try tree.stamp("film.mp4"))
        let silence = await #expect(throws: TransportError.self) {
            try await parts.run(film, stamp) { _ = Issue.record("it was read") }
        }
        #expect(silence?.code == .sourceSilent)
        await parts.pool.shutDown()
        await transport.close()
        await server.stop()
    }

    @Test func `Once a disk hangs, nothing more is begun at it, and what is on others is read`() async throws {
        let watch = watch
        // What a test that ends early leaves there is given up.
        let pool = BlockingPool(name: "bodies", threads: 2, watch: watch, abandoningAfter: .milliseconds(50))
        let reads = SourceReads(pool: pool)
        let (ill, well) = (Self.stamp(device: 1), Self.stamp(device: 2))
        let read: @Sendable () async -> TransportError.Code? = { [gate, entries] in
            do {
                try await reads.run("/ill/film.mp4", ill) {
                    entries.withLock { $0 += 1 }
                    gate.wait()
                }
                return nil
            } catch {
                return (error as? TransportError)?.code ?? .failed
            }
        }
        // They go on when the test ends early, too.
        defer { for _ in 1...16 { gate.signal() } }
        let codes = try await withThrowingTaskGroup(of: TransportError.Code?.self) { group in
            for _ in 1...8 { group.addTask { await read() } }
            // Both threads.
            try await eventually("the disk") { entries.withLock { $0 } == 2 ? () : nil }
            group.addTask { try await reads.run("/well/film.mp4", well) { nil } }
            passPatience(watch)
            var codes: [TransportError.Code?] = []
            for try await code in group { codes.append(code) }
            return codes
        }
        #expect(codes.count(where: { $0 == .sourceSilent }) == 8 && codes.count == 9)
        #expect(await read() == .sourceSilent)
        // No more threads than were at it.
        #expect(entries.withLock { $0 } == 2)
        #expect(reads.disks.held.map(\.id) == [1, 1])
        for _ in 1...2 { gate.signal() }
        try await eventually("its return") { reads.disks.held.isEmpty ? () : nil }
        gate.signal()
        #expect(await read() == nil)
        await reads.pool.shutDown()
    }

    @Test(arguments: [true, false])
    func `A request that is over does not wait for a disk that hangs`(isCancelled: Bool) async throws {
        let (tree, isOver) = (try TemporaryTree(), Lock(false))
        try tree.write([UInt8].noise(3_000_000), to: "film.mp4")
        let body = HTTPBody(try tree.body("film.mp4"))
        let server = try takeAll(noting: Noted<[UInt8]>())
        let pool = BlockingPool(
            name: "bodies", threads: 1, watch: StepWatch(), abandoningAfter: .milliseconds(50))
        let transport = try transport(reading: pool)
        let url = HTTPURL(scheme: "http", host: "127.0.0.1", port: server.port, path: "/b/k")
        let sending = Task {
            defer { isOver.withLock { $0 = true } }
            return try await transport.send(HTTPRequest(.put, url, body: body), target: .memory(limit: 0))
        }
        defer { for _ in 1...16 { gate.signal() } }
        try await eventually("the disk") { entries.withLock { $0 } > 0 ? () : nil }
        let ending = Task {
            guard !isCancelled else { return sending.cancel() }
            await transport.close()
        }
        try await eventually("the request's end") { isOver.withLock { $0 } ? () : nil }
        await #expect(throws: (any Error).self) { try await sending.value }
        #expect(entries.withLock { $0 } == 1)
        await ending.value
        if isCancelled { await transport.close() }
        await server.stop()
    }

    @Test func `A file that was sent is closed by the threads that read, and nobody waits for that`() async throws {
        let (tree, entries, name) = (try TemporaryTree(), Lock(0), "closed-by-its-readers.jpg")
        try tree.write([UInt8].noise(1_000), to: name)
        let reads = SourceReads(pool: BlockingPool(name: "bodies", threads: 1, watch: StepWatch()))
        let body = HTTPBody(try tree.body(name))
        let feed = try #require(try await FileFeed.open(body, by: reads, onRead: { _ in }))
        async let other: Void = reads.run("/other.jpg", Self.stamp(device: 1)) { [gate] in
            entries.withLock { $0 += 1 }
            gate.wait()
        }
        // It goes on when the test ends early, too.
        defer { gate.signal() }
        try await eventually("the only thread") { entries.withLock { $0 } == 1 ? () : nil }
        feed.close()
        #expect(try Self.isOpen(name))
        gate.signal()
        try await other
        try await eventually("its end") { try Self.isOpen(name) ? nil : () }
        await reads.pool.shutDown()
    }

    /// Whether this process has a file of that name open.
    private static func isOpen(_ name: String) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").contains { descriptor in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            return target?.hasSuffix("/\(name)") ?? false
        }
    }

    @Test func `A request that sends a file can be cancelled`() async {
        await #expect(processExitsWith: .failure) {
            let transport = try? CurlTransport()
            let body = HTTPBody(
                file: "/film.mp4", stamp: FileFeedTests.stamp(device: 1), range: 0..<1, digest: ContentDigest(of: [1]))
            let url = HTTPURL(scheme: "http", host: "127.0.0.1", port: 1, path: "/b/k")
            var request = HTTPRequest(.put, url, body: body)
            request.isCancellable = false
            _ = try? await transport?.send(request, target: .memory(limit: 0))
        }
    }

    static func stamp(device: UInt64) -> FileStamp { FileStamp(device: device, inode: 1, size: 1, modified: 1) }
}
