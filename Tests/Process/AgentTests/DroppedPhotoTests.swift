import SyncCore
import SyncDigest
import SyncTestSupport
import SystemPackage
import Testing

/// Photos that land in the folders of an agent at work.
struct DroppedPhotoTests {
    private let home: AgentHome

    init() throws { home = try AgentHome() }

    @Test func `photos that are dropped one after the other are stored, each once`() async throws {
        let agent = try await home.startAgent()
        for number in 0..<5 {
            let photo = (number.isMultiple(of: 2) ? home.gallery : home.vacations).appending("IMG_\(number).jpg")
            try photo.create(SamplePhoto.unique(number))
            #expect(try await agent.outcome(of: photo) == .stored)
        }
        #expect(agent.outcomes.count == 5)
        #expect(try home.store.objects().count == 5)
        #expect(try home.store.isSound())
        let totals = try await home.overview().totals
        #expect(totals.uploaded == 5 && totals.pending == 0 && totals.failed == 0)
    }

    @Test func `what is known of a stored photo is that of the file and of the stored copy`() async throws {
        let agent = try await home.startAgent()
        let photo = home.gallery.appending("IMG.jpg")
        let bytes = try SamplePhoto.unique(1)
        try photo.create(bytes)
        #expect(try await agent.outcome(of: photo) == .stored)

        let entry = try #require(try await home.photo(photo))
        let digest = ContentDigest(of: bytes)
        #expect(entry.state == "uploaded")
        #expect(entry.md5 == "\(digest.md5)" && entry.sha256 == "\(digest.sha256)")
        #expect(entry.key == "users/ana/photos/\(digest.md5).dat")
        #expect(entry.bytesLocal == bytes.count)
        let object = try #require(try home.store.objects().first)
        #expect(object.key == entry.key && object.size == entry.bytesStored)
        #expect(object.metadata["md5"] == entry.md5)
    }

    @Test func `a second copy under another name is stored once`() async throws {
        let agent = try await home.startAgent()
        let (first, second) = (home.gallery.appending("a.jpg"), home.vacations.appending("trip/b.jpg"))
        try first.create(SamplePhoto.unique(1))
        #expect(try await agent.outcome(of: first) == .stored)
        try second.create(SamplePhoto.unique(1))
        #expect(try await agent.outcome(of: second) == .alreadyStored)
        #expect(try home.store.objects().count == 1)
        #expect(try await home.photo(second)?.key == home.photo(first)?.key)
    }

    @Test func `a whole tree that is moved in by one rename is stored`() async throws {
        let agent = try await home.startAgent()
        let names = ["1.jpg", "day 1/2.jpg", "day 1/morning/3.jpg", "day 2/4.jpg", "day 2/5.jpg"]
        for (number, name) in names.enumerated() {
            try home.tree.path("elsewhere").pushing(FilePath(name)).create(SamplePhoto.unique(number))
        }
        let trip = home.vacations.appending("Paris")
        try home.tree.path("elsewhere").move(to: trip)
        let outcomes = try await agent.outcomes(of: names.map { trip.pushing(FilePath($0)) })
        #expect(outcomes.map(\.kind) == Array(repeating: .stored, count: names.count))
        #expect(try home.store.objects().count == names.count)
    }

    @Test func `photos in a burst of new nested folders are all stored`() async throws {
        let agent = try await home.startAgent()
        var photos: [FilePath] = []
        for number in 0..<24 {
            let folder = home.gallery.pushing(FilePath("roll \(number / 4)/day \(number / 2)/hour \(number)"))
            photos.append(folder.appending("IMG_\(number).jpg"))
            try folder.appending("IMG_\(number).jpg").create(SamplePhoto.unique(number))
        }
        let outcomes = try await agent.outcomes(of: photos)
        #expect(outcomes.count == 24 && outcomes.allSatisfy { $0.kind == .stored })
        #expect(try home.store.objects().count == 24)
        #expect(try home.store.isSound())
    }

    @Test func `a photo that is written slowly is stored once, when it is whole`() async throws {
        let agent = try await home.startAgent()
        let slow = home.gallery.appending("slow.jpg")
        let bytes = try SamplePhoto.unique(1)
        let writer = try SlowWriter(slow)
        for piece in 0..<4 {
            try writer.write(bytes[bytes.count * piece / 4..<bytes.count * (piece + 1) / 4])
            // Until another photo has settled and is stored: longer than the slow one would have had to be quiet.
            let other = home.gallery.appending("other \(piece).jpg")
            try other.create(SamplePhoto.unique(10 + piece))
            #expect(try await agent.outcome(of: other) == .stored)
        }
        #expect(!agent.outcomes.contains { $0.path == slow.string })
        try writer.close()
        #expect(try await agent.outcome(of: slow) == .stored)
        #expect(agent.outcomes.count { $0.path == slow.string } == 1)
        #expect(try await home.photo(slow)?.md5 == "\(ContentDigest(of: bytes).md5)")
    }

    @Test
    func `a photo that is written for long beside the agent waits, which status tells, and is stored when it is whole`()
        async throws
    {
        let agent = try await home.startAgent()
        let slow = home.gallery.appending("slow.jpg")
        let bytes = try SamplePhoto.unique(1)
        let writer = try SlowWriter(slow)
        try writer.write(bytes.prefix(2_000))
        _ = try await home.photos(at: slow) { $0.first?.state == "pending" }
        #expect(try await !home.run("status").text.contains("Everything is safe"))
        try writer.write(bytes.dropFirst(2_000))
        try writer.close()
        #expect(try await agent.outcome(of: slow) == .stored)
        #expect(agent.outcomes.count == 1)
        #expect(try await home.photo(slow)?.md5 == "\(ContentDigest(of: bytes).md5)")
    }

    @Test func `a photo that another process has open when the agent starts waits until it is closed`() async throws {
        let (slow, other) = (home.gallery.appending("slow.jpg"), home.gallery.appending("other.jpg"))
        let bytes = try SamplePhoto.unique(1)
        let writer = try SlowWriter(slow)
        try writer.write(bytes.prefix(2_000))
        // It looks as quiet as can be.
        try slow.age(bySeconds: 3_600)
        let agent = try await home.startAgent()
        try other.create(SamplePhoto.unique(2))
        #expect(try await agent.outcome(of: other) == .stored)
        #expect(agent.outcomes.count == 1)
        try writer.write(bytes.dropFirst(2_000))
        try writer.close()
        #expect(try await agent.outcome(of: slow) == .stored)
        #expect(try await home.photo(slow)?.md5 == "\(ContentDigest(of: bytes).md5)")
    }

    @Test func `an editor that writes a temporary file and renames it over the photo makes a new version`() async throws
    {
        let agent = try await home.startAgent()
        let (photo, temporary) = (home.gallery.appending("a.jpg"), home.gallery.appending(".a.jpg.tmp"))
        try photo.create(SamplePhoto.unique(1))
        try await agent.stored(atLeast: 1)
        try temporary.create(SamplePhoto.unique(2))
        try temporary.move(to: photo)
        try await agent.stored(atLeast: 2)
        #expect(agent.outcomes.map(\.path) == [photo.string, photo.string])
        #expect(try await home.photo(photo)?.md5 == "\(ContentDigest(of: SamplePhoto.unique(2)).md5)")
        #expect(try home.store.objects().count == 2)
        #expect(try await home.overview().totals.files == 1)
    }

    @Test func `a broken photo is told with its reason, and holds none of its neighbours up`() async throws {
        let agent = try await home.startAgent()
        let reasons = [
            "cut.jpg": "the file ends before its picture does (Premature end of JPEG file)",
            "empty.jpg": "the file is empty",
            "text.jpg": "the name says photo, but the file is text",
        ]
        try home.gallery.appending("cut.jpg").create(SamplePhoto.truncated(1))
        try home.gallery.appending("empty.jpg").create([])
        try home.gallery.appending("text.jpg").create(Array("not a photo at all".utf8))
        let whole = (0..<4).map { home.gallery.appending("whole \($0).jpg") }
        for (number, photo) in whole.enumerated() { try photo.create(SamplePhoto.unique(number)) }

        try await agent.outcomes(of: whole + reasons.keys.map { home.gallery.appending($0) })
        for (name, reason) in reasons {
            let photo = home.gallery.appending(name)
            #expect(try await agent.outcome(of: photo) == .failed(reason: reason))
            let entry = try await home.photo(photo)
            #expect(entry?.state == "failed" && entry?.error == reason)
        }
        #expect(try home.store.objects().count == 4)
        let totals = try await home.overview().totals
        #expect(totals.uploaded == 4 && totals.failed == 3)
    }

    @Test func `a broken photo that is replaced by a whole one is stored`() async throws {
        let agent = try await home.startAgent()
        let photo = home.gallery.appending("a.jpg")
        try photo.create(SamplePhoto.truncated(1))
        try await agent.outcomes(of: [photo])
        try photo.create(SamplePhoto.unique(1))
        try await agent.stored(atLeast: 1)
        let entry = try await home.photo(photo)
        #expect(entry?.state == "uploaded" && entry?.error == nil)
    }

    @Test(
        arguments: [
            ("IMG.jxl", SamplePhoto.jxl, "image/jxl"), ("drawing.psd", SamplePhoto.psd, "image/vnd.adobe.photoshop"),
        ])
    func `an image that nothing decodes is stored byte for byte`(name: String, bytes: [UInt8], type: String)
        async throws
    {
        let agent = try await home.startAgent()
        let photo = home.gallery.appending(name)
        try photo.create(bytes)
        #expect(try await agent.outcome(of: photo) == .stored)
        let object = try #require(try home.store.objects().first)
        #expect(try home.store.bytes(of: object) == bytes)
        #expect(object.contentType == type)
    }

    @Test func `the stored copy of a large photo is 2048 pixels long, and the file stays as it is`() async throws {
        let agent = try await home.startAgent()
        let photo = home.gallery.appending("panorama.jpg")
        try photo.create(SamplePhoto.long())
        #expect(try await agent.outcome(of: photo) == .stored)
        let entry = try await home.photo(photo)
        #expect(entry?.width == 2_048 && entry?.height == 1)
        #expect(try home.tree.read("home/Gallery/panorama.jpg") == SamplePhoto.long())
    }

    @Test func `a project's image and records keep their names, and a newer version replaces the older one`()
        async throws
    {
        let agent = try await home.startAgent()
        let (image, records) = (home.projects.appending("p1.jpg"), home.projects.appending("projects.json"))
        try image.create(SamplePhoto.unique(1))
        // Before there is a list, all that is in the folder is stored; behind it, only what it names.
        try await agent.stored(atLeast: 1)
        try records.create(Array(#"{"projects": []}"#.utf8))
        try await agent.stored(atLeast: 2)
        try records.create(Array(#"{"projects": [{"id": "p1"}]}"#.utf8))
        try await agent.stored(atLeast: 3)
        // The list that was there before stays, beside.
        let objects = try home.store.objects().filter { !$0.key.contains("/versions/") }
        #expect(objects.map(\.key) == ["users/ana/projects/p1.jpg", "users/ana/projects/projects.json"])
        #expect(try home.store.bytes(of: objects[1]) == Array(#"{"projects": [{"id": "p1"}]}"#.utf8))
    }

    @Test func `what programs leave behind while they work, and what is no photo, is not stored`() async throws {
        let agent = try await home.startAgent()
        for name in [".hidden.jpg", "IMG.jpg.part", "IMG.jpg.crdownload", "IMG.jpg~", "notes.txt"] {
            try home.gallery.appending(name).create(SamplePhoto.unique(1))
        }
        try home.gallery.appending("readme.txt").create(Array("hello".utf8))
        let photo = home.gallery.appending("IMG.jpg")
        try photo.create(SamplePhoto.unique(2))
        #expect(try await agent.outcome(of: photo) == .stored)
        let known = try await home.photos(at: home.gallery) { seen in
            seen.count >= 3 && seen.allSatisfy { !["pending", "uploading"].contains($0.state) }
        }
        // The bytes decide, not the name: notes.txt is a photo.
        #expect(
            known.filter { $0.state == "uploaded" }.map(\.path).sorted()
                == ["IMG.jpg", "notes.txt"].map { home.gallery.appending($0).string })
        #expect(known.filter { $0.state == "skipped" }.map(\.path) == [home.gallery.appending("readme.txt").string])
        #expect(known.count == 3)
    }
}
