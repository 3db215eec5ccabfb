import FoundationEssentials
import Logging
import SyncCore
import SyncDigest
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage

@testable import SyncEngine

/// One machine of a user's: a disk with vacations, a ledger, and a store that it may share with others.
struct VacationMachine {
    static let root: FilePath = "/pictures/vacations"
    static let paris: FilePath = "/pictures/vacations/Paris_France_2024-06-15_2024-06-22"

    let disk = FakeDisk()
    let memory: InMemoryStore
    let store: FaultyStore
    let time = ManualTime()
    let ledger: Ledger
    let queue: LedgerQueue
    let folders: [FolderRecord]
    let descriptions = Descriptions()
    let work = Wakeup()
    private let pool = BlockingPool(name: "test", threads: 1)

    /// What `vacation.json` says in each folder.
    final class Descriptions: Sendable {
        private let texts = Lock<[FilePath: String]>([:])
        private let isAway = Lock(false)

        var source: DescriptionSource {
            DescriptionSource { folder in
                if self.isAway.withLock({ $0 }) { throw VacationReadError(path: folder, message: "no such folder") }
                return self.texts.withLock { $0[folder].map { VacationDescription(parsing: Array($0.utf8)) } }
                    ?? VacationDescription()
            }
        }

        func set(_ text: String?, in folder: FilePath) { texts.withLock { $0[folder] = text } }
        func setAway(_ away: Bool) { isAway.withLock { $0 = away } }
    }

    init(_ memory: InMemoryStore = InMemoryStore(), faults: [StoreFault] = []) throws {
        self.memory = memory
        store = FaultyStore(memory, faults: faults)
        ledger = try Ledger.inMemory()
        queue = LedgerQueue(ledger)
        folders = try ledger.register([WatchedFolder(kind: .vacations, path: Self.root)])
    }

    func makeKeeper() throws -> VacationManifestSync {
        VacationManifestSync(
            ledger: queue, store: store, keys: try KeyLayout(user: "ana"), pool: pool,
            descriptions: descriptions.source, time: time.source)
    }

    func makeService(_ logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) throws
        -> VacationService
    {
        VacationService(
            try makeKeeper(), work: work,
            patience: LedgerPatience(ledger: queue, time: time.source, logger: logger), time: time.source,
            logger: logger)
    }

    var finder: VacationFinder {
        VacationFinder(
            ledger: queue, pool: pool,
            places: RestoreSelection.Places(
                workingFolder: "/pictures", vacationRoots: [Self.root],
                candidates: { path in
                    var rest = path
                    return rest.removePrefix("/links/trips") ? [path, Self.root.pushing(rest)] : [path]
                }),
            scanner: disk, descriptions: descriptions.source)
    }

    func describe(_ text: String?, in folder: FilePath) {
        descriptions.set(text, in: folder)
        let file = folder.appending("vacation.json")
        if let text { disk.write("text \(text)", to: file) } else { disk.remove(file) }
    }

    /// Scans, and stores all that is due.
    func store(leaving: Int = 0) throws {
        let scan = FolderScan(ledger: ledger, scanner: disk, settle: .seconds(2))
        for folder in folders { _ = try scan.run(folder, from: folder.path, at: time.now) }
        for claim in try ledger.claim(limit: .max, at: time.now).dropLast(leaving) {
            try ledger.commit(claim, outcome: outcome(claim), at: time.now)
        }
        try ledger.recoverInterrupted(at: time.now)
    }

    private func outcome(_ claim: Claim) throws -> Outcome {
        let examined = try disk.examine(claim.file)
        if examined.type == .unknown { return .skipped("no photo") }
        let key = try KeyLayout(user: "ana").photo(examined.id)
        // What stands before the first space of a photo's text is when it was taken.
        let text = try disk.read(claim.file, 0..<Int(examined.stamp.size), stamp: examined.stamp)
        let taken = Double(String(decoding: text.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self))
        return .uploaded(
            examined.digest,
            ObjectRecord(
                key: key, size: 9, md5: examined.digest.md5, sha256: examined.digest.sha256, contentType: "image/jpeg",
                width: 4, height: 3, takenAt: taken.map { CaptureTime(Date(timeIntervalSince1970: $0), offset: 0) },
                storedAt: time.now))
    }

    /// A pass, and the look at the vacations that follows it.
    @discardableResult
    func pass() async throws -> VacationManifestSync.Summary {
        try store()
        return try await makeKeeper().run()
    }

    /// The names of the manifests in the store.
    var manifests: [String] {
        memory.keys.filter { $0.rawValue.hasPrefix("users/ana/vacations/") }.map { String($0.lastSegment) }
    }

    func manifest(_ cacheKey: String) throws -> VacationManifest? {
        try memory.content(try KeyLayout(user: "ana").vacation(cacheKey)).map { try VacationManifest(parsing: $0) }
    }
}
