import FoundationEssentials
import Logging
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// Photos of trips, archived long ago, as ledger and store know them. Nothing moves the clock but the test.
final class RestoreBench: Sendable {
    static let trips: FilePath = "/pictures/trips"
    static let interval = Duration.seconds(900)

    let time: ManualTime
    let memory: InMemoryStore
    let store: FaultyStore
    let ledger: Ledger
    let queue: LedgerQueue
    let listener = Listener()
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let folder: FolderRecord
    private let lastInode = Lock<UInt64>(0)

    /// - Parameters:
    ///   - restoreDuration: how long the store takes for each restore.
    ///   - tellsDuration: `false`, as with Amazon: class and tier decide when the store is asked.
    init(
        restoreDuration: Duration = .seconds(48 * 3_600), tellsDuration: Bool = false, restoresInLists: Bool = true,
        lifecycle: StoreCapabilities.Lifecycle = .byAgent
    ) throws {
        let time = ManualTime()
        self.time = time
        memory = InMemoryStore(
            now: { time.now }, restoreDuration: restoreDuration, lifecycle: lifecycle,
            restoresInLists: restoresInLists, tellsDuration: tellsDuration)
        store = FaultyStore(memory)
        ledger = try Ledger.inMemory()
        queue = LedgerQueue(ledger)
        folder = try ledger.register([WatchedFolder(kind: .vacations, path: Self.trips)])[0]
    }

    /// Hears notices.
    final class Listener: Notifier {
        private let heard = Lock<[Notice]>([])

        var notices: [Notice] { heard.withLock { $0 } }
        var kinds: [Notice.Kind] { notices.map(\.kind) }

        func deliver(_ notice: Notice) async throws { heard.withLock { $0.append(notice) } }
    }

    // MARK: Photos

    /// A file that waits for its upload.
    func observe(_ name: String, _ text: String? = nil) throws {
        _ = try ledger.observe(
            folder.id, file: FilePath(name), stamp: stamp(ofBytes: (text ?? name).utf8.count),
            stillThere: { _ in true }, at: time.now)
    }

    private func stamp(ofBytes size: Int) -> FileStamp {
        let inode = lastInode.withLock { inode in
            inode += 1
            return inode
        }
        return FileStamp(device: 1, inode: inode, size: Int64(size), modified: 1_000_000_000_000_000_000)
    }

    /// A photo below ``trips`` that is stored; its text is its content, and its name unless told.
    @discardableResult
    func add(_ name: String, _ text: String? = nil, in storageClass: StorageClass = .deepArchive) async throws
        -> ObjectKey
    {
        try observe(name, text)
        let claims = try ledger.claim(limit: .max, at: time.now)
        return try await upload(#require(claims.last), text ?? name, in: storageClass)
    }

    private func upload(_ claim: Claim, _ text: String, in storageClass: StorageClass) async throws -> ObjectKey {
        let bytes = Array(text.utf8)
        let digest = ContentDigest(of: bytes)
        let key = try KeyLayout(user: "ana").photo(PhotoID(digest.md5))
        if memory.info(key) == nil {
            try await memory.store(bytes, at: key)
            memory.setClass(storageClass, of: key)
        }
        let object = ObjectRecord(
            key: key, size: Int64(bytes.count), md5: digest.md5, sha256: digest.sha256, contentType: "image/jpeg",
            storageClass: storageClass, storedAt: time.now)
        try ledger.commit(claim, outcome: .uploaded(digest, object), at: time.now)
        return key
    }

    /// So many photos, in the order of their keys.
    func add(_ count: Int, in storageClass: StorageClass = .deepArchive) async throws -> [ObjectKey] {
        let files = (1...count).compactMap { index in
            FilePath.Component("\(index).jpg").map { ScannedFile(name: $0, stamp: stamp(ofBytes: 1)) }
        }
        _ = try ledger.reconcile(
            folder.id, directory: "Paris", files: files, settled: { _ in true }, stillThere: { _ in true }, at: time.now
        )
        var keys: [ObjectKey] = []
        for claim in try ledger.claim(limit: .max, at: time.now) {
            keys.append(try await upload(claim, claim.relativePath.string, in: storageClass))
        }
        return keys.sorted()
    }

    /// The person deletes a file, or a folder.
    func delete(_ name: String) throws {
        _ = try ledger.markGone(folder.id, path: FilePath(name), at: time.now)
    }

    // MARK: Jobs

    @discardableResult
    func ask(
        for keys: [ObjectKey], in storageClass: StorageClass = .deepArchive, tier: RestoreTier = .bulk, days: Int = 7,
        output: FilePath? = nil, note: String? = nil
    ) throws -> RestoreJobID? {
        let items = keys.map { key in
            var item = RestoreJobDraft.Item(
                key: key, destination: FilePath(String(key.lastSegment)), size: 1_000, storageClass: storageClass,
                tier: tier)
            item.note = note
            return item
        }
        return try ledger.addRestoreJob(
            RestoreJobDraft(requestedBy: "ana", tier: tier, days: days, output: output, items: items), at: time.now
        ).job?.id
    }

    func items(of job: RestoreJobID? = nil) throws -> [RestoreItem] {
        try ledger.restoreJobs(limit: .max).reversed().filter { job == nil || $0.job.id == job }.flatMap {
            try ledger.restoreItems(of: $0.job.id, after: 0, limit: .max)
        }
    }

    /// Those that are in a state, by what the store says.
    func keys(_ keys: [ObjectKey], in state: RestoreState) -> [ObjectKey] {
        keys.filter { memory.info($0)?.restore == state }.sorted()
    }

    func states() throws -> [RestoreItemState] { try items().map(\.state) }

    // MARK: Parts

    /// How the names of processes begin that are no more.
    static let ended = "ended"

    let owner = ClaimOwner(name: "me", hasEnded: { $0.hasPrefix(RestoreBench.ended) })

    var sender: RestoreSender { RestoreSender(store: store, ledger: queue, owner: owner, time: time.source) }

    var poller: RestorePoller {
        RestorePoller(store: store, ledger: queue, sender: sender, interval: Self.interval, time: time.source)
    }

    var announcer: RestoreAnnouncer {
        RestoreAnnouncer(ledger: queue, notifiers: Notifiers([listener], logger: logger), time: time.source)
    }

    var planner: RestorePlanner {
        RestorePlanner(
            store: store, ledger: queue, prices: Self.prices,
            pool: BlockingPool(name: "originals", threads: 1), time: time.source)
    }

    var service: RestoreService {
        RestoreService(
            poller: poller,
            downloader: RestoreDownloader(
                store: store, ledger: queue, owner: owner, pool: BlockingPool(name: "downloads", threads: 1),
                time: time.source),
            announcer: announcer, patience: patience, time: time.source, logger: logger)
    }

    var patience: LedgerPatience { LedgerPatience(ledger: queue, time: time.source, logger: logger) }

    static let places = RestoreSelection.Places(
        workingFolder: trips, vacationRoots: [trips], candidates: { [$0] })

    static let prices = PriceTable(
        region: "eu-central-1", asOf: "2026-07", source: "a test",
        classes: [
            .standard: ClassPrices(perGBMonth: 0.03, putPer1000: 0.005),
            .deepArchive: ClassPrices(
                perGBMonth: 0.001, putPer1000: 0.05,
                retrieval: [
                    .bulk: RetrievalPrices(perGB: 0.0025, per1000Requests: 0.025),
                    .standard: RetrievalPrices(perGB: 0.02, per1000Requests: 0.1),
                ]),
            .glacier: ClassPrices(
                perGBMonth: 0.0036, putPer1000: 0.03,
                retrieval: [
                    .bulk: RetrievalPrices(perGB: 0, per1000Requests: 0),
                    .standard: RetrievalPrices(perGB: 0.01, per1000Requests: 0.05),
                    .expedited: RetrievalPrices(perGB: 0.03, per1000Requests: 10),
                ]),
        ], egressPerGB: 0.09)

    func propose(
        _ names: [String], _ wish: TierChoice = .tier(.bulk), days: Int = 7, extends: Bool = false,
        output: FilePath? = nil
    ) async throws -> RestoreProposal {
        try await planner.propose(
            RestoreOrder(
                names: names, wish: wish, days: days, extends: extends, output: output, requestedBy: "ana"),
            in: Self.places)
    }
}

extension FaultyStore {
    /// The calls so far, such as `head users/ana/photos/1.dat`.
    var lines: [String] { calls.map { "\($0.operation) \($0.key)" } }
}
