import Foundation
import Glibc
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// The gallery of the built program, as a browser asks for it.
struct ServeTests {
    private func gallery(_ home: AgentHome, _ arguments: [String]) async throws -> ShownGallery {
        try await .shown(by: home, arguments)
    }

    private func gallery(_ home: AgentHome) async throws -> ShownGallery { try await .shown(by: home) }

    private func home(_ more: String = "") throws -> AgentHome {
        try AgentHome(restoring: 0, more: "serve: {enabled: true, listen: \"127.0.0.1:0\"}\n\(more)")
    }

    private static func id(_ page: String, after mark: String) throws -> String {
        try ShownGallery.id(page, after: mark)
    }

    @Test func `a stranger sees nothing, a link opens once, and the stream has what was dropped`() async throws {
        let home = try home()
        let photo = home.gallery.appending("2024/holiday <b>.jpg")
        try photo.create(SamplePhoto.unique(1))
        let gallery = try await gallery(home)
        #expect(try await gallery.process.outcome(of: photo) == .stored)
        for path in [
            "/", "/photo/\(String(repeating: "a", count: 32))", "/thumbnail/a", "/status", "/restores", "/shares",
        ] {
            #expect(try await gallery.ask(path).code == 401, "\(path)")
        }
        #expect(try await gallery.ask("/healthz").text == "ok\n")
        #expect(try await gallery.ask("/", "-H", "Host: evil.example").code == 421)
        try await gallery.signIn()
        #expect(try await gallery.ask("/?token=\(gallery.token)").code == 401)

        let page = try await gallery.ask("/")
        #expect(page.code == 200 && page.text.contains("holiday &lt;b&gt;.jpg"))
        #expect(!page.text.contains(home.tree.path("home").string))
        let id = try Self.id(page.text, after: "href=\"/photo/")
        #expect(try await gallery.ask("/photo/\(id)").text.contains("Gallery/2024/holiday &lt;b&gt;.jpg"))
        for path in ["/thumbnail/\(id)", "/photo/\(id)/picture", "/photo/\(id)/file"] {
            #expect(try await gallery.ask(path).code == 200, "\(path)")
            #expect(try FilePath(home.tree.path("answer").string).bytes.starts(with: [0xFF, 0xD8, 0xFF]), "\(path)")
        }
        #expect(try FilePath(home.tree.path("answer").string).bytes == photo.bytes)
        #expect(try await gallery.ask("/?q=nothing").text.contains("No photos match."))
        #expect(try await gallery.ask("/metrics").text.contains("sync_agent_photos{"))
        let status = try await gallery.ask("/status").text
        #expect(status.contains("on the disk") && status.contains("the embedded store"))
        #expect(!status.contains("home/Gallery") && !status.contains(home.tree.path("store").string))
        gallery.process.send(SIGTERM)
        #expect(try await gallery.process.finished().code == 0)
        // A link that was followed is none for the next process either, and the browser stays signed in.
        let next = try await self.gallery(home)
        #expect(try await next.ask("/?token=\(gallery.token)").code == 401)
        #expect(try await next.ask("/").code == 200)
        next.process.send(SIGTERM)
        #expect(try await next.process.finished().code == 0)
    }

    @Test func `an archived photo is brought back from its page, and by no form from elsewhere`() async throws {
        let home = try home("tiers: {mode: agent, archive_after_days: 0, minimum_archive_bytes: 0}")
        let file = home.gallery.appending("a.jpg")
        try file.create(SamplePhoto.unique(1))
        // A folder that is empty may be an unmounted one.
        try home.gallery.appending("b.jpg").create(SamplePhoto.unique(2))
        _ = try await home.run("sync")
        try file.unlink()
        _ = try await home.run("sync")
        // What sleeps can still be seen, and is asked for where it lies.
        let gallery = try await gallery(home)
        try await gallery.signIn()
        let page = try await gallery.ask("/?state=missing").text
        #expect(page.contains("❄️"))
        #expect(try await gallery.ask("/?state=archived").text.contains("b.jpg"))
        let id = try Self.id(page, after: "href=\"/photo/")
        let offer = try await gallery.ask("/restore?photo=\(id)").text
        #expect(offer.contains("value=\"bulk\"") && offer.contains("1 photo"))
        let token = try Self.id(offer, after: "name=\"form\" value=\"")
        #expect(offer.contains("name=\"price-bulk\""))
        #expect(try await gallery.ask("/restores", "-d", "photo=\(id)&tier=bulk").code == 403)
        // Nobody pays what nobody was shown.
        #expect(try await gallery.ask("/restores", "-d", "form=\(token)&photo=\(id)&tier=bulk").code == 400)
        let cheaper = try await gallery.ask(
            "/restores", "-d", "form=\(token)&photo=\(id)&tier=bulk&price-bulk=-1")
        #expect(cheaper.code == 200 && cheaper.text.contains("The price has changed"))
        #expect(try await gallery.ask("/restores", "-d", "form=\(token)&photo=\(id)&tier=fast").code == 400)
        #expect(
            try await gallery.ask(
                "/restores", "-H", "Sec-Fetch-Site: cross-site", "-d", "form=\(token)&photo=\(id)&tier=bulk"
            )
            .code == 403)
        #expect(try await !gallery.ask("/restores").text.contains("Restore 1"))
        #expect(
            try await gallery.ask("/restores", "-d", "form=\(token)&photo=\(id)&tier=bulk&price-bulk=1").code == 303)
        #expect(try await gallery.ask("/restores").text.contains("Restore 1"))
        gallery.process.send(SIGTERM)
        #expect(try await gallery.process.finished().code == 0)
    }

    @Test func `a share of the embedded store opens for everybody who has its link, until it is revoked`() async throws
    {
        let home = try home()
        try home.photo(0).create(SamplePhoto.taken(0))
        _ = try await home.pass()
        let id = try #require(try await home.share().shareId)
        let gallery = try await gallery(home)
        let page = try await gallery.ask("/s/\(id)/")
        #expect(page.code == 200 && page.text.contains("og:title"))
        #expect(try await gallery.ask("/s/\(id)/vacation.json").text.contains("\"photos\""))
        #expect(try await gallery.ask("/s/\(id)/\(id)_0.jpg").code == 200)
        #expect(try await gallery.ask("/s/\(id)").code == 301)
        for path in ["/s/", "/s/\(id)/../../users", "/s/\(id)/%2e%2e/x", "/s/\(UUID())/", "/s/\(id)/nothing.jpg"] {
            #expect(try await gallery.ask(path, "--path-as-is").code == 404, "\(path)")
        }
        #expect(try await home.run("shares", "--revoke", id, "--yes").code == 0)
        #expect(try await gallery.ask("/s/\(id)/").code == 404)
        gallery.process.send(SIGTERM)
        #expect(try await gallery.process.finished().code == 0)
    }

    @Test func `beyond this machine a password is asked for, and without one nothing is shown`() async throws {
        let home = try AgentHome()
        let open = try await home.run("serve", "--listen", "0.0.0.0:0")
        #expect(open.code == 78 && open.complaint.contains("serve.password_file"))
        let file = try home.tree.write("\u{FEFF}correct horse\n", to: "password")
        try file.setPermissions(.init(rawValue: 0o644))
        try home.configure(
            """
            user: ana
            store: {type: directory, path: \(home.store.root)}
            watch: [{kind: gallery, path: \(home.gallery)}]
            serve: {enabled: true, listen: "0.0.0.0:0", password_file: \(file)}
            """)
        let loose = try await home.run("serve")
        #expect(loose.code == 78 && loose.complaint.contains("chmod 600"))
        try file.setPermissions(.init(rawValue: 0o600))
        let gallery = try await gallery(home)
        #expect(try await gallery.ask("/").text.contains("type=\"password\""))
        #expect(try await gallery.ask("/metrics").code == 401)
        #expect(try await gallery.ask("/login", "-d", "password=wrong").code == 401)
        #expect(try await gallery.ask("/login", "-d", "password=correct+horse").code == 303)
        #expect(try await gallery.ask("/").code == 200)
        gallery.process.send(SIGTERM)
        #expect(try await gallery.process.finished().code == 0)
    }

    @Test func `an agent whose port is taken stores photos all the same`() async throws {
        let home = try AgentHome()
        let other = try await gallery(try self.home())
        let port = try #require(other.base.split(separator: ":").last)
        try home.configure(
            """
            user: ana
            store: {type: directory, path: \(home.store.root)}
            watch: [{kind: gallery, path: \(home.gallery)}]
            upload: {settle_seconds: 0.2}
            serve: {enabled: true, listen: "127.0.0.1:\(port)"}
            """)
        let photo = home.gallery.appending("a.jpg")
        try photo.create(SamplePhoto.unique(1))
        let agent = try home.start(["run"])
        try await agent.logged { $0.contains("the gallery is not shown") && $0.contains(port) }
        #expect(try await agent.outcome(of: photo) == .stored)
        let second = try await home.run("serve")
        #expect(second.code == 1 && second.complaint.contains(port))
        for process in [agent, other.process] {
            process.send(SIGTERM)
            #expect(try await process.finished().code == 0)
        }
    }

    @Test func `the photo of an event is shown once, and the text of the event nowhere`() async throws {
        let home = try home()
        let photo = Data(try SamplePhoto.unique(1)).base64EncodedString()
        let created = Int(Date().timeIntervalSince1970) - 86_400
        let file = home.gallery.appending("events.json")
        try file.create(
            Array(
                """
                [{"id":"E1","userId":"u1","profileId":"p1","eventType":"taskResponse","createdAt":\(created),
                "taskTitle":"SECRET","photoData":"\(photo)"}]
                """.utf8))
        let gallery = try await gallery(home)
        #expect(try await gallery.process.outcome(of: file) == .stored)
        try await gallery.signIn()
        let page = try await gallery.ask("/").text
        #expect(page.components(separatedBy: "class=\"r").count == 2)
        #expect(page.contains("taskResponse, E1") && !page.contains("events.json"))
        let id = try Self.id(page, after: "href=\"/photo/")
        for path in ["/photo/\(id)", "/photo/\(id)/file", "/photo/\(id)/picture", "/thumbnail/\(id)"] {
            let answer = try await gallery.ask(path)
            #expect(answer.code == 200, "\(path)")
            #expect(!answer.text.contains("SECRET"), "\(path)")
        }
        gallery.process.send(SIGTERM)
        #expect(try await gallery.process.finished().code == 0)
    }

    @Test func `a vacation is shared by looking at it, is shown as stored, and is taken back`() async throws {
        let home = try home()
        try await home.takeTrip(photos: 3)
        let gallery = try await gallery(home)
        try await gallery.signIn()
        let card = try await gallery.ask("/vacations").text
        let trip = try Self.id(card, after: "href=\"/vacations/")
        let form = try await gallery.ask("/vacations/\(trip)/share").text
        let token = try Self.id(form, after: "name=\"form\" value=\"")
        let photos = form.split(separator: "name=\"photo\" value=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        #expect(photos.count == 3 && form.split(separator: " checked").count == 4)
        let fields = "form=\(token)&by=Ana&days=7&quality=reduced&photo=\(photos[0])"
        let address = "/vacations/\(trip)/share"
        #expect(try await gallery.ask(address, "-d", "days=7&photo=\(photos[0])").code == 403)
        #expect(try await gallery.ask(address, "-d", "form=\(token)&days=7").text.contains("at least one photo"))
        #expect(
            try await gallery.ask(address, "-d", "\(fields)&photo=\(String(repeating: "0", count: 32))").text
                .contains("has changed meanwhile"))
        #expect(try await home.shares().isEmpty)
        #expect(try await gallery.ask(address, "-d", "\(fields)&photo=\(photos[2])").code == 303)
        let share = try await eventually("the share to be live") {
            let share = try await home.shares().first
            return share?.state == "live" ? share : nil
        }
        #expect(share.photoCount == 2)
        let page = try await gallery.ask("/shares/\(share.shareId)").text
        #expect(page.contains("value=\"\(gallery.base)/s/\(share.shareId)/\"") && page.contains("Only this machine"))
        #expect(try await gallery.ask("/s/\(share.shareId)/").text.contains("Ana"))
        #expect(try await gallery.ask("/shares/\(share.shareId)", "-d", "x=1").code == 403)
        #expect(try await gallery.ask("/shares/\(share.shareId)", "-d", "form=\(token)").code == 303)
        #expect(try await gallery.ask("/s/\(share.shareId)/").code == 404)
        #expect(try await gallery.ask("/shares/\(share.shareId)").text.contains("taken back"))
        gallery.process.send(SIGTERM)
        #expect(try await gallery.process.finished().code == 0)
    }

    @Test func `without an agent the gallery carries out what was ordered there, and read-only takes no order`()
        async throws
    {
        let home = try home("tiers: {mode: agent, archive_after_days: 0, minimum_archive_bytes: 0}")
        let file = home.gallery.appending("a.jpg")
        try file.create(SamplePhoto.unique(1))
        // A folder that is empty may be an unmounted one.
        try home.gallery.appending("b.jpg").create(SamplePhoto.unique(2))
        _ = try await home.run("sync")
        try file.unlink()
        _ = try await home.run("sync")
        var gallery = try await self.gallery(home, ["serve"])
        try await gallery.signIn()
        let id = try Self.id(try await gallery.ask("/?state=missing").text, after: "href=\"/photo/")
        let offer = try await gallery.ask("/restore?photo=\(id)").text
        let token = try Self.id(offer, after: "name=\"form\" value=\"")
        #expect(
            try await gallery.ask("/restores", "-d", "form=\(token)&photo=\(id)&tier=bulk&price-bulk=1").code == 303)
        _ = try await eventually("the photo to be back") {
            try await gallery.ask("/restores").text.contains("available until") ? true : nil
        }
        #expect(try await gallery.ask("/photo/\(id)/picture").code == 200)
        // Signed out, the cookie is of no use to whoever has it.
        let jar = try home.tree.path("jar").bytes
        #expect(try await gallery.ask("/logout", "-d", "form=\(token)").code == 303)
        _ = try home.tree.write(jar, to: "jar")
        #expect(try await gallery.ask("/").code == 401)
        gallery.process.send(SIGINT)
        _ = try await gallery.process.finished()

        gallery = try await self.gallery(home, ["serve", "--read-only"])
        // Nor after a restart.
        #expect(try await gallery.ask("/").code == 401)
        try await gallery.signIn()
        let page = try await gallery.ask("/photo/\(id)").text
        #expect(!page.contains("/restore?") && page.contains("/logout"))
        for path in ["/restores", "/restore", "/vacations/1/share", "/shares/\(UUID())"] {
            let refused = try await gallery.ask(path, "-d", "form=x")
            #expect(refused.code == 405, "\(path)")
            // There is a way on from it.
            #expect(refused.text.contains("href=\"/shares\"") && refused.text.contains("/logout"))
        }
        #expect(try await gallery.ask("/restore?photo=\(id)").code == 404)
        // No page has to be looked at for a restore to be over.
        #expect(try await gallery.ask("/?state=restored").text.contains("/photo/\(id)"))
        try await home.changeLedger("UPDATE restore_items SET expires_at = 1")
        try await home.changeLedger("UPDATE objects SET restored_until = 1 WHERE restore_state = 'restored'")
        _ = try await eventually("the restore to be over") {
            try await gallery.ask("/?state=restored").text.contains("/photo/\(id)") ? nil : true
        }
        // All that there ever was is listed, page by page.
        try await home.changeLedger(
            """
            WITH RECURSIVE numbers(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < 230)
            INSERT INTO restore_jobs (requested_at, requested_by, tier, is_rush, days)
            SELECT requested_at, requested_by, tier, is_rush, days FROM restore_jobs, numbers WHERE id = 1
            """)
        try await home.changeLedger(
            """
            INSERT INTO restore_items (job_id, key, size, storage_class, tier, state)
            SELECT jobs.id, key, size, storage_class, items.tier, 'expired'
            FROM restore_jobs AS jobs, restore_items AS items WHERE jobs.id > 1 AND items.job_id = 1
            """)
        var (next, listed) = (Optional("/restores"), [String]())
        while let address = next {
            let text = try await gallery.ask(address).text
            listed += text.matches(of: #/Restore (\d+),/#).map { String($0.1) }
            next = text.firstMatch(of: #/rel="next" href="([^"]+)"/#).map { String($0.1) }
        }
        #expect(listed == (1...230).reversed().map(String.init))
        gallery.process.send(SIGINT)
        _ = try await gallery.process.finished()
    }

    @Test func `projects and memories have pages of their own`() async throws {
        let home = try home()
        let gallery = try await gallery(home)
        try await gallery.signIn()
        #expect(try await gallery.ask("/projects?q=%3Cb%3E&status=Failed").text.contains("No projects"))
        #expect(try await gallery.ask("/projects/nothing").code == 404)
        #expect(try await gallery.ask("/archive").text.contains("No memories are archived yet"))
        // Doctor writes to the store: only who is asked for it lets it.
        let status = try await gallery.ask("/status").text
        let token = try Self.id(status, after: "name=\"form\" value=\"")
        #expect(status.contains("action=\"/doctor\""))
        #expect(try await gallery.ask("/doctor").code == 404)
        #expect(try await gallery.ask("/doctor", "-d", "x=1").code == 403)
        let findings = try await gallery.ask("/doctor", "-d", "form=\(token)")
        #expect(findings.code == 200 && findings.text.contains("ok       ") && findings.text.contains("0 WRONG"))
        #expect(!findings.text.contains(home.tree.path("store").string))
        gallery.process.send(SIGTERM)
        #expect(try await gallery.process.finished().code == 0)
    }
}
