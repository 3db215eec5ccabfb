import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage
import Testing

@Suite struct TimelineTests {
    private func names(_ items: [TimelineItem]) -> [String] {
        items.map {
            switch $0.source {
            case .photo(let photo), .version(_, of: let photo): photo.relativePath.string
            case .event(let picture): picture.eventID
            }
        }
    }

    /// Photos that nobody has dated yet: their files are of another moment each.
    private func world(_ paths: [FilePath]) throws -> World {
        let world = try World()
        for (second, path) in paths.enumerated() {
            var stamp = world.write(path)
            stamp.modified = Int64(second) * 1_000_000_000
            world.put(stamp, at: path)
        }
        try world.scan()
        return world
    }

    private func pages(of world: World, _ limit: Int) throws -> [String] {
        var found: [String] = []
        var cursor: TimelineCursor?
        while case let page = try world.ledger.timeline(TimelineFilter(), after: cursor, limit: limit), !page.isEmpty {
            #expect(page.count <= limit)
            found += names(page)
            cursor = page.last.flatMap { TimelineCursor($0.cursor.text) }
            #expect(cursor == page.last?.cursor)
        }
        return found
    }

    @Test(arguments: [1, 2, 3, 10]) func `the latest come first, page after page, each once`(limit: Int) throws {
        let paths: [FilePath] = [
            "/pictures/gallery/a.jpg", "/pictures/trips/rome/b.jpg", "/pictures/gallery/c.jpg",
            "/pictures/gallery/d.jpg",
        ]
        let found = try pages(of: world(paths), limit)
        #expect(found == ["d.jpg", "c.jpg", "rome/b.jpg", "a.jpg"])
    }

    @Test(arguments: [1, 2, 3, 4, 5]) func `photos of one moment come in one order, each once, whatever the page`(
        limit: Int
    ) throws {
        let names = ["a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg"]
        let world = try world(names.map { World.gallery.path.appending($0) })
        // A burst: the camera has shown one time for all of them.
        try world.storeAll()
        let whole = try world.ledger.timeline(TimelineFilter(), after: nil, limit: 9)
        #expect(Set(whole.map(\.at)) == [500_000] && self.names(whole).sorted() == names)
        #expect(try pages(of: world, limit) == self.names(whole))
    }

    @Test func `what is stored stands at the time that the camera showed`() throws {
        let world = try world(["/pictures/gallery/a.jpg"])
        #expect(try world.ledger.timeline(TimelineFilter(), after: nil, limit: 9).first?.at != 500_000)
        try world.storeAll()
        let item = try #require(try world.ledger.timeline(TimelineFilter(), after: nil, limit: 9).first)
        #expect(item.at == 500_000)
        #expect(item.day == CalendarDay("1970-01-01"))
    }

    @Test func `a filter leaves the others out`() throws {
        let world = try world([
            "/pictures/gallery/a 100%.jpg", "/pictures/gallery/a 100x.jpg", "/pictures/trips/Rome/b.jpg",
        ])
        try world.storeAll()
        world.write("/pictures/gallery/new.jpg")
        try world.scan()
        let folder = try #require(world.folders.first { $0.kind == .vacations }?.id)
        let rows: [(TimelineFilter, Set<String>)] = [
            (TimelineFilter(kind: .vacations), ["Rome/b.jpg"]),
            (TimelineFilter(folder: folder), ["Rome/b.jpg"]),
            (TimelineFilter(kind: .events), []),
            (TimelineFilter(state: .waiting), ["new.jpg"]),
            (TimelineFilter(state: .stored), ["a 100%.jpg", "a 100x.jpg", "Rome/b.jpg"]),
            (TimelineFilter(state: .archived), []),
            (TimelineFilter(text: "100%"), ["a 100%.jpg"]),
            (TimelineFilter(text: "/rome/"), ["Rome/b.jpg"]),
            (TimelineFilter(kind: .gallery, year: 1970, text: "a 1"), ["a 100%.jpg", "a 100x.jpg"]),
            (TimelineFilter(year: 1969), []),
        ]
        for (filter, expected) in rows {
            #expect(Set(names(try world.ledger.timeline(filter, after: nil, limit: 9))) == expected, "\(filter)")
        }
    }

    @Test func `each state is one that the ledger tells`() throws {
        let archive = try Archive(["users/ana/photos/a.dat", "users/ana/photos/b.dat", "users/ana/photos/c.dat"])
        _ = try archive.ask(for: [archive.keys[0]])
        try archive.move(1, to: .retrieving)
        let states: [TimelineFilter.State: Int] = [
            .archived: 2, .retrieving: 1, .restored: 0, .stored: 0, .waiting: 0, .failed: 0, .missing: 0,
        ]
        for (state, count) in states {
            let found = try archive.ledger.timeline(TimelineFilter(state: state), after: nil, limit: 9)
            #expect(found.count == count, "\(state)")
        }
    }

    @Test func `text beside photos is not shown`() throws {
        let world = try world(["/pictures/gallery/a.json", "/pictures/gallery/a.XMP", "/pictures/gallery/a.aae"])
        #expect(try world.ledger.timeline(TimelineFilter(), after: nil, limit: 9).isEmpty)
    }

    @Test func `a photo is found by its bytes, at all of its places, and gone ones too`() throws {
        let world = try world(["/pictures/gallery/a.jpg"])
        let claim = try #require(try world.storeAll().first)
        let digest = try World.digest(of: claim.stamp)
        let key = try KeyLayout(user: "ana").photo(PhotoID(digest.md5))
        #expect(names(try world.ledger.timeline(of: digest.md5, storedAs: key)) == ["a.jpg"])
        world.remove("/pictures/gallery/a.jpg")
        try world.scan()
        #expect(names(try world.ledger.timeline(of: digest.md5, storedAs: key)) == ["a.jpg"])
        #expect(names(try world.ledger.timeline(TimelineFilter(state: .missing), after: nil, limit: 9)) == ["a.jpg"])
        let other = try #require(MD5Digest(hex: String(repeating: "0", count: 32)))
        #expect(try world.ledger.timeline(of: other, storedAs: KeyLayout(user: "ana").photo(PhotoID(other))).isEmpty)
    }

    @Test func `what a file was before is found by its bytes, behind what has them now`() throws {
        let world = try world(["/pictures/gallery/a.jpg"])
        let before = try World.digest(of: try #require(try world.storeAll().first).stamp)
        let key = try KeyLayout(user: "ana").photo(PhotoID(before.md5))
        world.write("/pictures/gallery/a.jpg")
        try world.scan()
        func sources() throws -> [String] {
            try world.ledger.timeline(of: before.md5, storedAs: key).map {
                switch $0.source {
                case .photo(let photo): photo.relativePath.string
                case .version(let version, of: let photo): "\(photo.relativePath.string) version \(version.number)"
                case .event: "event"
                }
            }
        }
        let now = try World.digest(of: try #require(try world.storeAll().first).stamp)
        #expect(now.md5 != before.md5)
        #expect(try sources() == ["a.jpg version 1"])
        #expect(names(try world.ledger.timeline(TimelineFilter(), after: nil, limit: 9)) == ["a.jpg"])
        let item = try #require(try world.ledger.timeline(of: before.md5, storedAs: key).first)
        #expect(item.md5 == before.md5 && item.object?.key == key)
    }

    @Test func `an image of a project, which has a key of its own, is found by its bytes`() throws {
        let world = try world(["/pictures/projects/p1.jpg"])
        let claim = try #require(try world.storeAll().first)
        let item = try #require(try world.ledger.timeline(TimelineFilter(), after: nil, limit: 9).first)
        let md5 = try #require(item.md5)
        #expect(md5 == (try World.digest(of: claim.stamp)).md5)
        let other = try ObjectKey("users/ana/photos/elsewhere")
        #expect(names(try world.ledger.timeline(of: md5, storedAs: other)) == ["p1.jpg"])
        // Once, also where it has the key of a photo.
        let key = try #require(item.object?.key)
        #expect(names(try world.ledger.timeline(of: md5, storedAs: key)) == ["p1.jpg"])
    }

    @Test func `the years are those of the photos`() throws {
        #expect(try world(["/pictures/gallery/a.jpg"]).ledger.timelineYears() == [1970])
        #expect(try World().ledger.timelineYears() == [])
    }

    @Test(arguments: ["", "1", "1_", "_1", "1_2_3", "a_b", "1_9999999999999999999", "1 _2"])
    func `other texts are no place in the stream`(text: String) {
        #expect(TimelineCursor(text) == nil)
    }
}
