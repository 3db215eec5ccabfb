import FoundationEssentials
import SystemPackage
import Testing

@testable import SyncCore
@testable import SyncLedger

@Suite struct RetentionLedgerTests {
    private let world: World
    private let claim: Claim

    init() throws {
        world = try World()
        world.write("/pictures/gallery/events.json")
        try world.scan()
        claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
    }

    private func note(_ id: String, created: Double = 900_000, isBare: Bool = false) throws -> EventRecord {
        let event = GalleryEvent(
            index: 0, id: id, userID: nil, profileID: "p1", type: .profileCreated,
            createdAt: Date(timeIntervalSince1970: created), photo: .none, isBare: isBare)
        return try #require(try world.ledger.noteEvents([event], of: claim)[id])
    }

    private func clean(_ id: String) throws {
        let due = try world.ledger.dueEvents(createdBefore: world.now, after: nil, limit: 10).filter {
            $0.event.eventID == id
        }
        for event in due {
            for place in event.places {
                #expect(try noteClean(event.event, in: place, try generation(of: place)))
            }
        }
    }

    private func generation(of place: EventPlace) throws -> Int64? {
        try #require(try world.ledger.generations(of: [place]).first)
    }

    private func noteClean(_ event: EventRecord, in place: EventPlace, _ generation: Int64?) throws -> Bool {
        try world.ledger.noteClean([CleanedEventFile(place: place, generation: generation, events: [event])]) == [true]
    }

    @discardableResult
    private func signOff(_ event: EventRecord, profile: String, object: ObjectRecord?) throws -> Bool {
        let event = ArchivedEvent(event: event, profile: profile, object: object)
        return try world.ledger.signOff([event], user: "ana", at: world.now) == [true]
    }

    private func archived() throws -> ObjectRecord {
        ObjectRecord(
            key: try ObjectKey("gallery-archive/ana/p1/1970/01/e1.jpg"), size: 10, md5: nil,
            sha256: SHA256Digest(bytes: Array(repeating: 7, count: 32)), contentType: "image/jpeg", storedAt: world.now)
    }

    @Test func `due events come oldest first, in pages`() throws {
        for (id, created) in [("b", 200.0), ("a", 100), ("d", 300), ("c", 200), ("young", 5_000)] {
            _ = try note(id, created: created)
        }
        let limit = Date(timeIntervalSince1970: 1_000)
        let first = try world.ledger.dueEvents(createdBefore: limit, after: nil, limit: 2)
        #expect(first.map(\.event.eventID) == ["a", "b"])
        let rest = try world.ledger.dueEvents(createdBefore: limit, after: first.last?.event, limit: 10)
        #expect(rest.map(\.event.eventID) == ["c", "d"])
    }

    @Test func `what is signed off is proven for good and no longer due`() throws {
        let event = try note("e1")
        try world.ledger.noteRetention([(event, "the store is away")], at: world.now)
        #expect(try world.ledger.event("e1")?.retentionProblem == "the store is away")
        try clean("e1")
        try signOff(event, profile: "p1", object: archived())
        #expect(try world.ledger.dueEvents(createdBefore: world.now, after: nil, limit: 1).isEmpty)
        let record = try #require(try world.ledger.retentionRecords(limit: 1).first)
        #expect(try record.photo?.key == archived().key)
        #expect(try record.photo?.sha256 == archived().sha256)
        #expect(record.signedOffAt == world.now)
        #expect(try world.ledger.event("e1")?.retention == .archived)
        #expect(try world.ledger.event("e1")?.retentionProblem == nil)
        #expect(try world.ledger.retentionRecords(limit: 5) == [record])
        #expect(try world.ledger.check() == [])
    }

    @Test func `text that comes back is due again, and its bare rest is not`() throws {
        let event = try note("e1")
        try clean("e1")
        try signOff(event, profile: "p1", object: nil)
        #expect(try world.ledger.event("e1")?.retention == .deleted)
        _ = try note("e1", isBare: true)
        #expect(try world.ledger.dueEvents(createdBefore: world.now, after: nil, limit: 1).isEmpty)
        _ = try note("e1")
        #expect(try world.ledger.dueEvents(createdBefore: world.now, after: nil, limit: 1).count == 1)
        try clean("e1")
        try signOff(event, profile: "p1", object: nil)
        #expect(try world.ledger.retentionRecords(limit: 5).count == 1)
    }

    @Test func `nothing is signed off as long as a file may hold its text`() throws {
        let event = try note("e1")
        #expect(try !signOff(event, profile: "p1", object: nil))
        let due = try #require(try world.ledger.dueEvents(createdBefore: world.now, after: nil, limit: 1).first)
        #expect(due.places.map(\.isClean) == [false] && due.places.map(\.profile) == ["grandma"])
        let generation = try generation(of: due.places[0])
        // The file is seen to be another one: what was looked at says nothing of it.
        world.write("/pictures/gallery/events.json")
        try world.scan()
        #expect(try !noteClean(event, in: due.places[0], generation))
        try clean("e1")
        #expect(try signOff(event, profile: "p1", object: nil))
        #expect(try world.ledger.dueEventCount(createdBefore: world.now) == 0)
    }

    @Test func `the last daily run is remembered`() throws {
        #expect(try world.ledger.dailyRun("retention") == nil)
        for day in [0.0, 86_400] {
            try world.ledger.noteDailyRun("retention", scheduledAt: world.now + day, at: world.now + day + 5)
        }
        #expect(try world.ledger.dailyRun("retention")?.scheduledAt == world.now + 86_400)
        #expect(try world.ledger.dailyRun("retention")?.finishedAt == world.now + 86_405)
    }

    @Test func `a number has one profile, and the events in a spelling are mapped to it once`() throws {
        let phone = PhoneNumber(e164: "+17788143739")
        let profile = try world.ledger.addProfile(uuid: "uuid-1", phone: phone, name: "Oma", at: world.now)
        #expect(try world.ledger.addProfile(uuid: "uuid-2", phone: phone, name: nil, at: world.now) == profile)
        #expect(try world.ledger.profile(phone) == profile)
        #expect(try world.ledger.profiles() == [profile])
        _ = try note("e1")
        _ = try note("e2")
        #expect(try world.ledger.profileUses() == [ProfileUse(profile: "p1", uuid: nil, events: 2)])
        #expect(try world.ledger.mapProfile("p1", to: profile) == 2)
        #expect(try world.ledger.mapProfile("p1", to: profile) == 0)
        #expect(try world.ledger.event("e1")?.profileUUID == "uuid-1")
        #expect(try world.ledger.profileUses().map(\.uuid) == ["uuid-1"])
    }

    @Test func `names and merges go into the catalogue, numbers do not, and another ledger knows them by it`() throws {
        let id = "0f3a9c21-6c0e-4c57-9c55-1b1a0c9b5b2d"
        let phone = PhoneNumber(e164: "+17788143739")
        _ = try world.ledger.addProfile(uuid: id, phone: phone, name: "Oma", at: world.now)
        try world.ledger.renameProfile(id, to: "Grandma")
        try world.ledger.renameProfile("u-17", to: "call 415 555 5516")
        try world.ledger.mergeProfile("grandma", into: id)
        let profiles = try world.ledger.catalogState().compactMap { line in
            if case .profile(let profile) = line { profile } else { CatalogProfile?.none }
        }
        #expect(
            profiles == [
                CatalogProfile(profile: id, name: "Grandma"),
                CatalogProfile(profile: "grandma", into: id, number: false),
                CatalogProfile(profile: "u-17", number: false),
            ])
        // What is to come is told, too, and nobody takes it for done.
        try world.ledger.announceMerge(of: "u-18", into: "u-17")
        let announced = CatalogProfile(profile: "u-18", number: false, announced: "u-17")
        #expect(try world.ledger.catalogState().contains(.profile(announced)))
        let other = try World().ledger
        try other.noteOthersProfiles([announced])
        #expect(try other.profileNotes() == ProfileNotes())
        #expect(try world.ledger.withdrawMerge() && !world.ledger.withdrawMerge())
        var state = CatalogState()
        for profile in profiles {
            let isTaken = state.take(.profile(profile))
            #expect(isTaken)
        }
        try other.noteCatalog(state, in: [:], at: world.now)
        #expect(try other.profilesWithoutNumber() == [id])
        #expect(try other.profileNotes().names == [id.inBytes: "Grandma"])
        #expect(try other.mergedProfile("grandma") == id)
        // Its number brings the profile back with its name.
        let profile = try other.addProfile(uuid: id, phone: phone, name: nil, at: world.now)
        #expect(profile.name == "Grandma")
        #expect(try other.profilesWithoutNumber() == [])
    }

    @Test
    func `what another machine's catalogue tells of profiles asks for no number, and changes nothing that is known`()
        throws
    {
        let id = "0f3a9c21-6c0e-4c57-9c55-1b1a0c9b5b2d"
        try world.ledger.renameProfile("grandma", to: "Oma")
        try world.ledger.mergeProfile("a", into: "b")
        try world.ledger.noteOthersProfiles([
            CatalogProfile(profile: id), CatalogProfile(profile: "grandma", name: "Ruth", into: id),
            CatalogProfile(profile: "b", into: "a"), CatalogProfile(profile: "a", into: "c"),
            CatalogProfile(profile: "../x", name: "x", into: "y"), CatalogProfile(profile: "x", into: ".."),
            // In keys, the letters of a UUID are small.
            CatalogProfile(profile: "grandpa", into: id.uppercased()),
            CatalogProfile(profile: "6F1C2D3E-1111-4222-8333-444455556666", into: "GRANDPA"),
        ])
        #expect(try world.ledger.profilesWithoutNumber() == [])
        let notes = try world.ledger.profileNotes()
        #expect(notes.names == ["grandma": "Oma"])
        #expect(
            notes.merges == [
                "a": "b", "grandma": id, "grandpa": id, "6f1c2d3e-1111-4222-8333-444455556666": "GRANDPA",
            ])
    }

    @Test func `the number of a merged profile is asked for after a rebuild, too`() throws {
        let (id, other) = ("0f3a9c21-6c0e-4c57-9c55-1b1a0c9b5b2d", "6f1c2d3e-1111-4222-8333-444455556666")
        _ = try world.ledger.addProfile(uuid: id, phone: PhoneNumber(e164: "+17788143739"), name: nil, at: world.now)
        _ = try world.ledger.addProfile(uuid: other, phone: PhoneNumber(e164: "+17788143738"), name: nil, at: world.now)
        try world.ledger.mergeProfile(id, into: other)
        var state = CatalogState()
        for line in try world.ledger.catalogState() { _ = state.take(line) }
        let rebuilt = try World().ledger
        try rebuilt.noteCatalog(state, in: [:], at: world.now)
        #expect(try rebuilt.profilesWithoutNumber() == [id, other])
        _ = try rebuilt.addProfile(uuid: id, phone: PhoneNumber(e164: "+17788143739"), name: nil, at: world.now)
        #expect(try rebuilt.mergedProfile(id) == other && rebuilt.profilesWithoutNumber() == [other])
    }

    @Test func `a profile goes with what was merged into it, and never while anything is its`() throws {
        let id = "0f3a9c21-6c0e-4c57-9c55-1b1a0c9b5b2d"
        let phone = PhoneNumber(e164: "+17788143739")
        let profile = try world.ledger.addProfile(uuid: id, phone: phone, name: "Oma", at: world.now)
        try world.ledger.mergeProfile("grandma", into: id)
        let event = try note("e1")
        #expect(try !world.ledger.removeProfiles(["p1"]))
        _ = try world.ledger.mapProfile("p1", to: profile)
        #expect(try !world.ledger.removeProfiles([id, "grandma"]))
        try clean("e1")
        try signOff(event, profile: id, object: nil)
        #expect(try world.ledger.removeEvent(event))
        #expect(try !world.ledger.removeProfiles([id]))
        #expect(try world.ledger.signedOff(under: [id, "grandma"]) == 1)
        // What was signed off without a photo goes along with a merge.
        try world.ledger.mergeProfile(id, into: "ruth")
        #expect(try world.ledger.signedOff(under: ["ruth"]) == 1)
        #expect(try world.ledger.removeProfiles([id, "grandma"]))
        #expect(try world.ledger.profiles() == [] && world.ledger.profileNotes().merges.isEmpty)
    }
}
