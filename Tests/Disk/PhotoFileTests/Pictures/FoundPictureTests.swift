import CSyncDecoder
import SyncCore
import SyncSystem
import SystemPackage
import Testing

@testable import SyncPhotos

/// What libFuzzer has found in the decoders (`Tests/Fuzz/Seeds`, `found-…`), made of whole pictures by a few bytes.
@Suite struct FoundPictureTests {
    private let limits = PhotoLimits()

    /// Bytes that are put over those of a file, by their places.
    struct Found: Sendable, CustomTestStringConvertible {
        var seed: String
        var format: PictureFormat
        var file: String
        var changes: [Int: [UInt8]]
        var code: PhotoError.Code

        var testDescription: String { seed }
    }

    static let found = [
        // A tile becomes an overlay that says to have 5000 × 5000 pixels, in a picture of 68 × 100.
        Found(
            seed: "found-large-grid.heic", format: .heif, file: "tiles.heic",
            changes: [255: Array("iovl".utf8), 2_305: [0x13, 0x88, 0x13, 0x88]], code: .overLimit),
        // The grid says to be higher than its tiles.
        Found(
            seed: "found-last-tile-damaged.heic", format: .heif, file: "tiles.heic", changes: [3_480: [166]],
            code: .corrupt),
        // The picture's only slice ends too early.
        Found(
            seed: "found-early-end.heic", format: .heif, file: "gray.heic", changes: [1_026: [220, 28]], code: .corrupt),
        // The length of eXIf, of 1.6 GB. A decoder that goes on comes to the end of the file.
        Found(
            seed: "found-block-too-long.png", format: .png, file: "turned.png", changes: [33: Array("acTL".utf8)],
            code: .corrupt),
    ]

    @Test(arguments: found) func `it is refused for what it is`(found: Found) throws {
        var bytes = try Fixture.bytes("kinds/\(found.file)")
        for (place, change) in found.changes { bytes.replaceSubrange(place..<place + change.count, with: change) }
        let workers = Decoder.workers
        let error = #expect(throws: PhotoError.self) {
            try workers.decoded(.bytes(bytes), as: found.format, within: limits) {
                (picture) throws(PhotoError) -> PixelSize in picture.size
            }
        }
        #expect(error?.code == found.code, "\(error?.message ?? "")")
    }

    /// Of a preview that is cut off, LibRaw hands out the rest of the memory that it took for it: filled by malloc(3) with
    /// the complement of what mallopt(3) was told. A sanitizer has an allocator of its own, which knows no such thing:
    /// there the rest is what it is.
    @Test func `memory that a library does not fill shows nothing of an earlier picture`() throws {
        let workers = Decoder.workers
        let earlier = try Fixture.bytes("kinds/turned.png")
        _ = try workers.decoded(.bytes(earlier), as: .png, within: limits) {
            (picture) throws(PhotoError) -> PixelSize in picture.size
        }
        let bytes = try Fixture.bytes("kinds/preview.dng")
        let start = try #require(bytes.indices.first { bytes[$0...].starts(with: [0xFF, 0xD8, 0xFF]) })
        let (file, memory) = (try MemoryFile(named: "picture"), try MemoryFile(named: "samples"))
        defer { withExtendedLifetime(file) {} }
        try file.write(Array(bytes[..<(start + 1_500)]))
        let request = CSyncDecoder_Request(
            format: CSYNC_DECODER_RAW.rawValue, reserved: 0, pixels: limits.pixels, memory_bytes: limits.memory,
            file_bytes: Int64(start + 1_500))
        let count = try workers.ask(request, file.descriptor, memory) { reply -> WorkerAnswer<Int> in
            if let failure = WorkerAnswer<Int>.failure(reply) { return failure }
            return .content(Int(reply.samples_bytes))
        }
        let preview = try memory.bytes(from: 0, count)
        #expect(preview.prefix(1_500).elementsEqual(bytes[start..<start + 1_500]))
        #expect(preview.count == 2_261)
        #if !SANITIZED
        #expect(preview.dropFirst(1_500).allSatisfy { $0 == 0x5A })
        #endif
    }
}
