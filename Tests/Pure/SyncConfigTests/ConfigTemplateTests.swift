import FoundationEssentials
import SyncCore
import SystemPackage
import Testing

@testable import SyncConfig

@Suite struct ConfigTemplateTests {
    private static let folders = [
        WatchedFolder(kind: .gallery, path: "/home/ana/Pictures/Gallery", profile: "grandma"),
        WatchedFolder(kind: .vacations, path: "/srv/Vacations", filter: filter),
    ]
    private static let filter = (try? PathFilter(["- *.CR2", "+ /a: b/", "- {x,y}"])) ?? PathFilter()
    static let stores: [StoreSettings] = [
        .directory(DirectoryStoreSettings(path: "/home/ana/.local/share/sync-agent/store")),
        .directory(DirectoryStoreSettings(path: "/srv/store: #1", restoreDuration: .seconds(0.5))),
        .s3(S3StoreSettings(bucket: "my-photos")),
        .s3(
            S3StoreSettings(bucket: "arn:aws:s3:eu-west-1:123456789012:accesspoint/photos", dualStack: true, fips: true)
        ),
        .s3(
            S3StoreSettings(
                bucket: "123", region: "eu-central-1", endpoint: URL(string: "http://[::1]:9000/x"), addressing: .path,
                prefix: "a b/c", profile: "off", encryption: .keyService,
                encryptionKey: "arn:aws:kms:eu-central-1:1:alias/x", checksums: .off, conditionalWrites: .on,
                storageClass: .standardIA, tags: ["a b": "c: d", "no": "", "x": "yes"], requestPayer: .requester,
                partSize: 5 << 30, attempts: 1)),
    ]

    @Test(arguments: stores)
    func `what is written is read back the same, without a warning`(store: StoreSettings) throws {
        let template = ConfigTemplate(
            user: "ana", store: store, watch: Self.folders, location: ConfigText.location)
        let loaded = try ConfigText(template.text).load()
        #expect(loaded.settings.store == store)
        #expect(loaded.settings.watch == Self.folders)
        #expect(loaded.warnings.isEmpty)
        #expect(template.text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test(
        arguments: [
            "ana", "no", "Null", "~", "123", "1e3", "0x1f", "- a", "a: b", "a #b", "#a", "*a", "&a", "!a", "%a", "@a",
            "`a",
            "{a}", "[a]", "a,b", "'a'", "\"a\"", " a ", "Bärbel", "日本", "😀", "a\u{2028}b", "a\u{FEFF}", "12:30", "a:",
            "=",
            "<<", ".", "a\u{A0}b", "a\u{85}b",
        ])
    func `texts of any kind survive the quoting`(text: String) throws {
        // A user may not be "." nor hold control characters; a folder may.
        let folder = FilePath("/p").appending(text + " ").appending("x\(text)\u{1B}\t\n\\y")
        let template = ConfigTemplate(
            user: "x", store: Self.stores[0], watch: [WatchedFolder(kind: .gallery, path: folder)],
            location: ConfigText.location)
        #expect(try ConfigText(template.text).settings().watch.map(\.path) == [folder])

        guard text != ".", !text.contains("\u{85}") else { return }
        let named = ConfigTemplate(user: text, store: Self.stores[0], watch: [], location: ConfigText.location)
        #expect(try ConfigText(named.text).settings().user == text)
    }

    @Test(arguments: [stores[0], stores[2]])
    func `every commented key works once its mark is taken away`(store: StoreSettings) throws {
        let template = ConfigTemplate(user: "ana", store: store, watch: [], location: ConfigText.location)
        let names = ConfigReference.entries.map { "  #\($0.key.split(separator: ".").last ?? ""): " }
        var found = 0
        let lines = template.text.split(separator: "\n").map { line in
            guard names.contains(where: line.hasPrefix) else { return String(line) }
            found += 1
            return "  " + line.dropFirst(3)
        }
        #expect(found >= 5)
        #expect(ConfigText(lines.joined(separator: "\n")).problems.isEmpty)
    }

    @Test func `the template has the keys of its kind of store, and none of the other`() throws {
        let text = ConfigTemplate(
            user: "ana", store: Self.stores[0], watch: [], location: ConfigText.location
        ).text
        for key in [
            "type", "path", "restore_seconds", "max_dimension", "quality", "batch_size", "archive_after_days",
            "event_days", "max_photos", "webhook",
        ] {
            #expect(text.contains(try Regex("\n +#?\(key): ")), "\(key)")
        }
        #expect(!text.contains("bucket:"))
    }
}
