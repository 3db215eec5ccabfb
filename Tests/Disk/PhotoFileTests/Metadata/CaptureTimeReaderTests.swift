import Foundation
import SyncCore
import SyncTestSupport
import Testing

@testable import SyncPhotos

@Suite struct CaptureTimeReaderTests {
    private static let now = Date(timeIntervalSince1970: 1_750_000_000)  // 2025-06-15
    private static let original = 0x9003
    private static let digitized = 0x9004
    private static let offset = 0x9011

    private func time(_ file: [UInt8]) throws -> String? {
        try CaptureTimeReader(bytes: MetadataBytes(file)).captureTime(at: Self.now)?.description
    }

    @Test(
        arguments: [
            (TimeFiles.jpeg(exif: TimeFiles.exif([(original, "2024:06:15 07:30:00"), (offset, "+09:00")])), "+09:00"),
            (TimeFiles.jpeg(exif: TimeFiles.exif([(original, "2024:06:15 07:30:00")])), ""),
            (TimeFiles.jpeg(exif: TimeFiles.exif([(original, "2024:06:15 07:30:00+09:00")])), "+09:00"),
            (TimeFiles.jpeg(xmp: TimeFiles.xmp("exif:DateTimeOriginal=\"2024-06-15T07:30:00.12+09:00\"")), "+09:00"),
            (TimeFiles.jpeg(xmp: TimeFiles.xmp("a='b' photoshop:DateCreated = '2024-06-15T07:30:00'")), ""),
            (TimeFiles.jpeg(xmp: Array("<xmp:CreateDate>2024-06-15T07:30:00+09:00</xmp:CreateDate>".utf8)), "+09:00"),
            (TimeFiles.jpeg(iptc: TimeFiles.iptc([(5, "x"), (55, "20240615"), (60, "073000+0900")])), "+09:00"),
            (TimeFiles.jpeg(iptc: TimeFiles.iptc([(55, "20240615"), (60, "073000")])), ""),
            (TimeFiles.jpeg(exif: TimeFiles.exif(gps: ("2024:06:15", [7, 30, 0]))), "+00:00"),
            // Another field with the same clock tells the offset; one with another clock does not.
            (
                TimeFiles.jpeg(
                    exif: TimeFiles.exif([(original, "2024:06:15 07:30:00")]),
                    xmp: TimeFiles.xmp("exif:DateTimeOriginal='2024-06-15T07:30:00+09:00'")), "+09:00"
            ),
            (
                TimeFiles.jpeg(
                    exif: TimeFiles.exif([(original, "2024:06:15 07:30:00")]),
                    xmp: TimeFiles.xmp("xmp:CreateDate='2024-07-01T20:00:00+02:00'")), ""
            ),
            // What no camera can have meant makes room for the next.
            (
                TimeFiles.jpeg(
                    exif: TimeFiles.exif([(original, "0000:00:00 00:00:00"), (digitized, "2024:06:15 07:30:00")])), ""
            ),
            (
                TimeFiles.jpeg(
                    exif: TimeFiles.exif([(original, "2099:01:01 00:00:00")]),
                    iptc: TimeFiles.iptc([(55, "20240615"), (60, "073000+0900")])), "+09:00"
            ),
        ])
    func `a JPEG's time is read from EXIF, XMP, IPTC or its position, whichever has one`(file: [UInt8], offset: String)
        throws
    {
        #expect(try time(file) == "2024-06-15T07:30:00\(offset)")
    }

    @Test(
        arguments: [
            TimeFiles.jpeg(), TimeFiles.jpeg(exif: TimeFiles.exif([(original, "1904:01:01 00:00:00")])),
            TimeFiles.jpeg(exif: TimeFiles.exif([(original, "2099:06:15 07:30:00")])),
            TimeFiles.jpeg(exif: TimeFiles.exif([(original, "0000:00:00 00:00:00")])),
            TimeFiles.jpeg(exif: TimeFiles.exif(gps: ("2024:06:15", [25, 30, 0]))),
            TimeFiles.jpeg(xmp: TimeFiles.xmp("exif:DateTimeOriginal='summer'")),
            TimeFiles.quickTime("1904-01-01T00:00:00+0000"), [], [0xFF], Array("MM\0*".utf8),
        ])
    func `what tells no time, or one that nobody meant, has none`(file: [UInt8]) throws {
        #expect(try time(file) == nil)
    }

    private static let block = TimeFiles.exif([(original, "2024:06:15 07:30:00"), (offset, "+09:00")])

    @Test(
        arguments: [
            TimeFiles.png(exif: block), TimeFiles.png(xmp: TimeFiles.xmp("xmp:CreateDate='2024-06-15T07:30:00+09:00'")),
            TimeFiles.webP(exif: block), TimeFiles.webP(exif: Array("Exif\0\0".utf8) + block),
            TimeFiles.webP(xmp: TimeFiles.xmp("xmp:CreateDate='2024-06-15T07:30:00+09:00'")), block,
            TimeFiles.heic(exif: block), TimeFiles.quickTime("2024-06-15T07:30:00+0900"),
        ])
    func `other types tell it where their containers keep it`(file: [UInt8]) throws {
        #expect(try time(file) == "2024-06-15T07:30:00+09:00")
        // Cut off anywhere, it tells less and harms nothing.
        for length in stride(from: 0, to: file.count, by: 3) { _ = try time(Array(file.prefix(length))) }
    }

    @Test func `of bytes of no meaning nothing is believed, and nothing is read without end`() {
        for file in [TimeFiles.heic(exif: Self.block), TimeFiles.quickTime("x"), TimeFiles.png(exif: Self.block)] {
            var dice = Dice("SYNC_AGENT_NOISE_SEED")
            for _ in 0..<500 {
                var noisy = file
                for _ in 0..<8 { noisy[12 + dice.below(file.count - 12)] = UInt8(dice.below(256)) }
                #expect(throws: Never.self, "seed \(dice.seed)") { _ = try time(noisy) }
            }
        }
    }

    @Test func `a copy of a photo whose time only XMP tells has it in EXIF`() throws {
        var photo = try JPEGSegments(try Fixture.bytes("sampling-2x2.jpg"))
        photo.segments.removeAll { $0.marker == 0xE1 }
        let packet = TimeFiles.xmp("exif:DateTimeOriginal='2024-06-15T07:30:00+09:00'")
        let body = Array("http://ns.adobe.com/xap/1.0/\0".utf8) + packet
        photo.segments.insert(JPEGSegments.Segment(marker: 0xE1, body: body), at: 0)
        let policy = ReducePolicy(maximumDimension: 64)
        let stored = try Workbench().copy(of: photo.bytes, policy: policy)
        #expect(stored.takenAt?.description == "2024-06-15T07:30:00+09:00")
        #expect(try time(try stored.reduced()) == "2024-06-15T07:30:00+09:00")
        let shared = try SharedPhotoMaker().sharedCopy(of: .bytes(photo.bytes), size: .full(PhotoLimits()))
        #expect(shared.takenAt == stored.takenAt)
        #expect(try time(try shared.reduced()) == "2024-06-15T07:30:00+09:00")
    }

    @Test func `the time of a file that was examined is read without its picture; that of another is not told`() throws
    {
        let tree = try TemporaryTree()
        let path = try tree.write(TimeFiles.jpeg(exif: Self.block), to: "a.jpg")
        let stamp = try tree.stamp("a.jpg")
        #expect(try PhotoFileReducer().captureTime(of: path, stamp: stamp)?.description == "2024-06-15T07:30:00+09:00")
        var other = stamp
        other.size += 1
        #expect(throws: PhotoError.self) { try PhotoFileReducer().captureTime(of: path, stamp: other) }
    }
}
