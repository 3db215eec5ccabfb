import FoundationEssentials
import SyncCore
import SyncDigest
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct ProfileMergeTests {
    private static let phone = PhoneNumber(e164: "+17788143739")
    private static let uuid = "0f3a9c21-6c0e-4c57-9c55-1b1a0c9b5b2d"
    private static let created = "2025-03-10T08:00:00Z"

    private let bench: Bench
    private let archive: ArchiveBench
    private let queue: LedgerQueue

    init() throws {
        bench = try Bench()
        archive = try ArchiveBench()
        queue = LedgerQueue(bench.ledger)
        _ = try bench.ledger.addProfile(uuid: Self.uuid, phone: Self.phone, name: "Grandma", at: bench.time.now)
    }

    private func book() throws -> ProfileBook {
        ProfileBook(
            try bench.ledger.profiles(), notes: try bench.ledger.profileNotes(), phones: KnownPhones(), region: "CA",
            pseudonyms: try Pseudonyms(bench.ledger))
    }

    // Nobody waits for a second try.
    private var time: TimeSource {
        TimeSource(now: bench.time.source.now, monotonic: { .zero }, sleep: { _ in }, random: { 0 })
    }

    private func merge(
        _ from: String = "grandma", into other: String = uuid, isDryRun: Bool = false
    ) async throws -> ProfileMerge.Summary {
        let merge = ProfileMerge(
            store: archive.store, ledger: queue, keys: archive.keys, book: try book(), time: time)
        return try await merge.run(from, into: other, isDryRun: isDryRun)
    }

    private func write(_ profiles: [String]) async throws {
        let events = profiles.enumerated().map { index, profile in
            #"{"id":"e\#(index)","profileId":"\#(profile)","eventType":"taskResponse","createdAt":1700000000}"#
        }
        bench.disk.write("[" + events.joined(separator: ",") + "]", to: Bench.gallery.appending("events.json"))
        try await bench.pass()
    }

    private var keys: Set<String> { Set(archive.memory.keys.map(\.rawValue)) }
    private static func key(_ profile: String, _ event: String) -> String {
        "gallery-archive/ana/\(profile)/2025/03/\(event).jpg"
    }

    // MARK: Merges

    @Test func `events and archived photos are the other profile's, and others' stay`() async throws {
        try await write(["grandma", "grandma", "+17788143739", "grandpa"])
        try await archive.put("a", Self.created, profile: "grandma")
        try await archive.put("b", Self.created, profile: "grandpa")
        try await archive.put("c", Self.created, profile: Self.uuid)
        let dry = try await merge(isDryRun: true)
        #expect(keys == [Self.key("grandma", "a"), Self.key("grandpa", "b"), Self.key(Self.uuid, "c")])
        #expect(try bench.ledger.profileNotes().merges.isEmpty)
        let result = try await merge()
        #expect(result == dry)
        #expect((result.events, result.moved, result.left) == (2, 1, []))
        #expect(keys == [Self.key(Self.uuid, "a"), Self.key("grandpa", "b"), Self.key(Self.uuid, "c")])
        let info = try #require(archive.memory.info(try ObjectKey(Self.key(Self.uuid, "a"))))
        #expect(info.metadata[MetadataName.profile] == Self.uuid)
        #expect(try book().counts(bench.ledger.profileUses()) == [Self.uuid.inBytes: 3])
        // All of it stands, and nothing is done twice.
        let again = try await merge()
        #expect((again.events, again.moved) == (2, 0))
    }

    @Test func `a number that was merged is the other profile's from then on, also where that goes by an id`()
        async throws
    {
        try await write(["+17788143739", "(778) 814-3739"])
        _ = try await merge(Self.uuid, into: "ruth")
        #expect(try bench.ledger.mergedProfile(Self.uuid) == "ruth")
        let book = try book()
        #expect(book.owner(of: "778 814 3739") == .merged(into: "ruth"))
        #expect(book.counts(try bench.ledger.profileUses()) == ["ruth": 2])
        #expect(book.keyNames(of: "ruth") == ["ruth", Self.uuid])
        #expect(book.keyNames(of: "+17788143739").contains("ruth"))
    }

    @Test func `merges that follow one another lead to the last profile, and to none in a circle`() async throws {
        _ = try await merge("a", into: "b")
        _ = try await merge("b", into: Self.uuid)
        #expect(try bench.ledger.profileNotes().merges == ["a": Self.uuid, "b": Self.uuid])
        #expect(throws: LedgerError.self) { try bench.ledger.mergeProfile(Self.uuid, into: "a") }
        #expect(throws: LedgerError.self) { try bench.ledger.mergeProfile("a", into: "c") }
        #expect(try book().name("a") == "Grandma")
    }

    @Test func `two events of one id keep both photos`() async throws {
        try await archive.put("same", Self.created, profile: "grandma")
        let other = try ObjectKey(Self.key(Self.uuid, "same"))
        try await archive.memory.store([9, 9], at: other)
        let result = try await merge()
        #expect((result.moved, result.left) == (1, []))
        #expect(archive.memory.content(other) == [9, 9])
        let photo = Array("photo of same".utf8)
        let own = Self.key(Self.uuid, "same-\("\(ContentDigest(of: photo).md5)".prefix(8))")
        #expect(keys == [other.rawValue, own])
        #expect(archive.memory.content(try ObjectKey(own)) == photo)
    }

    @Test func `one picture of two events stays two`() async throws {
        try await archive.put("same", Self.created, profile: "grandma")
        try await archive.put("same", "2025-03-11T08:00:00Z", profile: Self.uuid)
        #expect(try await merge().moved == 1)
        #expect(keys.count == 2)
        // And one event that both have is one.
        try await archive.put("twin", Self.created, profile: "grandma")
        try await archive.put("twin", Self.created, profile: Self.uuid)
        #expect(try await merge().moved == 1)
        #expect(keys.count == 3 && keys.contains(Self.key(Self.uuid, "twin")))
    }

    @Test func `what is in an archive keeps its key, is listed with the other profile, and moves with a migration`()
        async throws
    {
        let key = try await archive.put("old", Self.created, profile: "grandma", class: .deepArchive)
        let result = try await merge()
        #expect((result.moved, result.left.map(\.key)) == (0, [key]))
        #expect(try book().keyNames(of: "Grandma").prefix(2) == [Self.uuid, "grandma"])
        #expect(try book().names["grandma"] == "Grandma")
        archive.memory.setClass(.deepArchive, restore: .restored(until: nil), of: key)
        let migration = ProfileMigration(
            store: archive.store, ledger: queue, keys: archive.keys, book: try book(), time: time)
        #expect(try await migration.run(isDryRun: false).moved == 1)
        #expect(keys == [Self.key(Self.uuid, "old")])
    }

    @Test(arguments: [
        StoreFault(.put, number: 1, .failBefore(.unreachable)),
        StoreFault(.put, number: 1, .failAfter(.connectionLost)),
        StoreFault(.put, number: 2, .failAfter(.connectionLost)),
        StoreFault(.head, number: 1, .failBefore(.unreachable)),
        StoreFault(.get, number: 1, .failBefore(.accessDenied)),
        StoreFault(.get, number: 2, .failAfter(.connectionLost)),
        StoreFault(.delete, number: 1, .failBefore(.unreachable)),
        StoreFault(.delete, number: 1, .failAfter(.serverFailed)),
        StoreFault(.list, number: 1, .failBefore(.unreachable)),
    ])
    func `interrupted at any request, nothing is lost and the next run completes`(fault: StoreFault) async throws {
        try await archive.put("one", Self.created, profile: "grandma")
        try await archive.put("two", Self.created, profile: "grandma")
        let other = try ObjectKey(Self.key(Self.uuid, "two"))
        try await archive.memory.store([9, 9], at: other)
        archive.store.add(fault)
        _ = try? await merge()
        let photos = ["one", "two"].map { Array("photo of \($0)".utf8) }
        for photo in photos { #expect(archive.memory.keys.contains { archive.memory.content($0) == photo }) }
        #expect(try await merge().left == [])
        #expect(keys.count == 3 && keys.allSatisfy { $0.contains(Self.uuid) })
        for photo in photos { #expect(archive.memory.keys.contains { archive.memory.content($0) == photo }) }
        #expect(archive.memory.content(other) == [9, 9])
    }

    // MARK: Who is meant

    @Test func `a profile is found by id, number, name, and id in any case, in this order`() throws {
        try bench.ledger.renameProfile("u-17", to: "Grandpa")
        try bench.ledger.renameProfile("grandma", to: "Neighbour")
        let book = try book()
        func find(_ text: String) -> ProfileBook.Match { book.find(text, among: ["Camera", "camera", "Event-Id"]) }
        #expect(find(Self.uuid.uppercased()) == .one(Self.uuid))
        #expect(find("(778) 814-3739") == .one(Self.uuid))
        #expect(find("GRANDPA") == .one("u-17") && find("U-17") == .one("u-17"))
        #expect(find("grandma") == .one("grandma"))
        #expect(find("Grandma") == .one(Self.uuid))
        #expect(find("GRANDMA") == .several([Self.uuid, "grandma"]))
        #expect(find("camera") == .one("camera") && find("CAMERA") == .several(["Camera", "camera"]))
        #expect(find("event-id") == .one("Event-Id"))
        #expect(find("+4915112345678") == .orphan(PhoneNumber(e164: "+4915112345678")))
        #expect(find("030/12345") == .unread)
        #expect(find("nobody") == .none)
    }

    @Test func `what stands under a profile is counted with what was merged into it`() async throws {
        try await write(["grandma", "GRANDMA", "+17788143739"])
        try await archive.put("a", Self.created, profile: "grandma")
        try await archive.put("b", Self.created, profile: "+17788143739")
        func held(_ id: String) async throws -> ProfileHoldings {
            try await .of(id, book(), ledger: queue, store: archive.store, keys: archive.keys)
        }
        let number = try await held(Self.uuid)
        #expect((number.events, number.photos.count) == (1, 1))
        #expect(try await held("nobody").isEmpty)
        try bench.ledger.mergeProfile("grandma", into: Self.uuid)
        let both = try await held(Self.uuid)
        #expect((both.events, both.photos.count) == (2, 2))
    }
}
