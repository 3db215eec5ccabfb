import FoundationEssentials
import Logging
import SyncCore
import SyncDigest
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage

@testable import SyncEngine

/// One process of the agent's, from its start to its end: the parts of a pass, put together as the program does it.
final class AgentProcess {
    let ledger: Ledger
    let store: FaultyStore
    let isAlive: @Sendable () -> Bool
    let home: Home
    let queue: LedgerQueue
    let keys: KeyLayout
    let time: TimeSource
    let pool = BlockingPool(name: "life", threads: 1)
    let listSync: ProjectListSync
    private let folders: [FolderRecord]
    private let steps: FileSteps
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// - Parameter steps: what changes of files meet.
    init(
        _ home: Home, store: FaultyStore, steps: FileSteps = FileSteps(), isAlive: @escaping @Sendable () -> Bool
    ) throws {
        self.home = home
        self.steps = steps
        self.store = store
        self.isAlive = isAlive
        // Each of several connections would read the whole schema, and there are thousands of processes.
        ledger = try Ledger(at: home.ledgerFile, connections: .single)
        queue = LedgerQueue(ledger)
        keys = try KeyLayout(user: "ana")
        time = home.clock.source(isAlive: isAlive)
        listSync = ProjectListSync(ledger: ledger, time: time, logger: logger)
        var watched = [
            WatchedFolder(kind: .gallery, path: Home.gallery), WatchedFolder(kind: .vacations, path: Home.trips),
        ]
        if let events = home.events { watched.append(WatchedFolder(kind: .gallery, path: events.path)) }
        if let projects = home.projects { watched.append(WatchedFolder(kind: .projects, path: projects.path)) }
        folders = try ledger.register(watched)
        _ = try ledger.recoverInterrupted(at: time.now())
    }

    func end() async throws {
        await pool.shutDown()
        try ledger.close()
    }

    // MARK: The work of a pass, in its order

    func pass() async throws {
        try await scanAndStore()
        _ = try await upkeep.run()
        if let due = try ledger.nextTry(at: time.now()), due <= time.now() {
            try await pipeline().run(.untilDone(patience: .zero))
        }
        _ = try await VacationManifestSync(
            ledger: queue, store: store, keys: keys, pool: pool, descriptions: noDescriptions, time: time
        ).run()
        _ = try await restores.round(isUrgent: false)
        try await shares.round()
        _ = try await catalog.run()
    }

    /// Its first half: nothing is written of what it has come to.
    func scanAndStore() async throws {
        for folder in folders { try scan(folder) }
        try await upkeep.inspect()
        try ledger.makeAllDue(at: time.now())
        try await pipeline().run(.untilDone(patience: .zero))
    }

    /// For so long a file is as it is before it counts as whole.
    private static let settle = Duration.seconds(2)

    private func scan(_ folder: FolderRecord) throws {
        let scan = FolderScan(ledger: ledger, scanner: home.view, settle: Self.settle)
        _ = try scan.run(folder, from: folder.path, at: time.now())
    }

    private func pipeline() -> PhotoPipeline {
        PhotoPipeline(
            ledger: queue, store: store,
            preparer: Preparer(
                ledger: ledger, scanner: home.view, reducer: home.view, planner: UploadPlanner(keys: keys),
                projects: projectPolicy, policy: ReducePolicy(), settle: Self.settle, now: time.now),
            versions: projectVersions, pool: pool, batchSize: 1, work: Wakeup(), time: time, logger: logger,
            observe: { _ in })
    }

    private static let policy = TierPolicy(
        user: "ana", mode: .off, archiveAfterDays: 180, originalsAfterDays: 180,
        floor: ArchiveFloor(configured: 0, prices: nil), shareExpireDays: 10)
    private static let verification = VerificationRule(
        percentPerDay: 10, maximumUSDPerMonth: 1, cost: VerificationCost(prices: nil))

    private var upkeep: StoreUpkeep {
        StoreUpkeep(
            store: store, ledger: queue, keys: keys,
            policy: Self.policy, verification: Self.verification,
            time: time, logger: logger)
    }

    private var catalog: CatalogWriter {
        CatalogWriter(
            store: store, ledger: queue, keys: keys, name: home.name, spool: home.tree.path("catalog.part"), pool: pool,
            time: time, logger: logger)
    }

    /// Makes the ledger of what the store has.
    /// - Returns: what could not be read.
    @discardableResult
    func rebuild() async throws -> [String] {
        try await LedgerRebuild(
            store: store, ledger: queue, keys: keys, folders: folders, machineName: home.name,
            spool: home.tree.path("rebuild.part"), scanner: home.view, pool: pool, time: time
        ).run().problems
    }

    /// Reads back all that is stored, and holds the rest against a listing.
    func verify() async throws {
        try await upkeep.inspect()
        _ = try await Verifier(store: store, ledger: queue, cost: VerificationCost(prices: nil), time: time)
            .run(.percent(100), costingAtMost: nil)
    }

    // MARK: Events

    /// Archives the photos of old events, and deletes their texts.
    func cleanUp(_ gallery: EventGallery) async throws -> RetentionSummary {
        for folder in folders where folder.path == gallery.path { try scan(folder) }
        let disk = home.view
        // One event after the other: which of several is archived first is not the seed's.
        let rules = RetentionPass.Rules(
            keys: keys, policy: ReducePolicy(), batchSize: 1, settle: Self.settle, keepsTitles: true,
            phoneRegion: nil)
        return try await RetentionPass(
            folders: [gallery.path], ledger: queue, store: store, scanner: disk, reducer: disk, phones: NoNumbers(),
            rules: rules, pool: pool,
            intake: EventIntake(
                pass: nil, ledger: queue, scanner: disk, reducer: disk, settle: Self.settle, pool: pool, time: time),
            calls: gallery.calls(steps), time: time
        ).run(olderThan: EventModel.days)
    }

    private struct NoNumbers: PhoneNumbers {
        func parse(_ text: String, region: String?) throws(InvalidPhoneNumber) -> PhoneNumber {
            throw InvalidPhoneNumber(text, reason: "nobody has one")
        }
    }

    // MARK: Restores

    private var patience: LedgerPatience { LedgerPatience(ledger: queue, time: time, logger: logger) }
    private var owner: ClaimOwner { ClaimOwner(name: "process \(ObjectIdentifier(self))", hasEnded: { _ in true }) }

    private var restores: RestoreService {
        RestoreService(
            poller: RestorePoller(
                store: store, ledger: queue,
                sender: RestoreSender(store: store, ledger: queue, owner: owner, time: time),
                interval: .seconds(900), time: time),
            downloader: RestoreDownloader(store: store, ledger: queue, owner: owner, pool: pool, time: time),
            announcer: RestoreAnnouncer(ledger: queue, notifiers: Notifiers([], logger: logger), time: time),
            patience: patience, time: time, logger: logger)
    }

    /// - Returns: how many objects it will bring back.
    func restore(_ path: FilePath) async throws -> Int {
        let planner = RestorePlanner(
            store: store, ledger: queue,
            prices: PriceTable(region: "test", asOf: "2026-01", source: "test", classes: [:], egressPerGB: 0),
            pool: pool, time: time)
        let order = RestoreOrder(names: [path.string], wish: .tier(.bulk), days: 7, requestedBy: "ana")
        let places = RestoreSelection.Places(
            workingFolder: Home.pictures, vacationRoots: [Home.trips], candidates: { [$0] })
        let accepted = try await planner.accept(try await planner.propose(order, in: places))
        _ = try await restores.round(isUrgent: true)
        return try accepted.job.map { try ledger.restoreItems(of: $0.id, after: 0, limit: .max).count } ?? 0
    }

    // MARK: Shares

    private var noDescriptions: DescriptionSource { DescriptionSource { _ in VacationDescription() } }
    private var lease: ShareLease { ShareLease(ledger: queue, owner: owner, time: home.clock.standing) }
    private var remover: ShareRemover { ShareRemover(store: store, ledger: queue, notes: notes, lease: lease) }
    private var notes: ShareNotes {
        ShareNotes(store: store, ledger: queue, keys: keys, name: home.name, time: time)
    }
    private var otherRemover: OtherShareRemover {
        OtherShareRemover(store: store, ledger: queue, notes: notes, time: time)
    }

    private var maker: FakeCopyMaker { FakeCopyMaker(disk: home.disk) }

    private var publisher: SharePublisher {
        SharePublisher(
            store: store, ledger: queue, scanner: home.disk, reducer: home.disk, maker: maker,
            pool: pool, policy: ReducePolicy(),
            writer: SharePageWriter(
                store: store, links: ShareLinks(store: store, publicBaseURL: nil, time: time)),
            notes: notes, lease: lease, time: time)
    }

    private var shares: ShareService {
        ShareService(
            publisher: publisher, remover: remover, notes: notes, others: otherRemover, ledger: queue,
            scanner: home.disk,
            pool: pool,
            notifiers: Notifiers([], logger: logger), patience: patience, time: time, logger: logger)
    }

    func share(_ folder: FilePath) async throws -> ShareID {
        let finder = VacationFinder(
            ledger: queue, pool: pool,
            places: RestoreSelection.Places(
                workingFolder: Home.pictures, vacationRoots: [Home.trips], candidates: { [$0] }),
            scanner: home.disk, descriptions: noDescriptions)
        let planner = SharePlanner(
            store: store, ledger: queue, reducer: home.disk, maker: maker, pool: pool, lease: lease,
            maximumPhotos: 50, expireDays: 10, time: time)
        let proposal = try await planner.propose(ShareOrder(vacation: try await finder.find(folder.string)))
        if proposal.change == .none, let share = proposal.existing { return share.id }
        let id = try await planner.accept(proposal)
        _ = try await publisher.run(id)
        return id
    }

    /// - Returns: whether something of it is to be stored again.
    func examine(_ id: ShareID) async throws -> Bool { try await publisher.examine(id) }

    /// Writes its page and manifest with new links.
    func renew(_ id: ShareID) async throws { try await publisher.renew(id) }

    func revoke(_ id: ShareID) async throws { try await remover.run(id, .revoked) }

    /// What other machines share.
    func otherShares() async throws -> (shares: [OtherShare], problems: [String]) { try await others.run() }

    private var others: OtherShares {
        OtherShares(
            store: store, ledger: queue, keys: keys, spool: home.tree.path("others.part"), pool: pool, time: time)
    }

    /// What one machine a day does for all.
    func doJobs() async throws -> [String] {
        try await UserJobs(
            store: store, ledger: queue, keys: keys, others: others,
            objects: SilentObjects(
                store: store, ledger: queue, keys: keys, policy: Self.policy, verification: Self.verification,
                spool: home.tree.path("objects.part"), pool: pool, time: time),
            time: time
        ).run().done
    }

    /// - Returns: whether anything of it was in the store.
    @discardableResult
    func revokeOther(_ share: OtherShare) async throws -> Bool { try await otherRemover.run(share) }

    func stray(_ id: ShareID) async throws -> OtherShares.Stray? { try await others.stray(id) }

    func revokeStray(_ id: ShareID, _ stray: OtherShares.Stray) async throws -> Bool {
        try await otherRemover.run(id, stray)
    }

    /// - Returns: what could not be held against its manifest.
    func takeOver(_ share: OtherShare) async throws -> String? {
        let watched = folders.map { WatchedFolder(kind: $0.kind, path: $0.path) }
        return try await ShareTakeOver(ledger: queue, notes: notes, watched: watched).run(share) {
            try await writeCatalog()
        }
    }

    /// The end of a pass.
    func writeCatalog() async throws { _ = try await catalog.run() }

    // MARK: A lie

    /// Notes a photo as stored that was never sent.
    func claimStored(_ file: FilePath) throws {
        let stamp = FileStamp(device: 9, inode: 9, size: 9, modified: 9)
        _ = try ledger.observe(
            folders[0].id, file: file.relative(to: Home.gallery), stamp: stamp, stillThere: { _ in true },
            at: time.now())
        for claim in try ledger.claim(limit: 1, at: time.now()) {
            let digest = ContentDigest(of: Array("never sent".utf8))
            let object = ObjectRecord(
                key: try keys.photo(PhotoID(digest.md5)), size: 9, md5: digest.md5, sha256: digest.sha256,
                contentType: "image/jpeg", storageClass: .standard, storedAt: time.now())
            try ledger.commit(claim, outcome: .uploaded(digest, object), at: time.now())
        }
    }
}
