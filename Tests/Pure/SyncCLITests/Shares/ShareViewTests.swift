import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage
import Testing

@testable import SyncCLI
@testable import SyncEngine

@Suite struct ShareViewTests {
    private let now = Date(timeIntervalSince1970: 1_767_225_600)

    private static let this = ShareListReport.Machine(id: "2367ca4b3fa4b437", name: "laptop", isThis: true)

    private var view: ShareView { ShareView(terminal: .standardOutput(["TERM": "dumb"]), now: now) }

    /// A live share in a ledger of its own.
    private func share(
        _ link: String, endsIn seconds: TimeInterval, limit: String? = nil, location: String = "Paris",
        film: FilmType? = nil
    ) throws -> (share: ShareRecord, photos: [SharePhoto]) {
        let ledger = try Ledger.inMemory()
        let id = try #require(ShareID("0b5c2d1e-7c1e-4b3f-9a55-3f1f0a3c9d10"))
        let day = try #require(CalendarDay("2024-06-15"))
        let md5 = try #require(MD5Digest(bytes: [UInt8](repeating: 1, count: 16)))
        let digest = try #require(SHA256Digest(bytes: [UInt8](repeating: 1, count: 32)))
        let draft = ShareDraft(
            folder: "/trips/Paris", selection: nil, quality: .reduced, location: location, startDate: day, endDate: day,
            sharedBy: "Ana", expiresAt: now + 30 * 86_400,
            photos: [ShareDraft.Photo(md5: md5, path: "/trips/Paris/a.jpg")])
        #expect(try ledger.addShare(id, draft, by: "me", at: now))
        let copy = SharePhoto.Copy(sha256: digest, size: 2_048, width: 4, height: 3, film: film)
        _ = try ledger.noteSharePhoto(0, of: id, .stored(copy, takenAt: nil), by: "me", at: now)
        let ends = now + seconds
        _ = try ledger.noteSharePublished(
            id, link: StoreLink(url: link, endsAt: ends, limit: limit), linksEndAt: nil, by: "me", at: now)
        return (try #require(try ledger.share(id)), try ledger.sharePhotos(id))
    }

    private func text(_ link: String, endsIn seconds: TimeInterval, limit: String? = nil) throws -> String {
        let (share, photos) = try share(link, endsIn: seconds, limit: limit)
        return view.result(share, photos: photos, wasThere: false, message: nil, agentRuns: true).joined(separator: " ")
    }

    @Test func `a link that ends early says when, and why`() throws {
        let text = try text(
            "https://b.test/shares/x/index.html?a=1&b=2", endsIn: 7 * 86_400,
            limit: "S3 signs links for at most 7 days")
        #expect(
            text.contains("This link works until \(Quantities.time(now + 7 * 86_400)) at the latest: S3 signs links"))
        #expect(text.contains("The share"))
        #expect(text.contains(Quantities.time(now + 30 * 86_400)))
        // A shell would take the & for itself.
        #expect(text.contains("sync-agent mirror 'https://b.test/shares/x/index.html?a=1&b=2' FOLDER"))
    }

    @Test func `a link that lasts as long as the share says so`() throws {
        let text = try text("https://photos.test/shares/x/index.html", endsIn: 30 * 86_400)
        #expect(text.contains("The link works until \(Quantities.time(now + 30 * 86_400)), when the share ends"))
        #expect(text.contains("sync-agent mirror https://photos.test/shares/x/index.html FOLDER"))
    }

    @Test(arguments: [(nil, "Shared: 1 photo"), (FilmType.mp4, "Shared: 1 film")])
    func `what is shared is called by its name`(film: FilmType?, words: String) throws {
        let (share, photos) = try share("https://photos.test/x", endsIn: 30 * 86_400, film: film)
        let lines = view.result(share, photos: photos, wasThere: false, message: nil, agentRuns: true)
        #expect(lines.first == words)
    }

    @Test func `a share that only its store knows is told as such`() throws {
        let text = try text("vacationphotos://share/x", endsIn: 30 * 86_400)
        #expect(text.contains("Whoever has this store in their configuration"))
    }

    @Test func `in 40 columns the list has state, place, days, count and end, and an id that can be copied`() throws {
        let (share, _) = try share("https://x.test/1", endsIn: 86_400, location: "Llanfairpwllgwyngyll on the sea")
        let view = ShareView(terminal: Terminal(1, isTerminal: false, [:], columns: 40), now: now)
        let lines = view.list([ShareListReport.Share(share, of: Self.this, now: now)])
        #expect(lines.allSatisfy { TextLayout.width($0) <= 40 }, "\(lines)")
        let text = lines.map { $0.trimmingPrefix { $0 == " " } }.joined(separator: " ")
        for word in ["live", "on the sea", "2024-06-15", "1 photo", "ends", "\(share.id)", "https://x.test/1"] {
            #expect(text.contains(word), "\(lines)")
        }
    }

    @Test func `the list fits in 80 columns and shows no control characters`() throws {
        let (share, _) = try share(
            "https://x.test/1", endsIn: 86_400, location: "A very long location that goes on \u{1B}[31m and on and on")
        let lines = view.list([ShareListReport.Share(share, of: Self.this, now: now)])
        #expect(lines.count == 5)
        #expect(lines.allSatisfy { TextLayout.width($0) <= 80 && !$0.contains("\u{1B}") }, "\(lines)")
        #expect(lines[1].hasPrefix("live"))
        #expect(lines[4].contains("this link works until"))
        #expect(view.list([]).count == 1)
    }

    @Test func `a share that no longer shows its folder says by how many photos`() throws {
        let (share, _) = try share("https://x.test/1", endsIn: 86_400)
        let difference = ShareReview.Difference(added: 1, changed: 2)
        let row = ShareListReport.Share(share, of: Self.this, now: now, difference: difference)
        #expect(row.changedBy == 3 && row.state == "live")
        #expect(view.list([row]).joined(separator: " ").contains("3 photos differ"))
        #expect(
            ShareListReport.Share(share, of: Self.this, now: now, difference: ShareReview.Difference()).changes == nil)
        let away = ShareReview.Difference(away: 2, whyAway: "no drive is mounted at /trips/Paris")
        let absent = ShareListReport.Share(share, of: Self.this, now: now, difference: away)
        #expect(absent.changedBy == 0)
        #expect(absent.changes == "2 photos of it are away: no drive is mounted at /trips/Paris")
        #expect(
            ShareListReport.Share(share, of: Self.this, now: now + 30 * 86_400, difference: difference).changedBy == nil
        )
    }

    @Test func `a link whose end nobody knows promises none`() throws {
        var link = StoreLink(url: "https://x.test/1", endsAt: now + 3_600, limit: "the token does not tell")
        link.isEndKnown = false
        let (share, _) = try share("https://x.test/1", endsIn: 3_600)
        let text = ShareView.end(of: share, link)
        #expect(text.hasPrefix("When this link ends is not known: the token does not tell."))
        #expect(!text.contains("works until"))
    }

    @Test func `who publishes a share that waits is said as it is`() throws {
        let ledger = try Ledger.inMemory()
        let (live, _) = try share("https://x.test/1", endsIn: 60)
        let day = try #require(CalendarDay("2024-06-15"))
        let draft = ShareDraft(
            folder: "/trips/Paris", selection: nil, quality: .reduced, location: "Paris", startDate: day, endDate: day,
            sharedBy: nil, expiresAt: now + 86_400, photos: [])
        #expect(try ledger.addShare(live.id, draft, by: "me", at: now))
        try ledger.noteRecipient("email:bo@example.org", of: live.id)
        let waiting = try #require(try ledger.share(live.id))
        func text(_ agentRuns: Bool) -> String {
            view.result(waiting, photos: [], wasThere: false, message: nil, agentRuns: agentRuns).joined(separator: " ")
        }
        #expect(text(true).contains("The agent publishes it") && !text(true).contains("No agent"))
        #expect(text(false).contains("No agent is running: start sync-agent run"))
        #expect(text(false).contains("message to send"))
    }

    @Test(arguments: [
        (ShareRecipient(channel: .email, person: "bo@example.org"), "mailto:bo@example.org?"),
        (ShareRecipient(channel: .whatsapp, person: "+4915123456789"), "https://wa.me/4915123456789?"),
        (ShareRecipient(channel: .sms, person: "+4915123456789"), "sms:+4915123456789?"),
    ])
    func `whom a share is for is kept until there is a link`(recipient: ShareRecipient, address: String) throws {
        #expect(ShareRecipient(note: recipient.note) == recipient)
        let told = recipient.channel.address(to: recipient.person, subject: "a", text: "b")
        #expect(told.hasPrefix(address))
        #expect(ShareRecipient(note: "fax:1") == nil && ShareRecipient(note: "") == nil)
    }

    @Test func `a link that is dead is not shown as one that works`() throws {
        let (share, _) = try share("https://x.test/1", endsIn: -60)
        let lines = view.list([ShareListReport.Share(share, of: Self.this, now: now)])
        #expect(lines.last?.contains("ended at") == true && !lines.contains { $0.contains("works until") })
    }

    @Test func `a share that was made later than now has an end that nobody knows, and that is told`() throws {
        let (share, _) = try share("https://x.test/1", endsIn: 86_400)
        #expect(ShareListReport.Share(share, of: Self.this, now: now - 3_600).problem == nil)
        let row = ShareListReport.Share(share, of: Self.this, now: now - 400 * 86_400)
        #expect(row.problem?.contains("its end may be far off") == true)
        #expect(row.problem?.contains("shares --revoke \(share.id)") == true)
    }

    @Test func `a share whose time has come is not shown as live`() throws {
        let (share, _) = try share("https://x.test/1", endsIn: 86_400)
        #expect(ShareListReport.Share(share, of: Self.this, now: now + 30 * 86_400).state == "expiring")
        #expect(ShareListReport.Share(share, of: Self.this, now: now + 30 * 86_400 - 1).state == "live")
    }

    @Test func `the list as JSON has every field`() throws {
        let (share, _) = try share("https://x.test/1", endsIn: 86_400)
        let text = try JSONOutput.text(
            ShareListReport(shares: [ShareListReport.Share(share, of: Self.this, now: now)], problems: []))
        let fields = [
            "shareId", "location", "startDate", "endDate", "photoCount", "sharedBy", "state", "link", "linkEndsAt",
            "createdAt", "expiresAt", "endedAt", "changedBy", "message",
        ]
        for field in fields { #expect(text.contains("\"\(field)\" :"), "\(field)") }
        #expect(text.contains("\"startDate\" : \"2024-06-15\""))
    }
}
