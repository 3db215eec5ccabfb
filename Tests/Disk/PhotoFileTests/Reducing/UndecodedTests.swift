import Foundation
import SyncCore
import SyncDigest
import SyncPhotos
import Testing

/// Valid JPEGs that our decoder does not know: they are stored as any other image.
@Suite struct UndecodedTests {
    struct Row: CustomTestStringConvertible {
        var kind: String
        var words: String
        /// Of the frame header: its marker, precision, width and height.
        var marker: UInt8 = 0xC0
        var precision: UInt8 = 8
        var size = (200, 136)
        var testDescription: String { kind }
    }

    private static let rows = [
        Row(kind: "12 bit", words: "Unsupported JPEG data precision 12", marker: 0xC1, precision: 12),
        Row(kind: "lossless", words: "Unsupported JPEG process: SOF type 0xc3", marker: 0xC3, precision: 8),
        Row(kind: "over 65,500 pixels", words: "65500 pixels", size: (65_501, 136)),
    ]

    private func file(_ row: Row) throws -> JPEGSegments {
        var file = try JPEGSegments(try Fixture.bytes("camera-nikon.jpg")).resized(
            width: row.size.0, height: row.size.1)
        let frame = try #require(file.frameIndex)
        file.segments[frame].marker = row.marker
        file.segments[frame].body[0] = row.precision
        return file
    }

    @Test(arguments: rows)
    func `what libjpeg does not decode is stored unchanged, and that is said`(row: Row) throws {
        let bytes = try file(row).bytes
        let copy = try Workbench().copy(of: bytes)
        #expect(copy.content == .unchanged && copy.type == .jpeg && copy.digest == ContentDigest(of: bytes))
        #expect([copy.width, copy.height] == [row.size.0, row.size.1])
        #expect(copy.takenAt?.description == "2008-10-22T16:28:39")
        #expect(
            copy.note?.hasPrefix("stored as it is and not reduced: a kind of JPEG that cannot be decoded (") == true)
        #expect(copy.note?.contains(row.words) == true, "\(copy.note ?? "")")
    }

    @Test(arguments: rows)
    func `its position goes all the same`(row: Row) throws {
        let bytes = try file(row).bytes
        let copy = try Workbench().copy(of: bytes, policy: ReducePolicy(stripLocation: true))
        let stored = try JPEGSegments(try copy.reduced())
        let exif = ExifEntries(try #require(stored.exif))
        #expect(exif.image[0x8825] == nil && exif.makerNote == nil && exif.exif[0x9003] != nil)
        #expect(try stored.segments.map(\.entropy).last == file(row).segments.map(\.entropy).last)
    }

    @Test func `a height that is told behind the scan is one`() throws {
        var file = try file(Row(kind: "", words: "", size: (200, 0)))
        #expect(throws: PhotoError.self) { _ = try Workbench().copy(of: file.bytes) }
        file.segments.append(JPEGSegments.Segment(marker: 0xDC, body: [0, 136]))
        #expect(try Workbench().copy(of: file.bytes).content == .unchanged)
    }

    @Test(
        arguments: ["end", "precision", "sampling"])
    func `one that is cut off, or whose frame is none, is damaged as before`(what: String) throws {
        var file = try file(Self.rows[0])
        let frame = try #require(file.frameIndex)
        switch what {
        case "precision": file.segments[frame].marker = 0xC0
        case "sampling": file.segments[frame].body[7] = 0x50
        default: break
        }
        let bytes = what == "end" ? Array(file.bytes.dropLast(9)) : file.bytes
        let error = #expect(throws: PhotoError.self) { _ = try Workbench().copy(of: bytes) }
        #expect(error?.code == (what == "end" ? .truncated : .corrupt))
    }
}
