import SyncCore
import SyncTestSupport
import Testing

@testable import SyncPhotos

/// A file that ends too early is refused with its reason, wherever it ends, also where what is missing is none of the picture
/// that is decoded, and where none is.
@Suite struct CutPictureTests {
    private func error(_ bytes: ArraySlice<UInt8>, named name: String, side: Int = 50) -> PhotoError? {
        #expect(throws: PhotoError.self, "\(name) of \(bytes.count) bytes") {
            _ = try Workbench(pictures: Decoder.workers).copy(
                of: Array(bytes), named: name, policy: ReducePolicy(maximumDimension: side))
        }
    }

    private static let files =
        PictureCopyTests.kinds.map(\.file).filter { $0 != "preview.dng" } + [
            "alpha.png", "alpha.webp", "alpha.avif", "hdr.avif", "inks.tif", "float.tif",
        ]

    @Test(arguments: files) func `one that was cut off is truncated, wherever it was cut`(file: String) throws {
        let bytes = try Fixture.bytes("kinds/\(file)")
        for length in [0.3, 0.45, 0.6, 0.75, 0.9, 0.97].map({ Int($0 * Double(bytes.count)) }) + [bytes.count - 1] {
            let error = error(bytes.prefix(length), named: file)
            #expect(error?.code == .truncated, "\(length): \(error?.message ?? "")")
            #expect(error?.message.isEmpty == false)
        }
    }

    /// The last part of the file has no length of its own: it goes to the end, wherever that is.
    private func openEnded(_ file: String) throws -> [UInt8] {
        var bytes = try Fixture.bytes("kinds/\(file)")
        let data = try #require(bytes.firstRange(of: Array("mdat".utf8))?.lowerBound)
        #expect(bytes.big(at: data - 4) == bytes.count - data + 4)
        bytes.replaceSubrange(data - 4..<data, with: [0, 0, 0, 0])
        return bytes
    }

    @Test(arguments: ["plain.heic", "gain-map.heic", "tiles.heic", "plain.avif", "alpha.avif", "hdr.avif"])
    func `what the file says of where its pictures lie counts, too`(file: String) throws {
        let bytes = try openEnded(file)
        let reducer = Workbench(pictures: Decoder.workers)
        #expect(throws: Never.self) {
            try reducer.copy(of: bytes, named: file, policy: ReducePolicy(maximumDimension: 50))
        }
        for length in [bytes.count - 1, bytes.count - 40, bytes.count * 9 / 10] {
            for side in [50, 100] { #expect(error(bytes.prefix(length), named: file, side: side)?.code == .truncated) }
        }
    }

    /// 4 × 4 pixels as JPEG data in a BMP file, which no decoder of BMP knows.
    private var strangeBMP: [UInt8] {
        func number(_ value: Int) -> [UInt8] { value.littleEndianBytes }
        let header =
            number(40) + number(4) + number(4) + [1, 0, 0, 0] + number(4) + number(100) + number(0) + number(0)
        return Array("BM".utf8) + number(154) + number(0) + number(54) + header + number(0) + number(0)
            + [UInt8](repeating: 7, count: 100)
    }

    @Test func `a BMP file of a kind that is not decoded has to be all there`() throws {
        let reducer = Workbench(pictures: Decoder.workers)
        #expect(try reducer.copy(of: strangeBMP, named: "a.bmp", policy: ReducePolicy()).content == .unchanged)
        for length in [60, 100, 153] { #expect(error(strangeBMP.prefix(length), named: "a.bmp")?.code == .truncated) }
    }

    /// Programs copy the place of a directory from another file, and not the directory.
    @Test(arguments: [0x00FF_FFFF, 300]) func `a TIFF file whose directory of EXIF lies nowhere is whole`(place: Int)
        throws
    {
        var bytes = try Fixture.bytes("kinds/turned.tif")
        let entry: [UInt8] = [0x69, 0x87, 4, 0, 1, 0, 0, 0]
        let value = try #require(bytes.firstRange(of: entry)?.upperBound)
        bytes.replaceSubrange(value..<value + 4, with: place.littleEndianBytes)
        let copy = try Workbench(pictures: Decoder.workers).copy(
            of: bytes, named: "turned.tif", policy: ReducePolicy(maximumDimension: 50))
        #expect(copy.type == .jpeg)
    }
}
