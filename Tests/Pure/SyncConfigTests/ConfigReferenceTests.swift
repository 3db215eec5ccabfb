import Foundation
import SyncConfig
import Testing

@Suite struct ConfigReferenceTests {
    @Test func `the text has every key with its default, in 80 columns`() {
        let lines = ConfigReference.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { $0.count <= 80 })
        for entry in ConfigReference.entries { #expect(lines.contains(entry.key[...]), "\(entry.key)") }
        #expect(
            ConfigReference.text.contains(
                """

                upload.batch_size
                  integer, default 3
                  Accepted: a whole number from 1 to 16.
                  How many objects are on their way at the same time. Where it is not set, more
                  may be, up to 32, when the server is far away and that is faster; not with
                  upload.bandwidth_limit. Beside these, small photos go into the embedded store
                  in groups.

                """))
    }

    @Test func `each section begins with its title`() {
        let sections = Set(
            ConfigReference.entries.map(\.key).filter { $0.contains(".") }.map { $0.prefix { $0 != "." } })
        #expect(sections.count >= 14)
        for section in sections {
            let name = section.hasSuffix("[]") ? section.dropLast(2) : section
            #expect(ConfigReference.text.contains("\n\(name.uppercased()): "), "\(section)")
        }
    }

    @Test func `in JSON each key has the same five fields`() throws {
        let data = try JSONEncoder().encode(ConfigReference.entries)
        let entries = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        #expect(entries.count == ConfigReference.entries.count)
        #expect(entries.allSatisfy { $0.keys.sorted() == ["accepted", "default", "key", "meaning", "type"] })
        #expect(entries.first?["default"] is NSNull)
        #expect(entries.first { $0["key"] as? String == "photos.quality" }?["default"] as? String == "80")
    }

    @Test(
        arguments: [
            ("store.type", "directory"), ("store.path", "~/.local/share/sync-agent/store"),
            ("store.restore_seconds", "5"),
            ("retention.at", "\"00:00\""), ("retention.time_zone", "America/Los_Angeles"),
            ("restore.poll_minutes", "15"),
            ("upload.settle_seconds", "2"), ("upload.rescan_minutes", "60"), ("upload.bandwidth_limit", "null"),
            ("notify.command", "[]"), ("notify.kinds", "all"), ("notify.heartbeat", "null"),
            ("store.prefix", "\"\""), ("restore.max_cost_usd", "null"), ("tiers.minimum_archive_bytes", "131072"),
        ])
    func `the defaults are those of the design`(key: String, expected: String) {
        #expect(ConfigReference.entries.first { $0.key == key }?.default == expected)
    }
}
