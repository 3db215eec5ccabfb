import FoundationEssentials
import SyncCore
import SyncLocalStore
import SyncTestSupport
import SystemPackage
import Testing

/// Two stores over one folder share nothing but the folder: they are what two processes are.
@Suite
struct LocalStoreRaceTests {
    private let tree: TemporaryTree
    private let stores: [LocalStore]

    init() throws {
        let tree = try TemporaryTree(in: .memory)
        self.tree = tree
        stores = (0..<2).map { _ in
            LocalStore(root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(3_600))
        }
    }

    private static let attributes = ObjectAttributes(contentType: "text/plain")

    @Test func `of sixteen puts of one key where nothing is, one wins`() async throws {
        for round in 0..<5 {
            let key = try ObjectKey("race/\(round)")
            let winners: [String] = await withTaskGroup(of: String?.self) { group in
                for number in 0..<16 {
                    group.addTask { [stores] in
                        let text = "text of \(number)"
                        let receipt = try? await stores[number % 2].put(
                            ObjectBody(text), at: key, attributes: Self.attributes, condition: .ifAbsent)
                        return receipt == nil ? nil : text
                    }
                }
                return await group.reduce(into: []) { winners, text in
                    if let text { winners.append(text) }
                }
            }
            #expect(winners.count == 1)
            #expect(String(decoding: try await stores[0].bytes(of: key), as: UTF8.self) == winners.first)
        }
        #expect(try tree.files(below: "store/objects").count == 5)
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test func `a reader gets a whole object while two processes overwrite it`() async throws {
        let key = try ObjectKey("projects.json")
        try await stores[0].store(.noise(50_000, seed: 1), at: key)
        let versions = (1...6).map { [UInt8].noise(50_000 + $0, seed: UInt64($0)) } + [.noise(50_000, seed: 1)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                group.addTask {
                    for round in 0..<10 { try await store.store(versions[round % 6], at: key) }
                }
                group.addTask {
                    for _ in 0..<20 {
                        let bytes = try await store.bytes(of: key)
                        #expect(versions.contains(bytes))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try tree.files(below: "store/objects").count == 1)
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test func `puts and deletes in one folder do not trip over each other's pruning`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, store) in stores.enumerated() {
                for lane in 0..<2 {
                    group.addTask {
                        let key = try ObjectKey("deep/er/folder/\(index)-\(lane)")
                        for _ in 0..<12 {
                            try await store.store([1, 2, 3], at: key)
                            try await store.delete(key)
                        }
                    }
                }
                // Keys that turn the folder's own name into a file and back.
                group.addTask {
                    for name in ["deep", "deep/er", "deep/er/folder"] {
                        let key = try ObjectKey(name)
                        for _ in 0..<6 {
                            try await store.store([4], at: key)
                            try await store.delete(key)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await stores[0].keys() == [])
        #expect(try tree.files(below: "store/objects") == [])
        #expect(try tree.files(below: "store/records") == [])
        #expect(try tree.files(below: "store/staging") == [])
    }

    @Test func `of sixteen restores of one object one begins, and no copy that is made meanwhile loses it`()
        async throws
    {
        let key = try ObjectKey("cold")
        _ = try await stores[0].put(
            ObjectBody("cold"), at: key,
            attributes: ObjectAttributes(contentType: "text/plain", storageClass: .glacier), condition: .ifAbsent)
        let answers: [RestoreAnswer] = try await withThrowingTaskGroup(of: RestoreAnswer?.self) { group in
            for number in 0..<16 {
                group.addTask { [stores] in
                    try await stores[number % 2].restore(key, RestoreRequest(days: 1, tier: .bulk))
                }
                group.addTask { [stores] in
                    await #expect(throws: StoreError.self) {
                        try await stores[number % 2].copy(
                            key, to: key, storageClass: .standard, condition: .overwrite)
                    }
                    return nil
                }
            }
            return try await group.reduce(into: []) { answers, answer in
                if let answer { answers.append(answer) }
            }
        }
        #expect(answers.count { $0 == .accepted } == 1)
        #expect(answers.count { $0 == .alreadyRetrieving } == 15)
        #expect(try await stores[1].head(key)?.restore == .inProgress)
    }

    @Test func `of copies to one key where nothing is, one wins; a reader sees a whole object while classes change`()
        async throws
    {
        let source = try ObjectKey("source")
        let target = try ObjectKey("target")
        try await stores[0].store(.noise(50_000), at: source)
        let winners = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<8 {
                group.addTask { [stores] in
                    do {
                        try await stores[number % 2].copy(
                            source, to: target, storageClass: .standard, condition: .ifAbsent)
                        return 1
                    } catch let error as StoreError where error.code == .alreadyExists {
                        return 0
                    }
                }
                group.addTask { [stores] in
                    let storageClass: StorageClass = number.isMultiple(of: 2) ? .standardIA : .standard
                    try await stores[number % 2].copy(
                        source, to: source, storageClass: storageClass, condition: .overwrite)
                    let bytes = try await stores[number % 2].bytes(of: source)
                    #expect(bytes == .noise(50_000))
                    return 0
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(winners == 1)
        #expect(try await stores[1].bytes(of: target) == .noise(50_000))
        #expect(try tree.files(below: "store/objects") == ["source", "target"])
        #expect(try tree.files(below: "store/staging") == [])
    }
}
