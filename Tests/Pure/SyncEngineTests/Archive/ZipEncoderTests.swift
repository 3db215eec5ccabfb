import FoundationEssentials
import SyncCore
import SyncEngine
import Testing

/// The bytes; what another program reads of them is looked at through the built one.
@Suite struct ZipEncoderTests {
    private func entry(_ name: String, _ content: [UInt8], at seconds: Double = 0) throws -> ZipEntry {
        try ZipEntry(name: name, size: Int64(content.count), modified: Date(timeIntervalSince1970: seconds))
    }

    @Test func `a name is taken once, and an empty file ends too`() throws {
        var encoder = ZipEncoder()
        #expect(encoder.end().count == 22)
        let added = encoder.add(try entry("a.jpg", [1, 2, 3]), [1, 2, 3])
        let first = try #require(added)
        #expect(first.prefix(4) == [0x50, 0x4B, 3, 4] && first.suffix(3) == [1, 2, 3])
        // The CRC-32 of these bytes (RFC 1952).
        #expect(first[14..<18] == [0x1D, 0x80, 0xBC, 0x55])
        let second = encoder.add(try entry("a.jpg", [4]), [4])
        #expect(second == nil)
        let end = encoder.end()
        #expect(end.suffix(22)[(end.count - 14)..<(end.count - 10)] == [1, 0, 1, 0])
    }

    @Test(arguments: [-1e12, -1, 0, 4_102_444_800, 1e12])
    func `a time that the format cannot tell is no fault`(seconds: Double) throws {
        var encoder = ZipEncoder()
        let added = encoder.add(try entry("a", [], at: seconds), [])
        #expect(added != nil)
    }
}
