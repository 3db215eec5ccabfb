import FoundationEssentials
import SyncCore
import SyncDigest
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct ProfileMergeTests {
    private let bench: ProfileBench

    init() throws {
        bench = try ProfileBench()
        try bench.addProfile()
    }

    // MARK: Merges

    @Test func `events and archived photos are the other profile's, and others' stay`() async throws {
        try await bench.write(["grandma", "grandma", "+17788143739", "grandpa"])
        try await bench.archive.put("a", ProfileBench.created, profile: "grandma")
        try await bench.archive.put("b", ProfileBench.created, profile: "grandpa")
        try await bench.archive.put("c", ProfileBench.created, profile: ProfileBench.uuid)
        let dry = try await bench.merge(isDryRun: true)
        #expect(
            bench.keys == [
                ProfileBench.key("grandma", "a"), ProfileBench.key("grandpa", "b"),
                ProfileBench.key(ProfileBench.uuid, "c"),
            ])
        #expect(try bench.ledger.profileNotes().merges.isEmpty)
        let result = try await bench.merge()
        #expect(result == dry)
        #expect((result.events, result.moved, result.left) == (2, 1, []))
        #expect(
            bench.keys == [
                ProfileBench.key(ProfileBench.uuid, "a"), ProfileBench.key("grandpa", "b"),
                ProfileBench.key(ProfileBench.uuid, "c"),
            ])
        let info = try #require(bench.archive.memory.info(try ObjectKey(ProfileBench.key(ProfileBench.uuid, "a"))))
        #expect(info.metadata[MetadataName.profile] == ProfileBench.uuid)
        #expect(try bench.book().counts(bench.ledger.profileUses()) == [ProfileBench.uuid.inBytes: 3])
        // All of it stands, and nothing is done twice.
        let again = try await bench.merge()
        #expect((again.events, again.moved) == (2, 0))
    }

    @Test func `a number that was merged is the other profile's from then on, also where that goes by an id`()
        async throws
    {
        try await bench.write(["+17788143739", "(778) 814-3739"])
        _ = try await bench.merge(ProfileBench.uuid, into: "ruth")
        #expect(try bench.ledger.mergedProfile(ProfileBench.uuid) == "ruth")
        let book = try bench.book()
        #expect(book.owner(of: "778 814 3739") == .merged(into: "ruth"))
        #expect(book.counts(try bench.ledger.profileUses()) == ["ruth": 2])
        #expect(book.keyNames(of: "ruth") == ["ruth", ProfileBench.uuid])
        #expect(book.keyNames(of: "+17788143739").contains("ruth"))
    }

    @Test func `merges that follow one another lead to the last profile, and to none in a circle`() async throws {
        _ = try await bench.merge("a", into: "b")
        _ = try await bench.merge("b", into: ProfileBench.uuid)
        #expect(try bench.ledger.profileNotes().merges == ["a": ProfileBench.uuid, "b": ProfileBench.uuid])
        #expect(throws: LedgerError.self) { try bench.ledger.mergeProfile(ProfileBench.uuid, into: "a") }
        #expect(throws: LedgerError.self) { try bench.ledger.mergeProfile("a", into: "c") }
        #expect(try bench.book().name("a") == "Grandma")
    }

    @Test func `two events of one id keep both photos`() async throws {
        try await bench.archive.put("same", ProfileBench.created, profile: "grandma")
        let other = try ObjectKey(ProfileBench.key(ProfileBench.uuid, "same"))
        try await bench.archive.memory.store([9, 9], at: other)
        let result = try await bench.merge()
        #expect((result.moved, result.left) == (1, []))
        #expect(bench.archive.memory.content(other) == [9, 9])
        let photo = Array("photo of same".utf8)
        let own = ProfileBench.key(ProfileBench.uuid, "same-\("\(ContentDigest(of: photo).md5)".prefix(8))")
        #expect(bench.keys == [other.rawValue, own])
        #expect(bench.archive.memory.content(try ObjectKey(own)) == photo)
    }

    @Test func `one picture of two events stays two`() async throws {
        try await bench.archive.put("same", ProfileBench.created, profile: "grandma")
        try await bench.archive.put("same", "2025-03-11T08:00:00Z", profile: ProfileBench.uuid)
        #expect(try await bench.merge().moved == 1)
        #expect(bench.keys.count == 2)
        // And one event that both have is one.
        try await bench.archive.put("twin", ProfileBench.created, profile: "grandma")
        try await bench.archive.put("twin", ProfileBench.created, profile: ProfileBench.uuid)
        #expect(try await bench.merge().moved == 1)
        #expect(bench.keys.count == 3 && bench.keys.contains(ProfileBench.key(ProfileBench.uuid, "twin")))
    }

    /// The title of the photo that moves, that of the one that is there, and what titles there are in the end.
    private static let titles: [(moved: String?, there: String?, kept: [String])] = [
        ("Lake", "Lake", ["Lake"]), (nil, "Lake", ["Lake"]), ("La", "Lake", ["Lake"]),
        ("Lake", "Our lake", ["Lake", "Our lake"]), ("Lake", nil, ["Lake"]), ("Lakes", "Lake", ["Lake", "Lakes"]),
    ]

    @Test(arguments: titles)
    func `one photo with two titles keeps both`(moved: String?, there: String?, kept: [String]) async throws {
        try await bench.archive.put("twin", ProfileBench.created, profile: "grandma", title: moved)
        try await bench.archive.put("twin", ProfileBench.created, profile: ProfileBench.uuid, title: there)
        let result = try await bench.merge()
        #expect((result.moved, result.left) == (1, []))
        #expect(bench.keys.allSatisfy { $0.contains(ProfileBench.uuid) })
        let titles = bench.archive.memory.keys.compactMap {
            bench.archive.memory.info($0)?.metadata[MetadataName.taskTitle]
        }
        #expect(titles.sorted() == kept)
        #expect(try await bench.merge().left == [])
    }

    @Test func `a photo whose title has no place any more stays, and is named`() async throws {
        for (profile, title) in [("a", "One"), ("b", "Two"), (ProfileBench.uuid, "Three")] {
            try await bench.archive.put("twin", ProfileBench.created, profile: profile, title: title)
        }
        #expect(try await bench.merge("a").left == [])
        let left = try await bench.merge("b").left
        #expect(left.map(\.key.rawValue) == [ProfileBench.key("b", "twin")])
        #expect(left.first?.reason.contains("with another title") == true)
        #expect(bench.keys.count == 3)
    }

    @Test func `what is in an archive keeps its key, is listed with the other profile, and moves with a migration`()
        async throws
    {
        let key = try await bench.archive.put("old", ProfileBench.created, profile: "grandma", class: .deepArchive)
        let result = try await bench.merge()
        #expect((result.moved, result.left.map(\.key)) == (0, [key]))
        #expect(try bench.book().keyNames(of: "Grandma").prefix(2) == [ProfileBench.uuid, "grandma"])
        #expect(try bench.book().names["grandma"] == "Grandma")
        bench.archive.memory.setClass(.deepArchive, restore: .restored(until: nil), of: key)
        #expect(try await bench.migrate().moved == 1)
        #expect(bench.keys == [ProfileBench.key(ProfileBench.uuid, "old")])
    }

    @Test(arguments: [
        StoreFault(.put, number: 1, .failBefore(.unreachable)),
        StoreFault(.put, number: 1, .failAfter(.connectionLost)),
        StoreFault(.put, number: 2, .failAfter(.connectionLost)),
        StoreFault(.head, number: 1, .failBefore(.unreachable)),
        StoreFault(.get, number: 1, .failBefore(.credentialsRejected)),
        StoreFault(.get, number: 2, .failAfter(.connectionLost)),
        StoreFault(.delete, number: 1, .failBefore(.unreachable)),
        StoreFault(.delete, number: 1, .failAfter(.serverFailed)),
        StoreFault(.list, number: 1, .failBefore(.unreachable)),
    ])
    func `interrupted at any request, nothing is lost and the next run completes`(fault: StoreFault) async throws {
        try await bench.archive.put("one", ProfileBench.created, profile: "grandma")
        try await bench.archive.put("two", ProfileBench.created, profile: "grandma")
        let other = try ObjectKey(ProfileBench.key(ProfileBench.uuid, "two"))
        try await bench.archive.memory.store([9, 9], at: other)
        bench.archive.store.add(fault)
        _ = try? await bench.merge()
        let photos = ["one", "two"].map { Array("photo of \($0)".utf8) }
        for photo in photos {
            #expect(bench.archive.memory.keys.contains { bench.archive.memory.content($0) == photo })
        }
        #expect(try await bench.merge().left == [])
        #expect(bench.keys.count == 3 && bench.keys.allSatisfy { $0.contains(ProfileBench.uuid) })
        for photo in photos {
            #expect(bench.archive.memory.keys.contains { bench.archive.memory.content($0) == photo })
        }
        #expect(bench.archive.memory.content(other) == [9, 9])
    }

    private static let ends: [StoreFault] = [
        StoreFault(.head, number: 1, .failBefore(.unreachable)),
        StoreFault(.get, number: 1, .failBefore(.credentialsRejected)),
        StoreFault(.put, number: 1, .failBefore(.unreachable)),
        StoreFault(.put, number: 1, .failAfter(.unreachable)),
        StoreFault(.delete, number: 1, .failBefore(.unreachable)),
        StoreFault(.delete, number: 1, .failAfter(.unreachable)),
        StoreFault(.get, number: 2, .failBefore(.credentialsRejected)),
    ]

    @Test(arguments: ends, [StoreFault(.list, number: 1, .failBefore(.unreachable))] + ends)
    func `a chain of merges, each of which was interrupted, leaves nothing to a migration`(
        first: StoreFault, second: StoreFault
    ) async throws {
        for (event, profile) in [("one", "a"), ("two", "a"), ("three", "b"), ("four", "c")] {
            try await bench.archive.put(event, ProfileBench.created, profile: profile)
        }
        for (fault, from, into) in [(first, "a", "b"), (second, "b", "c")] {
            bench.archive.store.add(fault)
            await #expect(throws: StoreError.self) { try await bench.merge(from, into: into) }
        }
        #expect(try await bench.merge("b", into: "c").left == [])
        #expect(bench.keys == Set(["one", "two", "three", "four"].map { ProfileBench.key("c", $0) }))
        #expect(try await bench.migrate().moved == 0)
    }

    @Test func `the new photo is asked for once more before the old one goes`() async throws {
        try await bench.archive.put("one", ProfileBench.created, profile: "grandma")
        let (memory, new) = (bench.archive.memory, try ObjectKey(ProfileBench.key(ProfileBench.uuid, "one")))
        // Somebody takes it away as soon as it is proven.
        bench.archive.store.add(StoreFault(.put, number: 1, .afterwards { memory.lose(new) }))
        let result = try await bench.merge()
        #expect((result.moved, result.left.count) == (0, 1))
        #expect(bench.keys == [ProfileBench.key("grandma", "one")])
        #expect(try bench.ledger.object(new) == nil)
        #expect(try bench.ledger.object(ObjectKey(ProfileBench.key("grandma", "one"))) != nil)
        #expect(try await bench.merge().moved == 1)
    }

    /// A gate that the merge did not come to is passed at the end.
    private func merge(passing gate: Gate) async throws -> ProfileMerge.Summary {
        do {
            let result = try await bench.merge()
            gate.open()
            await gate.pass()
            return result
        } catch {
            gate.open()
            await gate.pass()
            throw error
        }
    }

    @Test func `what has come in the place of the new photo is not it`() async throws {
        try await bench.archive.put("two", ProfileBench.created, profile: "grandma")
        let (memory, new, gate) = (
            bench.archive.memory, try ObjectKey(ProfileBench.key(ProfileBench.uuid, "two")), Gate()
        )
        bench.archive.store.add(StoreFault(.head, key: new.rawValue, number: 1, .hold(gate)))
        async let merging = merge(passing: gate)
        await gate.waitForArrivals(1)
        memory.lose(new)
        try await memory.store([9, 9], at: new)
        gate.open()
        let result = try await merging
        #expect((result.moved, result.left.count) == (0, 1))
        #expect(bench.keys == [ProfileBench.key("grandma", "two"), new.rawValue])
    }

    // MARK: Other machines

    private func merged(_ from: String, into other: String, announced: Bool = false) -> OtherMerge {
        OtherMerge(machine: "laptop", profile: from, into: other, isAnnounced: announced)
    }

    private func agreement(_ merges: [OtherMerge]) -> MergeAgreement { MergeAgreement(others: { merges }, publish: {}) }

    @Test func `what leads the other way round on another machine is refused, in one step or in several`() async throws
    {
        for isAnnounced in [false, true] {
            let others = agreement([merged(ProfileBench.uuid, into: "grandma", announced: isAnnounced)])
            for isDryRun in [true, false] {
                let conflict = await #expect(throws: MergeConflict.self) {
                    try await bench.merge(isDryRun: isDryRun, agreement: others)
                }
                #expect("\(try #require(conflict))".contains("merge \(ProfileBench.uuid) into grandma"))
            }
        }
        let circle = agreement([merged(ProfileBench.uuid, into: "u-1"), merged("u-1", into: "grandma")])
        await #expect(throws: MergeConflict.self) { try await bench.merge(agreement: circle) }
        #expect(try bench.ledger.profileNotes().merges.isEmpty && !bench.ledger.withdrawMerge())
        // What was merged into the one that goes moves, too.
        try bench.ledger.mergeProfile("oma", into: "grandma")
        let older = agreement([merged(ProfileBench.uuid, into: "oma")])
        await #expect(throws: MergeConflict.self) { try await bench.merge(agreement: older) }
        // The same, and what has nothing to do with it, is none.
        let same = agreement([
            merged("grandma", into: ProfileBench.uuid), merged("a", into: "b"), merged("b", into: "a"),
        ])
        #expect(try await bench.merge(agreement: same).left == [])
        #expect(try bench.ledger.mergedProfile("oma") == ProfileBench.uuid)
    }

    @Test func `a merge is told before it begins, and one that cannot be told is not`() async throws {
        struct Away: Error {}
        let key = try await bench.archive.put("one", ProfileBench.created, profile: "grandma")
        let away = MergeAgreement(others: { [] }, publish: { throw Away() })
        await #expect(throws: Away.self) { try await bench.merge(agreement: away) }
        #expect(bench.keys == [key.rawValue])
        #expect(try bench.ledger.profileNotes().merges.isEmpty && !bench.ledger.withdrawMerge())
        let ledger = bench.ledger
        let told = Observed<[CatalogLine]>([])
        let agreement = MergeAgreement(
            others: { [] },
            publish: {
                let state = try ledger.catalogState()
                told.change { $0 += state }
            })
        #expect(try await bench.merge(agreement: agreement).moved == 1)
        let line = CatalogProfile(profile: "grandma", number: false, announced: ProfileBench.uuid)
        #expect(told.value.contains(.profile(line)))
        #expect(
            !told.value.contains(.profile(CatalogProfile(profile: "grandma", into: ProfileBench.uuid, number: false))))
    }

    // MARK: Who is meant

    @Test func `a merge that did not get to its end is found again by the name with which it began`() throws {
        try bench.ledger.renameProfile("oma-1", to: "Oma")
        try bench.ledger.renameProfile("oma-2", to: "Oma")
        func find(_ text: String) throws -> ProfileBook.Match { try bench.book().find(text, among: []) }
        #expect(try find("Oma") == .several(["oma-1", "oma-2"]))
        try bench.ledger.mergeProfile("oma-1", into: ProfileBench.uuid)
        #expect(try find("Oma") == .several(["oma-1", "oma-2"]))
        try bench.ledger.renameProfile("oma-2", to: "Ruth")
        #expect(try find("Oma") == .one("oma-1") && find("OMA") == .one("oma-1"))
        // Of two that were merged into one, it is that one.
        try bench.ledger.renameProfile("oma-2", to: "Oma")
        try bench.ledger.mergeProfile("oma-2", into: ProfileBench.uuid)
        #expect(try find("Oma") == .one(ProfileBench.uuid) && find("oma") == .one(ProfileBench.uuid))
        try bench.ledger.renameProfile("oma-3", to: "OMA")
        #expect(try find("oma") == .several(["oma-1", "oma-2", "oma-3"]))
    }

    @Test func `a profile is found by id, number, name, and id in any case, in this order`() throws {
        try bench.ledger.renameProfile("u-17", to: "Grandpa")
        try bench.ledger.renameProfile("grandma", to: "Neighbour")
        let book = try bench.book()
        func find(_ text: String) -> ProfileBook.Match { book.find(text, among: ["Camera", "camera", "Event-Id"]) }
        #expect(find(ProfileBench.uuid.uppercased()) == .one(ProfileBench.uuid))
        #expect(find("(778) 814-3739") == .one(ProfileBench.uuid))
        #expect(find("GRANDPA") == .one("u-17") && find("U-17") == .one("u-17"))
        #expect(find("grandma") == .one("grandma"))
        #expect(find("Grandma") == .one(ProfileBench.uuid))
        #expect(find("GRANDMA") == .several([ProfileBench.uuid, "grandma"]))
        #expect(find("camera") == .one("camera") && find("CAMERA") == .several(["Camera", "camera"]))
        #expect(find("event-id") == .one("Event-Id"))
        #expect(find("+4915112345678") == .orphan(PhoneNumber(e164: "+4915112345678")))
        #expect(find("030/12345") == .unread)
        #expect(find("nobody") == .none)
    }

    @Test func `what stands under a profile is counted with what was merged into it`() async throws {
        try await bench.write(["grandma", "GRANDMA", "+17788143739"])
        try await bench.archive.put("a", ProfileBench.created, profile: "grandma")
        try await bench.archive.put("b", ProfileBench.created, profile: "+17788143739")
        func held(_ id: String) async throws -> ProfileHoldings {
            try await .of(id, bench.book(), ledger: bench.queue, store: bench.archive.store, keys: bench.archive.keys)
        }
        let number = try await held(ProfileBench.uuid)
        #expect((number.events, number.photos.count) == (1, 1))
        #expect(try await held("nobody").isEmpty)
        try bench.ledger.mergeProfile("grandma", into: ProfileBench.uuid)
        let both = try await held(ProfileBench.uuid)
        #expect((both.events, both.photos.count) == (2, 2))
    }
}
