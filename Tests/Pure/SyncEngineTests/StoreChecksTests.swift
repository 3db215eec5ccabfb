import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncSystem
import SyncTestSupport
import Testing

@Suite struct StoreChecksTests {
    private func probe(_ store: any ObjectStore) -> (StoreChecks, ScratchFolder) {
        let scratch = ScratchFolder(store, user: "ana", id: 7)
        return (StoreChecks(store, scratch: scratch), scratch)
    }

    private func keys(_ store: any ObjectStore) async throws -> [String] {
        try await store.list(prefix: "", after: nil, limit: 1_000).objects.map(\.key.rawValue)
    }

    @Test func `A store that keeps its promises passes, and nothing stays in it`() async throws {
        let store = InMemoryStore(lifecycle: .byRules)
        let (probe, scratch) = probe(store)
        let (classes, found) = try await probe.storageClasses()
        let findings =
            [
                try await probe.objects(), try await probe.keys(), try await probe.characters(),
                try await probe.ranges(), try await probe.conditionalPuts(), try await probe.integrity(),
                try await probe.deleteMany(), classes, try await probe.copies(into: found),
            ] + (try await probe.restores(from: found))
        for finding in findings { #expect(finding.state == .ok, "\(finding.name): \(finding.detail)") }
        #expect(found == StoreChecks.classes)
        #expect(findings.last?.name == "restore-status")
        #expect(try await !keys(store).isEmpty)
        #expect(try await scratch.empty() == [])
        #expect(try await keys(store) == [])
    }

    @Test func `what everybody can read of guests is told, and nothing of the trial stays`() async throws {
        let store = InMemoryStore()
        let (probe, scratch) = probe(store)
        let open = try await probe.guestPhotos { store.content($0) }
        #expect(open.name == "guests" && open.state == .wrong && open.remedy != nil)
        #expect(try await keys(store).filter { $0.hasPrefix("shares/") }.count == 2)
        let closed = try await probe.guestPhotos { $0.lastSegment == "0" ? nil : store.content($0) }
        #expect(closed.state == .ok)
        // Where no page is seen either, as below another address, that proves nothing.
        #expect(try await probe.guestPhotos { _ in nil }.state == .limited)
        #expect(try await probe.guestPhotos { _ in Array("<html>".utf8) }.state == .limited)
        let away = StoreError(.unreachable, operation: "get", message: "away")
        #expect(try await probe.guestPhotos { _ in throw away }.state == .limited)
        #expect(try await scratch.empty() == [])
        #expect(try await keys(store) == [])
    }

    @Test(arguments: [(false, Finding.State.limited), (true, .wrong)])
    func `A store that takes names for one that differ in capitals alone is told`(
        replaces: Bool, expected: Finding.State
    ) async throws {
        let (probe, scratch) = probe(CapitalsStore(replaces: replaces))
        let finding = try await probe.keys()
        #expect(finding.name == "keys" && finding.state == expected)
        #expect(finding.detail.contains("ignores capitals") && finding.remedy != nil)
        #expect(try await scratch.empty() == [])
    }

    @Test(arguments: [
        (StoreCapabilities.Lifecycle.byAgent, Finding.State.limited, true), (.byRules, .wrong, false),
    ])
    func `Only the embedded store's invalid request tells of capitals`(
        lifecycle: StoreCapabilities.Lifecycle, expected: Finding.State, tellsOfCapitals: Bool
    ) async throws {
        let store = FaultyStore(InMemoryStore(lifecycle: lifecycle)) { call in
            call.operation == .put && call.key.hasSuffix("/CAPITALS.txt") ? [.failBefore(.invalidRequest)] : []
        }
        let finding = try await probe(store).0.keys()
        #expect(finding.state == expected)
        #expect(finding.detail.contains("ignores capitals") == tellsOfCapitals)
    }

    @Test(arguments: [(true, Finding.State.limited), (false, .wrong)])
    func `A disk that does not take some characters is told by itself, and a server that fails is not one`(
        isOfThisMachine: Bool, expected: Finding.State
    ) async throws {
        let store = FaultyStore(InMemoryStore()) { call in
            call.operation == .put && call.key.contains("?")
                ? [.failBefore(.invalidRequest, isOfThisMachine: isOfThisMachine)] : []
        }
        let (probe, scratch) = probe(store)
        #expect(try await probe.keys().state == .ok)
        let finding = try await probe.characters()
        #expect(finding.name == "characters" && finding.state == expected)
        #expect(finding.detail.contains("does not allow ?") == isOfThisMachine)
        #expect(finding.remedy?.contains("move-store") == isOfThisMachine)
        #expect(try await scratch.empty() == [])
    }

    @Test func `Everything that it stores lies in a folder of its own`() async throws {
        let store = InMemoryStore()
        let (probe, scratch) = probe(store)
        _ = try await probe.ranges()
        #expect(scratch.prefix == "users/ana/doctor-0000000000000007/")
        #expect(try await keys(store).allSatisfy { $0.hasPrefix(scratch.prefix) })
    }

    @Test func `A failure of the store is wrong, with its reason apart from the remedy`() async throws {
        let store = FaultyStore(InMemoryStore(), faults: [StoreFault(.put, .failBefore(.accessDenied))])
        let finding = try await probe(store).0.objects()
        #expect(finding.state == .wrong && finding.remedy != nil)
        #expect((finding.cause as? StoreError)?.code == .accessDenied)
    }

    @Test func `A store without links is limited, whoever would read them`() async throws {
        let finding = try await probe(InMemoryStore()).0.links { _ in [] }
        #expect(finding.state == .limited)
    }

    @Test func `Our rules are compared with the configuration, and nothing is written`() async throws {
        let policy = TierPolicy(
            user: "ana", mode: .bucket, archiveAfterDays: 180, originalsAfterDays: 180,
            floor: ArchiveFloor(configured: 131_072, prices: nil), shareExpireDays: 30)
        let store = FaultyStore(InMemoryStore(lifecycle: .byRules))
        let others = LifecycleConfiguration(rules: [
            LifecycleRule(id: "logs", content: .foreign("<Rule/>")),
            LifecycleRule(id: "sync-agent-photos-bob", content: .foreign("<Rule/>")),
        ])
        try await store.setLifecycle(others)
        let (probe, _) = probe(store)
        let before = try await probe.lifecycle(policy)
        #expect(
            before.state == .limited
                && before.detail.hasSuffix("\(policy.bucketRules.count) to add, beside 2 of others"))
        #expect(try await store.lifecycle() == others)

        try await store.setLifecycle(LifecyclePlan(from: others, policy: policy).configuration)
        let after = try await probe.lifecycle(policy)
        #expect(after.state == .ok && after.detail.hasSuffix("beside 2 of others"))
        #expect(store.count(.setLifecycle) == 2)
    }

    @Test(arguments: [StoreError.Code.unsupported, .accessDenied])
    func `Rules that cannot be had are limited, not wrong`(_ code: StoreError.Code) async throws {
        let policy = TierPolicy(
            user: "ana", mode: .off, archiveAfterDays: 180, originalsAfterDays: 180,
            floor: ArchiveFloor(configured: 131_072, prices: nil), shareExpireDays: 30)
        let store = FaultyStore(
            InMemoryStore(lifecycle: .byRules), faults: [StoreFault(.lifecycle, .failBefore(code))])
        #expect(try await probe(store).0.lifecycle(policy).state == .limited)
    }

    private static func lacking(_ classes: [StorageClass]) -> [StoreFault] {
        classes.map {
            StoreFault(.put, key: "users/ana/doctor-0000000000000007/class-\($0).txt", .failBefore(.invalidRequest))
        }
    }

    @Test func `A class that is refused says nothing of the next one`() async throws {
        let store = FaultyStore(InMemoryStore(), faults: Self.lacking([.intelligentTiering]))
        let (finding, found) = try await probe(store).0.storageClasses()
        #expect(finding.state == .limited)
        #expect(found == StoreChecks.classes.filter { $0 != .intelligentTiering })
        #expect(try await probe(store).0.restores(from: found).map(\.state) == [.ok, .ok])
    }

    @Test(arguments: StoreChecks.classes)
    func `Where a class cannot be tried, nothing is said of what the store has`(broken: StorageClass) async throws {
        let policy = TierPolicy(
            user: "ana", mode: .bucket, archiveAfterDays: 180, originalsAfterDays: 180,
            floor: ArchiveFloor(configured: 131_072, prices: nil), shareExpireDays: 30)
        let key = "users/ana/doctor-0000000000000007/class-\(broken).txt"
        let store = FaultyStore(InMemoryStore(), faults: [StoreFault(.put, key: key, .failBefore(.noSpace))])
        let (finding, found) = try await probe(store).0.storageClasses()
        #expect(finding.state == .wrong && found == nil)
        let restores = try await probe(store).0.restores(from: found)
        #expect(restores.map(\.name) == ["restores"] && restores.map(\.state) == [.limited])
        #expect(restores[0].detail.contains("not tried") && restores[0].remedy?.contains("storage-classes") == true)
        #expect(try await probe(store).0.copies(into: found).state == .ok)
        #expect(try await probe(store).0.lifecycle(policy, classes: found).state == .ok)
    }

    @Test func `A store without classes is limited, and what follows for the archive is said`() async throws {
        let policy = TierPolicy(
            user: "ana", mode: .bucket, archiveAfterDays: 180, originalsAfterDays: 180,
            floor: ArchiveFloor(configured: 131_072, prices: nil), shareExpireDays: 30)
        let store = FaultyStore(InMemoryStore(lifecycle: .byRules), faults: Self.lacking(StoreChecks.classes))
        let (finding, found) = try await probe(store).0.storageClasses()
        #expect(finding.state == .limited)
        #expect(finding.remedy?.contains("archiving is not possible there") == true)
        #expect(found == [])
        let rules = try await probe(store).0.lifecycle(policy, classes: found)
        #expect(rules.state == .limited)
        #expect(rules.detail.contains("has no DEEP_ARCHIVE"))
    }

    @Test func `What earlier doctors left is removed when it is an hour old`() async throws {
        let store = InMemoryStore()
        let body = ObjectBody(bytes: [1], digest: ContentDigest(of: [1]))
        for name in [
            "users/ana/doctor-00000000000000aa/x", "users/ana/photos/x", "users/bob/doctor-00000000000000aa/x",
        ] {
            _ = try await store.put(
                body, at: try ObjectKey(name), attributes: ObjectAttributes(contentType: "text/plain"),
                condition: .ifAbsent)
        }
        let stored = try #require(try await store.list(prefix: "", after: nil, limit: 1).objects.first?.modified)
        let scratch = ScratchFolder(store, user: "ana", id: 7)
        #expect(try await scratch.removeLeftovers(now: stored.addingTimeInterval(3_599)).removed == 0)
        #expect(try await scratch.removeLeftovers(now: stored.addingTimeInterval(3_601)).removed == 1)
        #expect(try await keys(store) == ["users/ana/photos/x", "users/bob/doctor-00000000000000aa/x"])
    }

    @Test func `what a doctor that was killed has tried at a share is removed by a later one`() async throws {
        let store = InMemoryStore()
        _ = try await probe(store).0.guestPhotos { _ in nil }
        #expect(try await keys(store).count == 3)
        let stored = try #require(try await store.list(prefix: "", after: nil, limit: 1).objects.first?.modified)
        let later = ScratchFolder(store, user: "ana", id: 8)
        #expect(try await later.removeLeftovers(now: stored.addingTimeInterval(3_599)).removed == 0)
        #expect(try await keys(store).count == 3)
        #expect(try await later.removeLeftovers(now: stored.addingTimeInterval(3_601)).removed == 1)
        #expect(try await keys(store) == [])
    }

    @Test func `what tells of a share stays as long as what is tried at it`() async throws {
        let store = HidingStore(keeping: "index.html")
        let scratch = ScratchFolder(store, user: "ana", id: 7)
        _ = try await StoreChecks(store, scratch: scratch).guestPhotos { _ in nil }
        #expect(store.count == 3)
        #expect(try await scratch.empty().map(\.key.lastSegment) == ["index.html"])
        #expect(store.count == 2)
    }

    @Test func `What cannot be removed is counted, and does not keep the rest`() async throws {
        let store = HidingStore(keeping: "ranges.txt")
        let scratch = ScratchFolder(store, user: "ana", id: 7)
        _ = try await StoreChecks(store, scratch: scratch).ranges()
        _ = try await StoreChecks(store, scratch: scratch).conditionalPuts()
        #expect(store.count == 2)
        let left = try await scratch.empty()
        #expect(left.map(\.key.lastSegment) == ["ranges.txt"] && left.map(\.reason) == ["it is kept"])
        #expect(store.count == 1)
    }

    @Test func `Where the store lists nothing, what was made is removed all the same`() async throws {
        let memory = InMemoryStore()
        let store = FaultyStore(memory, faults: [StoreFault(.list, .failBefore(.accessDenied))])
        let (probe, scratch) = probe(store)
        _ = try await probe.ranges()
        await #expect(throws: StoreError.self) { try await scratch.empty() }
        #expect(memory.keys == [])
    }

    @Test func `What a listing hides is removed all the same`() async throws {
        let store = HidingStore()
        let scratch = ScratchFolder(store, user: "ana", id: 7)
        _ = try await StoreChecks(store, scratch: scratch).ranges()
        #expect(store.count == 1)
        #expect(try await scratch.empty() == [])
        #expect(store.count == 0)
    }
}

/// A store whose listings are empty.
private final class HidingStore: WrappedStore {
    let base: any ObjectStore = InMemoryStore()
    private let keys = Lock<Set<ObjectKey>>([])
    private let kept: String?

    /// - Parameter name: the last part of a key that cannot be deleted.
    init(keeping name: String? = nil) {
        kept = name
    }

    var count: Int { keys.withLock { $0.count } }

    func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        keys.withLock { keys in _ = keys.insert(key) }
        return try await base.put(body, at: key, attributes: attributes, condition: condition)
    }

    func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage { ObjectPage(objects: []) }

    func delete(_ key: ObjectKey) async throws {
        if let kept, key.lastSegment == kept {
            throw StoreError(.accessDenied, operation: "delete", key: key.rawValue, message: "it is kept")
        }
        keys.withLock { keys in _ = keys.remove(key) }
        try await base.delete(key)
    }
}

/// A store on a disk that ignores capitals.
private final class CapitalsStore: WrappedStore {
    let base: any ObjectStore = InMemoryStore()
    private let replaces: Bool

    /// - Parameter replaces: whether it does not even look at what is there.
    init(replaces: Bool) {
        self.replaces = replaces
    }

    private static func place(of key: ObjectKey) throws -> ObjectKey {
        try ObjectKey(key.rawValue.replacing("CAPITALS", with: "capitals"))
    }

    func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        try await base.put(
            body, at: Self.place(of: key), attributes: attributes, condition: replaces ? .overwrite : condition)
    }

    func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        try await base.get(Self.place(of: key), range: range, into: sink)
    }
}
