import FoundationEssentials
import SystemPackage
import Testing

@testable import SyncCore

@Suite struct RestorePlanTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000_000)

    private static func candidate(
        _ name: String = "a", _ storageClass: StorageClass = .deepArchive, _ state: RestoreState = .none,
        running: RestoreRequest? = nil, isArchived: Bool? = nil
    ) throws -> RestoreCandidate {
        RestoreCandidate(
            key: try ObjectKey("users/ana/photos/\(name).dat"), storageClass: storageClass, isArchived: isArchived,
            restoreState: state, running: running, size: 1_000, path: "/photos/x.jpg")
    }

    private func plan(
        _ candidates: [RestoreCandidate], _ wish: TierChoice = .tier(.standard), days: Int = 7, extends: Bool = false
    ) throws -> RestorePlan {
        try RestorePlan(for: candidates, wish: wish, days: days, extends: extends, now: Self.now)
    }

    @Test func `archived objects are asked for by class, in the order they came`() throws {
        let all = [
            try Self.candidate("a"), try Self.candidate("b", .glacier), try Self.candidate("c"),
        ]
        let plan = try plan(all)
        #expect(plan.groups.map(\.storageClass) == [.deepArchive, .glacier])
        #expect(plan.groups.first?.candidates == [all[0], all[2]])
        #expect(plan.groups.allSatisfy { $0.request == RestoreRequest(days: 7, tier: .standard) })
        #expect(
            plan.groups.first?.load
                == RestoreLoad(storageClass: .deepArchive, tier: .standard, objects: 2, bytes: 2_000))
        #expect(plan.skipped.isEmpty)
    }

    @Test func `what is saved where it is wanted is not brought back once more`() throws {
        let end = Self.now.addingTimeInterval(3_600)
        var candidates = [
            try Self.candidate("a", .glacier), try Self.candidate("b", .glacier, .inProgress),
            try Self.candidate("c", .glacier, .restored(until: end)), try Self.candidate("d", .standard),
        ]
        for index in candidates.indices { candidates[index].isSaved = true }
        let plan = try plan(candidates)
        #expect(plan.groups.isEmpty)
        #expect(
            plan.skipped.map(\.reason) == [
                .saved, .saved, .alreadyReadable(until: end), .notArchived(.standard),
            ])
    }

    @Test func `what is there, on its way, or nothing to restore is left out with its reason, and is no failure`()
        throws
    {
        let end = Self.now.addingTimeInterval(3_600)
        let rows: [(RestoreCandidate, RestoreSkip)] = [
            (try Self.candidate("a", .standard), .notArchived(.standard)),
            (try Self.candidate("b", .glacierInstantRetrieval), .notArchived(.glacierInstantRetrieval)),
            (try Self.candidate("c", .intelligentTiering), .notArchived(.intelligentTiering)),
            (try Self.candidate("d", .glacier, .inProgress), .alreadyRetrieving(nil)),
            (
                try Self.candidate("e", .glacier, .inProgress, running: RestoreRequest(days: 3, tier: .standard)),
                .alreadyRetrieving(.standard)
            ),
            (try Self.candidate("f", .glacier, .restored(until: end)), .alreadyReadable(until: end)),
            (try Self.candidate("g", .glacier, .restored(until: nil)), .alreadyReadable(until: nil)),
        ]
        let plan = try plan(rows.map(\.0))
        #expect(plan.groups.isEmpty)
        #expect(plan.skipped.map(\.candidate) == rows.map(\.0))
        #expect(plan.skipped.map(\.reason) == rows.map(\.1))
    }

    @Test func `in a rush each class takes the fastest tier that it has`() throws {
        let plan = try plan([try Self.candidate("a"), try Self.candidate("b", .glacier)], .rush)
        #expect(plan.groups.map(\.request.tier) == [.standard, .expedited])
    }

    @Test(
        arguments: [RestoreState.none, .inProgress])
    func `a tier that a class lacks stops everything, and the message has the tiers and hours that exist`(
        state: RestoreState
    ) throws {
        let candidates = [try Self.candidate("a", .glacier), try Self.candidate("b", .deepArchive, state)]
        let error = #expect(throws: TierNotOffered.self) { try plan(candidates, .tier(.expedited)) }
        #expect(error == TierNotOffered(storageClass: .deepArchive, tier: .expedited))
        #expect(
            error?.description == "objects in DEEP_ARCHIVE have no expedited restore; choose bulk (within 48 hours) or "
                + "standard (within 12 hours)")
    }

    @Test func `a tier is no matter for what is readable already or was never archived`() throws {
        let candidates = [
            try Self.candidate("a", .deepArchive, .restored(until: nil)), try Self.candidate("b", .standard),
        ]
        #expect(try plan(candidates, .tier(.expedited)).skipped.count == 2)
    }

    @Test func `a running restore is asked for again only when that makes it faster, with the days it has`() throws {
        let running = try Self.candidate("a", .glacier, .inProgress, running: RestoreRequest(days: 3, tier: .bulk))
        let plan = try plan([running], .tier(.expedited), days: 30)
        #expect(plan.groups.map(\.purpose) == [.faster])
        #expect(plan.groups.map(\.request) == [RestoreRequest(days: 3, tier: .expedited)])
        #expect(try self.plan([running], .tier(.bulk)).groups.isEmpty)
    }

    @Test func `a readable copy stays longer only when that was asked for and is longer`() throws {
        let short = try Self.candidate(
            "a", .deepArchive, .restored(until: RestoreRequest(days: 2, tier: .bulk).end(askedAt: Self.now)))
        let plan = try plan([short], .tier(.expedited), days: 3, extends: true)
        #expect(plan.groups.map(\.purpose) == [.longer])
        #expect(plan.groups.map(\.request) == [RestoreRequest(days: 3, tier: .bulk)])
        #expect(plan.groups.allSatisfy { !$0.load.isRetrieved })
        #expect(try self.plan([short], days: 2, extends: true).groups.isEmpty)
        #expect(try self.plan([short], days: 3).groups.isEmpty)
    }

    @Test
    func
        `an archived object of INTELLIGENT_TIERING is asked for without days, and not faster than both archives allow`()
        throws
    {
        let archived = try Self.candidate("a", .intelligentTiering, isArchived: true)
        #expect(try plan([archived]).groups.map(\.request) == [RestoreRequest(days: nil, tier: .standard)])
        #expect(try plan([archived], .rush).groups.map(\.request.tier) == [.standard])
        #expect(throws: TierNotOffered.self) { try plan([archived], .tier(.expedited)) }
    }

    @Test(
        arguments: [(.bulk, 1, true), (.bulk, 2, false), (.standard, 1, false)] as [(RestoreTier, Int, Bool)])
    func `days that may be over before the restore is are pointed out`(tier: RestoreTier, days: Int, expected: Bool)
        throws
    {
        let plan = try plan([try Self.candidate()], .tier(tier), days: days)
        #expect(plan.groups.map(\.mayEndBeforeReady) == [expected])
    }

    @Test func `every reason reads as a sentence`() {
        let end = Date(timeIntervalSince1970: 1_356_048_000)
        let rows: [(RestoreSkip, String)] = [
            (.alreadyRetrieving(.bulk), "already retrieving (bulk)"),
            (.alreadyRetrieving(nil), "already retrieving"),
            (.alreadyReadable(until: end), "already restored, readable until 2012-12-21T00:00:00Z"),
            (.alreadyReadable(until: nil), "already restored"),
            (.notArchived(.standard), "not archived: objects in STANDARD can be read at once"),
            (.saved, "saved there already"),
        ]
        for (reason, sentence) in rows { #expect(reason.description == sentence) }
    }
}
