import FoundationEssentials
import Logging
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage

/// A store and machines that keep their catalogues in it. Photos are made in ledger and store, as an upload leaves them.
final class CatalogBench: Sendable {
    let tree: TemporaryTree
    let memory: InMemoryStore
    let store: FaultyStore
    let time: ManualTime
    let keys: KeyLayout
    let pool = BlockingPool(name: "test", threads: 2)

    /// - Parameters:
    ///   - hasDigests: whether the store has SHA-256 digests of its own.
    ///   - listedDigests: what its listings tell of the bytes.
    init(hasDigests: Bool = true, listedDigests: InMemoryStore.ListedDigests = .all, user: String = "ana") throws {
        tree = try TemporaryTree(in: .memory)
        let time = ManualTime()
        self.time = time
        memory = InMemoryStore(now: { time.now }, listedDigests: listedDigests, hasDigests: hasDigests)
        store = FaultyStore(memory)
        keys = try KeyLayout(user: user)
    }

    func machine(_ name: String, folder: FilePath = "/pictures/Gallery") throws -> CatalogMachine {
        try CatalogMachine(name, in: self, ledger: try Ledger.inMemory(), folder: folder)
    }

    /// A store, and two machines that keep their catalogues in it.
    static func withTwo() throws -> (bench: CatalogBench, tower: CatalogMachine, laptop: CatalogMachine) {
        let bench = try CatalogBench()
        return (bench, try bench.machine("tower"), try bench.machine("laptop"))
    }

    /// A ledger from before the last write of its machine, which has photos and a profile that it does not know.
    func putBack() async throws -> CatalogMachine {
        let machine = try self.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        _ = try await machine.write()
        let old = try machine.ledger.copyInMemory()
        try await machine.see(["a.jpg": "a", "b.jpg": "b"])
        try machine.ledger.noteOthersProfiles([CatalogProfile(profile: "u-17", name: "Grandma")])
        _ = try await machine.write()
        return try CatalogMachine("laptop", in: self, ledger: old, folder: "/pictures/Gallery")
    }

    /// A machine whose second write was interrupted: it has two photos, and the write of the second is begun and not noted.
    /// - Parameter comes: whether its segment is in the store all the same.
    func interrupted(comes: Bool = true) async throws -> (machine: CatalogMachine, begun: CatalogStatus.Begun) {
        let machine = try self.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        _ = try await machine.write()
        try await machine.see(["a.jpg": "a", "b.jpg": "b"])
        store.add(StoreFault(.put, number: 1, comes ? .failAfter(.unreachable) : .failBefore(.unreachable)))
        let outcome = try await machine.write()
        guard case .failed = outcome, let begun = try machine.ledger.catalogStatus().begun else {
            throw NotInterrupted(outcome: outcome)
        }
        return (machine, begun)
    }

    struct NotInterrupted: Error {
        let outcome: CatalogWriter.Outcome
    }

    /// Keys of segments, without what is in front of their numbers.
    func segments() async throws -> [String] {
        try await memory.list(prefix: keys.catalog, after: nil, limit: 1_000).objects
            .map { String($0.key.rawValue.split(separator: "/").last ?? "") }
    }

    func keysOfSegments() async throws -> [ObjectKey] {
        try await memory.list(prefix: keys.catalog, after: nil, limit: 1_000).objects.map(\.key)
    }
}

final class CatalogMachine: Sendable {
    let bench: CatalogBench
    let name: String
    let ledger: Ledger
    let folder: FolderRecord
    let writer: CatalogWriter
    /// Only tells that what was seen is there.
    let disk = FakeDisk()

    private static var logger: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }

    init(_ name: String, in bench: CatalogBench, ledger: Ledger, folder path: FilePath) throws {
        self.bench = bench
        self.name = name
        self.ledger = ledger
        folder = try ledger.register([WatchedFolder(kind: .gallery, path: path)])[0]
        writer = CatalogWriter(
            store: bench.store, ledger: LedgerQueue(ledger), keys: bench.keys, name: name,
            spool: bench.tree.path("\(name).part"), pool: bench.pool, time: bench.time.source,
            logger: Self.logger)
    }

    /// As a folder is seen with these files, and what is new of it is stored. The text of a file is its stamp and content.
    /// - Parameters:
    ///   - moves: whether a new file may be a known one under another name.
    ///   - place: of a file that is kept under its own name, as those of projects; `nil`: in the pool.
    ///   - drive: on which they are.
    func see(
        _ files: [String: String], in directory: FilePath = "", moves: Bool = false, at place: ObjectKey? = nil,
        on drive: SeenDrive = .known
    ) async throws {
        let now = bench.time.now
        let scanned = files.map { name, text in
            ScannedFile(name: FilePath.Component(name) ?? "x", stamp: Self.stamp(text))
        }
        for (name, text) in files { disk.write(text, to: folder.path.pushing(directory).appending(name)) }
        _ = try ledger.reconcile(
            folder.id, directory: directory, files: scanned, drive: { drive }, settled: { _ in true },
            stillThere: { _ in !moves }, at: now)
        for claim in try ledger.claim(limit: 1_000, at: now) {
            let text = files[claim.relativePath.lastComponent?.string ?? ""] ?? ""
            let digest = ContentDigest(of: Array(text.utf8))
            let key = try place ?? bench.keys.photo(PhotoID(digest.md5))
            do {
                _ = try await bench.memory.put(
                    ObjectBody(bytes: Array(text.utf8), digest: digest), at: key,
                    attributes: ObjectAttributes(
                        contentType: "image/jpeg",
                        metadata: [MetadataName.md5: "\(digest.md5)", MetadataName.takenAt: "2024-06-15T07:30:00"]),
                    condition: place == nil ? .ifAbsent : .overwrite)
            } catch let error as StoreError where error.code == .alreadyExists {}
            let object = ObjectRecord(
                key: key, size: Int64(text.utf8.count), md5: digest.md5, sha256: digest.sha256,
                contentType: "image/jpeg",
                storageClass: .standard, storedAt: now)
            try ledger.commit(claim, outcome: .uploaded(digest, object), at: now)
        }
    }

    static func stamp(_ text: String) -> FileStamp {
        let number = UInt64(text.utf8.reduce(7) { $0 &* 31 &+ Int($1) } & 0xFFFF_FFFF)
        return FileStamp(
            device: 1, inode: number, size: Int64(text.utf8.count), modified: Int64(number), changed: Int64(number),
            born: Int64(number))
    }

    /// A pass' end.
    @discardableResult
    func write() async throws -> CatalogWriter.Outcome { try await writer.run() }

    /// What tells the others of it.
    func noteWriter(keepsCatalog: Bool = true) -> MachineNoteWriter {
        MachineNoteWriter(
            store: bench.store, ledger: LedgerQueue(ledger), keys: bench.keys, name: name, version: "1.0",
            keepsCatalog: keepsCatalog, time: bench.time.source, logger: Self.logger)
    }

    /// What does both at a pass' end.
    func service(keepsCatalog: Bool = true) -> CatalogService {
        let queue = LedgerQueue(ledger)
        return CatalogService(
            writer, notes: noteWriter(keepsCatalog: keepsCatalog), ledger: queue,
            patience: LedgerPatience(ledger: queue, time: bench.time.source, logger: Self.logger),
            time: bench.time.source)
    }

    /// As the pass of `sync` holds its ledger against the store.
    func inspect() async throws {
        let policy = TierPolicy(
            user: "ana", mode: .off, archiveAfterDays: 0, originalsAfterDays: 0,
            floor: ArchiveFloor(configured: 0, prices: nil), shareExpireDays: 30)
        try await StoreUpkeep(
            store: bench.store, ledger: LedgerQueue(ledger), keys: bench.keys, policy: policy, time: bench.time.source,
            logger: Self.logger
        ).inspect()
    }

    /// As a pass looks at the store, or `status --refresh`.
    /// - Returns: what is wrong with the catalogue there.
    func check() async throws -> String? { try await refresh().catalogProblem }

    @discardableResult
    func refresh(hold: @escaping CatalogHold = { nil }) async throws -> ClassRefresh.Summary {
        try await ClassRefresh(
            store: bench.store, ledger: LedgerQueue(ledger), keys: bench.keys, holdCatalog: hold,
            time: bench.time.source
        ).run()
    }

    /// As `verify` reads the catalogue.
    /// - Returns: what is wrong with it.
    func readBack() async throws -> String? { try await findingOfReadBack().problem }

    func findingOfReadBack() async throws -> CatalogAudit.Finding {
        try await CatalogAudit.readBack(
            store: bench.store, ledger: LedgerQueue(ledger), keys: bench.keys, cost: VerificationCost(prices: nil),
            costingAtMost: 0, time: bench.time.source)
    }

    @discardableResult
    func rebuild(
        inPlaceOf other: String? = nil, over store: (any ReadableStore)? = nil, paying rule: VerificationRule = .none
    ) async throws -> LedgerRebuild.Summary {
        try await LedgerRebuild(
            store: store ?? bench.store, ledger: LedgerQueue(ledger), keys: bench.keys, folders: [folder],
            machineName: name, spool: bench.tree.path("\(name)-rebuild.part"), scanner: disk, pool: bench.pool,
            verification: rule, time: bench.time.source
        ).run(inPlaceOf: other)
    }

    /// Takes up what another machine has seen, in a ledger that is made anew.
    func takeUp(_ other: CatalogMachine) async throws -> LedgerRebuild.Summary {
        try await other.write()
        try await see(["own.jpg": "own"])
        try await write()
        return try await rebuild()
    }

    /// What it reads in the notes of the others.
    func notes() async throws -> (machines: [MachineNotes.Machine], problems: [String]) {
        try await MachineNotes(
            store: bench.store, ledger: LedgerQueue(ledger), keys: bench.keys, pool: bench.pool, time: bench.time.source
        ).run()
    }

    /// What it cannot read of the shares of the others.
    func problemsOfShares() async throws -> [String] {
        try await OtherShares(
            store: bench.store, ledger: LedgerQueue(ledger), keys: bench.keys, spool: bench.tree.path("others.part"),
            pool: bench.pool, time: bench.time.source
        ).run().problems
    }

    /// Paths of all photos that are known, with their states: `Gallery/a.jpg missing`.
    func known() throws -> Set<String> {
        var known: Set<String> = []
        try ledger.photos(at: "/") { known.insert("\($0.path) \($0.state.rawValue)") }
        return known
    }
}
