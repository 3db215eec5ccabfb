import Glibc
import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncPhotos

@Suite struct DecodingBudgetTests {
    /// Decoders on threads of their own, which stay until a test lets one go.
    private final class Decoders: Sendable {
        struct Counts {
            var now = 0
            var most = 0
            var order: [Int64] = []
        }

        let memory: DecodingBudget
        let counts = Lock(Counts())
        let pool = BlockingPool(name: "decoders", threads: 8, watch: StepWatch())
        private let pipe: (readEnd: FileDescriptor, writeEnd: FileDescriptor)
        private let (entries, entry) = AsyncStream<Int64>.makeStream()

        init(_ memory: DecodingBudget) throws {
            self.memory = memory
            pipe = try FileDescriptor.pipe()
        }

        func decode(_ bytes: Int64) async throws {
            try await pool.run { [self] in
                try memory.with(bytes) { () throws(PhotoError) in
                    counts.withLock { counts in
                        counts.now += 1
                        counts.most = max(counts.most, counts.now)
                        counts.order.append(bytes)
                    }
                    entry.yield(bytes)
                    withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { _ = try? pipe.readEnd.read(into: $0) }
                    counts.withLock { $0.now -= 1 }
                }
            }
        }

        func letGo(_ count: Int = 1) throws { try pipe.writeEnd.writeAll([UInt8](repeating: 0, count: count)) }

        func waitForEntries(_ count: Int) async {
            var iterator = entries.makeAsyncIterator()
            for _ in 0..<count { _ = await iterator.next() }
        }
    }

    @Test func `pictures together take no more than there is, and all get their turn`() async throws {
        let decoders = try Decoders(DecodingBudget(bytes: 100))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for bytes: Int64 in [40, 40, 40, 100, 10, 500, 0] { group.addTask { try await decoders.decode(bytes) } }
            for _ in 0..<7 {
                await decoders.waitForEntries(1)
                try decoders.letGo()
            }
            try await group.waitForAll()
        }
        #expect(decoders.counts.withLock { $0.order }.sorted() == [0, 10, 40, 40, 40, 100, 500])
    }

    @Test func `two large pictures are not decoded at once, and small ones are`() async throws {
        let decoders = try Decoders(DecodingBudget(bytes: 100))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try await decoders.decode(60) } }
            for _ in 0..<4 {
                await decoders.waitForEntries(1)
                try decoders.letGo()
            }
            try await group.waitForAll()
        }
        #expect(decoders.counts.withLock { $0.most } == 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try await decoders.decode(25) } }
            await decoders.waitForEntries(4)
            try decoders.letGo(4)
            try await group.waitForAll()
        }
        #expect(decoders.counts.withLock { $0.most } == 4)
    }

    @Test func `who waits for memory hears that it shall stop`() async throws {
        let decoders = try Decoders(DecodingBudget(bytes: 100))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await decoders.decode(100) }
            await decoders.waitForEntries(1)
            await withThrowingTaskGroup(of: Void.self) { waiting in
                waiting.addTask { try await decoders.decode(1) }
                waiting.cancelAll()
                await #expect(throws: CancellationError.self) { try await waiting.next() }
            }
            try decoders.letGo()
            try await group.waitForAll()
        }
        // Nothing is owed to who has gone.
        async let last: Void = decoders.decode(100)
        await decoders.waitForEntries(1)
        try decoders.letGo()
        try await last
    }
}

/// Files that are large and hold next to nothing.
@Suite struct HugeFileTests {
    private let tree: TemporaryTree

    init() throws { tree = try TemporaryTree() }

    private func sparse(_ name: String, beginning head: [UInt8], size: Int64 = 1 << 40) throws -> FilePath {
        let path = try tree.write(head, to: name)
        let file = try FileDescriptor.open(path, .readWrite)
        try file.resize(to: size)
        try file.close()
        return path
    }

    @Test(
        arguments: [
            ("a.jpg", [0xFF, 0xD8, 0xFF, 0xE0]), ("a.jpg", []), ("vacation.json", []), ("vacation.json", [0x7B]),
            ("events.json", [0x5B, 0x7B]), ("notes.txt", []),
        ] as [(String, [UInt8])])
    func `a file of a terabyte is judged by its first bytes and its size`(name: String, head: [UInt8]) throws {
        let path = try sparse(name, beginning: head)
        let error = #expect(throws: PhotoError.self) { try PhotoFileReducer().examine(path) }
        #expect(error?.isPermanent == true)
    }

    @Test(arguments: [Int64(1) << 20, 1 << 40])
    func `reading a video of any size ends when it is told to`(size: Int64) async throws {
        let head: [UInt8] = [0, 0, 0, 24] + Array("ftypmp42".utf8) + [0, 0, 0, 0] + Array("mp42isom".utf8)
        let path = try sparse("a.mp4", beginning: head, size: size)
        let pool = BlockingPool(name: "test", threads: 1, watch: StepWatch())
        let (begun, signal) = AsyncStream<Void>.makeStream()
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await pool.run {
                    signal.yield()
                    // The file is met by one who has been told already: no race with how fast it is judged.
                    while (try? PhotoError.checkStopped()) != nil { sched_yield() }
                    _ = try PhotoFileReducer().examine(path)
                }
            }
            var iterator = begun.makeAsyncIterator()
            _ = await iterator.next()
            group.cancelAll()
            await #expect(throws: CancellationError.self) { try await group.next() }
        }
    }
}
