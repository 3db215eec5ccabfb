import Foundation
import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

/// A trip to Osaka: a phone that knows its offset, and a camera that does not.
struct PlaceTimeTests {
    private static let folder = "Osaka"
    /// 07:30, the camera at 07:35, and 23:50 of the day after, in the order in which they were taken.
    private static let times = ["2024:06:15 07:30:00", "2024:06:15 07:35:00", "2024:06:16 23:50:00"]
    private static let written = [
        "2024-06-15T07:30:00+09:00", "2024-06-15T07:35:00", "2024-06-16T23:50:00+09:00",
    ]

    /// A fixture whose EXIF tells an offset (+03:00), or one whose EXIF does not.
    private static func photo(_ index: Int) throws -> [UInt8] {
        let isPhone = index != 1
        let (name, time) =
            isPhone ? ("camera-offset.jpg", "2022:08:14 14:12:31") : ("camera-nikon.jpg", "2008:10:22 16:28:39")
        let bytes = try SamplePhoto.fixture(name).replacing(Array(time.utf8), with: Array(times[index].utf8))
        return bytes.replacing(Array("+03:00\0".utf8), with: Array("+09:00\0".utf8))
    }

    private func takeTrip(_ home: AgentHome) throws {
        for index in Self.times.indices {
            // Names in another order than the times.
            try home.vacations.appending(Self.folder).appending("\(9 - index).jpg").create(Self.photo(index))
        }
    }

    /// The cache keys under which vacations are stored.
    private func vacations(_ home: AgentHome) throws -> [String] {
        try home.store.objects().map(\.key).filter { $0.contains("/vacations/") }
            .compactMap { FilePath($0).lastComponent?.stem }
    }

    private func object(_ key: String, _ home: AgentHome) throws -> [UInt8] {
        try home.store.bytes(of: try #require(try home.store.objects().first { $0.key == key }))
    }

    @Test(
        arguments: ["Asia/Tokyo", "Europe/Berlin", "America/Los_Angeles"])
    func
        `the page, the cache key, the manifest and the mirror tell the days and clocks of the place, wherever the machine is`(
            zone: String
        ) async throws
    {
        let home = try AgentHome(environment: ["TZ": zone])
        try takeTrip(home)
        _ = try await home.pass()
        #expect(try vacations(home) == ["Osaka_2024-06-15_2024-06-16_3"])
        let photo = try await home.photo(home.vacations.appending("Osaka/9.jpg"))
        #expect(photo?.takenAt == Self.written[0])

        let share = try await home.share("Osaka")
        let id = try #require(share.shareId)
        let manifest = try JSONDecoder().decode(
            SharedManifest.self, from: Data(try object("shares/\(id)/vacation.json", home)))
        #expect(manifest.photos.map(\.takenAt) == Self.written)
        let page = String(decoding: try object("shares/\(id)/index.html", home), as: UTF8.self)
        for text in ["15 June 2024, 07:30", "15 June 2024, 07:35", "16 June 2024, 23:50", "15–16 June 2024"] {
            #expect(page.contains(text), "\(text)")
        }

        _ = try await home.mirror(id, to: "friend")
        let files = try home.mirrorFiles("friend").filter { $0.hasSuffix(".jpg") }.sorted()
        #expect(files == ["001_2024-06-15_Osaka.jpg", "002_2024-06-15_Osaka.jpg", "003_2024-06-16_Osaka.jpg"])
        let instants = try files.map { try home.tree.stamp("home/Friends/friend/\($0)").modified / 1_000_000_000 }
        #expect(instants == [1_718_404_200, 1_718_404_500, 1_718_549_400])
    }

    @Test func `what an older version noted in UTC is read again where the file is here, and nothing is sent for it`()
        async throws
    {
        let home = try AgentHome()
        try takeTrip(home)
        _ = try await home.pass()
        // As an older version left it: the instant as if it were the clock, and no offset.
        try await home.changeLedger(
            "UPDATE objects SET taken_at = taken_at - coalesce(taken_offset, 0) * 60000, taken_offset = NULL, taken_rules = 0"
        )
        #expect(
            try await home.photo(home.vacations.appending("Osaka/9.jpg"))?.takenAt == "2024-06-14T22:30:00")
        let pass = try await home.pass()
        #expect(pass.uploaded == 0)
        #expect(try await home.photo(home.vacations.appending("Osaka/9.jpg"))?.takenAt == Self.written[0])
        #expect(try vacations(home) == ["Osaka_2024-06-15_2024-06-16_3"])
    }

    @Test func `init writes the time zone of the machine`() async throws {
        let home = try AgentHome()
        let file = home.tree.path("new.yaml")
        let finished = try await home.start(
            ["init", "--root", home.tree.path("home/New").string, "--store-path", home.tree.path("other").string],
            environment: ["TZ": ":Asia/Tokyo", "SYNC_AGENT_CONFIG": file.string]
        ).finished()
        #expect(finished.code == 0, "\(finished.complaint)")
        #expect(String(decoding: try file.bytes, as: UTF8.self).contains("\n  time_zone: Asia/Tokyo\n"))
    }
}
