import SyncTestSupport
import SystemPackage
import Testing

/// What a restore can be asked for by.
struct RestoreNameTests {
    private let home: AgentHome
    private var rome: FilePath { home.vacations.appending("Rome_2024") }

    /// Four photos in an album of two folders, and two in the gallery, of which one is no longer on the disk. All are
    /// archived.
    init() async throws {
        home = try AgentHome(restoring: 36_000, more: AgentHome.archivesAtOnce)
        for (number, name) in ["IMG_1.jpg", "IMG_2.jpg", "day 2/IMG_3.jpg", "day 2/x.jpg"].enumerated() {
            try rome.pushing(FilePath(name)).create(SamplePhoto.unique(number))
        }
        try home.gallery.appending("kept.jpg").create(SamplePhoto.unique(10))
        try home.gallery.appending("gone.jpg").create(SamplePhoto.unique(11))
        #expect(try await home.run("sync").code == 0)
        try home.gallery.appending("gone.jpg").remove()
        #expect(try await home.run("sync").code == 0)
    }

    private func names(_ answer: RestoreAnswer) -> Set<String> {
        Set(answer.items.compactMap { $0.path.flatMap { FilePath($0).lastComponent?.string } })
    }

    @Test func `a folder, a file, a wildcard that the shell did not see, and the name of a vacation`() async throws {
        let asked: [(String, Set<String>)] = [
            (rome.appending("IMG_2.jpg").string, ["IMG_2.jpg"]),
            (home.vacations.string + "/*/day 2/IMG*.jpg", ["IMG_3.jpg"]),
            ("Rome_2024", ["IMG_1.jpg", "x.jpg"]),
            (home.gallery.string, ["kept.jpg", "gone.jpg"]),
        ]
        for (name, expected) in asked { #expect(try await names(home.restore(name)) == expected, "\(name)") }
        #expect(try await home.restores().map(\.items) == [2, 2, 1, 1])
    }

    @Test func `a photo that is no longer on the disk comes back by its old path`() async throws {
        let photo = home.gallery.appending("gone.jpg")
        #expect(try await home.photo(photo)?.state == "missing")
        let answer = try await home.restore(photo.string, "--output", home.tree.path("back").string)
        #expect(answer.items.map(\.path) == [photo.string] && answer.items.map(\.state) == ["retrieving"])
        try home.store.endCopies(inSeconds: 600)
        #expect(try await home.refreshed { $0.state == "ready" }.saved == 1)
        let key = try #require(answer.items.first?.key)
        let object = try #require(try home.store.objects().first { $0.key == key })
        #expect(try home.tree.read("back/gone.jpg") == home.store.bytes(of: object))

        // Archived again, it is there all the same: it is paid for only where it is not.
        try home.store.endCopies(inSeconds: -1)
        try await home.changeLedger("UPDATE objects SET restored_until = 1 WHERE restore_state = 'restored'")
        try await home.changeLedger("UPDATE restore_items SET expires_at = 1 WHERE state = 'restored'")
        let again = try await home.restore(photo.string, "--output", home.tree.path("back").string)
        #expect(again.jobId == nil && again.items.isEmpty && again.skipped.count == 1)
        let elsewhere = try await home.restore(photo.string, "--output", home.tree.path("elsewhere").string)
        #expect(elsewhere.items.map(\.state) == ["retrieving"])
    }

    @Test func `a second name that cannot be there is told, and tried again when it can be`() async throws {
        let home = try AgentHome()
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        try home.gallery.pushing("trip/b.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        let output = home.tree.path("out")
        let name = try #require(home.gallery.lastComponent)
        let obstacle = output.appending(name).appending("trip")
        try obstacle.create(Array("x".utf8))
        let finished = try await home.run("restore", "--all", "--yes", "--wait", "--output", output.string)
        #expect(finished.code == 3 && finished.complaint.contains("trip"))
        try obstacle.remove()
        #expect(try await home.run("restores", "--refresh").code == 0)
        #expect(try home.tree.read("out/\(name)/trip/b.jpg") == home.tree.read("out/\(name)/a.jpg"))
    }

    @Test func `of a watched folder whose name looks like a wildcard all comes back`() async throws {
        let home = try AgentHome()
        let folder = try home.tree.makeFolder("home/Pictures [1]")
        let text = try String(decoding: home.tree.read("config.yaml"), as: UTF8.self)
        try home.configure(text.replacing("path: \(home.gallery),", with: "path: \"\(folder)\","))
        try folder.appending("a.jpg").create(SamplePhoto.unique(1))
        try home.vacations.pushing("Rome/b.jpg").create(SamplePhoto.unique(2))
        #expect(try await home.run("sync").code == 0)
        let output = home.tree.path("out")
        let finished = try await home.run("restore", "--all", "--yes", "--wait", "--output", output.string)
        #expect(finished.code == 0, "\(finished)")
        #expect(try !home.tree.read("out/Pictures [1]/a.jpg").isEmpty)
    }

    @Test func `two photos with the same bytes are one item with both paths`() async throws {
        let copies = [home.gallery.appending("a.jpg"), rome.appending("copy.jpg")]
        for copy in copies { try copy.create(SamplePhoto.unique(30)) }
        #expect(try await home.run("sync").code == 0)
        let (one, other) = (copies[0].string, copies[1].string)
        let answer = try await home.restore(one, other, "--output", home.tree.path("back").string)
        #expect(answer.items.count == 1 && Set(answer.items.flatMap(\.paths)) == [one, other])
        #expect(answer.items.first?.paths.first == answer.items.first?.path)
    }

    @Test func `an object comes back by its key`() async throws {
        let key = try #require(try await home.photo(rome.appending("IMG_1.jpg"))?.key)
        let answer = try await home.restore(key)
        #expect(answer.items.map(\.key) == [key])
    }

    @Test func `what is unknown ends it with 66; beside what is known with 3, and that is asked for`() async throws {
        let nothing = home.gallery.appending("never.jpg").string
        let finished = try await home.run("restore", nothing, "--yes")
        #expect(finished.code == 66 && finished.complaint.contains("never.jpg: nothing is known by this name"))
        #expect(try await home.restores().isEmpty)
        let mixed = try await home.restore(nothing, rome.appending("IMG_1.jpg").string, code: 3)
        #expect(mixed.items.map(\.state) == ["retrieving"])
        #expect(mixed.skipped.map(\.path) == [nothing] && mixed.skipped.map(\.state) == ["unknown"])
    }

    @Test func `a photo that is not stored yet, or not archived, is told of and left out`() async throws {
        try home.configure(
            String(decoding: home.tree.read("config.yaml"), as: UTF8.self)
                .replacing(AgentHome.archivesAtOnce, with: "tiers: {mode: 'off'}"))
        try home.gallery.appending("young.jpg").create(SamplePhoto.unique(20))
        #expect(try await home.run("sync").code == 0)
        try home.gallery.appending("broken.jpg").create(SamplePhoto.truncated(21))
        #expect(try await home.run("sync").code == 3)
        let young = try await home.restore(home.gallery.appending("young.jpg").string)
        #expect(young.jobId == nil && young.skipped.map(\.state) == ["readable"])
        let album = try await home.restore(home.gallery.string, code: 3)
        #expect(names(album) == ["kept.jpg", "gone.jpg"])
        #expect(Set(album.skipped.map(\.state)) == ["readable", "pending"])
    }

    @Test func `what lies between the photos of an album is no photo, and nobody misses it`() async throws {
        try rome.appending("notes.txt").create(Array("a day in Rome".utf8))
        #expect(try await home.run("sync").code == 0)
        #expect(try await home.photo(rome.appending("notes.txt"))?.state == "skipped")
        for name in [rome.string, rome.string + "/*"] {
            let finished = try await home.run("restore", name, "--estimate")
            #expect(finished.code == 0 && !finished.text.contains("notes.txt"))
        }
        let named = try await home.run("restore", rome.appending("notes.txt").string, "--yes")
        #expect(named.code == 3 && named.text.contains("neither a photo"))
    }

    @Test func `a job is told of in words and in JSON, with who asked, and one that never was is 66`() async throws {
        _ = try await home.restore(rome.string, "--tier", "bulk")
        let job = try #require(try await home.restores("1").first)
        #expect(job.state == "retrieving" && job.tier == "bulk" && job.items == 4 && job.done == 0)
        #expect(!job.requestedBy.isEmpty && (job.costUSD ?? 0) > 0 && job.readyAt != nil && job.expiresAt == nil)
        #expect(job.itemList?.count == 4 && job.itemList?.allSatisfy { $0.state == "retrieving" } == true)
        #expect(try await home.restores().first?.itemList == nil)
        for (arguments, state) in [(["restores"], "due in 10 h"), (["restores", "1"], "retrieving, by ")] {
            let words = try await home.start(arguments).finished()
            #expect(words.code == 0 && words.text.contains(state))
            for line in words.text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        }
        #expect(try await home.run("restores", "9").code == 66)
    }
}
