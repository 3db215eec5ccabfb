import FoundationEssentials
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncCore

@Suite struct EventTests {
    private static let file: FilePath = "/pictures/gallery/june/events.json"

    private let world: World

    init() throws {
        world = try World()
    }

    private func claim(_ path: FilePath = file) throws -> Claim {
        if !world.isThere(path) { world.write(path) }
        try world.scan()
        let claims = try world.ledger.claim(limit: 10, at: world.now)
        return try #require(claims.first { $0.file == path })
    }

    private func event(
        _ id: String, photo: GalleryEvent.Photo = .inline(0..<1), profile: String = "p1", isBare: Bool = false
    ) -> GalleryEvent {
        GalleryEvent(
            index: 0, id: id, userID: "u1", profileID: profile, type: .taskResponse,
            createdAt: Date(timeIntervalSince1970: 900_000), photo: photo, isBare: isBare)
    }

    private func object(_ byte: UInt8) throws -> ObjectRecord {
        let md5 = try #require(MD5Digest(bytes: Array(repeating: byte, count: 16)))
        return ObjectRecord(
            key: try KeyLayout(user: "ana").photo(PhotoID(md5)), size: 10, md5: md5, sha256: nil,
            contentType: "image/jpeg", storedAt: world.now)
    }

    private func store(_ record: EventRecord?, _ byte: UInt8 = 1) throws {
        let object = try object(byte)
        try world.ledger.noteEventPhoto(try #require(record), md5: try #require(object.md5), object: object)
    }

    @Test func `an event is pending until its photo is stored`() throws {
        let known = try world.ledger.noteEvents([event("e1"), event("e2", photo: .none)], of: claim())
        #expect(known["e1"]?.photoState == .pending)
        #expect(known["e2"]?.photoState == EventPhotoState.none)
        try store(known["e1"])
        let stored = try #require(try world.ledger.event("e1"))
        #expect(stored.photoState == .stored)
        #expect(try stored.object?.key == object(1).key)
        #expect(stored.profile == "p1")
        #expect(stored.createdAt == Date(timeIntervalSince1970: 900_000))
        #expect(try world.ledger.check() == [])
    }

    @Test(arguments: [true, false])
    func `the catalogue's name for a photo of an event is taken up only where its file is gone`(isHere: Bool) throws {
        let claim = try claim()
        try store(try world.ledger.noteEvents([event("e1")], of: claim)["e1"])
        let object = try object(1)
        _ = try world.ledger.commit(
            claim, outcome: .uploaded(World.digest(of: claim.stamp), object), at: world.now)
        if !isHere { _ = try world.ledger.markGone(claim.folder.id, path: Self.file, at: world.now) }
        let place = CatalogPlace(folder: 1, path: "june/events-1.jpg")
        try world.ledger.noteCatalog(
            [
                CatalogPhoto(
                    place: place, file: nil, md5: object.md5, key: object.key, sha256: object.sha256, size: object.size,
                    contentType: object.contentType)
            ], in: [1: claim.folder.id], at: world.now)
        var names: [FilePath] = []
        try world.ledger.photos(at: "/pictures/gallery") { names.append($0.path) }
        #expect(names.contains("/pictures/gallery/june/events-1.jpg") == !isHere)
        #expect(try world.ledger.check() == [])
    }

    @Test(arguments: ["june/events-1.jpg": false, "june/other.jpg": true, "events-1.jpg": true])
    func `the catalogue's name for a photo of an event goes when its file turns up`(name: String, stays: Bool) throws {
        let (claim, object) = (try claim(), try object(1))
        try world.ledger.noteCatalog(
            [
                CatalogPhoto(
                    place: CatalogPlace(folder: 1, path: FilePath(name)), file: nil, md5: object.md5, key: object.key,
                    sha256: object.sha256, size: object.size, contentType: object.contentType)
            ], in: [1: claim.folder.id], at: world.now)
        let event = try #require(try world.ledger.noteEvents([event("e1")], of: claim)["e1"])
        try world.ledger.noteEventPhoto(event, md5: try #require(object.md5), object: object, in: claim)
        var names: [FilePath] = []
        try world.ledger.photos(at: "/pictures/gallery") { names.append($0.path) }
        #expect(names.contains(FilePath("/pictures/gallery/\(name)")) == stays)
        #expect(names.contains(Self.file))
        #expect(try world.ledger.check() == [])
    }

    @Test func `an event with an id that another one has is an event of its own`() throws {
        let first = try claim()
        try store(try world.ledger.noteEvents([event("e1")], of: first)["e1"])
        let copy: FilePath = "/pictures/gallery/copy.json"
        let again = try world.ledger.noteEvents([event("e1", profile: "other")], of: claim(copy))
        #expect(again["e1"]?.photoState == .pending)
        #expect(again["e1"]?.profile == "other")
        #expect(again["e1"]?.isOfUsedID == true)
        #expect(try world.ledger.events(withID: "e1").map(\.profile) == ["p1", "other"])
        let due = try world.ledger.dueEvents(createdBefore: world.now, after: nil, limit: 10)
        #expect(due.map(\.files) == [[Self.file], [copy]])
        #expect(try world.ledger.eventCounts().retention == [.kept: 2])
        #expect(try world.ledger.check() == [])
    }

    @Test func `what is corrected in the only file of an event takes its place`() throws {
        let claim = try claim()
        _ = try world.ledger.noteEvents([event("e1")], of: claim)
        let corrected = try world.ledger.noteEvents([event("e1", profile: "other")], of: claim)
        #expect(try world.ledger.events(withID: "e1").map(\.profile) == ["other"])
        // A stored photo that the file no longer has comes into the archive in its time.
        try store(corrected["e1"])
        _ = try world.ledger.noteEvents([event("e1", profile: "third")], of: claim)
        #expect(try world.ledger.events(withID: "e1").map(\.profile) == ["other", "third"])
        #expect(try world.ledger.check() == [])
    }

    @Test func `ids that look alike and differ in bytes are two events`() throws {
        let known = try world.ledger.noteEvents([event("caf\u{E9}"), event("cafe\u{301}")], of: claim())
        #expect(Set(known.map(\.id)).count == 2)
        #expect(known.allSatisfy { !$0.isOfUsedID })
    }

    @Test func `every file that has an event is known`() throws {
        let first = try claim()
        try store(try world.ledger.noteEvents([event("e1")], of: first)["e1"])
        let copy: FilePath = "/pictures/gallery/copy.json"
        #expect(try world.ledger.noteEvents([event("e1")], of: claim(copy))["e1"]?.photoState == .stored)
        let due = try world.ledger.dueEvents(createdBefore: world.now, after: nil, limit: 10)
        #expect(due.map(\.files) == [[Self.file, copy]])
        #expect(try world.ledger.eventCounts().retention == [.kept: 1])
    }

    @Test func `an edited photo takes the place of the one before, and that of a second file does not`() throws {
        let first = try claim()
        try store(try world.ledger.noteEvents([event("e1")], of: first)["e1"])
        let record = try #require(try world.ledger.event("e1"))
        let (edited, other) = (try object(2), try object(3))
        let md5 = try #require(edited.md5)
        #expect(record.photoMD5 != md5)
        #expect(try world.ledger.noteEventPhoto(record, md5: md5, object: edited, in: first))
        #expect(try world.ledger.event("e1")?.photoMD5 == md5)
        let copy = try claim("/pictures/gallery/copy.json")
        _ = try world.ledger.noteEvents([event("e1")], of: copy)
        #expect(try !world.ledger.noteEventPhoto(record, md5: #require(other.md5), object: other, in: copy))
        #expect(try world.ledger.event("e1")?.object?.key == edited.key)
        // It is known all the same.
        #expect(try world.ledger.object(other.key) != nil)
        #expect(try world.ledger.check() == [])
    }

    @Test func `a file of a folder that is no gallery of the configuration is told`() throws {
        _ = try world.ledger.noteEvents([event("e1")], of: claim())
        func isConfigured() throws -> [Bool] {
            try world.ledger.dueEvents(createdBefore: world.now, after: nil, limit: 1).flatMap(\.places).map(
                \.isConfigured)
        }
        #expect(try isConfigured() == [true])
        try world.register([World.trips])
        #expect(try isConfigured() == [false])
        try world.register([WatchedFolder(kind: .vacations, path: World.gallery.path)])
        #expect(try isConfigured() == [false])
    }

    @Test func `a photo that failed is taken up again when a file of the event is read again`() throws {
        let claim = try claim()
        let record = try #require(try world.ledger.noteEvents([event("e1")], of: claim)["e1"])
        try world.ledger.noteEventPhoto(record, failed: "it is cut off")
        #expect(try world.ledger.event("e1")?.problem == "it is cut off")
        let again = try world.ledger.noteEvents([event("e1")], of: claim)
        #expect(again["e1"]?.photoState == .pending)
    }

    @Test func `what a file no longer holds is no longer looked for in it`() throws {
        let claim = try claim()
        _ = try world.ledger.noteEvents([event("e1"), event("e2")], of: claim)
        _ = try world.ledger.noteEvents([event("e2")], of: claim)
        #expect(try world.ledger.events(of: claim.photoID).map(\.eventID) == ["e2"])
        let due = try world.ledger.dueEvents(createdBefore: world.now, after: nil, limit: 10)
        #expect(due.map(\.files) == [[], [Self.file]])
    }

    @Test func `a file keeps its events when it moves, and loses them when it is gone`() throws {
        let claim = try claim()
        _ = try world.ledger.noteEvents([event("e1")], of: claim)
        try world.ledger.commit(claim, outcome: .failed("no photo", nil), at: world.now)
        let moved: FilePath = "/pictures/gallery/july/moved.json"
        world.rename(Self.file, to: moved)
        // The new place first, as a watcher tells it.
        let stamp = try #require(world.disk[moved])
        _ = try world.ledger.observe(
            world.folders[0].id, file: "july/moved.json", stamp: stamp, stillThere: world.isThere, at: world.now)
        #expect(try world.ledger.dueEvents(createdBefore: world.now, after: nil, limit: 1).map(\.files) == [[moved]])
        world.remove(moved)
        try world.scan()
        #expect(try world.ledger.dueEvents(createdBefore: world.now, after: nil, limit: 1).map(\.files) == [[]])
        #expect(try world.ledger.event("e1") != nil)
    }

    @Test func `a photo that comes beside brings the event's file back into the queue`() throws {
        let claim = try claim()
        let name: FilePath.Component = "photo.jpg"
        let record = try #require(
            try world.ledger.noteEvents([event("e1", photo: .beside(name))], of: claim)["e1"])
        #expect(try world.ledger.photo(name, beside: claim) == nil)
        try world.ledger.noteEventPhoto(record, waitsFor: name)
        try world.ledger.commit(claim, outcome: .failed("its photo is not there", nil), at: world.now)

        try PhotoState.uploaded.prepare("/pictures/gallery/elsewhere/photo.jpg", in: world)
        #expect(try world.state(Self.file) == .failed)
        try PhotoState.uploaded.prepare("/pictures/gallery/june/photo.jpg", in: world)
        #expect(try world.state(Self.file) == .pending)
        let again = try self.claim()
        #expect(try world.ledger.photo(name, beside: again)?.object != nil)
        #expect(try world.ledger.check() == [])
    }

    @Test(arguments: [true, false])
    func `a photo beside a file in another folder is the same by its bytes, not by its name`(isSame: Bool) throws {
        let photo = GalleryEvent.Photo.beside("photo.jpg")
        let first = try world.ledger.noteEvents([event("e1", photo: photo)], of: claim())
        let second = try world.ledger.noteEvents(
            [event("e1", photo: photo)], of: claim("/pictures/gallery/july/events.json"))
        #expect(first["e1"]?.id != second["e1"]?.id)
        try store(second["e1"], isSame ? 1 : 2)
        try store(first["e1"], 1)
        let due = try world.ledger.dueEvents(createdBefore: world.now, after: nil, limit: 9)
        #expect(due.map(\.files.count) == (isSame ? [2] : [1, 1]))
        #expect(due.first?.event.id == first["e1"]?.id)
        #expect(try world.ledger.check() == [])
    }

    /// A file of an event that waits for `photo.jpg` beside it.
    private func waiting() throws {
        let claim = try claim()
        let name: FilePath.Component = "photo.jpg"
        let known = try world.ledger.noteEvents([event("e1", photo: .beside(name))], of: claim)
        try world.ledger.noteEventPhoto(try #require(known["e1"]), waitsFor: name)
        try world.ledger.commit(claim, outcome: .failed("its photo is not there", nil), at: world.now)
    }

    private func move(_ path: FilePath, to other: FilePath) throws {
        world.rename(path, to: other)
        var relative = other
        _ = relative.removePrefix("/pictures/gallery")
        // The new place first, as a watcher tells it.
        _ = try world.ledger.observe(
            world.folders[0].id, file: relative, stamp: try #require(world.disk[other]), stillThere: world.isThere,
            at: world.now)
    }

    @Test(arguments: ["/pictures/gallery/elsewhere/photo.jpg", "/pictures/gallery/june/photo.tmp.jpg"] as [FilePath])
    func `a stored photo that is renamed to what an event waits for brings the event's file back`(
        from: FilePath
    ) throws {
        try waiting()
        try PhotoState.uploaded.prepare(from, in: world)
        #expect(try world.state(Self.file) == .failed)
        try move(from, to: "/pictures/gallery/june/photo.jpg")
        #expect(try world.state(Self.file) == .pending)
        #expect(try world.ledger.check() == [])
    }

    @Test func `an event's file that is moved to where its photo is is read again`() throws {
        try waiting()
        try PhotoState.uploaded.prepare("/pictures/gallery/july/photo.jpg", in: world)
        #expect(try world.state(Self.file) == .failed)
        let moved: FilePath = "/pictures/gallery/july/events.json"
        try move(Self.file, to: moved)
        #expect(try world.state(moved) == .pending)
        #expect(try world.ledger.photo("photo.jpg", beside: claim(moved))?.isOnItsWay == true)
    }

    @Test func `a file that changed while it was read notes nothing of what it held`() throws {
        let first = try claim()
        _ = try world.ledger.noteEvents([event("e1")], of: first)
        world.write(Self.file)
        try world.scan()
        #expect(try world.ledger.noteEvents([event("e2")], of: first).isEmpty)
        #expect(try world.ledger.event("e2") == nil)
        #expect(try world.ledger.events(of: first.photoID).map(\.eventID) == ["e1"])
    }

    @Test func `what a file holds is told by its note, until it is another file`() throws {
        let claim = try claim()
        let note = EventFileNote(events: 2, malformed: 1, text: "2 events, 1 malformed: #2 is no object")
        let object = try object(1)
        try world.ledger.commit(
            claim, outcome: .uploaded(World.digest(of: claim.stamp), object), note: note, at: world.now)
        #expect(try world.status(Self.file)?.note == note.text)
        #expect(try world.status(Self.file)?.why == note.text)
        world.write(Self.file)
        try world.ledger.commit(self.claim(), outcome: .skipped("no events"), at: world.now)
        #expect(try world.status(Self.file)?.note == nil)
    }

    @Test func `the counts follow each change`() throws {
        let claim = try claim()
        let known = try world.ledger.noteEvents(
            [event("e1"), event("e2"), event("e3", photo: .none)], of: claim)
        try store(known["e1"])
        try world.ledger.noteEventPhoto(try #require(known["e2"]), failed: "no picture")
        let counts = try world.ledger.eventCounts()
        #expect(counts.photos == [.stored: 1, .failed: 1, EventPhotoState.none: 1])
        #expect(counts.retention == [.kept: 3])
        #expect(try world.ledger.check() == [])
    }

    @Test func `a claim whose file is forgotten notes nothing`() throws {
        let claim = try claim()
        world.remove(Self.file)
        try world.scan()
        try world.ledger.recoverInterrupted(at: world.now)
        #expect(try world.ledger.noteEvents([event("e1")], of: claim).isEmpty)
        #expect(try world.ledger.event("e1") == nil)
    }
}
