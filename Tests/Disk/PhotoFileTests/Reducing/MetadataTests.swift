import Foundation
import SyncCore
import SyncPhotos
import Testing

/// What goes along with the pixels, on the segments of real cameras.
@Suite struct MetadataTests {
    private static let cameras = ["canon", "iphone", "nikon", "offset", "profile"].map { "camera-\($0).jpg" }

    @Test(arguments: cameras)
    func `EXIF tells the copy's size and no thumbnail; the maker note is untouched`(name: String) throws {
        let bytes = try Fixture.bytes(name)
        let copy = try Workbench().copy(of: bytes, policy: ReducePolicy(maximumDimension: 100))
        let before = ExifEntries(try #require(try JPEGSegments(bytes).exif))
        let after = ExifEntries(try #require(try JPEGSegments(try copy.reduced()).exif))

        #expect(after.image[0x0112] == (before.image[0x0112] == nil ? nil : 1))
        #expect(before.exif[0xA002] == nil || after.exif[0xA002] == copy.width)
        #expect(before.exif[0xA003] == nil || after.exif[0xA003] == copy.height)
        #expect(before.image[0x0100] == nil || after.image[0x0100] == copy.width)
        #expect(!after.hasThumbnail)
        #expect(after.makerNote == before.makerNote)
        #expect(Set(after.image.keys) == Set(before.image.keys))
        #expect(after.exif.keys == before.exif.keys || Set(after.exif.keys) == Set(before.exif.keys))
        #expect(Set(after.gps.keys) == Set(before.gps.keys))
    }

    @Test(arguments: cameras)
    func `a copy that must not tell the place has no GPS, maker note or IPTC`(name: String) throws {
        let copy = try Workbench().copy(
            of: try Fixture.bytes(name), policy: ReducePolicy(maximumDimension: 100, stripLocation: true))
        let segments = try JPEGSegments(try copy.reduced())
        let entries = ExifEntries(try #require(segments.exif))
        #expect(entries.image[0x8825] == nil && entries.gps.isEmpty)
        #expect(entries.makerNote == nil)
        #expect(segments.contents(of: 0xED, startingWith: "").isEmpty)
        #expect(copy.takenAt != nil)
    }

    @Test func `no byte of the position is left in the block`() throws {
        // 43° 28' 2.814" as three fractions, little-endian.
        let position = [43, 1, 28, 1, 281_400_000, 100_000_000].flatMap { (value: UInt32) in
            withUnsafeBytes(of: value.littleEndian) { Array($0) }
        }
        let bytes = try Fixture.bytes("camera-nikon.jpg")
        let policy = ReducePolicy(maximumDimension: 100, stripLocation: true)
        let output = try Workbench().copy(of: bytes, policy: policy).reduced()
        #expect(bytes.firstRange(of: position) != nil)
        #expect(output.firstRange(of: position) == nil)
    }

    @Test func `a photo within the limit does not go up as it is when the place must not be told`() throws {
        let bytes = try Fixture.bytes("camera-offset.jpg")
        let copy = try Workbench().copy(of: bytes, policy: ReducePolicy(quality: 100, stripLocation: true))
        let stored = try JPEGSegments(try copy.reduced())
        #expect(stored.exif.map { ExifEntries($0).image[0x8825] } == .some(nil))
        let scans = try JPEGSegments(bytes).segments.map(\.entropy)
        #expect(stored.segments.map(\.entropy).filter { !$0.isEmpty } == scans.filter { !$0.isEmpty })
    }

    @Test func `the ICC profile and the IPTC record go along; XMP and previews do not`() throws {
        let bytes = try Fixture.bytes("camera-profile.jpg")
        let before = try JPEGSegments(bytes)
        let copy = try Workbench().copy(of: bytes, policy: ReducePolicy(maximumDimension: 100))
        let after = try JPEGSegments(try copy.reduced())

        let profile = before.contents(of: 0xE2, startingWith: "ICC_PROFILE\0")
        #expect(profile.count == 1)
        #expect(after.contents(of: 0xE2, startingWith: "ICC_PROFILE\0") == profile)
        let iptc = after.contents(of: 0xED, startingWith: "Photoshop 3.0\0")
        #expect(iptc.count == 1)
        #expect(iptc.first?.starts(with: [0x38, 0x42, 0x49, 0x4D, 0x04, 0x04]) == true)
        #expect(iptc.first?.firstRange(of: Array("Martin Klapetek".utf8)) != nil)
        #expect(copy.dropped.contains(.xmp) && !copy.dropped.contains(.iptc))
        #expect(before.contents(of: 0xE1, startingWith: "http://ns.adobe.com/xap/1.0/").count == 1)
        #expect(after.contents(of: 0xE1, startingWith: "http").isEmpty)
    }

    @Test(arguments: [true, false])
    func `a profile in several chunks is kept in order; one with a hole is left out`(isWhole: Bool) throws {
        var file = try JPEGSegments(try Fixture.bytes("sampling-2x2.jpg"))
        let header = Array("ICC_PROFILE\0".utf8)
        for number in (isWhole ? [2, 1, 3] : [1, 3]) as [UInt8] {
            let body = header + [number, 3] + [UInt8](repeating: number, count: 1_000)
            file.segments.insert(JPEGSegments.Segment(marker: 0xE2, body: body), at: 0)
        }
        let copy = try Workbench().copy(of: file.bytes, policy: ReducePolicy(maximumDimension: 100))
        let chunks = try JPEGSegments(try copy.reduced()).contents(of: 0xE2, startingWith: "ICC_PROFILE\0")
        #expect(chunks.map(\.first) == (isWhole ? [1, 2, 3] : []))
        #expect(chunks.allSatisfy { $0.count == 1_002 })
    }

    @Test(
        arguments: [
            ("camera-nikon.jpg", "2008-10-22T16:28:39"),
            ("camera-canon.jpg", "2015-02-09T22:47:44"),
            ("camera-offset.jpg", "2022-08-14T14:12:31+03:00"),
        ])
    func `the capture time is EXIF's, with the offset where there is one`(name: String, expected: String) throws {
        let copy = try Workbench().copy(of: try Fixture.bytes(name))
        #expect(copy.takenAt?.description == expected)
    }

    @Test func `damaged EXIF is left out or harmless, and never fails a photo`() throws {
        let picture = try JPEGSegments(try Fixture.bytes("camera-nikon.jpg"))
        let exifIndex = try #require(picture.segments.firstIndex { $0.marker == 0xE1 })
        let workbench = Workbench()
        for position in stride(from: 6, to: 400, by: 7) {
            for value in [0x00, 0x7F, 0xFF] as [UInt8] {
                var damaged = picture
                damaged.segments[exifIndex].body[position] = value
                let copy = try workbench.copy(of: damaged.bytes, policy: ReducePolicy(maximumDimension: 16))
                if let exif = try JPEGSegments(try copy.reduced()).exif {
                    #expect([nil, 1].contains(ExifEntries(exif).image[0x0112]))
                }
            }
        }
    }
}
