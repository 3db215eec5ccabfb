import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// The page of a share as its friends see it: in a browser, from a web server.
@Suite(.enabled(if: !Tool.chromium.isMissing, "needs chromium (Debian: chromium)")) struct SharedPageTests {
    /// What `scripts/look-at-page` prints.
    private struct Look: Decodable {
        struct Archive: Decodable {
            var names: [String]
            var damaged: String?
        }

        /// The page as one reader has it.
        struct Reader: Decodable {
            var lang: String
            var title: String
            /// All text in sight, the texts of pictures, and labels and titles.
            var said: String
            var alts: [String]
            var told: [String]
            /// What the chooser shows.
            var choice: String
        }

        var title: String
        var photos: Int
        var ended: Bool
        var consoleErrors: [String]
        var foreignRequests: [String]
        var scrollsSideways: [Int]
        var loadedWithoutScript: Int
        var loaded: Int?
        var keys: [String: String]?
        var showsPhoto: Bool?
        var focusReturned: Bool?
        var archive: Archive?
        /// By what their browsers ask for.
        var readers: [String: Reader]?
        /// With each language of the chooser.
        var chosen: [Reader]?
    }

    private static let script = FilePath(#filePath).removingLastComponent().pushing("../../../scripts/look-at-page")
        .lexicallyNormalized()
    private static let hostile = #"<script>alert(1)</script> & "Zürich""#

    private func check(_ link: String, _ home: AgentHome, _ options: String...) async throws -> Look {
        let output = try await Tool.run(
            Self.script, [link, "--out", home.tree.path("pictures").string] + options, home: home)
        return try JSONDecoder().decode(Look.self, from: Data(output))
    }

    @Test func `it shows all photos, obeys the keys, makes a whole archive, and asks nobody else for anything`()
        async throws
    {
        try await TwoMachines.run(at: .web) { machines in
            try await machines.sharer.takeTrip(photos: 5)
            let link = try #require(try await machines.sharer.share().page)
            let look = try await check(link, machines.sharer)
            #expect(look.consoleErrors == [] && look.foreignRequests == [] && look.scrollsSideways == [])
            #expect(look.photos == 5 && look.loaded == 5 && look.loadedWithoutScript == 5 && !look.ended)
            #expect(look.title.contains("Paris France"))
            let places = [
                "click": "1 of 5", "ArrowRight": "2 of 5", "End": "5 of 5", "ArrowLeft": "4 of 5", "Home": "1 of 5",
            ]
            for (key, place) in places {
                #expect(look.keys?[key] == place, "\(key)")
            }
            #expect(look.keys?["Escape"] == "closed" && look.showsPhoto == true && look.focusReturned == true)
            #expect(look.archive?.names.count == 5 && look.archive?.damaged == nil)
        }
    }

    private static let spoken: [(lang: String, button: String, photo: String, label: String, end: String)] = [
        ("en", "Download all, ", "Photo 1 of 2, ", "Previous photo", "This share ends on "),
        ("de", "Alle Fotos laden, ", "Foto 1 von 2, ", "Vorheriges Foto", "Die Fotos sind bis zum "),
        ("es", "Descargar todas, ", "Foto 1 de 2, ", "Foto anterior", "Las fotos se pueden ver hasta el "),
        ("fr", "Tout télécharger, ", "Photo 1 sur 2, ", "Photo précédente", "On peut voir les photos jusqu’au "),
        ("zh-Hans", "下载全部照片，", "第 1 张照片，共 2 张，", "上一张照片", "照片可以看到 "),
    ]

    @Test func `each reader has it in their language, and can choose another one by the keyboard`() async throws {
        try await TwoMachines.run(at: .web) { machines in
            try await machines.sharer.takeTrip(photos: 2)
            let link = try #require(try await machines.sharer.share().page)
            let look = try await check(link, machines.sharer, "--readers")
            #expect(look.consoleErrors == [])
            let (found, chosen) = (try #require(look.readers), try #require(look.chosen))
            let readers = [
                "en-GB": "en", "de-AT": "de", "es-MX": "es", "fr-FR,en": "fr", "zh-CN": "zh-Hans", "it-IT,de-DE": "de",
                "tlh,nl-NL": "en",
            ]
            #expect(found.mapValues(\.lang) == readers)
            #expect(chosen.map(\.lang) == Self.spoken.map(\.lang))
            for reader in Array(found.values) + chosen {
                #expect(reader.choice == reader.lang)
                for spoken in Self.spoken {
                    let isSpoken = spoken.lang == reader.lang
                    let (tag, said) = (reader.lang, reader.said)
                    #expect(said.contains(spoken.button) == isSpoken, "\(tag): \(spoken.button)")
                    #expect(said.contains(spoken.end) == isSpoken, "\(tag): \(spoken.end)")
                    #expect(reader.alts.contains { $0.hasPrefix(spoken.photo) } == isSpoken, "\(tag): \(reader.alts)")
                    #expect(reader.told.contains(spoken.label) == isSpoken, "\(tag): \(reader.told)")
                }
            }
            #expect(found["de-AT"]?.title.hasSuffix(", 15.–22. Juni 2024") == true)
            #expect(found["zh-CN"]?.title.hasSuffix("，2024年6月15日至6月22日") == true)
        }
    }

    @Test func `a share whose time is over shows its notice, and no photo`() async throws {
        try await TwoMachines.run(at: .web) { machines in
            try await machines.sharer.takeTrip(photos: 2)
            let share = try await machines.sharer.share()
            machines.web?.replace("data-ends=\"\(share.expiresAt.prefix(4))", with: "data-ends=\"2020")
            let look = try await check(try #require(share.page), machines.sharer)
            #expect(look.ended && look.consoleErrors == [] && look.foreignRequests == [])
        }
    }

    @Test
    func `a vacation with markup for a name is a name on the page, in all that is printed, and on the friend's disk`()
        async throws
    {
        try await TwoMachines.run(at: .web) { machines in
            let (sharer, friend) = (machines.sharer, machines.friend)
            let folder = sharer.vacations.appending(Self.hostile.replacing("/", with: "_"))
            for number in 0..<2 { try folder.appending("\(number).jpg").create(SamplePhoto.taken(number)) }
            let description = ["locationName": Self.hostile, "sharedBy": "<b>Ana</b> & 'Co'\u{1B}[31m"]
            try folder.appending("vacation.json").create(Array(JSONEncoder().encode(description)))
            _ = try await sharer.pass()

            let share = try await sharer.share("--from", "<img src=x onerror=alert(2)>", folder.string)
            let link = try #require(share.page)
            let manifest = try await machines.manifest(try #require(share.shareId))
            #expect(manifest.locationName == Self.hostile && manifest.sharedBy == "<img src=x onerror=alert(2)>")
            let look = try await check(link, sharer)
            #expect(look.consoleErrors == [] && look.foreignRequests == [] && look.photos == 2)
            #expect(look.title.contains(Self.hostile))
            #expect(look.archive?.damaged == nil && look.archive?.names.allSatisfy { !$0.contains("<") } == true)

            #expect(try await sharer.shares().map(\.location) == [Self.hostile])
            for command in [["status"], ["shares"], ["share", "--dry-run", folder.string], ["share", folder.string]] {
                let finished = try await sharer.start(command).finished()
                #expect(
                    finished.code == 0 && finished.text.contains("\"Zürich\""), "\(command): \(finished.text)")
                #expect(!finished.text.contains("\u{1B}") && !finished.complaint.contains("\u{1B}"))
            }
            #expect(try await friend.run("mirror", link, friend.friendsFolder("trip").string).code == 0)
            #expect(
                try friend.mirrorFiles("trip").filter { $0.hasSuffix(".jpg") }
                    == (1...2).map { "00\($0)_2024-06-15_script_alert_1_script_Zürich.jpg" })
        }
    }
}
