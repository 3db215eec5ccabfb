import FoundationEssentials
import SyncCore
import SyncDigest
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncLocalStore

/// Small objects that are put together. Whoever puts one knows nothing of the others.
@Suite
struct LocalStoreGroupTests {
    private let tree: TemporaryTree

    init() throws {
        tree = try TemporaryTree(in: .memory)
    }

    private func store(
        _ name: String = "store", afterSeconds seconds: Double = 0,
        onStep: @escaping @Sendable (LocalStoreStep) throws -> Void = { _ in }
    ) -> LocalStore {
        LocalStore(
            root: tree.path(name), now: { Date().addingTimeInterval(seconds) }, restoreDuration: .seconds(5),
            onStep: onStep)
    }

    private func order(
        _ key: String, _ text: String, _ condition: PutCondition = .ifAbsent
    ) throws -> PutOrder {
        PutOrder(
            body: ObjectBody(text), key: try ObjectKey(key),
            attributes: ObjectAttributes(contentType: "text/plain"), condition: condition)
    }

    /// Puts objects as one group, in this order.
    /// - Parameter onAnswer: called when one is told what came of it.
    /// - Returns: what each was told; `nil` where it is stored.
    private func put(
        _ orders: [PutOrder], in store: LocalStore, onAnswer: @escaping @Sendable () -> Void = {}
    ) throws -> [StoreError.Code?] {
        let answers = Lock<[Int: Result<PutReceipt, any Error>]>([:])
        let puts = orders.enumerated().map { index, order in
            SmallPut(order: order, flag: CancellationFlag()) { answer in
                answers.withLock { $0[index] = answer }
                onAnswer()
            }
        }
        store.putTogether(puts)
        let told = answers.withLock { $0 }
        return try orders.indices.map { index -> StoreError.Code? in
            let answer = try #require(told[index])
            switch answer {
            case .success: return nil
            case .failure(let error): return (error as? StoreError)?.code ?? .invalidResponse
            }
        }
    }

    private func text(_ key: String, in store: LocalStore) async throws -> String? {
        let key = try ObjectKey(key)
        guard try await store.head(key) != nil else { return nil }
        return String(decoding: try await store.bytes(of: key), as: UTF8.self)
    }

    @Test func `a group takes each step together, and syncs each folder once`() async throws {
        let steps = Lock<[LocalStoreStep]>([])
        let store = store { step in steps.withLock { $0.append(step) } }
        try await store.store([1], at: ObjectKey("users/ana/photos/first"))
        steps.withLock { $0 = [] }
        let orders = try (1...5).map { try order("users/ana/photos/\($0)", "photo \($0)") }
        #expect(try put(orders, in: store) == [nil, nil, nil, nil, nil])
        func five(_ step: LocalStoreStep) -> [LocalStoreStep] { Array(repeating: step, count: 5) }
        let bytes: [LocalStoreStep] = five(.writing) + five(.staged) + five(.recorded)
        let placed: [LocalStoreStep] = [.syncing(tree.path("store/objects/users/ana/photos"))] + five(.placed)
        let committed: [LocalStoreStep] = [.syncing(tree.path("store/records/users/ana/photos"))] + five(.committed)
        let taken = steps.withLock { $0 }
        #expect(taken == bytes + placed + committed)
        for number in 1...5 { #expect(try await text("users/ana/photos/\(number)", in: store) == "photo \(number)") }
        #expect(try tree.files(below: "store/staging") == [])
    }

    /// The folder as it is between two steps is what a killed process leaves.
    @Test(
        arguments: [
            (.writing, 3, 0), (.staged, 3, 0), (.recorded, 1, 0), (.recorded, 3, 0), (.placed, 1, 0), (.placed, 3, 2),
            (.committed, 1, 3), (.committed, 3, 3),
        ] as [(LocalStoreStep, Int, Int)])
    func `a crash leaves each object of a group whole or not at all, and nothing else`(
        step: LocalStoreStep, number: Int, stored: Int
    ) async throws {
        let countdown = Countdown(number)
        let (live, crashed) = (tree.path("live").string, tree.path("crashed").string)
        let first = store("live") { reached in
            guard reached == step, countdown.fires() else { return }
            try FileManager.default.copyItem(atPath: live, toPath: crashed)
        }
        let orders = try ["a/1", "a/2", "b/3"].map { try order($0, "bytes of \($0)") }
        #expect(try put(orders, in: first) == [nil, nil, nil])
        try #require(countdown.hasFired)
        let second = store("crashed", afterSeconds: 7_200)
        var found = 0
        for name in ["a/1", "a/2", "b/3"] {
            guard let read = try await text(name, in: second) else { continue }
            #expect(read == "bytes of \(name)")
            found += 1
        }
        #expect(found == stored)
        #expect(try tree.files(below: "crashed/objects").count == stored)
        #expect(try tree.files(below: "crashed/records").count == stored)
        #expect(try tree.files(below: "crashed/staging") == [])
    }

    @Test func `one of a group that fails is told so, and its neighbours are stored`() async throws {
        let store = store()
        try await store.store(Array("old".utf8), at: ObjectKey("b"))
        let wrong = PutOrder(
            body: ObjectBody(bytes: [1], digest: ContentDigest(of: [2])), key: try ObjectKey("c"),
            attributes: ObjectAttributes(contentType: "text/plain"), condition: .ifAbsent)
        let orders = [try order("a", "first"), try order("b", "new"), wrong, try order("d", "last")]
        #expect(try put(orders, in: store) == [nil, .alreadyExists, .badDigest, nil])
        #expect(try await text("a", in: store) == "first")
        #expect(try await text("b", in: store) == "old")
        #expect(try await text("c", in: store) == nil)
        #expect(try await text("d", in: store) == "last")
        #expect(try tree.files(below: "store/objects").sorted() == ["a", "b", "d"])
        #expect(try tree.files(below: "store/staging") == [])
    }

    /// Told before them, some failures in a row would pass for a store that takes nothing.
    @Test func `what fails is not told before what is stored beside it`() throws {
        let (told, toldBefore) = (Lock(0), Lock<Int?>(nil))
        let store = store { step in
            if step == .committed { toldBefore.withLock { $0 = told.withLock { $0 } } }
        }
        let wrong = ObjectBody(bytes: [1], digest: ContentDigest(of: [2]))
        let attributes = ObjectAttributes(contentType: "text/plain")
        var orders = try (1...3).map { number in
            PutOrder(body: wrong, key: try ObjectKey("wrong/\(number)"), attributes: attributes, condition: .ifAbsent)
        }
        orders.append(try order("right", "right"))
        let answers = try put(orders, in: store, onAnswer: { told.withLock { $0 += 1 } })
        #expect(answers == [.badDigest, .badDigest, .badDigest, nil])
        #expect(toldBefore.withLock { $0 } == 0)
        #expect(told.withLock { $0 } == 4)
    }

    @Test func `objects of a group that are in each other's way are put one by one`() async throws {
        let store = store()
        try await store.store(Array("old".utf8), at: ObjectKey("old"))
        let orders = [
            try order("k", "first"), try order("k", "second"), try order("K", "capital"), try order("f", "file"),
            try order("f/below", "in a folder"), try order("old", "new", .overwrite),
        ]
        #expect(try put(orders, in: store) == [nil, .alreadyExists, nil, nil, nil, nil])
        #expect(try await text("k", in: store) == "first")
        #expect(try await text("K", in: store) == "capital")
        #expect(try await text("f", in: store) == "file")
        #expect(try await text("f/below", in: store) == "in a folder")
        #expect(try await text("old", in: store) == "new")
        #expect(try tree.files(below: "store/objects").count == 5)
        #expect(try tree.files(below: "store/records").count == 5)
        #expect(try tree.files(below: "store/staging") == [])
    }

    /// Puts a group in a store that cannot sync the folder `one`, in which two of the three lie.
    /// - Parameter area: where that folder is: with the bytes, or with the records.
    /// - Returns: the store.
    private func putWithoutSync(in area: String) throws -> LocalStore {
        let folder = tree.path("store/\(area)/one")
        let store = store { step in
            if step == .syncing(folder) { throw FileError(call: "fsync", path: folder, errno: .ioError) }
        }
        let orders = try ["one/a", "one/b", "two/c"].map { try order($0, $0) }
        #expect(try put(orders, in: store) == [.serverFailed, .serverFailed, nil])
        return store
    }

    @Test func `where bytes cannot be synced, nothing of that folder is stored, and what is in others is`() throws {
        _ = try putWithoutSync(in: "objects")
        #expect(try tree.files(below: "store/objects") == ["two/c"])
        #expect(try tree.files(below: "store/records").count == 1)
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test func `where records cannot be synced, none of them is called stored before somebody makes up for it`()
        async throws
    {
        let first = try putWithoutSync(in: "records")
        let key = try ObjectKey("one/a")
        await #expect(throws: StoreError.self) { _ = try await first.head(key) }
        #expect(try tree.files(below: "store/staging").count == 2)
        let second = store()
        for name in ["one/a", "one/b", "two/c"] { #expect(try await text(name, in: second) == name) }
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test func `of many small objects that come at once, each is stored`() async throws {
        let store = store()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask { try await store.store(Array("\(number)".utf8), at: ObjectKey("many/\(number)")) }
            }
            try await group.waitForAll()
        }
        for number in 0..<200 { #expect(try await text("many/\(number)", in: store) == "\(number)") }
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test func `a small put that was cancelled before its turn stores nothing`() async throws {
        let store = store()
        let key = try ObjectKey("late")
        await #expect(throws: CancellationError.self) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.cancelAll()
                group.addTask { try await store.store([1], at: key) }
                try await group.waitForAll()
            }
        }
        #expect(try await store.head(key) == nil)
        #expect(try tree.files(below: "store/staging") == [])
    }
}
