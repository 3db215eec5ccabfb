import Foundation
import Logging
import SyncCore
import SyncDigest
import SyncLedger
import SyncSystem
import SyncTestSupport
import SyncWatch
import SystemPackage

@testable import SyncEngine

/// A projects folder on the disk with all that stores it, and a clock that jumps over every wait.
struct ProjectBench {
    let tree: TemporaryTree
    private(set) var folder: FilePath
    let memory: InMemoryStore
    let store: FaultyStore
    let ledger: Ledger
    let clock = JumpingClock()
    /// Warnings.
    let words = LogLines(from: .warning)
    let listSync: ProjectListSync
    let queue: LedgerQueue
    private var record: FolderRecord
    private let keys: KeyLayout

    /// - Parameter memory: what the store is in; that of another bench for another machine.
    init(memory: InMemoryStore = InMemoryStore()) throws {
        self.memory = memory
        tree = try TemporaryTree()
        folder = try tree.makeFolder("projects")
        store = FaultyStore(memory)
        ledger = try Ledger.inMemory()
        queue = LedgerQueue(ledger)
        record = try ledger.register([WatchedFolder(kind: .projects, path: folder)])[0]
        keys = try KeyLayout(user: "ana")
        listSync = ProjectListSync(ledger: ledger, time: clock.source, logger: words.logger)
    }

    /// A bench whose list names this project, and no other.
    init(listing id: String, in memory: InMemoryStore = InMemoryStore()) throws {
        try self.init(memory: memory)
        try list([Self.record(id)])
    }

    /// A bench with these files beside that list, all of them stored.
    static func storing(
        _ files: [String: String], in memory: InMemoryStore = InMemoryStore()
    ) async throws -> ProjectBench {
        let bench = try ProjectBench(listing: "a", in: memory)
        for (name, text) in files { try bench.write(text, to: name) }
        try await bench.pass()
        return bench
    }

    // MARK: The folder

    /// Watches another folder in place of the one before, or that one again.
    mutating func watch(_ name: String) throws {
        folder = try tree.makeFolder(name)
        record = try ledger.register([WatchedFolder(kind: .projects, path: folder)])[0]
    }

    func write(_ text: String, to name: String) throws {
        try tree.write(text, to: "\(folder.lastComponent?.string ?? "projects")/\(name)")
    }

    /// Writes `projects.json`, whole and in one step.
    func list(_ records: [String]) throws {
        try write("[\(records.joined(separator: ",\n"))]", to: ".list")
        guard rename(folder.appending(".list").string, folder.appending("projects.json").string) == 0 else {
            throw Errno(rawValue: errno)
        }
    }

    /// A record, as an app writes it.
    static func record(
        _ id: String, _ status: String = "Completed", age: Double = 3_600, template: String? = nil,
        request: String? = nil, createdAt moment: Date? = nil
    ) -> String {
        let created = Int((moment ?? Date().addingTimeInterval(-age)).timeIntervalSince1970)
        let request = request.map { #", "requestId": "\#($0)""# } ?? ""
        return """
            {"id": "\(id)", "templateId": "\(template ?? id)", "templateName": "T \(id)", "createdAt": \(created), \
            "status": "\(status)"\(request)}
            """
    }

    // MARK: The agent

    /// Scans, and stores all that is due.
    func pass(versions: Int = 5) async throws {
        let scan = FolderScan(ledger: ledger, scanner: FileTreeScanner(), settle: .zero)
        _ = try scan.run(record, from: folder, at: clock.now)
        let preparer = Preparer(
            ledger: ledger, scanner: FileTreeScanner(), reducer: PlainReducer(), planner: UploadPlanner(keys: keys),
            projects: ProjectUploadPolicy(listSync: listSync, ledger: ledger, now: { clock.now }),
            policy: ReducePolicy(),
            settle: .zero, now: { clock.now })
        let pipeline = PhotoPipeline(
            ledger: LedgerQueue(ledger), store: store, preparer: preparer,
            versions: ProjectVersions(
                store: store, ledger: queue, others: others, kept: versions,
                now: { clock.now }, logger: words.logger),
            pool: BlockingPool(name: "photos", threads: 2), batchSize: 3, work: Wakeup(), time: clock.source,
            logger: words.logger, observe: { _ in })
        try ledger.makeAllDue(at: clock.now)
        try await pipeline.run(.untilDone(patience: .seconds(30)))
    }

    /// Writes a file again and again, and stores it each time.
    /// - Parameters:
    ///   - kept: how many earlier states of a file stay.
    ///   - clock: the store's, which goes on in between.
    func storeInTurn(
        _ texts: [String], as name: String = "a.jpg", versions kept: Int = 5, by clock: JumpingClock? = nil
    ) async throws {
        for text in texts {
            try write(text, to: name)
            try await pass(versions: kept)
            clock?.jump(.seconds(5))
        }
    }

    /// The same with `image 1.` and so on.
    func storeInTurn(images numbers: ClosedRange<Int>, as name: String = "a.jpg") async throws {
        try await storeInTurn(numbers.map { "image \($0)." }, as: name)
    }

    var others: OtherReferences {
        OtherReferences(
            store: store, ledger: queue, keys: keys, spool: tree.path("others.part"),
            pool: BlockingPool(name: "disk", threads: 1), time: clock.source)
    }

    /// Writes the catalogue of this machine.
    func writeCatalog(as name: String = "other") async throws {
        let writer = CatalogWriter(
            store: store, ledger: queue, keys: keys, name: name, spool: tree.path("catalog.part"),
            pool: BlockingPool(name: "disk", threads: 1), time: clock.source, logger: words.logger)
        _ = try await writer.run()
    }

    /// Makes the ledger of what is in the store.
    /// - Parameter takesOver: `false`: it learns what the store has, as before a restore of all.
    @discardableResult
    func rebuild(as name: String, takesOver: Bool = true) async throws -> LedgerRebuild.Summary {
        let rebuild = LedgerRebuild(
            store: store, ledger: queue, keys: keys, folders: [record], machineName: name,
            spool: tree.path("rebuild.part"), scanner: FileTreeScanner(),
            pool: BlockingPool(name: "disk", threads: 1),
            pruned: PrunedVersions(store: store, ledger: queue, keys: keys, kept: 5), time: clock.source)
        return try await rebuild.run(takesOver: takesOver)
    }

    /// Holds the ledger against what the store lists, a minute later.
    /// - Parameter kept: how many earlier states of a file stay.
    func refresh(kept: Int = 5) async throws {
        clock.jump(.seconds(60))
        let refresh = ClassRefresh(
            store: store, ledger: queue, keys: keys,
            pruned: PrunedVersions(store: store, ledger: queue, keys: keys, kept: kept), time: clock.source)
        _ = try await refresh.run()
    }

    func makeRemover(scanner: any TreeScanner = FileTreeScanner()) -> ProjectRemover {
        ProjectRemover(
            store: store, ledger: queue, keys: keys, others: others, listSync: listSync, scanner: scanner,
            pool: BlockingPool(name: "disk", threads: 1), time: clock.source)
    }

    func entries() throws -> [ProjectEntry] {
        try ProjectListing(ledger: ledger, listSync: listSync, now: { clock.now }).entries(in: [folder])
    }

    /// State by id, and why.
    func states() throws -> [String: String] {
        try entries().reduce(into: [:]) { $0[$1.record.id] = $1.state.rawValue }
    }

    func status(_ name: String) throws -> PhotoStatus? {
        var found: PhotoStatus?
        try ledger.photos(at: folder.appending(name)) { found = $0 }
        return found
    }

    // MARK: The store

    /// Keys of what is stored of projects, without what all have in common, and without earlier lists.
    var stored: [String] { all.filter { !Self.isOfList($0) } }

    /// Earlier states of the list, by their contents.
    var lists: [String] {
        all.filter(Self.isOfList).compactMap { try? content($0) }
    }

    private static func isOfList(_ key: String) -> Bool {
        key.hasPrefix("projects/versions/") && key.hasSuffix(".json")
    }

    /// Catalogues and notes of machines are none of projects, and their keys hold ids that are drawn at random.
    private var all: [String] {
        let prefix = keys.projects
        return memory.keys.map(\.rawValue).filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }

    func content(_ name: String) throws -> String? {
        memory.content(try keys.projectFile(name)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Earlier states of a file, by their keys.
    func versions(of name: String = "a.jpg") throws -> [ObjectKey: String] {
        guard let file = VersionedFile(try key(name)) else { return [:] }
        return memory.keys.filter { file.isVersion($0) }.reduce(into: [:]) { $0[$1] = text($1) }
    }

    /// What the earlier states of all files of the project `a` contain.
    func versionTexts() throws -> [String] {
        try stored.filter { $0.hasPrefix("a/versions/") }.compactMap { try content($0) }
    }

    func text(_ key: ObjectKey) -> String? { memory.content(key).map { String(decoding: $0, as: UTF8.self) } }

    func key(_ name: String) throws -> ObjectKey { try keys.projectFile(name) }
}

extension ProjectListFile {
    /// Looks again as long as the file is being changed.
    /// - Returns: whether there was such a record.
    func removeAtLast(
        _ ids: Set<ByteString>, isBeingWritten: @escaping (FilePath) -> Bool = { _ in false }, pause: () -> Void = {}
    ) throws -> Bool {
        var last = ProjectListNotRewritten(description: "nobody has looked at it")
        for _ in 0..<200 {
            switch try remove(ids, isBeingWritten: isBeingWritten) {
            case .done(let wasThere): return wasThere
            case .again(let reason): last = reason
            }
            pause()
        }
        throw last
    }
}

/// Shows the time of the machine, plus all that was slept for: nobody waits.
final class JumpingClock: Sendable {
    private let elapsed = Lock(Duration.zero)
    private let start = ContinuousClock.now

    var now: Date { Date().addingTimeInterval(elapsed.withLock { $0 } / .seconds(1)) }

    func jump(_ duration: Duration) { elapsed.withLock { $0 += duration } }

    var source: TimeSource {
        TimeSource(
            now: { self.now }, monotonic: { (ContinuousClock.now - self.start) + self.elapsed.withLock { $0 } },
            sleep: { duration in
                try Task.checkCancellation()
                await Task.yield()
                self.jump(duration)
            }, random: { 0.5 })
    }
}

/// Takes every file that begins with `image` for a JPEG, which is whole when it ends with a full stop. Its reduced copy is
/// the same text.
struct PlainReducer: PhotoReducer {
    func examine(_ file: FilePath) throws(PhotoError) -> PhotoFacts {
        do {
            let before = try FileStamp(of: file)
            let bytes = Array(try Data(contentsOf: URL(filePath: file.string)))
            guard try FileStamp(of: file) == before else { throw PhotoError(.changed, "it changed") }
            let isImage = bytes.starts(with: Array("image".utf8))
            return PhotoFacts(
                stamp: before, type: isImage ? .jpeg : .unknown, digest: ContentDigest(of: bytes))
        } catch let error as PhotoError {
            throw error
        } catch {
            throw PhotoError(.missing, "it is gone")
        }
    }

    func whyUnwanted(_ file: FilePath, stamp: FileStamp) -> String? { nil }

    func reduce(
        _ file: FilePath, examined: PhotoFacts, policy: ReducePolicy
    ) throws(PhotoError) -> StoredCopy {
        guard let data = try? Data(contentsOf: URL(filePath: file.string)) else {
            throw PhotoError(.missing, "it is gone")
        }
        let bytes = Array(data)
        if examined.type == .jpeg, bytes.last != UInt8(ascii: ".") { throw PhotoError(.truncated, "it ends early") }
        return StoredCopy(content: .reduced(bytes), type: examined.type, digest: ContentDigest(of: bytes))
    }

    // A projects folder holds no events, and no photos in them.

    func reduce(_ photo: [UInt8], as type: MediaType?, policy: ReducePolicy) throws(PhotoError) -> StoredCopy {
        throw PhotoError(.notAPhoto, "no project has such a photo")
    }

    func read(_ file: FilePath, _ range: Range<Int>, stamp: FileStamp) throws(PhotoError) -> [UInt8] {
        throw PhotoError(.notStored, "no project is read like this")
    }
}
