import Foundation
import SyncCore
import Testing

@testable import SyncPhotos

/// With `strip_location` no byte of a stored JPEG says where, wherever it said it.
@Suite struct JPEGPlaceTests {
    private func segment(_ marker: UInt8, _ text: String, _ rest: [UInt8]) -> JPEGSegments.Segment {
        JPEGSegments.Segment(marker: marker, body: Array(text.utf8) + rest)
    }

    /// A small photo with a place in every segment, in a second picture and in a film behind it.
    private func photo(_ picture: [UInt8], orientation: Int = 6) throws -> [UInt8] {
        let place = PlacedFile.placeBytes
        var file = try JPEGSegments(picture)
        file.segments.insert(
            contentsOf: [
                segment(0xE1, "Exif\0\0", PlacedFile.exif(orientation: orientation)),
                segment(0xE1, "Exif\0\0", PlacedFile.exif()),
                segment(0xE1, "http://ns.adobe.com/xap/1.0/\0", Array(PlacedFile.xmp.utf8)),
                segment(0xE1, "http://ns.adobe.com/xmp/extension/\0", place),
                segment(0xED, "Photoshop 3.0\08BIM\u{4}\u{4}\0\0\0\0\0\u{5}", place),
                segment(0xE2, "MPF\0", place), segment(0xE4, "", place), segment(0xFE, "In ", place),
            ], at: 1)
        var second = try JPEGSegments(picture)
        second.segments.insert(segment(0xE1, "Exif\0\0", PlacedFile.exif()), at: 1)
        return file.bytes + second.bytes + Array("\0\0\0\u{18}ftypmp42\(PlacedFile.place)".utf8)
    }

    private static let pictures = [
        "sampling-2x2.jpg", "coding-progressive.jpg", "coding-arithmetic.jpg", "coding-cmyk.jpg",
    ]

    @Test(arguments: pictures)
    func `a small photo is cut and not encoded again, and keeps what tells no place`(name: String) throws {
        let picture = try Fixture.bytes(name)
        let photo = try photo(picture)
        let copy = try Workbench().copy(of: photo, policy: ReducePolicy(quality: 100, stripLocation: true))
        let stored = try copy.reduced()
        #expect(stored.firstRange(of: PlacedFile.placeBytes) == nil)
        let file = try JPEGSegments(stored)
        #expect(
            try file.segments.map(\.entropy).filter { !$0.isEmpty }
                == JPEGSegments(picture).segments.map(\.entropy).filter { !$0.isEmpty })
        let exif = try #require(file.exif)
        #expect(exif.firstRange(of: Array(PlacedFile.maker.utf8)) != nil)
        #expect(ExifEntries(exif).image[0x0112] == 6)
        #expect([copy.width, copy.height] == [136, 200])
        #expect(copy.takenAt?.description == "2024-06-15T12:30:45")
    }

    @Test(arguments: pictures)
    func `a reduced photo tells no place either, and is upright`(name: String) throws {
        let copy = try Workbench().copy(
            of: try photo(try Fixture.bytes(name)), policy: ReducePolicy(maximumDimension: 100, stripLocation: true))
        let stored = try copy.reduced()
        #expect(stored.firstRange(of: PlacedFile.placeBytes) == nil)
        let exif = ExifEntries(try #require(try JPEGSegments(stored).exif))
        #expect(exif.image[0x0112] == 1)
        #expect(exif.exif[0x9003] != nil && exif.image[0x8825] == nil && exif.image[0x014A] == nil)
    }

    @Test func `a photo that tells no place is stored as it is`() throws {
        let bytes = try Fixture.bytes("sampling-2x2.jpg")
        #expect(
            try Workbench().copy(of: bytes, policy: ReducePolicy(quality: 100, stripLocation: true)).content
                == .unchanged)
    }

    @Test func `a damaged photo is not cut, but refused`() throws {
        let bytes = Array(try Fixture.bytes("sampling-2x2.jpg").dropLast(50))
        let error = #expect(throws: PhotoError.self) {
            _ = try Workbench().copy(of: bytes, policy: ReducePolicy(quality: 100, stripLocation: true))
        }
        #expect(error?.code == .truncated)
    }

    @Test(arguments: [false, true])
    func `EXIF that goes on over two segments is read as one block`(strips: Bool) throws {
        let text = String(repeating: "x", count: 66_000)
        let block = TIFFDirectory([
            0x0112: .short(6), 0x0132: .text("2024:06:16 10:00:00"),
            0x8769: .directory(
                TIFFDirectory([0x9003: .text("2024:06:15 12:30:45"), 0x9286: .bytes(Array(text.utf8))])),
            0x8825: .directory(TIFFDirectory([0x0001: .text("N")])),
        ]).block
        var file = try JPEGSegments(try Fixture.bytes("sampling-2x2.jpg"))
        for part in [block[65_000...], block[..<65_000]] {
            file.segments.insert(segment(0xE1, "Exif\0\0", Array(part)), at: 1)
        }
        let policy = ReducePolicy(maximumDimension: 100, stripLocation: strips)
        let copy = try Workbench().copy(of: file.bytes, policy: policy)
        #expect([copy.width, copy.height] == [68, 100])
        #expect(copy.takenAt?.description == "2024-06-15T12:30:45")
        let exif = ExifEntries(try #require(try JPEGSegments(try copy.reduced()).exif))
        #expect(exif.image[0x0112] == 1 && exif.exif[0x9003] != nil)
        // The position lies behind what one segment holds.
        #expect((exif.image[0x8825] != nil) == !strips)
    }
}
