import Foundation
import Glibc
import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

/// `share --export`: the page of a vacation on a disk.
struct ShareExportTests {
    private struct Exported: Decodable {
        struct Skipped: Decodable {
            var path: String
            var reason: String
        }

        var destination: String
        var page: String?
        var photoCount: Int
        var filmCount: Int
        var bytes: Int
        var skipped: [Skipped]
        var notes: [String]
    }

    private func export(_ home: AgentHome, _ words: String..., code: Int32 = 0) async throws -> Exported {
        let finished = try await home.start(["share", "--json"] + words).finished()
        guard finished.code == code else { throw UnexpectedEnd(finished: finished) }
        return try JSONDecoder().decode(Exported.self, from: Data(finished.output))
    }

    private func destination(_ home: AgentHome, _ name: String) throws -> FilePath {
        try home.tree.makeFolder("usb").appending(name)
    }

    /// Where a page leads: all values of `href`, `src` and `poster`.
    private func links(_ page: String) -> [String] {
        page.matches(of: #/(?:href|src|poster)="([^"]*)"/#).map { String($0.output.1) }
    }

    @Test func `a folder has the page, photos, small pictures and nothing else, and needs no store`() async throws {
        let home = try AgentHome()
        try await home.takeTrip(photos: 3)
        try FileManager.default.removeItem(atPath: home.store.root.string)
        let place = try destination(home, "Paris")
        let made = try await export(home, AgentHome.trip, "--export", place.string, "--from", "Ana")
        #expect((made.photoCount, made.filmCount, made.skipped.count) == (3, 0, 0))
        #expect(made.page == place.appending("index.html").string)
        let files = try home.tree.files(below: "usb").sorted()
        let photos = (1...3).map { "Paris/photos/00\($0)_2024-06-15_Paris_France.jpg" }
        #expect(files == ["Paris/index.html"] + photos + (0..<3).map { "Paris/thumbnails/\($0).jpg" })
        let page = String(decoding: try home.tree.read("usb/Paris/index.html"), as: UTF8.self)
        let links = links(page).filter { !$0.hasPrefix("#") }
        #expect(links.count >= 6)
        for link in links {
            #expect(!link.contains(":") && !link.hasPrefix("/"), "\(link)")
            #expect(files.contains("Paris/" + (link.removingPercentEncoding ?? link)), "\(link)")
        }
        // Its script has all words of all pages.
        let shown = page.replacing(#/<script>.*</script>/#.dotMatchesNewlines(), with: "")
        #expect(shown.contains("shared by <bdi>Ana</bdi>") && !shown.contains("sync-agent mirror"))
        #expect(!shown.contains("This share ends") && !page.contains("vacation.json"))
        #expect(made.bytes == (try photos.reduce(0) { try $0 + home.tree.read("usb/\($1)").count }))
        // Nothing was made or noted elsewhere.
        #expect(!FileManager.default.fileExists(atPath: home.store.root.string))
        #expect(try await home.shares().isEmpty)
        let again = try await home.run("share", AgentHome.trip, "--export", place.string)
        #expect(again.code == 1 && again.complaint.contains("is there already"))
    }

    @Test func `a page is in the language of the configuration before its script runs, shared or exported`()
        async throws
    {
        let home = try AgentHome(more: "share: {language: de}")
        try await home.takeTrip(photos: 2)
        let place = try destination(home, "Paris")
        _ = try await export(home, AgentHome.trip, "--export", place.string)
        let id = try #require(try await home.share().shareId)
        let object = try #require(try home.store.objects().first { $0.key == "shares/\(id)/index.html" })
        for bytes in [try home.tree.read("usb/Paris/index.html"), try home.store.bytes(of: object)] {
            let page = String(decoding: bytes, as: UTF8.self)
            #expect(page.contains("<html lang=\"de\"") && page.contains(">2 Fotos<"))
            #expect(page.contains("alt=\"Foto 1 von 2, 15. Juni 2024, "))
        }
    }

    @Test func `what was never looked at is in it as it is, by the names of the files when that is said`() async throws
    {
        let home = try AgentHome()
        try home.vacations.pushing(FilePath("Rome/b.JPG")).create(SamplePhoto.taken(0))
        try home.vacations.pushing(FilePath("Rome/sub/a.jpg")).create(SamplePhoto.taken(1))
        try home.vacations.pushing(FilePath("Rome/broken.jpg")).create(Array("no picture".utf8))
        let place = try destination(home, "rome é")
        try FileManager.default.createDirectory(atPath: place.string, withIntermediateDirectories: false)
        let made = try await export(home, "Rome", "--export", place.string, "--original-names")
        #expect(
            made.photoCount == 2
                && made.skipped.map(\.path) == [home.vacations.pushing(FilePath("Rome/broken.jpg")).string])
        let files = try home.tree.files(below: "usb").sorted()
        #expect(files.filter { $0.contains("/photos/") } == ["rome é/photos/a.jpg", "rome é/photos/b.JPG"])
        #expect(try await home.photos(at: home.vacations).isEmpty)
    }

    @Test func `a ZIP file has the same in one folder`() async throws {
        let home = try AgentHome()
        try await home.takeTrip(photos: 2)
        let place = try destination(home, "trip.ZIP")
        let made = try await export(home, AgentHome.trip, "--export", place.string)
        #expect(made.photoCount == 2 && made.page == nil)
        #expect(try home.tree.files(below: "usb") == ["trip.ZIP"])
        let script = """
            import sys, zipfile
            z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None
            print("\\n".join(sorted(z.namelist())))
            """
        let python = try await ChildProcess(
            "/usr/bin/python3", ["-c", script, place.string], environment: ["PATH": "/usr/bin:/bin"]
        ).finished()
        #expect(
            python.text == """
                trip/index.html
                trip/photos/001_2024-06-15_Paris_France.jpg
                trip/photos/002_2024-06-15_Paris_France.jpg
                trip/thumbnails/0.jpg
                trip/thumbnails/1.jpg

                """, "\(python.complaint)")
        #expect(try await home.run("share", AgentHome.trip, "--export", place.string).code == 1)
    }

    @Test func `photos that only the store has come from there, and what cannot be had is named`() async throws {
        let home = try AgentHome()
        try await home.takeTrip(photos: 3)
        let object = try #require(try await home.photo(home.photo(1))?.key)
        try FileManager.default.removeItem(atPath: home.vacations.appending(AgentHome.trip).string)
        try home.vacations.appending("other.jpg").create(SamplePhoto.unique(9))
        try FileManager.default.removeItem(atPath: home.store.root.pushing(FilePath("objects/\(object)")).string)
        let place = try destination(home, "Paris")
        let made = try await export(home, AgentHome.trip, "--export", place.string, code: 3)
        #expect((made.photoCount, made.skipped.count) == (2, 1))
        #expect(try home.tree.files(below: "usb/Paris/photos").count == 2)
    }

    @Test func `nothing is left of an export that came to nothing, and no link is made beside it`() async throws {
        let home = try AgentHome()
        try home.vacations.pushing(FilePath("Rome/broken.jpg")).create(Array("no picture".utf8))
        let place = try destination(home, "Rome")
        // What a killed one has left is cleared by the next.
        try home.tree.write("half", to: "usb/.Rome.sync-agent-export/0")
        #expect(try await home.run("share", "Rome", "--export", place.string).code == 1)
        try home.vacations.pushing(FilePath("Rome/a.jpg")).create(SamplePhoto.taken(0))
        #expect(try await export(home, "Rome", "--export", place.string).photoCount == 1)
        #expect(try !home.tree.files(below: "usb").contains { $0.contains("sync-agent") || $0.contains("half") })
        for words in [["--to", "+4915123456789", "--via", "sms"], ["--expires", "3d"], ["--dry-run"]] {
            let refused = try await home.start(["share", "Rome", "--export", "\(place)2"] + words).finished()
            #expect(refused.code == 64, "\(words)")
        }
        let state = home.tree.path("state/sync-agent/x").string
        #expect(try await home.run("share", "Rome", "--export", state).code == 64)
        #expect(try home.tree.files(below: "usb").allSatisfy { $0.hasPrefix("Rome/") })
    }

    @Test(arguments: ["linked", "open to all", "somebody's"])
    func `a hidden folder that others can write to, or that is a link, is neither cleared nor filled`(
        kind: String
    ) async throws {
        let home = try AgentHome()
        try home.vacations.pushing(FilePath("Rome/a.jpg")).create(SamplePhoto.taken(0))
        let place = try destination(home, "Rome")
        let hidden = home.tree.path("usb/.Rome.sync-agent-export")
        let folder = kind == "linked" ? "elsewhere" : "usb/.Rome.sync-agent-export"
        try home.tree.write("theirs", to: "\(folder)/0")
        switch kind {
        case "linked":
            try FileManager.default.createSymbolicLink(atPath: hidden.string, withDestinationPath: "../elsewhere")
        case "open to all": try #require(chmod(hidden.string, 0o777) == 0)
        default:
            // Only root can make a folder somebody else's.
            if chown(hidden.string, 12_345, 12_345) != 0 { return }
        }
        let refused = try await home.run("share", "Rome", "--export", place.string)
        #expect(refused.code == 77 && refused.complaint.contains(".Rome.sync-agent-export"), "\(refused.complaint)")
        #expect(try home.tree.files(below: folder) == ["0"])
        #expect(try home.tree.read("\(folder)/0") == Array("theirs".utf8))
        try FileManager.default.removeItem(atPath: hidden.string)
        #expect(try await export(home, "Rome", "--export", place.string).photoCount == 1)
    }

    @Test func `an export that was killed has no name, and the next one is whole`() async throws {
        try await ScriptedS3Server.run { server in
            let home = try AgentHome(over: server, tiers: "")
            try await home.takeTrip(photos: 8)
            // What is gone from the disk comes from the store, which does not give one of them.
            try FileManager.default.removeItem(atPath: home.vacations.appending(AgentHome.trip).string)
            try home.vacations.appending("other.jpg").create(SamplePhoto.unique(9))
            let missing = try #require(server.photoKeys.first)
            server.script(.stall(.beforeReply), on: .getObject, key: missing, numbers: 1...99)
            let place = try destination(home, "Paris")
            let command = try home.start(["share", AgentHome.trip, "--export", place.string])
            let hidden = home.tree.path("usb/.Paris.sync-agent-export")
            _ = try await eventually("a copy in the hidden folder") {
                let files = (try? FileManager.default.contentsOfDirectory(atPath: hidden.string)) ?? []
                return files.count > 3 || command.progress.value.isOver ? () : nil
            }
            let second = try await home.run("share", AgentHome.trip, "--export", place.string)
            #expect(second.code == 75 && second.complaint.contains("exports to this place"), "\(second)")
            command.send(SIGKILL)
            #expect(try await command.finished().ending == .signal(SIGKILL), "it was over before")
            server.clearScript()
            #expect(try home.tree.files(below: "usb").allSatisfy { $0.hasPrefix(".Paris.sync-agent-export/") })
            #expect(try await export(home, AgentHome.trip, "--export", place.string).photoCount == 8)
            #expect(try home.tree.files(below: "usb").allSatisfy { $0.hasPrefix("Paris/") })
        }
    }

    @Test func `films are in it without their places, and behind the photos`() async throws {
        let home = try AgentHome()
        let film = try SamplePhoto.fixture("films/place.mp4")
        let secret = Array("34.6937".utf8)
        #expect(film.firstRange(of: secret) != nil)
        try home.vacations.pushing(FilePath("Osaka/1.mp4")).create(film)
        try home.vacations.pushing(FilePath("Osaka/2.jpg")).create(SamplePhoto.taken(0))
        let made = try await export(home, "Osaka", "--export", destination(home, "Osaka").string)
        #expect((made.photoCount, made.filmCount) == (1, 1))
        let files = try home.tree.files(below: "usb/Osaka/photos").sorted()
        #expect(files.map { $0.prefix(4) + $0.suffix(4) } == ["001_.jpg", "002_.mp4"])
        let bytes = try home.tree.read("usb/Osaka/photos/\(try #require(files.last))")
        #expect(bytes.count == film.count && bytes.firstRange(of: secret) == nil)
        let page = String(decoding: try home.tree.read("usb/Osaka/index.html"), as: UTF8.self)
        #expect(page.contains("<video ") && page.contains("src=\"photos/002_"))
    }

    @Test(.enabled(if: !Tool.exiftool.isMissing, "needs exiftool (Debian: libimage-exiftool-perl)"))
    func `no copy tells where it was taken`() async throws {
        let home = try AgentHome()
        let fixtures = FilePath(#filePath).removingLastComponent().pushing("../../Disk/PhotoFixtures")
        try home.vacations.pushing(FilePath("Rome/a.jpg")).create(fixtures.appending("camera-iphone.jpg").bytes)
        let place = try destination(home, "Rome")
        for quality in ["reduced", "full"] {
            _ = try await export(home, "Rome", "--export", "\(place)-\(quality)", "--quality", quality)
        }
        let tags = try await Tool.run(
            "/usr/bin/exiftool", ["-a", "-G1", "-s", "-r", "-q", home.tree.path("usb").string], home: home)
        let text = String(decoding: tags, as: UTF8.self)
        #expect(text.contains("DateTimeOriginal") && !text.contains("[GPS]") && !text.contains("Apple"))
    }
}
