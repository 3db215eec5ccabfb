import Foundation
import Glibc
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// What the store has of photos besides their copies, in the gallery; and what pages tell that the store or the ledger knows.
struct GalleryPhotoTests {
    private static let served = #"serve: {enabled: true, listen: "127.0.0.1:0"}"#
    private static let archived = "tiers: {mode: agent, archive_after_days: 0, minimum_archive_bytes: 0}"

    private func end(_ gallery: ShownGallery) async throws {
        gallery.process.send(SIGTERM)
        #expect(try await gallery.process.finished().code == 0)
    }

    @Test(arguments: ["true", "jxl"]) func `the original is told of, comes back, and is the file again`(
        kept: String
    ) async throws {
        let home = try AgentHome(
            restoring: 0,
            more: "\(Self.served)\n\(Self.archived)\nphotos: {max_dimension: 100, keep_originals: \(kept)}")
        let (photo, bytes) = (home.gallery.appending("a.jpg"), try SamplePhoto.taken(1))
        try photo.create(bytes)
        try home.gallery.appending("b.jpg").create(SamplePhoto.unique(9))
        _ = try await home.run("sync")
        try photo.unlink()
        _ = try await home.run("sync")
        let gallery = try await ShownGallery.shown(by: home)
        try await gallery.signIn()
        let id = try ShownGallery.id(try await gallery.ask("/?state=missing").text, after: "href=\"/photo/")
        let page = try await gallery.ask("/photo/\(id)").text
        #expect(page.contains("The file itself, ") && page.contains(", archived"))
        #expect(page.contains("as JPEG XL") == (kept == "jxl"))
        #expect(page.contains("/restore?photo=\(id).original") && !page.contains("/photo/\(id)/original"))
        #expect(try await gallery.ask("/photo/\(id)/original").code == 404)
        let offer = try await gallery.ask("/restore?photo=\(id).original").text
        #expect(offer.contains("1 photo of the archive, ") && offer.contains("value=\"\(id).original\""))
        let token = try ShownGallery.id(offer, after: "name=\"form\" value=\"")
        let order = "form=\(token)&photo=\(id).original&tier=bulk&price-bulk=1"
        #expect(try await gallery.ask("/restores", "-d", order).code == 303)
        _ = try await eventually("the original to be back") {
            try await gallery.ask("/restores/1").text.contains("✨ restored") ? true : nil
        }
        #expect(try await gallery.ask("/restores/1").text.contains("a.jpg"))
        #expect(try await gallery.ask("/photo/\(id)").text.contains("/photo/\(id)/original"))
        let header = home.tree.path("header").string
        #expect(try await gallery.ask("/photo/\(id)/original", "-D", header).code == 200)
        #expect(try Array(gallery.answer.bytes) == bytes)
        #expect(String(decoding: try FilePath(header).bytes, as: UTF8.self).contains("a.jpg"))
        // Its copy was not asked for.
        #expect(try await gallery.ask("/photo/\(id)/file").code == 404)
        for wrong in ["\(id).x", ".original", "\(id).original.original"] {
            #expect(try await gallery.ask("/restore?photo=\(wrong)").code == 404, "\(wrong)")
        }
        try await end(gallery)
    }

    @Test func `what a file was before has a page of its own, and can be kept`() async throws {
        let home = try AgentHome(more: Self.served)
        let photo = home.gallery.appending("a.jpg")
        try photo.create(SamplePhoto.unique(1))
        _ = try await home.run("sync")
        try photo.overwrite(SamplePhoto.unique(2))
        _ = try await home.run("sync")
        let gallery = try await ShownGallery.shown(by: home)
        try await gallery.signIn()
        let stream = try await gallery.ask("/").text
        #expect(stream.components(separatedBy: "href=\"/photo/").count == 2)
        let id = try ShownGallery.id(stream, after: "href=\"/photo/")
        let page = try await gallery.ask("/photo/\(id)").text
        #expect(page.contains("Earlier version 1") && page.contains("Until "))
        let links = page.matches(of: #/href="\/photo\/([0-9a-f]{32})"/#).map { String($0.1) }
        let earlier = try #require(links.first { $0 != id })
        let before = try await gallery.ask("/photo/\(earlier)")
        #expect(before.code == 200 && before.text.contains("Its file has other bytes now"))
        #expect(before.text.contains("href=\"/photo/\(id)\"") && before.text.contains("Stored copy of"))
        #expect(!before.text.contains(home.tree.path("home").string))
        #expect(try await gallery.ask("/photo/\(earlier)/file").code == 200)
        #expect(try gallery.answer.bytes.starts(with: [0xFF, 0xD8, 0xFF]))
        let kept = try gallery.answer.bytes
        #expect(try await gallery.ask("/photo/\(id)/file").code == 200)
        #expect(try gallery.answer.bytes != kept)
        #expect(try await gallery.ask("/thumbnail/\(earlier)").code == 200)
        #expect(try gallery.answer.bytes.starts(with: [0xFF, 0xD8, 0xFF]))
        try await end(gallery)
    }

    @Test func `photos that are ticked come as one file, each by its name`() async throws {
        let home = try AgentHome(restoring: 0, more: "\(Self.served)\n\(Self.archived)")
        for (index, name) in ["one/a.jpg", "two/a.jpg", "gone.jpg", "not asked for.jpg"].enumerated() {
            try home.gallery.appending(name).create(SamplePhoto.unique(index))
        }
        _ = try await home.run("sync")
        try home.gallery.appending("gone.jpg").unlink()
        _ = try await home.run("sync")
        let gallery = try await ShownGallery.shown(by: home)
        try await gallery.signIn()
        let stream = try await gallery.ask("/").text
        #expect(stream.contains("formaction=\"/zip\""))
        let token = try ShownGallery.id(stream, after: "name=\"form\" value=\"")
        let ids = stream.matches(of: #/name="photo" value="([0-9a-f]+)" aria-label="Select ([^,]*),/#)
        #expect(ids.count == 4)
        let photos = ids.filter { $0.2 != "not asked for.jpg" }.map { "photo=\($0.1)" }.joined(separator: "&")
        #expect(try await gallery.ask("/zip", "-d", "form=\(token)&\(photos)").code == 200)
        let script = """
            import sys, zipfile
            file = zipfile.ZipFile(sys.argv[1])
            assert file.testzip() is None
            print(*sorted(file.namelist()), sep=";")
            """
        let told = try await Tool.run("/usr/bin/python3", ["-c", script, gallery.answer.string], home: home)
        let names = String(decoding: told, as: UTF8.self).trimmingCharacters(in: .newlines)
        #expect(names == "a (2).jpg;a.jpg;left-out.txt")
        #expect(try await gallery.ask("/zip", "-d", "form=\(token)").code == 400)
        #expect(try await gallery.ask("/zip", "-d", "form=x&\(photos)").code == 403)
        #expect(try await gallery.ask("/zip").code == 404)
        try await end(gallery)
    }

    @Test func `what another machine shares is listed with its machine`() async throws {
        let home = try AgentHome(more: "\(Self.served)\nmachine: {name: laptop}")
        try await home.takeTrip(photos: 2)
        #expect(try await home.share("--from", "Ana", AgentHome.trip).state == "live")
        try FileManager.default.removeItem(atPath: home.tree.path("state").string)
        let gallery = try await ShownGallery.shown(by: home)
        try await gallery.signIn()
        let page = try await gallery.ask("/shares").text
        #expect(page.contains("of the machine laptop") && page.contains("2 photos") && page.contains("from Ana"))
        try await end(gallery)
    }

    @Test func `the links of what other machines share stay the same from look to look`() async throws {
        try await ScriptedS3Server.run { server in
            let home = try AgentHome(over: server, tiers: "\(Self.served)\nmachine: {name: laptop}")
            try await home.takeTrip(photos: 2)
            #expect(try await home.share("--from", "Ana", AgentHome.trip).state == "live")
            try FileManager.default.removeItem(atPath: home.tree.path("state").string)
            let gallery = try await ShownGallery.shown(by: home)
            try await gallery.signIn()
            let page = try await gallery.ask("/shares").text
            #expect(page.contains("of the machine laptop") && page.contains("X-Amz-Signature="))
            // A link is signed for a second.
            let first = Int(Date().timeIntervalSince1970)
            _ = try await eventually("another second") { Int(Date().timeIntervalSince1970) > first + 1 ? true : nil }
            #expect(try await gallery.ask("/shares").text == page)
            try await end(gallery)
        }
    }

    @Test func `an album of which somebody wants photos is suggested where restores are`() async throws {
        let home = try AgentHome(restoring: 0, more: "\(Self.served)\n\(Self.archived)")
        let rome = home.gallery.appending("Rome")
        for index in 0..<3 { try rome.appending("\(index).jpg").create(SamplePhoto.unique(index)) }
        try home.gallery.appending("here.jpg").create(SamplePhoto.unique(9))
        _ = try await home.run("sync")
        let wanted = try await home.run("restore", "--yes", rome.appending("0.jpg").string)
        #expect(wanted.code == 0, "\(wanted)")
        let gallery = try await ShownGallery.shown(by: home)
        try await gallery.signIn()
        let page = try await eventually("the suggestion") {
            let text = try await gallery.ask("/restores").text
            return text.contains("you may want it back") ? text : nil
        }
        #expect(page.contains("2 photos of Rome are archived") && page.contains("/?state=archived&amp;q="))
        try await end(gallery)
    }
}
