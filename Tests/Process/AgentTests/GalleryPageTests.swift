import Foundation
import Glibc
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// What a family does in the gallery with what is archived, brought back or in the store alone.
struct GalleryPageTests {
    /// A home in which three photos of two profiles are archived as memories.
    private func homeOfMemories() async throws -> AgentHome {
        let home = try AgentHome(restoring: 0, more: #"serve: {enabled: true, listen: "127.0.0.1:0"}"#)
        let events = try (0..<3).map { index in
            let photo = Data(try SamplePhoto.unique(index)).base64EncodedString()
            return """
                {"id":"e\(index)","profileId":"p\(index % 2)","eventType":"taskResponse",\
                "createdAt":"2025-0\(1 + index)-10T08:15:00Z","taskTitle":"SECRET","photoData":"\(photo)"}
                """
        }
        try home.gallery.appending("events.json").create(Array("[\(events.joined(separator: ","))]".utf8))
        // An empty folder would be taken for a drive that is not mounted.
        try home.gallery.appending("plain.jpg").create(SamplePhoto.unique(7))
        _ = try await home.pass()
        #expect(try await home.run("cleanup").code == 0)
        return home
    }

    private func end(_ gallery: ShownGallery) async throws {
        gallery.process.send(SIGTERM)
        #expect(try await gallery.process.finished().code == 0)
    }

    private func count(_ mark: String, in page: String) -> Int { page.components(separatedBy: mark).count - 1 }

    @Test func `memories are there after a rebuild, say whose they are, and can be kept`() async throws {
        let home = try await homeOfMemories()
        var gallery = try await ShownGallery.shown(by: home)
        try await gallery.signIn()
        #expect(try await gallery.ask("/archive").text.contains("90 days after the event"))
        #expect(try await gallery.ask("/status").text.contains(" left nothing behind"))
        try await end(gallery)
        try FileManager.default.removeItem(atPath: home.tree.path("state").string)
        #expect(try await home.run("rebuild").code == 0)
        gallery = try await .shown(by: home)
        try await gallery.signIn()
        let page = try await gallery.ask("/archive").text
        #expect(count("class=\"r", in: page) == 3)
        #expect(try await count("class=\"r", in: gallery.ask("/archive?profile=p1").text) == 1)
        #expect(try await count("class=\"r", in: gallery.ask("/?kind=memories&month=3").text) == 1)
        let id = try ShownGallery.id(page, after: "href=\"/photo/")
        // The newest is the one that was taken last.
        let label = try #require(page.firstMatch(of: #/taskResponse, e(\d)/#)).1
        let number = try #require(Int(label))
        let day = "2025-0\(1 + number)-10"
        let photo = try await gallery.ask("/photo/\(id)").text
        for words in ["<dd>p\(number % 2)</dd>", "<dd>taskResponse</dd>", "<dd>\(day)</dd>", "/photo/\(id)/file"] {
            #expect(photo.contains(words), "\(words)")
        }
        let header = home.tree.path("header").string
        #expect(try await gallery.ask("/photo/\(id)/file", "-D", header).code == 200)
        #expect(try gallery.answer.bytes.starts(with: [0xFF, 0xD8, 0xFF]))
        let told = String(decoding: try FilePath(header).bytes, as: UTF8.self)
        #expect(told.contains("\(day)_p\(number % 2)_e\(number).jpg"))
        // All of what is shown, as another program reads it.
        let zip = try #require(page.firstMatch(of: #/href="(\/archive\/memories.zip[^"]*)"/#)).1
        let script = """
            import sys, zipfile
            file = zipfile.ZipFile(sys.argv[1])
            assert file.testzip() is None
            print(*[f"{e.filename} {e.date_time[:3]} {file.read(e)[:2].hex()}" for e in file.infolist()], sep=";")
            """
        let names = ["2025-03-10_p0_e2", "2025-02-10_p1_e1", "2025-01-10_p0_e0"]
        for (address, wanted) in [(String(zip), names), ("/archive/memories.zip?profile=p1", [names[1]])] {
            #expect(try await gallery.ask(address).code == 200)
            let told = try await Tool.run("/usr/bin/python3", ["-c", script, gallery.answer.string], home: home)
            let entries = String(decoding: told, as: UTF8.self).split(separator: ";")
            #expect(Set(entries.map { String($0.prefix { $0 != "." }) }) == Set(wanted), "\(entries)")
            #expect(entries.count == wanted.count)
            #expect(entries.allSatisfy { $0.contains(", 10) ffd8") })
        }
        // What is damaged is told of, and keeps nothing else out.
        let object = try #require(try home.store.objects().first { $0.key.hasSuffix("/e1.jpg") })
        try home.tree.path("store/objects/\(object.file)").unlink()
        #expect(try await gallery.ask(String(zip)).code == 200)
        let listed = try await Tool.run("/usr/bin/python3", ["-c", script, gallery.answer.string], home: home)
        #expect(String(decoding: listed, as: UTF8.self).contains("left-out.txt"))
        try await end(gallery)
        // A second time nothing is new, but that one is lost.
        #expect(try await home.run("rebuild").code == 3)
        gallery = try await .shown(by: home)
        try await gallery.signIn()
        #expect(try await count("class=\"r", in: gallery.ask("/archive").text) == 3)
        try await end(gallery)
    }

    @Test func `a page of archived photos comes back as a whole, and its restore tells of each`() async throws {
        let home = try AgentHome(
            restoring: 0,
            more: """
                serve: {enabled: true, listen: "127.0.0.1:0"}
                tiers: {mode: agent, archive_after_days: 0, minimum_archive_bytes: 0}
                """)
        let files = (0..<3).map { home.gallery.appending("trip/\($0).jpg") }
        for (index, file) in files.enumerated() { try file.create(SamplePhoto.unique(index)) }
        // A folder that is empty may be an unmounted one.
        try home.gallery.appending("here.jpg").create(SamplePhoto.unique(9))
        _ = try await home.run("sync")
        for file in files { try file.unlink() }
        _ = try await home.run("sync")
        let gallery = try await ShownGallery.shown(by: home)
        try await gallery.signIn()
        let page = try await gallery.ask("/").text
        #expect(page.contains("name=\"month\""))
        let id = try ShownGallery.id(try await gallery.ask("/?state=missing").text, after: "href=\"/photo/")
        #expect(try await gallery.ask("/photo/\(id)/file").code == 404)
        let all = try #require(page.firstMatch(of: #/href="(\/restore\?all=shown[^"]*)"/#)).1
        let offer = try await gallery.ask(String(all).replacing("&amp;", with: "&")).text
        #expect(offer.contains("3 photos of the archive, ") && count("name=\"photo\"", in: offer) == 3)
        // What is on this disk need not come back.
        #expect(try await !gallery.ask("/?q=here").text.contains("all=shown"))
        let token = try ShownGallery.id(offer, after: "name=\"form\" value=\"")
        let photos = offer.matches(of: #/name="photo" value="([0-9a-f]+)"/#).map { "photo=\($0.1)" }
            .joined(separator: "&")
        #expect(
            try await gallery.ask("/restores", "-d", "form=\(token)&\(photos)&tier=bulk&price-bulk=1").code == 303)
        #expect(try await gallery.ask("/restores").text.contains("href=\"/restores/1\""))
        let job = try await eventually("the photos to be back") {
            let text = try await gallery.ask("/restores/1").text
            return text.contains("3 of 3") ? text : nil
        }
        #expect(count("✨ restored", in: job) == 3 && job.contains("2.jpg") && job.contains("/photo/\(id)"))
        #expect(!job.contains(home.tree.path("home").string))
        for path in ["/restores/2", "/restores/x"] { #expect(try await gallery.ask(path).code == 404) }
        // It can be read now, and kept.
        #expect(try await gallery.ask("/photo/\(id)").text.contains("/photo/\(id)/file"))
        #expect(try await gallery.ask("/photo/\(id)/file").code == 200)
        try await home.changeLedger("UPDATE restore_items SET state = 'failed', note = 'no such object' WHERE id = 1")
        let failed = try await gallery.ask("/restores/1").text
        #expect(failed.contains("⚠️ failed") && failed.contains("no such object"))
        try await end(gallery)
    }

    @Test func `all photos of a vacation, or none, are ticked by a button, and nothing is shared by it`() async throws {
        let home = try AgentHome(
            restoring: 0,
            more: """
                serve: {enabled: true, listen: "127.0.0.1:0"}
                share: {max_photos: 2}
                """)
        try await home.takeTrip(photos: 3)
        let gallery = try await ShownGallery.shown(by: home)
        try await gallery.signIn()
        let trip = try ShownGallery.id(try await gallery.ask("/vacations").text, after: "href=\"/vacations/")
        let address = "/vacations/\(trip)/share"
        let form = try await gallery.ask(address).text
        #expect(count(" checked", in: form) == 0 && form.contains("Tick the first 2"))
        let token = try ShownGallery.id(form, after: "name=\"form\" value=\"")
        let ticked = try await gallery.ask(address, "-d", "form=\(token)&by=Ana&days=7&tick=all")
        #expect(ticked.code == 200 && count(" checked", in: ticked.text) == 2 && ticked.text.contains("value=\"Ana\""))
        let photo = try ShownGallery.id(form, after: "name=\"photo\" value=\"")
        let none = try await gallery.ask(address, "-d", "form=\(token)&photo=\(photo)&days=7&tick=none").text
        #expect(count(" checked", in: none) == 0)
        #expect(try await home.shares().isEmpty)
        try await end(gallery)
    }
}
