import Foundation
import SyncCore
import SyncDigest
import SyncTestSupport
import SystemPackage
import Testing

/// From the folder to the archive and back: what a person asks for comes, and nothing is asked for twice.
struct ArchiveCircleTests {
    @Test func `the places where archives have to be tried are there`() {
        #expect(Set(ArchivePlace.available).isSuperset(of: ArchivePlace.required))
    }

    @Test(
        arguments: ArchivePlace.available)
    func `an album goes to the archive and comes back whole, with its names, folders and times`(place: ArchivePlace)
        async throws
    {
        let (home, stored) = try await place.makeHome()
        let album = home.vacations.appending("Rome")
        let photos = ["1.jpg", "2.jpg", "day 2/ü 3.jpg"].map { album.pushing(FilePath($0)) }
        for (number, photo) in photos.enumerated() {
            try photo.create(SamplePhoto.unique(number))
            try photo.age(bySeconds: (number + 1) * 86_400)
        }
        let times = try photos.map { try $0.modified }
        try home.gallery.appending("other.jpg").create(SamplePhoto.unique(9))
        #expect(try await home.run("sync").code == 0)
        #expect(try await home.overview().tiers.map(\.storageClass) == ["DEEP_ARCHIVE"])
        #expect(try await home.photos(at: album).map(\.badge) == ["archived", "archived", "archived"])

        let output = home.tree.path("back")
        let asked = try await home.restore(album.string, "--output", output.string)
        #expect(asked.jobId == "1" && asked.items.map(\.state) == Array(repeating: "retrieving", count: 3))
        #expect(Set(asked.items.compactMap(\.path)) == Set(photos.map(\.string)) && asked.skipped.isEmpty)
        #expect(try await home.photos(at: album).map(\.badge) == Array(repeating: "retrieving", count: 3))
        let again = try await home.restore(album.string)
        #expect(again.jobId == nil && again.items.isEmpty)
        // Some stores restore at once, and what they say counts.
        #expect(again.skipped.count == 3 && again.skipped.allSatisfy { ["retrieving", "restored"].contains($0.state) })
        #expect(again.skipped.allSatisfy { $0.state == "restored" || $0.reason.hasPrefix("already retrieving") })

        let job = try await home.refreshed { $0.state == "ready" }
        #expect(job.done == 3 && job.saved == 3 && job.failed == 0 && job.readyAt != nil)
        let entries = try await home.photos(at: album)
        #expect(entries.allSatisfy { $0.badge == "restored" })
        // Not every store rounds to midnight, so that each has its own end; the job tells the first.
        #expect(entries.compactMap(\.restoredUntil).min() == job.expiresAt && job.expiresAt != nil)
        #expect(try await home.photo(home.gallery.appending("other.jpg"))?.badge == "archived")

        #expect(try home.tree.photos(below: "back") == ["Rome/1.jpg", "Rome/2.jpg", "Rome/day 2/ü 3.jpg"])
        for (photo, time) in zip(photos, times) {
            let key = try #require(entries.first { $0.path == photo.string }?.key)
            let file = output.pushing(FilePath(String(photo.string.dropFirst(home.vacations.string.utf8.count + 1))))
            let (bytes, original) = (try file.bytes, try await stored.of(key))
            #expect(SHA256Digest(of: bytes) == SHA256Digest(of: original))
            #expect(try file.modified == time)
        }
        let third = try await home.restore(album.string)
        #expect(third.jobId == nil && third.skipped.map(\.state) == Array(repeating: "restored", count: 3))
    }

    @Test func `a copy that has ended is archived again, and can be asked for once more`() async throws {
        let home = try AgentHome(restoring: 600, more: AgentHome.archivesAtOnce)
        let photo = home.gallery.appending("a.jpg")
        try photo.create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        _ = try await home.restore(photo.string)
        try home.store.endCopies(inSeconds: 86_400)
        #expect(try await home.refreshed { $0.state == "ready" }.done == 1)
        #expect(try await home.photo(photo)?.badge == "restored")

        // As if the day were over, in the store and by what the ledger has from it.
        try home.store.endCopies(inSeconds: -1)
        try await home.changeLedger("UPDATE objects SET restored_until = 1 WHERE restore_state = 'restored'")
        try await home.changeLedger("UPDATE restore_items SET expires_at = 1 WHERE state = 'restored'")
        let entry = try #require(try await home.photo(photo))
        #expect(entry.badge == "archived")
        #expect(entry.restoredUntil == nil)
        #expect(try await home.restores().map(\.state) == ["expired"])
        let again = try await home.restore(photo.string)
        #expect(again.jobId == "2" && again.items.map(\.state) == ["retrieving"])
    }

    @Test func `an estimate tells every tier that there is, sends nothing and makes no job`() async throws {
        let home = try AgentHome(more: AgentHome.archivesAtOnce)
        for number in 0..<3 { try home.gallery.appending("\(number).jpg").create(SamplePhoto.unique(number)) }
        #expect(try await home.run("sync").code == 0)
        let finished = try await home.run("restore", home.gallery.string, "--estimate", "--json")
        let answer = try JSONDecoder().decode(EstimateAnswer.self, from: Data(finished.output))
        #expect(finished.code == 0 && answer.items == 3)
        #expect(try answer.bytes == home.store.objects().reduce(0) { $0 + $1.size })
        #expect(answer.tiers.map(\.tier) == ["bulk", "standard"] && answer.tiers.map(\.hours) == [48, 12])
        #expect(answer.tiers.allSatisfy { $0.costUSD > 0 } && answer.tiers[0].costUSD < answer.tiers[1].costUSD)
        #expect(try await home.restores().isEmpty && home.store.restoreTiers().isEmpty)
        #expect(try await home.photos(at: home.gallery).allSatisfy { $0.badge == "archived" })
    }

    @Test(
        arguments: [(["--max-cost", "0.0000001"], ""), ([], "restore: {max_cost_usd: 0.0000001}")])
    func `what would cost more than the limit is refused with 1, wherever the limit stands`(
        options: [String], more: String
    ) async throws {
        let home = try AgentHome(more: AgentHome.archivesAtOnce + "\n" + more)
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        let finished = try await home.start(["restore", home.gallery.string, "--yes"] + options).finished()
        #expect(finished.code == 1 && finished.complaint.contains("no restore was requested"))
        #expect(try await home.restores().isEmpty && home.store.restoreTiers().isEmpty)
    }
}
