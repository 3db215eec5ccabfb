import FoundationEssentials
import SyncCore
import SyncLocalStore
import SyncTestSupport
import SystemPackage
import Testing

/// What a power cut leaves behind is the folder as it is between two steps: each test copies it there and opens the copy.
@Suite
struct LocalStoreCrashTests {
    private let tree: TemporaryTree
    private let key: ObjectKey

    init() throws {
        tree = try TemporaryTree(in: .memory)
        key = try ObjectKey("users/ana/photos/photo.dat")
    }

    /// Runs `work` on a store, and copies its folder to `crashed` when `step` is reached.
    private func crash(at step: LocalStoreStep, during work: (LocalStore) async throws -> Void) async throws {
        let first = Countdown()
        let live = tree.path("live").string
        let crashed = tree.path("crashed").string
        let store = LocalStore(
            root: tree.path("live"), now: { Date() }, restoreDuration: .seconds(5),
            onStep: { reached in
                guard reached == step, first.fires() else { return }
                try FileManager.default.copyItem(atPath: live, toPath: crashed)
            })
        try await work(store)
        try #require(first.hasFired, "the step was never reached")
    }

    /// The store as the next process finds it, that many seconds later.
    private func reopen(afterSeconds seconds: Double) -> LocalStore {
        LocalStore(
            root: tree.path("crashed"), now: { Date().addingTimeInterval(seconds) }, restoreDuration: .seconds(5))
    }

    private func contents(of store: LocalStore) async throws -> String? {
        guard try await store.head(key) != nil else { return nil }
        return String(decoding: try await store.bytes(of: key), as: UTF8.self)
    }

    private func put(_ text: String, in store: LocalStore) async throws {
        _ = try await store.put(
            ObjectBody(text), at: key, attributes: ObjectAttributes(contentType: "text/plain"), condition: .overwrite)
    }

    @Test(
        arguments: [
            (.writing, nil), (.staged, nil), (.recorded, nil), (.placed, nil), (.committed, "new"),
        ] as [(LocalStoreStep, String?)])
    func `a first put is there whole or not at all, and leaves nothing`(step: LocalStoreStep, expected: String?)
        async throws
    {
        try await crash(at: step) { try await put("new", in: $0) }
        try await verify(expected)
    }

    @Test(
        arguments: [
            (.writing, "old"), (.staged, "old"), (.recorded, "old"), (.placed, "old"), (.committed, "new"),
            (.renaming, "new"), (.renamed, "new"), (.recommitted, "new"),
        ] as [(LocalStoreStep, String)])
    func `an overwriting put leaves the old object or the new one, and nothing else`(
        step: LocalStoreStep, expected: String
    ) async throws {
        let first = LocalStore(root: tree.path("live"), now: { Date() }, restoreDuration: .seconds(5))
        try await put("old", in: first)
        try await crash(at: step) { try await put("new", in: $0) }
        try await verify(expected)
    }

    @Test(
        arguments: [
            (.writing, false), (.staged, false), (.recorded, false), (.placed, false), (.committed, true),
        ] as [(LocalStoreStep, Bool)])
    func `a copy is there whole or not at all, and its source stays`(step: LocalStoreStep, isThere: Bool) async throws {
        let copy = try ObjectKey("shares/abc/photo.dat")
        let first = LocalStore(root: tree.path("live"), now: { Date() }, restoreDuration: .seconds(5))
        try await put("old", in: first)
        try await crash(at: step) { store in
            try await store.copy(key, to: copy, storageClass: .standard, condition: .ifAbsent)
        }
        let store = reopen(afterSeconds: 7_200)
        #expect(try await store.head(copy) != nil ? try await store.bytes(of: copy) == Array("old".utf8) : !isThere)
        #expect(try tree.files(below: "crashed/objects").count == (isThere ? 2 : 1))
        try await store.delete(copy)
        try await verify("old")
    }

    @Test(
        arguments: [LocalStoreStep.recorded, .committed], [true, false])
    func `a change of class or a restore has happened or not, and the object stays`(
        step: LocalStoreStep, isRestore: Bool
    ) async throws {
        let first = LocalStore(root: tree.path("live"), now: { Date() }, restoreDuration: .seconds(5))
        try await put("old", in: first)
        if isRestore { try await first.copy(key, to: key, storageClass: .deepArchive, condition: .overwrite) }
        try await crash(at: step) { store in
            if isRestore {
                _ = try await store.restore(key, RestoreRequest(days: 2, tier: .bulk))
            } else {
                try await store.copy(key, to: key, storageClass: .deepArchive, condition: .overwrite)
            }
        }
        let store = reopen(afterSeconds: 7_200)
        let info = try await store.head(key)
        let hasHappened = step == .committed
        #expect(info?.storageClass == (isRestore || hasHappened ? .deepArchive : .standard))
        #expect((info?.restore != RestoreState.none) == (isRestore && hasHappened))
        #expect(try tree.files(below: "crashed/staging") == [])
        #expect(try tree.files(below: "crashed/objects").count == 1)
        // Whatever state it is in, it can be had again.
        if info?.restore == RestoreState.none, info?.storageClass == .deepArchive {
            _ = try await store.restore(key, RestoreRequest(days: 2, tier: .bulk))
        }
        let later = reopen(afterSeconds: 7_300)
        #expect(try await contents(of: later) == "old")
    }

    @Test func `tidying clears what a crash left an hour ago, without a new process`() async throws {
        try await crash(at: .staged) { try await put("new", in: $0) }
        let hours = Countdown()
        let store = LocalStore(
            root: tree.path("crashed"), now: { Date().addingTimeInterval(hours.hasFired ? 7_200 : 0) },
            restoreDuration: .seconds(5))
        try await store.removeLeftovers()
        #expect(try tree.files(below: "crashed/staging").isEmpty == false)
        _ = hours.fires()
        try await store.removeLeftovers()
        #expect(try tree.files(below: "crashed/staging") == [])
    }

    /// It alone tells which bytes count: what others in `staging/` name may be those.
    @Test(arguments: [LocalStoreStep.placed, .syncing("records/users/ana/photos"), .committed])
    func `where a record cannot be read, no bytes that it may stand for are removed`(
        step: LocalStoreStep
    ) async throws {
        let first = LocalStore(root: tree.path("live"), now: { Date() }, restoreDuration: .seconds(5))
        try await put("old", in: first)
        var step = step
        if case .syncing(let folder) = step { step = .syncing(tree.path("live").pushing(folder)) }
        try await crash(at: step) { try await put("new", in: $0) }
        try tree.write("{", to: "crashed/records/users/ana/photos/photo.dat~.json")
        let before = try tree.files(below: "crashed/objects")
        #expect(before.count == 2)
        let store = reopen(afterSeconds: 7_200)
        try await store.removeLeftovers()
        let error = await #expect(throws: StoreError.self) { _ = try await store.head(key) }
        #expect(error?.code == .badDigest)
        #expect(try tree.files(below: "crashed/objects") == before)
        try await put("again", in: store)
        #expect(try await contents(of: store) == "again")
    }

    @Test func `a deleted object stays deleted, and leaves nothing`() async throws {
        try await crash(at: .deleted) { store in
            try await put("old", in: store)
            try await store.delete(key)
        }
        try await verify(nil)
    }

    @Test(arguments: [LocalStoreStep.staged, .placed])
    func `what is young may belong to a process that lives: it stays`(step: LocalStoreStep) async throws {
        try await crash(at: step) { try await put("new", in: $0) }
        let store = reopen(afterSeconds: 0)
        #expect(try await contents(of: store) == nil)
        #expect(try tree.files(below: "crashed/staging").isEmpty == false)
        // And is in nobody's way.
        try await put("again", in: store)
        #expect(try await contents(of: store) == "again")
    }

    @Test func `a put that was swept while its machine slept fails, stores nothing and can be tried again`()
        async throws
    {
        let first = Countdown()
        let tree = tree
        let slow = LocalStore(
            root: tree.path("live"), now: { Date() }, restoreDuration: .seconds(5),
            onStep: { step in
                guard step == .staged, first.fires() else { return }
                for name in try tree.files(below: "live/staging") {
                    try FileManager.default.removeItem(atPath: tree.path("live/staging/\(name)").string)
                }
            })
        await #expect(throws: StoreError.self) { try await put("new", in: slow) }
        #expect(try tree.files(below: "live/objects") == [])
        #expect(try tree.files(below: "live/staging") == [])
        try await put("new", in: slow)
        #expect(try await contents(of: slow) == "new")
    }

    @Test(
        arguments: [
            "objects/users/ana/photos", "staging", "staging/0123456789abcdef", "records/users", "locks",
        ])
    func `files that somebody else put into the store are never removed`(folder: String) async throws {
        try await crash(at: .placed) { try await put("new", in: $0) }
        let theirs = ["holiday.jpg", "notes.json", "0123456789ABCDEF.data", "song.data", "marker-1"]
        for name in theirs {
            try tree.write("mine", to: "crashed/\(folder)/\(name)")
            try tree.age("crashed/\(folder)/\(name)", bySeconds: 100_000)
        }
        let store = reopen(afterSeconds: 7_200)
        try await store.check()
        try await store.removeLeftovers()
        #expect(try tree.files(below: "crashed/\(folder)").filter { theirs.contains($0) }.count == theirs.count)
        #expect(
            try tree.files(below: "crashed").count { $0.hasSuffix(".data") || $0.hasSuffix(".dat") } == 2, "but its own"
        )
    }

    private func verify(_ expected: String?) async throws {
        let store = reopen(afterSeconds: 7_200)
        #expect(try await contents(of: store) == expected)
        #expect(try tree.files(below: "crashed/staging") == [])
        #expect(try tree.files(below: "crashed/objects").count == (expected == nil ? 0 : 1))
        #expect(try tree.files(below: "crashed/records").count == (expected == nil ? 0 : 1))
        try await put("after", in: store)
        #expect(try await contents(of: store) == "after")
    }
}
