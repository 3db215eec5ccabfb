import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Photos of which no catalogue tells, in a ledger that is made anew.
struct RecoveredPhotoTests {
    private let bench: CatalogBench

    init() throws { bench = try CatalogBench() }

    private static let late = Dictionary(uniqueKeysWithValues: (0..<60).map { ("\($0).jpg", "late \($0)") })

    /// A machine whose catalogue names one photo.
    private func lost() async throws -> CatalogMachine {
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        _ = try await machine.write()
        return machine
    }

    @Test(arguments: [StoreFault.Effect.sayAbsent, .failBefore(.invalidRequest)])
    func `one that is listed and not given is told, and found by the next rebuild`(
        effect: StoreFault.Effect
    ) async throws {
        let old = try await lost()
        try await old.see(["d.jpg": "d", "e.jpg": "e"], in: "late")
        let key = try bench.keys.photo(PhotoID(ContentDigestOf("d").md5))
        let machine = try bench.machine("new")
        let faulty = FaultyStore(bench.memory, faults: [StoreFault(.head, key: key.rawValue, effect)])
        let first = try await machine.rebuild(over: faulty)
        #expect(first.recovered == 1 && first.fromCatalog == 1)
        #expect(first.problems.contains { $0.contains(key.rawValue) }, "\(first.problems)")
        let later = try await machine.rebuild()
        #expect(later.recovered == 2 && !later.problems.contains { $0.contains(key.rawValue) })
    }

    @Test func `a store that lists and gives nothing is not asked for each, and the next one goes on`() async throws {
        // No catalogue tells anything.
        try await bench.machine("laptop").see(Self.late, in: "late")
        let machine = try bench.machine("new")
        let faulty = FaultyStore(bench.memory, faults: [StoreFault(.head, .failBefore(.accessDenied))])
        let error = await #expect(throws: StoreError.self) { _ = try await machine.rebuild(over: faulty) }
        #expect(error?.code == .accessDenied)
        #expect(faulty.count(.head) < 40)
        #expect(try await machine.rebuild().recovered == 60)
    }

    @Test func `photos without a name that a store denies end nothing where it gives the catalogue`() async throws {
        let old = try await lost()
        try await old.see(Self.late, in: "late")
        let machine = try bench.machine("new")
        let faults = try Self.late.values.map { text in
            StoreFault(
                .head, key: try bench.keys.photo(PhotoID(ContentDigestOf(text).md5)).rawValue,
                .failBefore(.accessDenied))
        }
        let first = try await machine.rebuild(over: FaultyStore(bench.memory, faults: faults))
        let denied = first.problems.count { $0.contains(bench.keys.photos) }
        #expect(first.fromCatalog == 1 && first.recovered == 0 && denied == 60)
        #expect(try await machine.rebuild().recovered == 60)
    }

    @Test func `photos of a user who is called as a folder of projects are found`() async throws {
        let bench = try CatalogBench(user: "versions")
        let old = try bench.machine("laptop")
        try await old.see(["d.jpg": "d"])
        #expect(try await bench.machine("new").rebuild().recovered == 1)
    }

    @Test func `files of projects that have one name in several folders are all found`() async throws {
        let files = ["x.jpg", "a/x.jpg", "b/x.jpg", "a/versions/x.jpg", "versions/x.jpg"]
        for name in files + ["a/versions/20260501T101500Z-9e107d9d.jpg"] {
            _ = try await bench.memory.put(
                ObjectBody(bytes: Array(name.utf8), digest: ContentDigestOf(name)), at: bench.keys.projectFile(name),
                attributes: ObjectAttributes(contentType: "image/jpeg", metadata: [:]), condition: .ifAbsent)
        }
        let machine = try bench.machine("new")
        #expect(try await machine.rebuild().recovered == files.count)
        #expect(try machine.known() == Set(files.map { "/recovered/\($0) missing" }))
        // A second time nothing is new.
        #expect(try await machine.rebuild().recovered == files.count)
    }

    @Test(arguments: ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
    func `one is found whatever it says of its time`(takenAt: String) async throws {
        _ = try await lost()
        let digest = ContentDigestOf("far")
        _ = try await bench.memory.put(
            ObjectBody(bytes: Array("far".utf8), digest: digest), at: bench.keys.photo(PhotoID(digest.md5)),
            attributes: ObjectAttributes(contentType: "image/jpeg", metadata: [MetadataName.takenAt: takenAt]),
            condition: .ifAbsent)
        let machine = try bench.machine("new")
        #expect(try await machine.rebuild().recovered == 1)
    }
}
