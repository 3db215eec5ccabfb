import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// What archiving does to photos, as `cost` and `status` tell of it.
struct CostTests {
    private struct Answer: Decodable {
        struct Class: Decodable {
            var storageClass: String
            var objects: Int
            var bytes: Int64
            var monthlyUSD: Double?
        }

        struct Part: Decodable {
            var objects: Int
        }

        struct Restore: Decodable {
            var tier: String
            var hours: Double?
        }

        struct Hint: Decodable {
            var folder: String
            var reason: String
            var photos: Int
        }

        var asOf: String
        var region: String
        var classes: [Class]
        var monthlyUSD: Double
        var savedMonthlyUSD: Double
        var earlyDeletionUSD: Double
        var inMinimumPeriod: Part
        var fullRestore: [Restore]
        var hints: [Hint]
    }

    private struct Listing: Decodable {
        struct Photo: Decodable {
            var storageClass: String?
            var expectedClass: String?
            var staysBecause: String?
            var badge: String?
        }

        var files: [Photo]
    }

    private struct Overview: Decodable {
        struct Tier: Decodable {
            var storageClass: String
            var objects: Int
            var due: Int
            var tooSmall: Int
        }

        var tiers: [Tier]
    }

    private let home: AgentHome
    private var rome: FilePath { home.vacations.appending("Rome") }

    /// A store in which restores take `restoring` seconds, and an album of four photos and a tiny one.
    init() async throws {
        home = try AgentHome()
        for number in 0..<4 { try rome.appending("\(number).jpg").create(SamplePhoto.unique(number)) }
        try rome.appending("tiny.jpg").create(SamplePhoto.unique(4))
    }

    private func configure(_ tiers: String, restoring seconds: Int = 0) throws {
        try home.configure(
            """
            user: ana
            store: {type: directory, path: \(home.store.root), restore_seconds: \(seconds)}
            watch: [{kind: vacations, path: \(home.vacations)}]
            upload: {settle_seconds: 0.2}
            tiers: \(tiers)
            """)
    }

    private func cost() async throws -> Answer {
        let finished = try await home.run("cost", "--json")
        #expect(finished.code == 0, "\(finished.complaint)")
        return try JSONDecoder().decode(Answer.self, from: Data(finished.output))
    }

    private func photo(_ name: String) async throws -> Listing.Photo {
        let finished = try await home.run("status", rome.appending(name).string, "--json")
        return try #require(try JSONDecoder().decode(Listing.self, from: Data(finished.output)).files.first)
    }

    private func tiers() async throws -> [Overview.Tier] {
        let finished = try await home.run("status", "--json")
        return try JSONDecoder().decode(Overview.self, from: Data(finished.output)).tiers
    }

    @Test func `before archiving all of it costs as STANDARD, and each photo says why it stays`() async throws {
        try configure("{archive_after_days: 30, minimum_archive_bytes: 1000}")
        #expect(try await home.run("sync").code == 0)
        let cost = try await cost()
        #expect(cost.classes.map(\.storageClass) == ["STANDARD"] && cost.classes.map(\.objects) == [5])
        #expect(cost.savedMonthlyUSD == 0 && cost.fullRestore.isEmpty && cost.inMinimumPeriod.objects == 0)
        #expect(cost.region == "us-east-1" && !cost.asOf.isEmpty)
        let (old, tiny) = (try await photo("0.jpg"), try await photo("tiny.jpg"))
        #expect(old.expectedClass == "STANDARD" && old.staysBecause == "tooYoung" && old.badge == nil)
        #expect(tiny.staysBecause == "tooSmall")
        #expect(try await tiers().map(\.tooSmall) == [1])
        try configure("{mode: 'off'}")
        #expect(try await photo("0.jpg").staysBecause == "archivingIsOff")
    }

    @Test func `what is due is told before the pass that archives it; afterwards it saves and is inside its minimum`()
        async throws
    {
        try configure("{mode: 'off'}")
        #expect(try await home.run("sync").code == 0)
        try configure("{archive_after_days: 0, minimum_archive_bytes: 1000}")
        let due = try await photo("0.jpg")
        #expect(due.expectedClass == "DEEP_ARCHIVE" && due.storageClass == "STANDARD" && due.staysBecause == nil)
        #expect(try await tiers().map(\.due) == [4])

        #expect(try await home.run("sync").code == 0)
        let archived = try await photo("0.jpg")
        #expect(archived.storageClass == "DEEP_ARCHIVE" && archived.badge == "archived")
        let tiers = try await tiers()
        #expect(tiers.map(\.storageClass) == ["DEEP_ARCHIVE", "STANDARD"])
        #expect(tiers.map(\.due) == [0, 0] && tiers.map(\.tooSmall) == [0, 1])
        let cost = try await cost()
        #expect(cost.classes.map(\.objects) == [4, 1] && cost.inMinimumPeriod.objects == 4)
        #expect(cost.fullRestore.map(\.hours) == [48, 12])
        #expect(cost.monthlyUSD > 0 && cost.earlyDeletionUSD > 0 && cost.hints.isEmpty)
    }

    @Test func `a photo that is wanted in a hurry has its badge, and the rest of its album is suggested`() async throws
    {
        try configure("{archive_after_days: 0, minimum_archive_bytes: 1000}", restoring: 3_600)
        #expect(try await home.run("sync").code == 0)
        #expect(try await home.run("restore", rome.appending("0.jpg").string, "--rush", "--yes").code == 0)
        #expect(try await home.run("restore", rome.appending("1.jpg").string, "--yes").code == 0)
        #expect(try await photo("0.jpg").badge == "rush")
        #expect(try await photo("1.jpg").badge == "retrieving")
        let words = try await home.run("status", rome.string).text
        #expect(words.contains("  rush  ") && words.contains("  retrieving  ") && words.contains("  archived  "))
        #expect(words.contains("(stays: smaller than 1000 B)"))
        #expect(try await home.run("status").text.contains("Restores: 2 on their way"))

        let hint = try #require(try await cost().hints.first)
        #expect(hint.folder == rome.string && hint.photos == 2 && hint.reason == "2 were requested lately")
        #expect(try await home.run("cost").text.contains("2 photos of Rome are archived, and 2 were requested lately"))
        let suggested = try await home.run("restore", "--suggest")
        #expect(suggested.code == 0 && suggested.text.contains("sync-agent restore \(rome)"))
    }

    @Test func `what the store was told behind the agent's back is seen by a refresh`() async throws {
        try configure("{mode: 'off'}")
        #expect(try await home.run("sync").code == 0)
        let other = try AgentHome()
        try other.configure(
            """
            user: ana
            store: {type: directory, path: \(home.store.root)}
            watch: [{kind: vacations, path: \(home.vacations)}]
            upload: {settle_seconds: 0.2}
            tiers: {archive_after_days: 0, minimum_archive_bytes: 1000}
            """)
        #expect(try await other.run("sync").code == 0)
        #expect(try await photo("0.jpg").storageClass == "STANDARD")
        let refreshed = try await home.run("status", "--refresh")
        // Five photos, the manifest of their trip, the catalogues and notes of both machines, and the second one's claim.
        #expect(refreshed.code == 0 && refreshed.complaint.contains("checked 11 objects"), "\(refreshed)")
        #expect(try await photo("0.jpg").storageClass == "DEEP_ARCHIVE")
    }

    @Test
    func `a price file of the configuration takes the place of the built-in one; a wrong one is a configuration error`()
        async throws
    {
        let prices = """
            region: home
            as_of: 2026-01
            currency: USD
            source: by hand
            egress: {per_gb: 0}
            classes: {STANDARD: {per_gb_month: 1000000, put_per_1000: 0}}
            """
        let file = try home.tree.write(Array(prices.utf8), to: "prices.yaml")
        try configure("{mode: 'off'}\ncost: {prices: \(file)}")
        #expect(try await home.run("sync").code == 0)
        let cost = try await cost()
        #expect(cost.region == "home")
        let gigabytes = Double(cost.classes.reduce(0) { $0 + $1.bytes }) / 1_073_741_824
        #expect(gigabytes > 0 && abs(cost.monthlyUSD - gigabytes * 1_000_000) < 0.000_001)
        try home.tree.write(Array("region: home".utf8), to: "prices.yaml")
        #expect(try await home.run("cost").code == 78)
    }
}
