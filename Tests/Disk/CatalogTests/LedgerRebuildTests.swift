import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncGzip
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

func ContentDigestOf(_ text: String) -> ContentDigest { ContentDigest(of: Array(text.utf8)) }

struct LedgerRebuildTests {
    private let bench: CatalogBench

    init() throws { bench = try CatalogBench() }

    /// A machine with two folders of photos, whose catalogue is written.
    private func lost(_ name: String = "laptop") async throws -> CatalogMachine {
        let machine = try bench.machine(name)
        try await machine.see(["a.jpg": "a", "b.jpg": "b"])
        try await machine.see(["c.jpg": "c", "twice.jpg": "a"], in: "2019/rome")
        _ = try await machine.write()
        return machine
    }

    private static let paths: Set<String> = [
        "/pictures/Gallery/a.jpg missing", "/pictures/Gallery/b.jpg missing",
        "/pictures/Gallery/2019/rome/c.jpg missing",
        "/pictures/Gallery/2019/rome/twice.jpg missing",
    ]

    @Test func `every path is known again, with its object, and a second time nothing is new`() async throws {
        _ = try await lost()
        let machine = try bench.machine("new")
        let puts = bench.store.count(.put)
        let first = try await machine.rebuild()
        #expect([first.photos, first.fromCatalog, first.recovered, first.lost] == [4, 4, 0, 0])
        #expect(first.problems == [] && first.machines.map(\.role) == [.takenOver])
        #expect(first.requests <= 6)
        #expect(try machine.known() == Self.paths)
        let again = try await machine.rebuild()
        #expect(again == first)
        #expect(try machine.known() == Self.paths)
        #expect(try machine.ledger.check() == [])
        #expect(bench.store.count(.put) == puts)
    }

    @Test func `what one listing cannot look at is no loss`() async throws {
        _ = try await lost()
        let machine = try bench.machine("new")
        let first = try await machine.rebuild(over: HastyListing(base: bench.memory, prefix: bench.keys.photos))
        #expect(first.lost == 0 && first.problems == [])
        #expect(try machine.known() == Self.paths)
    }

    @Test func `what is on the disk with the size and time of then is taken for it, and nothing else is`() async throws
    {
        let old = try await lost()
        let machine = try bench.machine("new")
        _ = try await machine.rebuild()
        let now = bench.time.now
        let files = [
            ScannedFile(name: "a.jpg", stamp: moved(CatalogMachine.stamp("a"))),
            ScannedFile(name: "b.jpg", stamp: moved(CatalogMachine.stamp("other"))),
        ]
        let seen = try machine.ledger.reconcile(
            machine.folder.id, directory: "", files: files, settled: { _ in true }, stillThere: { _ in false }, at: now)
        #expect(seen.returned == 1 && seen.changed == 1)
        #expect(try machine.known().contains("/pictures/Gallery/a.jpg uploaded"))
        #expect(try machine.known().contains("/pictures/Gallery/b.jpg pending"))
        withExtendedLifetime(old) {}
        // From then on it is the file itself that counts.
        let later = try machine.ledger.reconcile(
            machine.folder.id, directory: "", files: files, settled: { _ in true }, stillThere: { _ in false }, at: now)
        #expect(later.isEmpty && later.unchanged == 2)
    }

    @Test func `a file that was taken for what is stored by size and time is read later`() async throws {
        let old = try await lost()
        let machine = try bench.machine("new")
        _ = try await machine.rebuild()
        let now = bench.time.now
        let files = ["a.jpg": "a", "b.jpg": "b"].map { name, text in
            ScannedFile(name: FilePath.Component(name) ?? "x", stamp: moved(CatalogMachine.stamp(text)))
        }
        func unread() throws -> Int { try machine.ledger.verificationStatus(at: now).unread }
        #expect(try unread() == 0)
        _ = try machine.ledger.reconcile(
            machine.folder.id, directory: "", files: files, settled: { _ in true }, stillThere: { _ in false }, at: now)
        #expect(try unread() == 2)
        #expect(try machine.ledger.claim(limit: 10, at: now) == [])
        #expect(try machine.ledger.requeueMatched(limit: 1, at: now) == 1)
        #expect(try unread() == 1)
        #expect(try machine.ledger.requeueMatched(limit: 10, at: now) == 1)
        #expect(try machine.ledger.claim(limit: 10, at: now).count == 2)
        #expect(try unread() == 0)
        withExtendedLifetime(old) {}
    }

    private func moved(_ stamp: FileStamp) -> FileStamp {
        FileStamp(device: 9, inode: stamp.inode + 1, size: stamp.size, modified: stamp.modified, changed: 1, born: 1)
    }

    @Test func `photos without a name are found by the listing`() async throws {
        let old = try await lost()
        try await old.see(["d.jpg": "d"], in: "late")
        let machine = try bench.machine("new")
        let summary = try await machine.rebuild()
        #expect(summary.recovered == 1 && summary.fromCatalog == 4)
        let id = ContentDigestOf("d").md5
        #expect(try machine.known() == Self.paths.union(["/recovered/2024-06-15_\(id).jpg missing"]))
        // Its machine tells of it later on: then it has its name.
        _ = try await old.write()
        let later = try await machine.rebuild(inPlaceOf: "laptop")
        #expect(later.recovered == 0 && later.fromCatalog == 5)
    }

    @Test func `it may end at any request and at any segment, and the next run completes it`() async throws {
        let old = try await lost()
        try await old.see(["e.jpg": "e"], in: "more")
        let whole = try bench.machine("whole")
        _ = try await whole.rebuild()
        let known = try whole.known()
        let requests = bench.store.calls.count
        for number in 1...20 {
            let machine = try bench.machine("new")
            let faulty = FaultyStore(bench.memory)
            for operation in [StoreOperation.list, .get, .head] {
                faulty.add(StoreFault(operation, number: number, .failAfter(.unreachable)))
            }
            do {
                _ = try await machine.rebuild(over: faulty)
            } catch is StoreError {
                _ = try await machine.rebuild()
            }
            #expect(try machine.known() == known)
            #expect(try machine.ledger.check() == [])
        }
        #expect(requests > 0)
    }

    @Test func `killed, and followed by a pass, the next run takes the same place and completes it`() async throws {
        for number in 1...6 {
            let bench = try CatalogBench()
            let old = try bench.machine("laptop")
            try await old.see(["a.jpg": "a", "b.jpg": "b"])
            try await old.write()
            try await old.see(["e.jpg": "e"], in: "more")
            try await old.write()
            let machine = try bench.machine("new")
            let faulty = FaultyStore(bench.memory)
            for operation in [StoreOperation.list, .get, .head] {
                faulty.add(StoreFault(operation, number: number, .failBefore(.unreachable)))
            }
            let isWhole = (try? await machine.rebuild(over: faulty)) != nil
            let begun = try machine.ledger.catalogStatus().rebuildOf
            #expect(isWhole ? begun == nil : [nil, try old.ledger.catalogStatus().machine].contains(begun))
            try await machine.see(["own.jpg": "own"])
            try await machine.write()
            let later = try await machine.rebuild()
            #expect(try machine.ledger.catalogStatus().rebuildOf == nil)
            let role = later.machines.first { $0.name == "laptop" }?.role
            #expect(role == (isWhole ? .replaced : begun == nil ? .other : .takenOver), "\(number)")
            // Nobody knows of one that was ended before it had read whose place it takes.
            if role == .other { continue }
            let names = ["a.jpg missing", "b.jpg missing", "more/e.jpg missing", "own.jpg pending", "own.jpg uploaded"]
            let known = try machine.known().map { String($0.dropFirst("/pictures/Gallery/".count)) }
            #expect(Set(known).isSubset(of: names) && known.count == 4, "\(number): \(known)")
        }
    }

    @Test func `a damaged segment is told, what can be read of it counts, and no photo is left out`() async throws {
        _ = try await lost()
        let key = try #require(try await bench.keysOfSegments().first)
        var bytes = try await bench.memory.bytes(of: key)
        bytes.removeLast(12)
        try await replace(key, bytes)
        let machine = try bench.machine("new")
        let summary = try await machine.rebuild()
        #expect(summary.problems.count == 1 && summary.problems[0].contains("damaged"), "\(summary.problems)")
        #expect(summary.photos >= 3)
        #expect(
            try Set(machine.ledger.namelessPhotos(below: bench.keys.photos, after: nil, limit: 10).map(\.key)) == [])
    }

    @Test(arguments: ["user": "eve", "machine": "0123456789abcdef", "to": "7", "from": "0"])
    func `a segment that is another one than its name says names no photo`(field: String, value: String) async throws {
        let old = try bench.machine("laptop")
        var files = Dictionary(uniqueKeysWithValues: (0..<40).map { ("\($0).jpg", "\($0)") })
        try await old.see(files)
        _ = try await old.write()
        files["later.jpg"] = "later"
        try await old.see(files)
        _ = try await old.write()
        try #require(try await bench.keysOfSegments().count == 2)
        // The header of the last one is read by itself, before all of them are.
        let key = try #require(try await bench.keysOfSegments().first)
        var text: [UInt8] = []
        let bytes = try await bench.memory.bytes(of: key)
        try bytes.withUnsafeBytes { try GzipReader().read($0) { text += $0 } }
        let lines = String(decoding: text, as: UTF8.self)
        let place = try #require(lines.firstRange(of: "\"\(field)\":"))
        let end = try #require(lines[place.upperBound...].firstIndex { $0 == "," || $0 == "}" })
        let isNumber = lines[place.upperBound] != "\""
        var changed = lines
        changed.replaceSubrange(place.upperBound..<end, with: isNumber ? value : "\"\(value)\"")
        var packed: [UInt8] = []
        try GzipWriter().write(Array(changed.utf8), isLast: true) { packed += $0 }
        try await replace(key, packed)
        let machine = try bench.machine("new")
        let summary = try await machine.rebuild()
        let problems = summary.problems
        #expect(problems.count == 1 && problems[0].contains("than its name says"), "\(problems)")
        #expect(summary.fromCatalog == 1 && summary.recovered == 40 && summary.lost == 0)
    }

    @Test func `an empty segment of one machine is told, and the others are read`() async throws {
        _ = try await lost()
        let other = try bench.machine("tower", folder: "/other/Gallery")
        try await other.see(["o.jpg": "o"])
        _ = try await other.write()
        let key = try #require(
            try await bench.keysOfSegments().first { $0.rawValue.contains(try other.ledger.catalogStatus().machine) })
        try await replace(key, [])
        let machine = try bench.machine("new")
        let summary = try await machine.rebuild(inPlaceOf: "laptop")
        #expect(summary.problems.contains { $0.contains("it is empty") }, "\(summary.problems)")
        #expect(summary.fromCatalog >= 3 && summary.recovered == 1)
    }

    @Test func `a segment that is missing in the middle is told, and its photos are recovered`() async throws {
        let old = try bench.machine("laptop")
        var files = Dictionary(uniqueKeysWithValues: (0..<200).map { ("\($0).jpg", "\($0)") })
        try await old.see(files)
        _ = try await old.write()
        for number in 200..<230 { files["\(number).jpg"] = "\(number)" }
        try await old.see(files)
        _ = try await old.write()
        files["last.jpg"] = "last"
        try await old.see(files)
        _ = try await old.write()
        let keys = try await bench.keysOfSegments()
        try #require(keys.count == 3)
        try await bench.memory.delete(keys[1])
        let machine = try bench.machine("new")
        let summary = try await machine.rebuild()
        #expect(summary.fromCatalog == 201 && summary.recovered == 30)
        #expect(summary.problems.count == 1 && summary.problems[0].contains("2 to 2"), "\(summary.problems)")
    }

    @Test func `a segment of a newer version is told, and its photos are recovered until it can be read`() async throws
    {
        _ = try await lost()
        let key = try #require(try await bench.keysOfSegments().first)
        let line =
            #"{"catalog":2,"user":"ana","machine":"x","name":"y","from":1,"to":1,"written":"2026-01-01T00:00:00Z"}"#
        var packed: [UInt8] = []
        try GzipWriter().write(Array((line + "\n").utf8), isLast: true) { packed += $0 }
        try await replace(key, packed)
        let machine = try bench.machine("new")
        let summary = try await machine.rebuild()
        #expect(summary.problems.count == 1 && summary.problems[0].contains("newer version"), "\(summary.problems)")
        #expect(summary.machines.map(\.role) == [.unreadable] && summary.recovered == 3)
    }

    @Test func `of two machines the one of its own name is taken over, and the other's photos are told apart`()
        async throws
    {
        _ = try await lost("laptop")
        let tower = try bench.machine("tower")
        try await tower.see(["a.jpg": "another"])
        _ = try await tower.write()
        let machine = try bench.machine("laptop")
        let summary = try await machine.rebuild()
        #expect(
            Dictionary(uniqueKeysWithValues: summary.machines.map { ($0.name, $0.role) })
                == ["laptop": .takenOver, "tower": .other])
        #expect(
            try machine.known() == Self.paths.union(["/machines/tower/pictures/Gallery/a.jpg missing"]))
        // What is another's does not come into this one's catalogue, and this one stands for the one it has replaced.
        _ = try await machine.write()
        let third = try bench.machine("third")
        let later = try await third.rebuild(inPlaceOf: "tower")
        #expect(later.machines.map(\.role.rawValue).sorted() == ["other", "replaced", "takenOver"])
        #expect(try third.known().contains("/pictures/Gallery/a.jpg missing"))
        #expect(try third.known().count { $0.hasPrefix("/machines/laptop/") } == 4)
    }

    @Test func `a photo of whose name the disk has another one is told apart by its machine`() async throws {
        _ = try await lost()
        let machine = try bench.machine("new")
        try await machine.see(["a.jpg": "other", "b.jpg": "b"])
        let summary = try await machine.rebuild()
        #expect([summary.photos, summary.recovered, summary.lost] == [5, 0, 0])
        let known: Set<String> = [
            "/pictures/Gallery/a.jpg uploaded", "/pictures/Gallery/a (laptop).jpg missing",
            "/pictures/Gallery/b.jpg uploaded", "/pictures/Gallery/2019/rome/c.jpg missing",
            "/pictures/Gallery/2019/rome/twice.jpg missing",
        ]
        #expect(try machine.known() == known)
        let again = try await machine.rebuild()
        #expect(again.photos == 5 && again.recovered == 0)
        #expect(try machine.known() == known)
        // It is in this machine's own catalogue from now on.
        _ = try await machine.write()
        let third = try bench.machine("third")
        #expect(try await third.rebuild(inPlaceOf: "new").recovered == 0)
        #expect(try third.known().contains("/pictures/Gallery/a (laptop).jpg missing"))
    }

    @Test func `a photo that was told apart and has another name by now has that alone`() async throws {
        let old = try await lost()
        try old.ledger.markGone(old.folder.id, path: old.folder.path.appending("b.jpg"), at: bench.time.now)
        try await old.see(["moved.jpg": "b"], in: "later", moves: true)
        _ = try await old.write()
        let machine = try bench.machine("new")
        try await machine.see(["b.jpg": "other"])
        let summary = try await machine.rebuild()
        #expect(summary.recovered == 0)
        #expect(
            try machine.known().filter { $0.contains("b (") || $0.contains("moved") }
                == ["/pictures/Gallery/later/moved.jpg missing"])
    }

    @Test func `a machine that was taken over and lives on is a machine of its own again`() async throws {
        let old = try await lost()
        let machine = try bench.machine("new")
        _ = try await machine.rebuild()
        _ = try await machine.write()
        try await old.see(["later.jpg": "later"], in: "2020")
        _ = try await old.write()
        let summary = try await machine.rebuild()
        #expect(summary.machines.map(\.role.rawValue).sorted() == ["other", "this"])
        #expect(try machine.known().contains("/machines/laptop/pictures/Gallery/2020/later.jpg missing"))
    }

    @Test func `two machines of which none is meant stay others, and a wrong name is told with those there are`()
        async throws
    {
        _ = try await lost("laptop")
        let tower = try bench.machine("tower")
        try await tower.see(["t.jpg": "t"])
        _ = try await tower.write()
        let machine = try bench.machine("new")
        let summary = try await machine.rebuild()
        #expect(summary.machines.map(\.role) == [.other, .other] && summary.photos == 5)
        #expect(try machine.known().allSatisfy { $0.hasPrefix("/machines/") })
        await #expect(throws: LedgerRebuild.UnknownMachine.self) { try await machine.rebuild(inPlaceOf: "nobody") }
        _ = try await machine.rebuild(inPlaceOf: "laptop")
        #expect(try machine.known().isSuperset(of: Self.paths))
    }

    @Test func `a photo that the store has no more is lost, and is told`() async throws {
        _ = try await lost()
        try await bench.memory.delete(try bench.keys.photo(PhotoID(ContentDigestOf("b").md5)))
        let machine = try bench.machine("new")
        let summary = try await machine.rebuild()
        #expect(summary.lost == 1 && summary.photos == 3)
        #expect(try machine.known().contains("/pictures/Gallery/b.jpg lost"))
    }

    private func replace(_ key: ObjectKey, _ bytes: [UInt8]) async throws {
        _ = try await bench.memory.put(
            ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes)), at: key,
            attributes: ObjectAttributes(contentType: "application/gzip"), condition: .overwrite)
    }
}

/// A store that cannot look at objects of a prefix while it lists them.
private struct HastyListing: WrappedStore {
    let base: any ObjectStore
    let prefix: String

    func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        var page = try await base.list(prefix: prefix, after: after, limit: limit)
        for object in page.objects where object.key.rawValue.hasPrefix(self.prefix) {
            let failure = StoreError(.serverFailed, operation: "list", key: object.key.rawValue, message: "not now")
            page.problems.append(ObjectProblem(key: object.key, error: failure))
        }
        page.objects.removeAll { $0.key.rawValue.hasPrefix(self.prefix) }
        return page
    }
}
