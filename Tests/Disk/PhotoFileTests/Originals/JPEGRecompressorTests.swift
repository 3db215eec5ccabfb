import Foundation
import Glibc
import SyncCore
import SyncDigest
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncPhotos

/// JPEG files as JPEG XL and back, through the decoder that is built with the tests.
@Suite struct JPEGRecompressorTests {
    private let tree: TemporaryTree
    private let recompressor = JPEGRecompressor(workers: Decoder.workers)

    init() throws {
        tree = try TemporaryTree()
    }

    private func recompress(
        _ bytes: [UInt8], by recompressor: JPEGRecompressor? = nil, sha256: SHA256Digest? = nil
    ) throws -> (result: RecompressedOriginal, stored: [UInt8]) {
        let (file, output) = (try MemoryFile(named: "file"), try MemoryFile(named: "output"))
        try file.write(bytes)
        let result = try (recompressor ?? self.recompressor).recompressed(
            file.descriptor, size: Int64(bytes.count), sha256: sha256 ?? ContentDigest(of: bytes).sha256,
            into: output.descriptor)
        return (result, try output.bytes(from: 0, Int(output.size())))
    }

    private func reconstruct(_ bytes: [UInt8], by recompressor: JPEGRecompressor? = nil) throws -> [UInt8] {
        let (file, output) = (try MemoryFile(named: "file"), try MemoryFile(named: "output"))
        try file.write(bytes)
        try (recompressor ?? self.recompressor).reconstruct(
            file.descriptor, size: Int64(bytes.count), into: output.descriptor)
        return try output.bytes(from: 0, Int(output.size()))
    }

    private func smaller(_ bytes: [UInt8]) throws -> [UInt8] {
        let (result, stored) = try recompress(bytes)
        #expect(result == .smaller(ContentDigest(of: stored), size: Int64(stored.count)))
        return stored
    }

    private func reason(_ result: RecompressedOriginal) -> String? {
        if case .asItIs(let reason) = result { reason } else { nil }
    }

    // MARK: Files

    @Test(arguments: [
        "camera-canon", "camera-iphone", "camera-nikon", "camera-offset", "camera-profile", "coding-gray",
        "coding-multiscan", "coding-optimized", "coding-progressive", "coding-restart-blocks", "coding-restart-rows",
        "coding-rgb", "orientation-6", "sampling-1x1", "sampling-1x2", "sampling-2x1", "sampling-2x2",
        "sampling-1x1-2x2-2x2", "sampling-2x2-2x1-1x2", "size-65500x1",
    ])
    func `a JPEG becomes smaller, and comes back byte for byte`(name: String) throws {
        let bytes = try Fixture.bytes("\(name).jpg")
        let stored = try smaller(bytes)
        #expect(stored.count * 100 <= bytes.count * 95)
        #expect(try reconstruct(stored) == bytes)
    }

    @Test func `what lies behind the picture's end comes back`() throws {
        let bytes = try Fixture.bytes("coding-progressive.jpg")
        // A second picture, as MPF and gain maps have it, and the movie of a motion photo.
        for more in [[0], try Fixture.bytes("size-8x8.jpg"), Array("    ftypmp42".utf8)] {
            let whole = bytes + more
            #expect(try reconstruct(smaller(whole)) == whole)
        }
    }

    @Test(arguments: [
        ("coding-arithmetic.jpg", "cannot recompress"), ("coding-arithmetic-progressive.jpg", "cannot recompress"),
        ("coding-cmyk.jpg", "cannot recompress"), ("coding-ycck.jpg", "cannot recompress"),
        ("sampling-1x4.jpg", "cannot recompress"), ("sampling-4x1.jpg", "cannot recompress"),
        ("size-16x16.jpg", "would take 825 of 705 bytes"), ("kinds/plain.heic", "no picture's size"),
    ])
    func `what cannot become smaller is left as it is, with the reason`(name: String, words: String) throws {
        let (result, stored) = try recompress(Fixture.bytes(name))
        #expect(reason(result)?.contains(words) == true, "\(result)")
        #expect(stored.isEmpty)
    }

    @Test func `damaged files come back byte for byte, or are left as they are`() throws {
        let bytes = try Fixture.bytes("camera-iphone.jpg")
        for end in stride(from: 0, to: bytes.count, by: bytes.count / 24) {
            let (result, stored) = try recompress(Array(bytes[..<end]))
            guard reason(result) == nil else { continue }
            #expect(try reconstruct(stored) == Array(bytes[..<end]))
        }
        let frame = try #require(bytes.indices.first { bytes[$0...].starts(with: [0xFF, 0xC0]) })
        for (offset, value) in [(frame + 4, UInt8(12)), (frame + 5, 0xFF), (frame + 9, 4), (bytes.count / 2, 0x5A)] {
            var damaged = bytes
            damaged[offset] = value
            let (result, stored) = try recompress(damaged)
            guard reason(result) == nil else { continue }
            #expect(try reconstruct(stored) == damaged)
        }
    }

    @Test func `a file that has another digest than it should is left as it is`() throws {
        let other = ContentDigest(of: [1, 2, 3]).sha256
        let (result, stored) = try recompress(Fixture.bytes("coding-gray.jpg"), sha256: other)
        #expect(result == .asItIs(reason: "it does not come back from JPEG XL byte for byte"))
        #expect(stored.isEmpty)
    }

    // MARK: Limits

    @Test func `a file that takes more memory than it may is left as it is`() throws {
        let tight = JPEGRecompressor(workers: Decoder.workers, memory: 512 << 20)
        let (result, _) = try recompress(Fixture.bytes("size-65500x1.jpg"), by: tight)
        #expect(reason(result)?.contains("the limit is 512 MiB") == true, "\(result)")
        let none = JPEGRecompressor(workers: Decoder.workers, memory: 16 << 20)
        let stored = try smaller(Fixture.bytes("coding-gray.jpg"))
        let error = #expect(throws: PhotoError.self) { try reconstruct(stored, by: none) }
        #expect(error?.code == .overLimit)
    }

    @Test func `without a decoder a file is left as it is, and none comes back`() throws {
        let none = JPEGRecompressor(workers: .none)
        let (result, _) = try recompress(Fixture.bytes("coding-gray.jpg"), by: none)
        #expect(reason(result)?.contains("sync-agent-decoder") == true)
        let error = #expect(throws: PhotoError.self) { try reconstruct([], by: none) }
        #expect(error?.code == .unsupported && error?.message.contains("sync-agent-decoder") == true)
    }

    // MARK: Strange JPEG XL

    @Test func `what is no JPEG XL of a JPEG is refused`() throws {
        let stored = try smaller(Fixture.bytes("coding-progressive.jpg"))
        let box = try #require(stored.indices.first { stored[$0...].starts(with: Array("jbrd".utf8)) })
        var without = stored
        without.replaceSubrange(box..<(box + 4), with: Array("free".utf8))
        for bytes in [without, [0xFF, 0x0A, 0, 0], Array("no picture".utf8), []] {
            let error = #expect(throws: PhotoError.self) { try reconstruct(bytes) }
            #expect(error?.code == .unsupported, "\(String(describing: error))")
        }
    }

    @Test func `a JPEG XL that is cut or damaged gives an error or another file, and the next one is read`() throws {
        let bytes = try Fixture.bytes("coding-progressive.jpg")
        let stored = try smaller(bytes)
        for end in stride(from: 12, to: stored.count, by: 97) {
            #expect(throws: PhotoError.self) { try reconstruct(Array(stored[..<end])) }
        }
        for offset in stride(from: 0, to: stored.count, by: 41) {
            var damaged = stored
            damaged[offset] ^= 1 << UInt8(offset % 8)
            let made = try? reconstruct(damaged)
            #expect((made?.count ?? 0) <= JPEGRecompressor.mostBytes)
        }
        #expect(try reconstruct(stored) == bytes)
    }

    // MARK: A worker that does what it is told

    private static let jxl = Array(#"{"memory": 5, "samples_bytes": 5, "write": [[0, "4a504547ff"]]}"#.utf8)

    /// A file that becomes `second`, from which comes back whatever that tells the worker.
    private func order(_ changes: [String: Any] = [:], second: [UInt8] = jxl) throws -> [UInt8] {
        let good: [String: Any] = [
            "memory": second.count, "samples_bytes": second.count, "write": [[0, second.hexadecimal]],
            // So that it is smaller.
            "padding": String(repeating: ".", count: 200),
        ]
        return Array(try JSONSerialization.data(withJSONObject: good.merging(changes) { $1 }))
    }

    @Test(arguments: [
        ["status": 99], ["samples_bytes": 0], ["samples_bytes": 1_000_000], ["samples_bytes": Int.max],
        ["samples_offset": 1], ["raw": 3],
    ])
    func `an answer that makes no sense is an error, there and back`(lie: [String: Int]) throws {
        let scripted = try ScriptedWorker()
        let workers = PictureWorkers(programs: [scripted.program])
        defer { workers.close() }
        let fake = JPEGRecompressor(workers: workers)
        let bytes = try order(lie)
        for error in [
            #expect(throws: PhotoError.self) { try recompress(bytes, by: fake) },
            #expect(throws: PhotoError.self) { try reconstruct(bytes, by: fake) },
        ] {
            #expect(error?.code == .corrupt)
            #expect(error?.message.contains("nonsense") == true)
        }
    }

    @Test func `a worker that gives back another file is not believed`() throws {
        let scripted = try ScriptedWorker()
        let workers = PictureWorkers(programs: [scripted.program])
        defer { workers.close() }
        let fake = JPEGRecompressor(workers: workers)
        #expect(try reconstruct(Self.jxl, by: fake) == [0x4A, 0x50, 0x45, 0x47, 0xFF])
        for second in [Self.jxl, Array(#"{"signal": 11}"#.utf8), Array(#"{"status": 2, "message": "bad"}"#.utf8)] {
            let (result, stored) = try recompress(order(second: second), by: fake)
            #expect(result == .asItIs(reason: "it does not come back from JPEG XL byte for byte"))
            #expect(stored.isEmpty)
        }
    }

    @Test func `a worker that dies of a file is an error`() throws {
        let scripted = try ScriptedWorker()
        let workers = PictureWorkers(programs: [scripted.program])
        defer { workers.close() }
        let error = #expect(throws: PhotoError.self) {
            try recompress(order(["signal": 4]), by: JPEGRecompressor(workers: workers))
        }
        #expect(error?.code == .corrupt && error?.message.contains("signal 4") == true)
    }

    @Test func `whoever is cancelled waits no longer, also for their turn`() async throws {
        let scripted = try ScriptedWorker()
        let workers = PictureWorkers(programs: [scripted.program])
        let fake = JPEGRecompressor(workers: workers)
        let pool = BlockingPool(name: "test", threads: 2)
        let tasks = (0..<2).map { _ in
            Task {
                try await pool.run {
                    let file = try MemoryFile(named: "file")
                    let bytes = Array(#"{"hang": "idly"}"#.utf8)
                    try file.write(bytes)
                    return try fake.recompressed(
                        file.descriptor, size: Int64(bytes.count), sha256: ContentDigest(of: bytes).sha256,
                        into: file.descriptor)
                }
            }
        }
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        await pool.shutDown()
        workers.close()
    }
}
