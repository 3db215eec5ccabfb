import FoundationEssentials
import SyncConfig
import SyncCore
import SystemPackage
import Testing

@Suite struct PriceFileTests {
    @Test func `a named file replaces the whole table, and is named when it is wrong`() throws {
        let folder = FilePath(FileManager.default.temporaryDirectory.path).appending("prices-\(UUID().uuidString)")
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder.string) }
        let file = folder.appending("prices.yaml")

        let missing = #expect(throws: ConfigError.self) { try PriceFile.table(file) }
        #expect(missing?.file == file)
        #expect(missing?.problems.first?.message.contains("cost.prices") == true)

        let text = """
            region: nas
            as_of: today
            currency: USD
            source: me
            egress: {per_gb: 0}
            classes: {STANDARD: {per_gb_month: 0.01, put_per_1000: 0}}
            """
        try Data(text.utf8).write(to: URL(filePath: file.string))
        let table = try PriceFile.table(file)
        #expect(table.region == "nas")
        #expect(table.classes.keys.map(\.rawValue) == ["STANDARD"])

        try Data("region: nas".utf8).write(to: URL(filePath: file.string))
        let wrong = #expect(throws: ConfigError.self) { try PriceFile.table(file) }
        #expect(wrong?.file == file)
        #expect(wrong?.description.contains("classes: is missing") == true)
    }
}
