import FoundationEssentials
import SyncCore
import SyncDigest
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine
@testable import SyncLedger

@Suite struct ProfileMigrationTests {
    private static let numberKey = ProfileBench.key("+17788143739", "old")
    private static let uuidKey = ProfileBench.key(ProfileBench.uuid, "old")

    private let bench: ProfileBench

    init() throws {
        bench = try ProfileBench()
    }

    // MARK: Events

    @Test func `events with a number in any spelling get the profile, and the others are left alone`() async throws {
        try bench.addProfile()
        try await bench.write([
            "+17788143739", "(778) 814-3739", "+1 778 814 3739", "grandma", ProfileBench.uuid, "+4915112345678",
            "+49 151 12345678",
        ])
        let dry = try await bench.migrate(isDryRun: true)
        #expect(try bench.ledger.event("e0")?.profileUUID == nil)
        let result = try await bench.migrate()
        #expect(result == dry)
        #expect((result.mapped, result.alreadyMapped) == (3, 0))
        #expect(result.orphans.map(\.profile) == ["+49 151 12345678", "+4915112345678"])
        #expect(result.orphans.allSatisfy { $0.phone.e164 == "+4915112345678" && $0.events == 1 && $0.photos == 0 })
        for id in ["e0", "e1", "e2"] { #expect(try bench.ledger.event(id)?.profileUUID == ProfileBench.uuid) }
        for id in ["e3", "e4", "e5"] { #expect(try bench.ledger.event(id)?.profileUUID == nil) }
        let again = try await bench.migrate()
        #expect((again.mapped, again.alreadyMapped) == (0, 3))
    }

    @Test func `what may be a number and cannot be read is named as waiting, and is nobody's orphan`() async throws {
        try await bench.write(["030/12345", "030/12345", "grandma"])
        try await bench.archive.put("old", "2025-03-10T08:00:00Z", profile: "(030) 12345")
        let result = try await bench.migrate()
        #expect(result.orphans == [] && result.mapped == 0)
        #expect(result.waiting.map(\.profile) == ["(030) 12345", "030/12345"])
        #expect(result.waiting.map(\.events) == [0, 2] && result.waiting.map(\.photos) == [1, 0])
    }

    @Test func `a profile is found by its id, its number in any spelling, and its name`() throws {
        try bench.addProfile()
        let book = try bench.book()
        for text in [ProfileBench.uuid, ProfileBench.uuid.uppercased(), "778 814 3739", "+1 (778) 814-3739"] {
            #expect(book.keyNames(of: text) == [ProfileBench.uuid])
        }
        // It may be the profile of a watched folder too.
        #expect(book.keyNames(of: "grandma") == [ProfileBench.uuid, "grandma"])
        #expect(book.keyNames(of: "somebody") == ["somebody"])
        #expect(book.keyNames(of: "+4915112345678") == ["+4915112345678"])
        #expect(book.names == [ProfileBench.uuid.inBytes: "Grandma"])
        let uses = [
            ProfileUse(profile: "+17788143739", uuid: ProfileBench.uuid, events: 2),
            ProfileUse(profile: "7788143739", uuid: nil, events: 3),
            ProfileUse(profile: ProfileBench.uuid, uuid: nil, events: 4),
            ProfileUse(profile: "other", uuid: nil, events: 5),
        ]
        #expect(book.counts(uses) == [ProfileBench.uuid.inBytes: 9])
    }

    // MARK: Archived photos

    private func put(class storageClass: StorageClass = .standard, restore: RestoreState = .none) async throws {
        try await bench.archive.put(
            "old", "2025-03-10T08:00:00Z", profile: "+17788143739", title: "Pills", class: storageClass,
            restore: restore)
    }

    @Test func `an archived photo gets a key and metadata without the number, and the old one goes last`() async throws
    {
        try bench.addProfile()
        try await put()
        let dry = try await bench.migrate(isDryRun: true)
        #expect(bench.archive.memory.keys.map(\.rawValue) == [Self.numberKey])
        let result = try await bench.migrate()
        #expect(result == dry)
        #expect(result.moved == 1)
        #expect(bench.archive.memory.keys.map(\.rawValue) == [Self.uuidKey])
        let key = try ObjectKey(Self.uuidKey)
        let info = try #require(bench.archive.memory.info(key))
        #expect(bench.archive.memory.content(key) == Array("photo of old".utf8))
        #expect(info.metadata[MetadataName.profile] == ProfileBench.uuid)
        #expect(info.metadata[MetadataName.taskTitle] == "Pills")
        #expect(info.contentType == "image/jpeg")
        #expect(try bench.ledger.object(key)?.sha256 == info.sha256)
        let operations = bench.archive.store.calls.map(\.operation).filter { [.put, .delete].contains($0) }
        #expect(operations == [.put, .delete])
    }

    @Test func `the class in which the store puts it is noted`() async throws {
        try bench.addProfile()
        try await put()
        _ = try await bench.migrate(in: PlacingStore(base: bench.archive.store))
        #expect(try bench.ledger.object(try ObjectKey(Self.uuidKey))?.storageClass == .standardIA)
        #expect(try bench.ledger.object(try ObjectKey(Self.uuidKey))?.etag != nil)
    }

    @Test func `what was signed off follows its photo`() async throws {
        try bench.addProfile()
        try await bench.write(["+17788143739"])
        try await bench.archive.put("e0", "2025-03-10T08:00:00Z", profile: "+17788143739")
        let old = try ObjectKey("gallery-archive/ana/+17788143739/2025/03/e0.jpg")
        let event = try #require(try bench.ledger.event("e0"))
        let (due, now) = (
            try bench.ledger.dueEvents(createdBefore: .distantFuture, after: nil, limit: 1), bench.bench.time.now
        )
        let place = try #require(due.first?.places.first)
        let generation = try #require(try bench.ledger.generations(of: [place]).first)
        let clean = CleanedEventFile(place: place, generation: generation, events: [event])
        #expect(try bench.ledger.noteClean([clean]) == [true])
        let object = ObjectRecord(
            key: old, size: 3, md5: nil, sha256: SHA256Digest(of: [1]), contentType: "image/jpeg", storedAt: now)
        try bench.ledger.signOff(
            [ArchivedEvent(event: event, profile: "+17788143739", object: object)], user: "ana", at: now)
        _ = try await bench.migrate()
        let record = try #require(try bench.ledger.retentionRecords(limit: 1).first)
        #expect(record.photo?.key.rawValue == "gallery-archive/ana/\(ProfileBench.uuid)/2025/03/e0.jpg")
        #expect(record.profile == ProfileBench.uuid)
        #expect(try bench.ledger.object(old) == nil)
    }

    @Test func `what is archived is left and told, and what is restored is moved`() async throws {
        try bench.addProfile()
        try await put(class: .deepArchive)
        let result = try await bench.migrate()
        #expect((result.moved, result.left.map(\.key.rawValue)) == (0, [Self.numberKey]))
        #expect(result.left.first?.reason.contains("sync-agent restore") == true)
        bench.archive.memory.setClass(.deepArchive, restore: .restored(until: nil), of: try ObjectKey(Self.numberKey))
        #expect(try await bench.migrate().moved == 1)
        #expect(bench.archive.memory.keys.map(\.rawValue) == [Self.uuidKey])
    }

    @Test func `photos of a number without a profile are counted and stay`() async throws {
        try await put()
        let result = try await bench.migrate()
        #expect(result.orphans.map(\.photos) == [1])
        #expect(result.orphans.map(\.events) == [0])
        #expect(bench.archive.memory.keys.map(\.rawValue) == [Self.numberKey])
    }

    @Test func `another photo under the new key is never overwritten, and nothing is removed`() async throws {
        try bench.addProfile()
        try await put()
        try await bench.archive.memory.store([9, 9], at: ObjectKey(Self.uuidKey))
        let result = try await bench.migrate()
        #expect((result.moved, result.left.count) == (0, 1))
        #expect(try bench.archive.memory.content(ObjectKey(Self.uuidKey)) == [9, 9])
        #expect(bench.archive.memory.keys.count == 2)
    }

    @Test(arguments: [
        StoreFault(.put, number: 1, .failBefore(.unreachable)),
        StoreFault(.put, number: 1, .failAfter(.connectionLost)),
        StoreFault(.head, number: 1, .failBefore(.unreachable)),
        StoreFault(.get, number: 1, .failBefore(.credentialsRejected)),
        StoreFault(.get, number: 1, .failAfter(.connectionLost)),
        StoreFault(.delete, number: 1, .failBefore(.unreachable)),
        StoreFault(.delete, number: 1, .failAfter(.serverFailed)),
    ])
    func `interrupted at any request, nothing is lost and the next run completes`(fault: StoreFault) async throws {
        try bench.addProfile()
        try await put()
        bench.archive.store.add(fault)
        _ = try? await bench.migrate()
        #expect(bench.archive.memory.keys.contains { bench.archive.memory.content($0) == Array("photo of old".utf8) })
        _ = try await bench.migrate()
        #expect(bench.archive.memory.keys.map(\.rawValue) == [Self.uuidKey])
        #expect(try bench.archive.memory.content(ObjectKey(Self.uuidKey)) == Array("photo of old".utf8))
    }

    @Test func `a photo that the store denies is left and told, and the others are moved`() async throws {
        try bench.addProfile()
        var keys: [ObjectKey] = []
        for event in ["one", "two", "three"] {
            keys.append(try await bench.archive.put(event, ProfileBench.created, profile: "+17788143739"))
        }
        bench.archive.store.add(StoreFault(.get, key: keys[0].rawValue, .failBefore(.accessDenied)))
        let result = try await bench.migrate()
        #expect(result.moved == 2 && result.left.map(\.key) == [keys[0]])
        #expect(bench.archive.memory.content(keys[0]) != nil)
    }

    @Test func `photos that the store denied come last in the next run, so that the others are moved`() async throws {
        try bench.addProfile()
        for number in 0..<30 {
            try await bench.archive.put("e\(number)", ProfileBench.created, profile: "+17788143739")
        }
        let store = FaultyStore.denying(first: 25, .get, of: bench.archive.memory)
        await #expect(throws: StoreError.self) { try await bench.migrate(in: store) }
        let result = try await bench.migrate(in: store)
        #expect(result.moved == 5 && result.left.count == 25)
        #expect(try await bench.migrate().moved == 25)
    }

    // MARK: Ids that may tell a number

    private func pseudonyms() throws -> Pseudonyms { try Pseudonyms(bench.ledger) }

    @Test func `photos that were archived under an id in which a number may be get its pseudonym`() async throws {
        try await bench.archive.put(
            "old", "2025-03-10T08:00:00Z", profile: "user_4915123455501", title: "Call 415 555 5516")
        let dry = try await bench.migrate(isDryRun: true)
        let result = try await bench.migrate()
        #expect(result == dry && result.moved == 1 && result.waiting == [] && result.orphans == [])
        let pseudonym = try pseudonyms().profile("user_4915123455501")
        let key = "gallery-archive/ana/\(pseudonym)/2025/03/old.jpg"
        #expect(bench.archive.memory.keys.map(\.rawValue) == [key])
        let metadata = try #require(bench.archive.memory.info(try ObjectKey(key))).metadata
        #expect(metadata[MetadataName.profile] == pseudonym)
        #expect(metadata[MetadataName.taskTitle]?.hasPrefix("Call …") == true)
        #expect(!metadata.values.contains { $0.contains("4915123455501") || $0.contains("5516") })
        #expect(try await bench.migrate().moved == 0)
    }

    @Test func `an event's id that may be a number leaves keys and metadata, whoever the profile is`() async throws {
        try bench.addProfile()
        try await bench.archive.put("+4915123777001", "2025-03-10T08:00:00Z", profile: ProfileBench.uuid)
        try await bench.archive.put("e-415-555-5516", "2025-03-10T08:00:00Z", profile: "grandma")
        try await bench.archive.put("e9", "2025-03-10T08:00:00Z", profile: "grandma")
        try await bench.archive.put("task_1741593600000", "2025-03-10T08:00:00Z", profile: "grandma")
        let result = try await bench.migrate()
        #expect(result.moved == 2 && result.left == [])
        let (first, second) = (try pseudonyms().event("+4915123777001"), try pseudonyms().event("e-415-555-5516"))
        #expect(
            Set(bench.archive.memory.keys.map(\.rawValue)) == [
                "gallery-archive/ana/\(ProfileBench.uuid)/2025/03/\(first).jpg",
                "gallery-archive/ana/grandma/2025/03/\(second).jpg",
                "gallery-archive/ana/grandma/2025/03/e9.jpg",
                "gallery-archive/ana/grandma/2025/03/task_1741593600000.jpg",
            ])
        let moved = try ObjectKey("gallery-archive/ana/grandma/2025/03/\(second).jpg")
        #expect(bench.archive.memory.info(moved)?.metadata[MetadataName.eventID] == second)
        #expect(try await bench.migrate().moved == 0)
    }

    @Test func `a profile is found by the id that its pseudonym stands for`() throws {
        let book = ProfileBook(
            [], phones: KnownPhones(), region: "CA", pseudonyms: try pseudonyms())
        #expect(book.keyNames(of: "user_4915123455501").first == (try pseudonyms().profile("user_4915123455501")))
    }

    @Test func `pseudonyms are lasting, of this ledger alone, and hold no id`() throws {
        let other = try Pseudonyms(Ledger.inMemory())
        let mine = try pseudonyms()
        #expect(mine.profile("a1") == (try pseudonyms().profile("a1")))
        #expect(mine.profile("a1") != other.profile("a1"))
        #expect(mine.profile("a1") != mine.event("a1") && mine.profile("a1") != mine.profile("a2"))
        #expect(UUID(uuidString: mine.event("a1")) != nil)
    }

    @Test func `a damaged photo is not given a new name`() async throws {
        try bench.addProfile()
        try await put()
        bench.archive.memory.damage(try ObjectKey(Self.numberKey))
        let result = try await bench.migrate()
        #expect((result.moved, result.left.count) == (0, 1))
        #expect(bench.archive.memory.keys.map(\.rawValue) == [Self.numberKey])
    }

    @Test func `a photo that has its new name already is no copy of itself, and stays`() async throws {
        let key = try await bench.archive.put("old", ProfileBench.created, profile: "p1")
        let place = try #require(ArchivedPhotoPlace(key, of: bench.archive.keys))
        let mover = ArchivedPhotoMover(
            store: bench.archive.store, ledger: bench.queue, keys: bench.archive.keys, book: try bench.book(),
            time: bench.time)
        let outcome = try await mover.move(place, to: "p1", DeniedObjects(), isDryRun: false)
        #expect(outcome == .left("it has this profile's name already"))
        #expect(bench.keys == [key.rawValue])
    }
}

/// Puts all into STANDARD_IA, as a store does whose configuration says so.
private struct PlacingStore: WrappedStore {
    let base: any ObjectStore

    func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        var attributes = attributes
        attributes.storageClass = .standardIA
        return try await base.put(body, at: key, attributes: attributes, condition: condition)
    }
}
