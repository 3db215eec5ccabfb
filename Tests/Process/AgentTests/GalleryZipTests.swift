import Foundation
import Glibc
import SyncCore
import SyncDigest
import SyncTestSupport
import SystemPackage
import Testing

/// Photos that are ticked, as one ZIP file.
struct GalleryZipTests {
    private static let served = #"serve: {enabled: true, listen: "127.0.0.1:0"}"#

    private struct Shown {
        let gallery: ShownGallery
        let token: String

        init(_ home: AgentHome) async throws {
            gallery = try await .shown(by: home)
            try await gallery.signIn()
            token = try ShownGallery.id(try await gallery.ask("/").text, after: "name=\"form\" value=\"")
        }

        func form(_ photos: [String]) -> String {
            (["form=\(token)"] + photos.map { "photo=\($0)" }).joined(separator: "&")
        }

        func end() async throws {
            gallery.process.send(SIGTERM)
            #expect(try await gallery.process.finished().code == 0)
        }
    }

    private func md5(_ bytes: [UInt8]) -> String { "\(ContentDigest(of: bytes).md5)" }

    @Test
    func
        `a name that no archive may have is written in another way, and who is unknown or ticked twice is told of once`()
        async throws
    {
        let home = try AgentHome(more: Self.served)
        let names = ["a\nb.jpg", "\u{1B}[31m.jpg", "back\\slash.jpg", "plain.jpg"]
        for (index, name) in names.enumerated() {
            try home.gallery.appending(name).create(SamplePhoto.unique(index))
        }
        _ = try await home.run("sync")
        let shown = try await Shown(home)
        let photos = try names.indices.map { md5(try SamplePhoto.unique($0)) }
        let unknown = md5([0])
        let form = shown.form(photos + [photos[3], unknown, unknown])
        #expect(try await shown.gallery.ask("/zip", "-d", form).code == 200)
        let script = """
            import sys, zipfile
            file = zipfile.ZipFile(sys.argv[1])
            assert file.testzip() is None
            print(*sorted(file.namelist()), sep=";")
            print(file.read("left-out.txt").decode())
            """
        let told = String(
            decoding: try await Tool.run("/usr/bin/python3", ["-c", script, shown.gallery.answer.string], home: home),
            as: UTF8.self)
        #expect(told.hasPrefix("_[31m.jpg;a_b.jpg;back_slash.jpg;left-out.txt;plain.jpg\n"), "\(told)")
        #expect(told.components(separatedBy: unknown).count == 2, "\(told)")
        try await shown.end()
    }

    @Test func `four are made at a time, and the fifth is told to come again`() async throws {
        let home = try AgentHome(more: Self.served)
        // More than connections hold of it while nobody reads.
        let photo = try SamplePhoto.unique(1) + [UInt8](repeating: 0, count: 40 << 20)
        try home.gallery.appending("large.jpg").create(photo)
        let synced = try await home.run("sync")
        #expect(synced.code == 0, "\(synced)")
        let shown = try await Shown(home)
        let jar = String(decoding: try home.tree.path("jar").bytes, as: UTF8.self)
        let cookie = try #require(jar.split(separator: "\n").last { $0.contains("sync_agent_session") })
        let script = """
            import http.client, sys
            host, cookie, form = sys.argv[1:]
            def ask():
                connection = http.client.HTTPConnection(host, timeout=60)
                connection.request("POST", "/zip", form, {
                    "Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"})
                return connection.getresponse()
            first = [ask() for _ in range(4)]
            print(*[answer.status for answer in first])
            fifth = ask()
            print(fifth.status, fifth.getheader("Retry-After"), fifth.read().decode().count("try again"))
            print(len(first[0].read()) > 40 << 20)
            """
        let fields = cookie.split(separator: "\t")
        let told = try await Tool.run(
            "/usr/bin/python3",
            [
                "-c", script, String(shown.gallery.base.dropFirst("http://".count)),
                "\(fields[fields.count - 2])=\(fields[fields.count - 1])", shown.form([md5(photo)]),
            ], home: home)
        #expect(
            String(decoding: told, as: UTF8.self) == "200 200 200 200\n503 30 1\nTrue\n",
            "\(String(decoding: told, as: UTF8.self))")
        // One was read to its end, and whoever wanted the others is gone.
        try await eventually("a place") {
            try await shown.gallery.ask("/zip", "-d", shown.form([md5(photo)])).code == 200 ? () : nil
        }
        #expect(try shown.gallery.answer.bytes.count > 40 << 20)
        try await shown.end()
    }
}
