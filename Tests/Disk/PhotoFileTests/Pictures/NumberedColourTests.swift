import SyncCore
import SyncTestSupport
import Testing

@testable import SyncPhotos

/// PNG files that tell their colours by numbers alone (`cICP`; PNG, third edition, 11.3.2.6).
@Suite struct NumberedColourTests {
    /// - Parameter sum: CRC-32 of the chunk.
    private func copy(primaries: UInt8, transfer: UInt8, sum: Int) throws -> StoredCopy {
        var bytes = try Fixture.bytes("kinds/interlaced.png")
        let chunk = 4.bigEndianBytes + Array("cICP".utf8) + [primaries, transfer, 0, 1] + sum.bigEndianBytes
        // Behind the header of the picture.
        bytes.insert(contentsOf: chunk, at: 33)
        return try Workbench(pictures: Decoder.workers).copy(
            of: bytes, named: "numbered.png", policy: ReducePolicy(maximumDimension: 50))
    }

    @Test(arguments: [(16, "PQ", 0x4D23_23FE), (18, "HLG", 0x4EA7_F790)] as [(UInt8, String, Int)])
    func `an HDR picture is stored as it is, as one of HEIC or AVIF`(transfer: UInt8, name: String, sum: Int) throws {
        let copy = try copy(primaries: 9, transfer: transfer, sum: sum)
        #expect(copy.content == .unchanged)
        #expect(copy.note == "stored as it is and not reduced: an HDR picture (\(name)), of which no SDR copy is made")
    }

    @Test(arguments: [("Display P3", 12, 0x6E03_E3EF, 1), ("sRGB", 1, 0x9C69_3B32, 0)] as [(String, UInt8, Int, Int)])
    func `other colours come along as a profile, but for sRGB`(
        name: String, primaries: UInt8, sum: Int, profiles: Int
    ) throws {
        let bytes = try copy(primaries: primaries, transfer: 13, sum: sum).reduced()
        #expect(try JPEGSegments(bytes).contents(of: 0xE2, startingWith: "ICC_PROFILE\0").count == profiles)
    }
}
