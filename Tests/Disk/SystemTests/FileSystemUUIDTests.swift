import SystemPackage
import Testing

@testable import SyncSystem

@Suite struct FileSystemUUIDTests {
    private static let bytes: [UInt8] = [
        0xF2, 0x16, 0xAF, 0x4F, 0x59, 0xA9, 0x48, 0xDA, 0x90, 0x30, 0xCF, 0xEB, 0x29, 0xAF, 0x3B, 0x08,
    ]
    private static let serial: [UInt8] = withUnsafeBytes(of: UInt32(0x0A2B_3C4D)) { Array($0) }

    @Test(
        arguments: [
            (bytes, "f216af4f-59a9-48da-9030-cfeb29af3b08"),
            // As blkid(8) shows that of FAT: a number of four bytes.
            (serial, "0A2B-3C4D"),
            // It was made without one.
            ([UInt8](repeating: 0, count: 16), nil), ([0, 0, 0, 0], nil),
            ([1, 2, 3, 4, 5, 6, 7, 8], nil), ([], nil),
        ] as [([UInt8], String?)])
    func `a UUID is written as blkid writes it`(bytes: [UInt8], text: String?) {
        #expect(FileSystemUUID.text(of: bytes) == text)
    }

    @Test func `what is on no file system with a UUID has none`() throws {
        let file = try FileDescriptor.open("/proc/self/stat", .readOnly, options: .closeOnExec)
        let text = try file.closeAfter { FileSystemUUID.text(ofFile: file) }
        #expect(text == nil)
    }
}
