import FoundationEssentials
import SyncConfig
import SyncCore
import SystemPackage
import Testing

@Suite struct SettingsTests {
    /// A key with a value that is not its default, and where the settings show it.
    struct Row: Sendable, CustomTestStringConvertible {
        var key: String
        var yaml: String
        var expected: String
        var seen: @Sendable (Settings) -> Any?

        init(_ key: String, _ yaml: String, _ expected: String, _ seen: @escaping @Sendable (Settings) -> Any?) {
            self.key = key
            self.yaml = yaml
            self.expected = expected
            self.seen = seen
        }

        var testDescription: String { key }

        /// A configuration with a value for the key, or without the key, and nothing else that matters.
        func text(_ yaml: String?) -> String {
            let pair = yaml.map { ["\(key.split(separator: ".").last ?? ""): \($0)"] } ?? []
            func flow(_ others: [String]) -> String { "{\((others + pair).joined(separator: ", "))}" }
            switch key {
            case "user": return pair.joined()
            case "store.type": return "user: ana\nstore: " + flow(yaml == "s3" ? ["bucket: photos"] : [])
            case "store.bucket": return "user: ana\nstore: " + flow(["type: s3"])
            case "store.path", "store.restore_seconds": return "user: ana\nstore: " + flow([])
            case "watch[].kind": return "user: ana\nwatch: [\(flow(["path: /p"]))]"
            case "watch[].path": return "user: ana\nwatch: [\(flow(["kind: gallery"]))]"
            case "watch[].filter", "watch[].profile":
                return "user: ana\nwatch: [\(flow(["kind: gallery", "path: /p"]))]"
            case "store.kms_key":
                return "user: ana\nstore: " + flow(["type: s3", "bucket: photos", "encryption: sse-kms"])
            case let key where key.hasPrefix("store."):
                return "user: ana\nstore: " + flow(["type: s3", "bucket: photos"])
            default: return "user: ana\n\(key.prefix { $0 != "." }): " + flow([])
            }
        }
    }

    private static func directory(_ settings: Settings) -> DirectoryStoreSettings? {
        guard case .directory(let directory) = settings.store else { return nil }
        return directory
    }

    private static func s3(_ settings: Settings) -> S3StoreSettings? {
        guard case .s3(let s3) = settings.store else { return nil }
        return s3
    }

    static let rows = [
        Row("user", "\"Bärbel 2\"", "Bärbel 2") { $0.user },
        Row("store.type", "s3", "photos") { s3($0)?.bucket },
        Row("store.path", "/srv/store", "/srv/store") { directory($0)?.path },
        Row("store.restore_seconds", "0.5", "0.5 seconds") { directory($0)?.restoreDuration },
        Row("store.bucket", "my-photos", "my-photos") { s3($0)?.bucket },
        Row("store.region", "eu-central-1", "eu-central-1") { s3($0)?.region },
        Row("store.endpoint", "http://nas:9000", "http://nas:9000") { s3($0)?.endpoint },
        Row("store.addressing", "virtual", "virtual") { s3($0)?.addressing },
        Row("store.prefix", "backups/photos", "backups/photos") { s3($0)?.prefix },
        Row("store.profile", "ana", "ana") { s3($0)?.profile },
        Row("store.encryption", "sse-s3", "ownKeys") { s3($0)?.encryption },
        Row("store.kms_key", "alias/photos", "alias/photos") { s3($0)?.encryptionKey },
        Row("store.checksums", "on", "true") { s3($0)?.checksums.isOn },
        Row("store.conditional_writes", "off", "false") { s3($0)?.conditionalWrites.isOn },
        Row("store.storage_class", "GLACIER_IR", "GLACIER_IR") { s3($0)?.storageClass },
        Row("store.tags", "{owner: ana, \"cost: x\": \"a b\", empty: \"\"}", "cost: x=a b|empty=|owner=ana") {
            s3($0)?.tags.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "|")
        },
        Row("store.request_payer", "requester", "requester") { s3($0)?.requestPayer },
        Row("store.part_size", "100MiB", "104857600") { s3($0)?.partSize },
        Row("store.attempts", "5", "5") { s3($0)?.attempts },
        Row("store.dualstack", "true", "true") { s3($0)?.dualStack },
        Row("store.fips", "true", "true") { s3($0)?.fips },
        Row("watch[].kind", "vacations", "vacations") { $0.watch.first?.kind },
        Row("watch[].path", "~/Bilder", "/home/ana/Bilder") { $0.watch.first?.path },
        Row("watch[].profile", "1968", "1968") { $0.watch.first?.profile },
        Row("watch[].filter", "[\"- *.CR2\", \"+ /a b/**\"]", "- *.CR2|+ /a b/**") {
            $0.watch.first?.filter.lines.joined(separator: "|")
        },
        Row("photos.max_dimension", "65500", "65500") { $0.photos.reduce.maximumDimension },
        Row("photos.quality", "100", "100") { $0.photos.reduce.quality },
        Row("photos.strip_location", "yes", "true") { $0.photos.reduce.stripLocation },
        Row("photos.keep_originals", "jxl", "jxl") { $0.photos.originals },
        Row("upload.batch_size", "16", "16") { $0.upload.batchSize },
        Row("upload.settle_seconds", "0.25", "0.25 seconds") { $0.upload.settle },
        Row("upload.rescan_minutes", "1", "60.0 seconds") { $0.upload.rescan },
        Row("upload.bandwidth_limit", "\"08:00,512k 18:00,off\"", "08:00,512k 18:00,off") { $0.upload.bandwidthLimit },
        Row("tiers.mode", "off", "off") { $0.tiers.mode },
        Row("tiers.archive_after_days", "0", "0") { $0.tiers.archiveAfterDays },
        Row("tiers.originals_after_days", "7", "7") { $0.tiers.originalsAfterDays },
        Row("tiers.minimum_archive_bytes", "1048576", "1048576") { $0.tiers.minimumArchiveBytes },
        Row("retention.event_days", "7", "7") { $0.retention.eventDays },
        Row("retention.batch_size", "10", "10") { $0.retention.batchSize },
        Row("retention.at", "23:59", "23:59") { $0.retention.at },
        Row("retention.time_zone", "Europe/Berlin", "Europe/Berlin") { $0.retention.timeZone.identifier },
        Row("retention.keep_titles", "false", "false") { $0.retention.keepTitles },
        Row("restore.days", "3", "3") { $0.restore.days },
        Row("restore.tier", "bulk", "bulk") { $0.restore.tier },
        Row("restore.poll_minutes", "2", "120.0 seconds") { $0.restore.poll },
        Row("restore.max_cost_usd", "5.5", "5.5") { $0.restore.maximumCostUSD },
        Row("verify.percent_per_day", "2.5", "2.5") { $0.verify.percentPerDay },
        Row("verify.max_usd_per_month", "0.25", "0.25") { $0.verify.maximumUSDPerMonth },
        Row("cost.prices", "~/prices.yaml", "/home/ana/prices.yaml") { $0.prices },
        Row("share.max_photos", "12", "12") { $0.share.maximumPhotos },
        Row("share.expire_days", "1", "1") { $0.share.expireDays },
        Row("share.public_base_url", "https://a.example/s", "https://a.example/s") { $0.share.publicBaseURL },
        Row("share.language", "de", "de") { $0.share.language },
        Row("share.phone_region", "DE", "DE") { $0.share.phoneRegion },
        Row("store.catalog", "off", "off") { $0.catalog },
        Row("machine.name", "old laptop", "old laptop") { $0.machineName },
        Row("projects.versions", "7", "7") { $0.projectVersions },
        Row("serve.enabled", "true", "true") { $0.serve.isEnabled },
        Row("serve.listen", "\"[::1]:9000\"", "[::1]:9000") { $0.serve.listen },
        Row("serve.password_file", "~/password", "/home/ana/password") { $0.serve.passwordFile },
        Row("serve.base_url", "https://p.example", "https://p.example") { $0.serve.baseURL },
        Row("notify.command", "[mail, -s, \"a b\"]", "mail|-s|a b") { $0.notify.command.joined(separator: "|") },
        Row("notify.webhook", "https://h.example/T?k=1", "https://h.example/T?k=1") { $0.notify.webhook?.revealed },
        Row("notify.kinds", "[storeAway, diskFull, storeAway]", "diskFull|storeAway") {
            $0.notify.kinds.map(\.rawValue).sorted().joined(separator: "|")
        },
        Row("notify.heartbeat", "https://h.example/ping?k=1", "https://h.example/ping?k=1") {
            $0.notify.heartbeat?.revealed
        },
        Row("metrics.textfile", "~/out/agent.prom", "/home/ana/out/agent.prom") { $0.metrics.textfile },
    ]

    @Test(arguments: rows)
    func `a value that is set is a value that is seen`(row: Row) throws {
        let value = row.seen(try ConfigText(row.text(row.yaml)).settings())
        #expect(value.map { "\($0)" } == row.expected)
    }

    @Test func `the table above has every key of the reference`() {
        #expect(Self.rows.map(\.key).sorted() == ConfigReference.entries.map(\.key).sorted())
    }

    @Test(arguments: rows)
    func `a key that is left out has the default of the reference, and the table's value is another`(row: Row) throws {
        let entry = try #require(ConfigReference.entries.first { $0.key == row.key })
        guard let fallback = entry.default, row.key != "store.bucket" else {
            #expect(ConfigText(row.text(nil)).problems.first?.contains("is missing") == true)
            return
        }
        let without = try ConfigText(row.text(nil)).settings()
        var expected = without
        if row.key == "upload.batch_size" {
            // Who names a number in flight has that number, the default, too; without one it grows.
            #expect(without.upload.mostInFlight > without.upload.batchSize)
            expected.upload.mostInFlight = without.upload.batchSize
        }
        #expect(try ConfigText(row.text(fallback)).settings() == expected)
        #expect(try ConfigText(row.text(row.yaml)).settings() != without)
    }

    @Test(
        arguments: [
            ("16384", 16_384), ("1000000", 1_000_000), ("1_000_000", nil), ("16KiB", 16_384), ("512 KiB", 524_288),
            ("2MiB", 2 << 20),
            ("null", nil), ("16383", nil), ("15KiB", nil), ("1_6KiB", nil), ("2MB", nil), ("-1MiB", nil),
            ("KiB", nil), ("9223372036854775807MiB", nil), ("\"2MiB\"", nil),
        ] as [(String, Int?)])
    func `a byte rate has a unit or none`(yaml: String, expected: Int?) {
        let problems = ConfigText("user: ana\nupload: {bandwidth_limit: \(yaml)}").problems
        let settings = try? ConfigText("user: ana\nupload: {bandwidth_limit: \(yaml)}").settings()
        #expect(settings?.upload.bandwidthLimit == expected.map { BandwidthTimetable(upload: $0) })
        #expect(problems.isEmpty == (expected != nil || yaml == "null"))
    }

    @Test func `the configuration of the design is accepted whole`() throws {
        let settings = try ConfigText(
            """
            user: ana
            store:
              type: directory            # the embedded default: no server, no account
              path: ~/.local/share/sync-agent/store
            watch:
              - {kind: gallery,   path: ~/Pictures/Gallery, profile: grandma}
              - {kind: vacations, path: ~/Pictures/Vacations}
              - {kind: projects,  path: ~/Pictures/Projects}
            photos:    {max_dimension: 2048, quality: 80, strip_location: false}
            upload:    {batch_size: 3, settle_seconds: 2, rescan_minutes: 60}
            tiers:     {mode: bucket, archive_after_days: 180, minimum_archive_bytes: 131072}   # mode: bucket|agent|off
            retention: {event_days: 90, batch_size: 500, at: "00:00", time_zone: America/Los_Angeles}
            restore:   {days: 30, tier: standard, poll_minutes: 15, max_cost_usd: null}
            share:     {max_photos: 50, expire_days: 30, public_base_url: null}
            notify:    {command: [], webhook: null}
            """
        ).settings()
        var expected = try ConfigText("user: ana").settings()
        // Who names a number in flight has that number.
        expected.upload.mostInFlight = 3
        expected.watch = [
            WatchedFolder(kind: .gallery, path: "/home/ana/Pictures/Gallery", profile: "grandma"),
            WatchedFolder(kind: .vacations, path: "/home/ana/Pictures/Vacations"),
            WatchedFolder(kind: .projects, path: "/home/ana/Pictures/Projects"),
        ]
        #expect(settings == expected)
        #expect(settings.photos.reduce == ReducePolicy())
        #expect(settings.store == .directory(DirectoryStoreSettings(path: "/home/ana/.local/share/sync-agent/store")))
    }

    @Test(
        arguments: [
            ("~", 3, 32), ("{batch_size: 3}", 3, 3), ("{batch_size: 16}", 16, 16), ("{bandwidth_limit: 2MiB}", 3, 3),
        ])
    func `more may be in flight only where nobody says how many, nor how much of the line`(
        upload: String, batch: Int, most: Int
    ) throws {
        let settings = try ConfigText("user: ana\nupload: \(upload)").settings().upload
        #expect(settings.batchSize == batch)
        #expect(settings.mostInFlight == most)
    }

    @Test func `a section with all its keys commented out has their defaults`() throws {
        let text = "user: ana\nstore:\nphotos:\n  # quality: 3\nwatch:\nupload: ~\n"
        #expect(try ConfigText(text).settings() == ConfigText("user: ana").settings())
    }

    @Test(
        arguments: [("no", "no"), ("007", "007"), ("'null'", "null"), ("1e3", "1e3")])
    func `texts are taken as they are written`(yaml: String, expected: String) throws {
        #expect(try ConfigText("user: \(yaml)").settings().user == expected)
    }

    @Test(
        arguments: [
            ("~", "/home/ana"), ("~//Pictures/", "/home/ana/Pictures"), ("/srv/../photos/./x", "/photos/x"),
            ("photos", "/home/ana/.config/sync-agent/photos"), ("../photos", "/home/ana/.config/photos"),
        ])
    func `a folder is found from the home folder, the root, or the configuration's own folder`(
        yaml: String, expected: FilePath
    ) throws {
        let text = "user: ana\nstore: {type: s3, bucket: photos}\nwatch: [{kind: gallery, path: \(yaml)}]"
        guard yaml != "~" else {
            #expect(ConfigText(text).problems.first?.contains("watch[0].path: has no value") == true)
            return
        }
        #expect(try ConfigText(text).settings().watch.map(\.path) == [expected])
    }

    @Test(arguments: [
        "user: ana", "user: ana\nphotos:\n  quality: 70\nwatch: []\n", "user: ana\r\nphotos: {quality: 70}\r\n",
    ])
    func `a byte order mark before the text is no part of it`(text: String) throws {
        #expect(try ConfigText("\u{FEFF}" + text).settings() == ConfigText(text).settings())
    }

    @Test func `a text behind its type tag is a text, as one in quotes is`() throws {
        #expect(try ConfigText("user: !!str 1968").settings().user == "1968")
        #expect(try ConfigText("user: !!str null").settings().user == "null")
        let text = "!!map {user: ana, watch: !!seq [{kind: gallery, path: !!str /p}]}"
        #expect(try ConfigText(text).settings().watch.map(\.path) == ["/p"])
    }

    @Test(arguments: [
        ("upload: {batch_size: !!int 3}", "upload: {batch_size: 3}"),
        ("upload: {batch_size: !!int \"3\"}", "upload: {batch_size: 3}"),
        ("upload: {settle_seconds: !!float 2.5}", "upload: {settle_seconds: 2.5}"),
        ("upload: {settle_seconds: !!int 2}", "upload: {settle_seconds: 2}"),
        ("photos: {strip_location: !!bool true}", "photos: {strip_location: true}"),
        ("serve: {base_url: !!null null}", "serve: {base_url: null}"),
        ("serve: {base_url: !!null }", "serve: {base_url: }"),
    ])
    func `a value behind the type tag that it has anyway is that value`(tagged: String, plain: String) throws {
        #expect(try ConfigText("user: ana\n" + tagged).settings() == ConfigText("user: ana\n" + plain).settings())
    }

    @Test func `a value of another type than the one that is asked for stays refused`() {
        #expect(!ConfigText("user: ana\nupload: {batch_size: !!bool true}").problems.isEmpty)
        #expect(!ConfigText("user: ana\nserve: {enabled: !!int 1}").problems.isEmpty)
    }

    @Test func `a configuration that watches nothing is warned of`() throws {
        #expect(try ConfigText("user: ana").load().warnings.map(\.path) == ["watch"])
    }
}
