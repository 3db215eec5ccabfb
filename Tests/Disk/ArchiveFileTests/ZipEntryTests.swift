import FoundationEssentials
import SyncCore
import Testing

@Suite struct ZipEntryTests {
    @Test(arguments: [
        "", "/etc/passwd", "a/", "a//b", ".", "..", "../a", "a/../b", "a/..", "./a", "a\\b", "..\\a", "a\nb", "a\u{0}b",
        "a\u{1B}[31m", "a\u{85}b", String(repeating: "n", count: 256), String(repeating: "n/", count: 2_100) + "n",
    ])
    func `A name by which unpacking could write elsewhere is refused`(name: String) {
        let error = #expect(throws: ZipError.self) {
            try ZipEntry(name: name, size: 0, modified: Date(timeIntervalSince1970: 0))
        }
        #expect(error?.code == .badName)
        #expect(error.map { "\($0)".unicodeScalars.allSatisfy { $0.value >= 0x20 } } == true)
    }

    @Test(arguments: ["a", "a/b", "...", "a..b/..c", "-", "~", "C:", "é/ü.jpg"])
    func `Any other name is fine`(name: String) throws {
        #expect(try ZipEntry(name: name, size: 0, modified: Date(timeIntervalSince1970: 0)).name == name)
    }
}
