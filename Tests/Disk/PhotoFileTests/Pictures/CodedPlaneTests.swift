import CSyncDecoder
import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncPhotos

/// HEIC and AVIF pictures whose coded planes become those of a JPEG, beside such whose planes are made of RGB.
@Suite struct CodedPlaneTests {
    private func planes(of bytes: [UInt8], named name: String, longest: Int) throws -> [BaselinePicture.Plane] {
        let policy = ReducePolicy(maximumDimension: longest, quality: 100)
        let copy = try Workbench(pictures: Decoder.workers).copy(of: bytes, named: name, policy: policy)
        return try BaselinePicture(copy.reduced()).planes
    }

    /// Levels between two pictures on average, of the plane where that is most.
    private func distance(_ one: [BaselinePicture.Plane], _ other: [BaselinePicture.Plane]) -> Double {
        zip(one, other).map { one, other in
            let sum = zip(one.samples, other.samples).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            return Double(sum) / Double(one.samples.count)
        }.max() ?? .infinity
    }

    @Test(
        arguments: [
            "plain.heic", "tiles.heic", "mirrored.heic", "levels.heic", "matrix.heic", "deep.heic", "full-chroma.heic",
            "plain.avif",
        ])
    func `a picture has the colours that it has in RGB`(file: String) throws {
        let picture = try planes(of: Fixture.bytes("kinds/\(file)"), named: file, longest: 99)
        let exact = try planes(of: Fixture.bytes("kinds/plain.bmp"), named: "plain.bmp", longest: 99)
        #expect(distance(picture, exact) < 1.5)
    }

    /// plain.bmp without its last column and row: each of its rows has 300 bytes, and the last one comes first.
    private func oddBitmap() throws -> [UInt8] {
        var bytes = try Fixture.bytes("kinds/plain.bmp")
        let begin = Int(bytes[10])
        bytes.removeSubrange(begin..<begin + 300)
        (bytes[18], bytes[22]) = (99, 67)
        for (at, value) in [(2, bytes.count), (34, 67 * 300)] {
            for index in 0..<4 { bytes[at + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
        }
        return bytes
    }

    @Test func `the last column and row of an odd size are as in RGB`() throws {
        let picture = try planes(of: Fixture.bytes("kinds/odd.heic"), named: "odd.heic", longest: 98)
        let exact = try planes(of: oddBitmap(), named: "odd.bmp", longest: 98)
        #expect(distance(picture, exact) < 1.5)
        for (one, other) in zip(picture, exact) {
            let edges = [one, other].map { plane in
                let column = (0..<plane.height).map { plane.sample(plane.width - 1, $0) }
                return column + (0..<plane.width).map { plane.sample($0, plane.height - 1) }
            }
            let sum = zip(edges[0], edges[1]).reduce(0) { $0 + abs($1.0 - $1.1) }
            #expect(Double(sum) / Double(edges[0].count) < 3)
        }
    }

    /// RGB of all of it would take 20,400 bytes.
    @Test func `tiles are decoded one by one, and the whole picture is never in memory`() throws {
        let tree = try TemporaryTree()
        let bytes = try Fixture.bytes("kinds/tiles.heic")
        let file = try FileDescriptor.open(tree.write(bytes, to: "tiles.heic"), .readOnly)
        defer { try? file.close() }
        let request = CSyncDecoder_Request(
            format: CSYNC_DECODER_HEIF.rawValue, reserved: 0, pixels: 1 << 20, memory_bytes: 18_000,
            file_bytes: Int64(bytes.count))
        let status = try Decoder.workers.ask(request, file, MemoryFile(named: "samples")) { .content($0.status) }
        #expect(status == CSYNC_DECODER_OK.rawValue)
    }

    /// The file with other bytes behind a name that is in it.
    private func changed(_ file: String, _ name: String, _ value: [UInt8], at skipped: Int = 0) throws -> [UInt8] {
        var bytes = try Fixture.bytes("kinds/\(file)")
        let found = try #require(bytes.indices.first { bytes[$0...].starts(with: name.utf8) })
        bytes.replaceSubrange(found + skipped..<found + skipped + value.count, with: value)
        return bytes
    }

    @Test(
        arguments: [
            // A property that nobody here knows.
            ("odd.heic", "colr", Array("zzzz".utf8), 0),
            // Parameter sets with another length before them, which libheif does not ask for.
            ("tiles.heic", "hvcC", [0x0D], 4 + 21),
        ] as [(String, String, [UInt8], Int)])
    func `what is not plain is left to libheif, which decodes it`(file: String, name: String, value: [UInt8], at: Int)
        throws
    {
        let picture = try planes(of: changed(file, name, value, at: at), named: file, longest: 98)
        let plain = try planes(of: Fixture.bytes("kinds/\(file)"), named: file, longest: 98)
        #expect(distance(picture, plain) < 1.5)
    }
}
