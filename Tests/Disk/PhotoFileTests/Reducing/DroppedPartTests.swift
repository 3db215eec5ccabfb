import SyncCore
import Testing

@testable import SyncPhotos

/// What a reduced copy has not of its photo is named.
@Suite struct DroppedPartTests {
    private static let policy = ReducePolicy(maximumDimension: 100)
    private static let picture = "sampling-2x2.jpg"

    private static func segment(_ marker: UInt8, _ text: String, _ rest: [UInt8] = []) -> JPEGSegments.Segment {
        JPEGSegments.Segment(marker: marker, body: Array(text.utf8) + rest)
    }

    private static let xmp = "http://ns.adobe.com/xap/1.0/\0"

    private func photo(_ segments: [JPEGSegments.Segment], behind: [UInt8] = []) throws -> [UInt8] {
        var file = try JPEGSegments(try Fixture.bytes(Self.picture))
        file.segments.insert(contentsOf: segments, at: 1)
        return file.bytes + behind
    }

    private func dropped(_ photo: [UInt8], _ policy: ReducePolicy = policy) throws -> [DroppedPart] {
        let copy = try Workbench().copy(of: photo, policy: policy)
        #expect(copy.content != .unchanged)
        return copy.dropped
    }

    @Test func `a photo that is nothing but its picture loses nothing`() throws {
        #expect(try dropped(photo([])) == [])
    }

    @Test func `XMP, comments, second pictures, gain maps and films behind the picture are named`() throws {
        let plain = try Fixture.bytes(Self.picture)
        let map = try photo([Self.segment(0xE1, Self.xmp, Array("<hdrgm:Version='1.0'/>".utf8))])
        let film = Array("\0\0\0\u{18}ftypmp42".utf8) + [UInt8](repeating: 1, count: 600_000)
        #expect(try dropped(photo([Self.segment(0xE1, Self.xmp), Self.segment(0xFE, "hello")])) == [.xmp, .comment])
        #expect(try dropped(photo([], behind: plain)) == [.secondPicture])
        #expect(try dropped(photo([], behind: map)) == [.gainMap])
        #expect(try dropped(photo([], behind: film)) == [.motion])
        #expect(try dropped(photo([], behind: map + film)) == [.gainMap, .motion])
        #expect(try dropped(photo([], behind: [UInt8](repeating: 0, count: 300))) == [])
    }

    @Test(
        arguments: [
            (0xE1, "FLIR\0", true), (0xE2, "FPXR\0", true), (0xE3, "JPS", true), (0xE4, "Samsung", true),
            (0xE7, "Qualcomm", true), (0xEA, "PhotoStudio", true), (0xEB, "JP", true), (0xEC, "Ducky", true),
            (0xED, "Adobe_CM\0", true), (0xEF, "Q 95", true), (0xE0, "JFXX\0", false), (0xEE, "Adobe", false),
        ])
    func `segments of applications are named, whatever their marker; those of the picture are not`(
        marker: UInt8, text: String, isNamed: Bool
    ) throws {
        let body = Self.segment(marker, text, [UInt8](repeating: 1, count: 20))
        #expect(try dropped(photo([body])) == (isNamed ? [.applicationData] : []))
    }

    @Test func `EXIF that cannot be corrected is named, also where its capture time goes along`() throws {
        var bytes = try Fixture.bytes("camera-nikon.jpg")
        #expect(try dropped(bytes) == [.xmp])
        // The directory of the position lies nowhere.
        let pointer = try #require(bytes.firstRange(of: [0x25, 0x88, 4, 0, 1, 0, 0, 0] as [UInt8])?.upperBound)
        bytes.replaceSubrange(pointer..<pointer + 4, with: [0xFF, 0xFF, 0xFF, 0])
        let copy = try Workbench().copy(of: bytes, policy: Self.policy)
        #expect(copy.dropped == [.xmp, .exif])
        #expect(copy.takenAt?.description == "2008-10-22T16:28:39")
        #expect(try JPEGSegments(try copy.reduced()).exif != nil)
    }

    @Test func `what Photoshop puts there without an IPTC record does not go along, and is named`() throws {
        #expect(try dropped(photo([Self.segment(0xED, "Photoshop 3.0\0")])) == [.iptc])
    }

    @Test func `bytes behind the picture's end are named when they are more than filling`() throws {
        let plain = try Fixture.bytes(Self.picture)
        let archive = [0x50, 0x4B, 3, 4] + [UInt8](repeating: 9, count: 400)
        #expect(try dropped(photo([], behind: Array("a letter".utf8))) == [.trailer])
        #expect(try dropped(photo([], behind: archive)) == [.trailer])
        #expect(try dropped(photo([], behind: plain + archive)) == [.secondPicture, .trailer])
        #expect(try dropped(photo([], behind: plain + [0, 0, 0x0A])) == [.secondPicture])
        #expect(try dropped(photo([], behind: Array("\r\n \n".utf8))) == [])
    }

    @Test(
        arguments: [0, 0x010001, 0x020003])
    func `pictures that the file's index of pictures names are found; previews are none`(kind: Int) throws {
        let plain = try Fixture.bytes(Self.picture)
        func index(_ offset: Int) -> [UInt8] {
            let first = PlacedFile.big(0x030000) + PlacedFile.big(plain.count) + PlacedFile.big(0) + PlacedFile.big(0)
            let second = PlacedFile.big(kind) + PlacedFile.big(plain.count) + PlacedFile.big(offset) + PlacedFile.big(0)
            let entries: [UInt8] = first + second
            return TIFFDirectory([0xB001: .long(2), 0xB002: .bytes(entries)]).block
        }
        // Its offsets are counted from its own header on.
        let start = try #require(try photo([Self.segment(0xE2, "MPF\0", index(0))]).firstRange(of: Array("MM\0*".utf8)))
        let length = try photo([Self.segment(0xE2, "MPF\0", index(0))]).count
        let photo = try photo([Self.segment(0xE2, "MPF\0", index(length + 50 - start.lowerBound))])
        let padding = [UInt8](repeating: 0, count: 50)
        #expect(try dropped(photo + padding + plain) == (kind == 0x010001 ? [] : [.secondPicture]))
    }

    @Test func `what goes with the place is named, too; a photo that is stored as it is loses nothing`() throws {
        let exif = Self.segment(0xE1, "Exif\0\0", PlacedFile.exif())
        let photo = try photo([exif, Self.segment(0xED, "Photoshop 3.0\0"), Self.segment(0xE1, Self.xmp)])
        let strip = ReducePolicy(maximumDimension: 100, stripLocation: true)
        #expect(try dropped(photo, strip) == [.xmp, .makerNote, .iptc, .position])
        #expect(try Workbench().copy(of: photo, policy: ReducePolicy(quality: 100)).dropped == [])
    }
}
