import FoundationEssentials
import SyncCore
import SyncLocalStore
import SyncTestSupport
import SystemPackage
import Testing

/// What the contract suite does not ask of every store.
@Suite struct LocalStoreArchiveTests {
    private let tree: TemporaryTree
    private let time = ManualTime()

    init() throws {
        tree = try TemporaryTree(in: .memory)
    }

    /// Each is what a later process would open.
    private func store(restoreDuration: Duration = .seconds(5), _ time: ManualTime? = nil) -> LocalStore {
        LocalStore(
            root: tree.path("store"), now: (time ?? self.time).source.now, restoreDuration: restoreDuration)
    }

    private func archived(_ name: String, _ storageClass: StorageClass = .deepArchive) async throws -> ObjectKey {
        let key = try ObjectKey(name)
        _ = try await store().put(
            ObjectBody("cold"), at: key,
            attributes: ObjectAttributes(contentType: "image/jpeg", storageClass: storageClass), condition: .overwrite)
        return key
    }

    private func code(_ call: () async throws -> Void) async -> StoreError.Code? {
        let error = await #expect(throws: StoreError.self) { try await call() }
        return error?.code
    }

    @Test func `A restore outlives the process that asked for it`() async throws {
        let key = try await archived("a")
        #expect(try await store().restore(key, RestoreRequest(days: 1, tier: .bulk)) == .accepted)
        #expect(try await store().restore(key, RestoreRequest(days: 1, tier: .bulk)) == .alreadyRetrieving)
        await time.advance(by: .seconds(5))
        #expect(try await store().bytes(of: key) == Array("cold".utf8))
    }

    @Test(
        arguments: [
            (.deepArchive, .bulk, nil), (.deepArchive, .standard, nil), (.deepArchive, .expedited, .tierUnavailable),
            (.glacier, .bulk, nil), (.glacier, .expedited, nil), (.glacierInstantRetrieval, .standard, .notArchived),
            (.intelligentTiering, .standard, .notArchived), (.standard, .bulk, .notArchived),
        ] as [(StorageClass, RestoreTier, StoreError.Code?)])
    func `Each class has the tiers that it has in S3`(
        storageClass: StorageClass, tier: RestoreTier, refusal: StoreError.Code?
    ) async throws {
        let key = try await archived("a", storageClass)
        let request = RestoreRequest(days: 1, tier: tier)
        guard let refusal else {
            #expect(try await store().restore(key, request) == .accepted)
            return
        }
        #expect(await code { _ = try await store().restore(key, request) } == refusal)
        #expect(try await store().head(key)?.restore == RestoreState.none)
    }

    @Test(arguments: [nil, 0, -1])
    func `A restore needs days`(days: Int?) async throws {
        let key = try await archived("a")
        let error = await #expect(throws: StoreError.self) {
            _ = try await store().restore(key, RestoreRequest(days: days, tier: .bulk))
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message == "a restore from DEEP_ARCHIVE needs a number of days, 1 or more")
        #expect(try await store().head(key)?.restore == RestoreState.none)
    }

    @Test func `A faster tier is accepted once, and changes nothing else`() async throws {
        let key = try await archived("a", .glacier)
        let tiers: [(RestoreTier, RestoreAnswer)] = [
            (.bulk, .accepted), (.bulk, .alreadyRetrieving), (.expedited, .accepted), (.standard, .alreadyRetrieving),
        ]
        for (tier, answer) in tiers {
            #expect(try await store().restore(key, RestoreRequest(days: 1, tier: tier)) == answer)
            await time.advance(by: .seconds(1))
        }
        #expect(try await store().head(key)?.restore == .inProgress)
        await time.advance(by: .seconds(1))
        #expect(
            try await store().head(key)?.restore
                == .restored(until: Date(timeIntervalSince1970: 1_767_312_000)))
    }

    /// The examples of the S3 User Guide, "Restoring an archived object": on the 15th at 10:30 for 3 days, and a day later,
    /// at 11:00, for one.
    @Test func `A copy ends at the midnight that S3 would choose`() async throws {
        let time = ManualTime(start: Date(timeIntervalSince1970: 1_350_297_000))
        let key = try await archived("a")
        let store = store(time)
        _ = try await store.restore(key, RestoreRequest(days: 3, tier: .standard))
        await time.advance(by: .seconds(24.5 * 3_600))
        #expect(try await store.head(key)?.restore == .restored(until: Date(timeIntervalSince1970: 1_350_604_800)))
        #expect(try await store.restore(key, RestoreRequest(days: 1, tier: .standard)) == .accepted)
        #expect(try await store.head(key)?.restore == .restored(until: Date(timeIntervalSince1970: 1_350_518_400)))
    }

    @Test(arguments: [(Duration.zero, 0.0), (.milliseconds(500), 1), (.seconds(3 * 86_400), 3 * 86_400)])
    func `A restore takes as long as the store was told, and lasts beyond it`(
        duration: Duration, seconds: Double
    ) async throws {
        let key = try await archived("a")
        let store = store(restoreDuration: duration)
        _ = try await store.restore(key, RestoreRequest(days: 1, tier: .standard))
        #expect(store.capabilities.restoreDuration == duration)
        if seconds > 0 {
            await time.advance(by: .seconds(seconds - 0.6))
            #expect(try await store.head(key)?.restore == .inProgress)
            await time.advance(by: .seconds(0.6))
        }
        #expect(try await store.bytes(of: key) == Array("cold".utf8))
    }

    @Test(arguments: [Duration.zero, .seconds(5), .seconds(3_600)])
    func `A restore that was asked for while the clock was ahead can be read when it is right again`(
        duration: Duration
    ) async throws {
        let key = try await archived("a")
        let ahead = ManualTime(start: time.now.addingTimeInterval(400 * 86_400))
        _ = try await store(restoreDuration: duration, ahead)
            .restore(key, RestoreRequest(days: 1, tier: .standard))
        let right = store(restoreDuration: duration)
        #expect(try await right.bytes(of: key) == Array("cold".utf8))
        let told = try await right.head(key)?.restore
        #expect(told != .inProgress && told != RestoreState.none)
    }

    @Test func `A change of class touches neither the bytes nor the age`() async throws {
        let key = try ObjectKey("users/ana/photos/a.dat")
        try await store().store(.noise(10_000), at: key)
        let before = try FileStamp(of: tree.path("store/objects/users/ana/photos/a.dat"))
        let modified = try await store().head(key)?.modified
        await time.advance(by: .seconds(180 * 86_400))
        try await store().copy(key, to: key, storageClass: .deepArchive, condition: .overwrite)
        #expect(try FileStamp(of: tree.path("store/objects/users/ana/photos/a.dat")) == before)
        #expect(try await store().head(key)?.modified == modified)
        #expect(try tree.files(below: "store/staging") == [])

        // And out again: restored, moved, readable for good.
        #expect(
            await code { try await store().copy(key, to: key, storageClass: .standard, condition: .overwrite) }
                == .archived)
        _ = try await store().restore(key, RestoreRequest(days: 1, tier: .standard))
        await time.advance(by: .seconds(5))
        try await store().copy(key, to: key, storageClass: .standard, condition: .overwrite)
        await time.advance(by: .seconds(10 * 86_400))
        #expect(try await store().head(key)?.restore == RestoreState.none)
        #expect(try await store().bytes(of: key) == .noise(10_000))
    }

    @Test func `What replaces a restored object has nothing of its restore`() async throws {
        let key = try await archived("a")
        _ = try await store().restore(key, RestoreRequest(days: 1, tier: .standard))
        await time.advance(by: .seconds(5))
        _ = try await archived("a")
        #expect(try await store().head(key)?.restore == RestoreState.none)
        #expect(await code { _ = try await store().bytes(of: key) } == .archived)
    }

    @Test func `A damaged object is not copied`() async throws {
        let key = try ObjectKey("a")
        try await store().store(.noise(10_000), at: key)
        try tree.write(.noise(10_000, seed: 2), to: "store/objects/a")
        let copy = try ObjectKey("b")
        #expect(
            await code { try await store().copy(key, to: copy, storageClass: .standard, condition: .overwrite) }
                == .badDigest)
        #expect(try await store().head(copy) == nil)
        #expect(try tree.files(below: "store/objects") == ["a"])
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test func `A store that keeps no rules says who carries them out`() async throws {
        #expect(store().capabilities.lifecycle == .byAgent)
        #expect(await code { _ = try await store().lifecycle() } == .unsupported)
    }
}
