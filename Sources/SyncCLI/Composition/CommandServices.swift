import FoundationEssentials
import Glibc
import Logging
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPhotos
import SyncSystem
import SyncWatch
import SystemPackage

/// The parts of restores, put together from the configuration: for the agent, and for the commands that do a part of its
/// work themselves.
struct RestoreServices: Sendable {
    let workspace: Workspace
    let store: any ObjectStore
    let ledger: LedgerQueue
    /// This process, as the ledger knows it.
    let owner: ClaimOwner
    let planner: RestorePlanner
    let sender: RestoreSender
    let upgrader: RestoreUpgrader
    let service: RestoreService
    let refresh: ClassRefresh
    /// Of this process: what all of its services do while the ledger cannot be used.
    let patience: LedgerPatience

    /// - Parameter store: with retries.
    init(_ workspace: Workspace, store: any ObjectStore) async throws {
        let (installation, settings, time) = (workspace.installation, workspace.settings, workspace.time)
        let ledger = try await workspace.ledger
        // It may be unreadable: then nothing was opened.
        let prices = try installation.prices()
        // Downloads are written where their bytes arrive, on the store's own thread: a disk that hangs must not hold up
        // the uploads.
        let downloads = try await workspace.readStore()
        self.workspace = workspace
        self.store = store
        self.ledger = ledger
        patience = LedgerPatience(ledger: ledger, time: time, logger: installation.logger)
        planner = RestorePlanner(store: store, ledger: ledger, prices: prices, pool: workspace.threads.disk, time: time)
        owner = installation.makeClaimOwner()
        sender = RestoreSender(store: store, ledger: ledger, owner: owner, time: time)
        upgrader = RestoreUpgrader(store: store, ledger: ledger, time: time)
        service = RestoreService(
            poller: RestorePoller(
                store: store, ledger: ledger, sender: sender, interval: settings.restore.poll, time: time),
            downloader: RestoreDownloader(
                store: downloads, ledger: ledger, owner: owner, recompressor: workspace.recompressor,
                pool: workspace.threads.disk, time: time),
            announcer: RestoreAnnouncer(ledger: ledger, notifiers: workspace.notifiers, time: time),
            patience: patience, time: time, logger: installation.logger)
        refresh = ClassRefresh(
            store: store, ledger: ledger, keys: try workspace.keys,
            moves: try await workspace.mergedPhotos(store), pruned: try await workspace.prunedVersions(store),
            holdCatalog: workspace.catalogHold, time: time)
    }

    /// For a command: opens the store that the configuration names, and sees that the ledger is about it.
    /// - Parameter access: what may be made of an embedded store.
    init(_ workspace: Workspace, access: LocalStoreAccess) async throws {
        try await self.init(workspace, store: try await workspace.store(access))
    }
}

/// The parts of shares, put together from the configuration: for the agent, and for the commands.
struct ShareServices: Sendable {
    let restores: RestoreServices
    let finder: VacationFinder
    let planner: SharePlanner
    let publisher: SharePublisher
    let remover: ShareRemover
    /// What became of shares on other machines.
    let notes: ShareNotes
    /// Those of other machines.
    let others: OtherShares
    let otherRemover: OtherShareRemover
    let takeOver: ShareTakeOver
    let service: ShareService
    let links: ShareLinks
    let guests: GuestIntake

    var workspace: Workspace { restores.workspace }
    var ledger: LedgerQueue { restores.ledger }

    /// - Parameter restores: whose workspace, store and ledger these parts use too.
    init(_ restores: RestoreServices) throws {
        let workspace = restores.workspace
        let (installation, settings, time) = (workspace.installation, workspace.settings, workspace.time)
        let (store, ledger) = (restores.store, restores.ledger)
        let threads = workspace.threads
        let isCurrent: @Sendable (Ledger) throws -> Bool = { try installation.isCurrent(store, $0) }
        let lease = ShareLease(ledger: ledger, owner: restores.owner, time: time, isCurrent: isCurrent)
        let reducer = workspace.reducer
        let keys = try workspace.keys
        notes = ShareNotes(
            store: store, ledger: ledger, keys: keys, name: installation.machineName, time: time, isCurrent: isCurrent)
        takeOver = ShareTakeOver(ledger: ledger, notes: notes, watched: settings.watch)
        others = OtherShares(
            store: store, ledger: ledger, keys: keys, spool: installation.rebuildSpool, pool: threads.disk, time: time)
        self.restores = restores
        finder = VacationFinder(
            ledger: ledger, pool: threads.disk, places: installation.restorePlaces, scanner: FileTreeScanner())
        let maker = workspace.copyMaker
        planner = SharePlanner(
            store: store, ledger: ledger, reducer: reducer, maker: maker, pool: threads.photos, lease: lease,
            maximumPhotos: settings.share.maximumPhotos, expireDays: settings.share.expireDays, time: time)
        links = installation.shareLinks(store)
        guests = workspace.guestIntake(store, ledger)
        otherRemover = OtherShareRemover(store: store, ledger: ledger, notes: notes, guests: guests, time: time)
        publisher = SharePublisher(
            store: store, ledger: ledger, scanner: FileTreeScanner(), reducer: reducer,
            maker: maker, recompressor: workspace.recompressor, pool: threads.photos, policy: settings.photos.reduce,
            writer: SharePageWriter(store: store, links: links, language: settings.share.language),
            notes: notes, lease: lease, time: time)
        remover = ShareRemover(store: store, ledger: ledger, notes: notes, lease: lease, guests: guests)
        service = ShareService(
            publisher: publisher, remover: remover, notes: notes, others: otherRemover, guests: guests, ledger: ledger,
            scanner: FileTreeScanner(), pool: threads.disk,
            notifiers: workspace.notifiers, patience: restores.patience, time: time, logger: installation.logger)
    }
}

extension Workspace {
    func guestIntake(_ store: any ObjectStore, _ ledger: LedgerQueue) -> GuestIntake {
        GuestIntake(
            store: store, ledger: ledger, box: installation.guestBox, reducer: reducer, maker: copyMaker,
            pool: threads.photos, disk: threads.disk, time: time, logger: installation.logger)
    }

    func guestDecisions(_ ledger: LedgerQueue) -> GuestDecisions {
        GuestDecisions(ledger: ledger, box: installation.guestBox, disk: threads.disk, time: time)
    }
}

extension Installation {
    /// Where photos of guests wait.
    var guestBox: GuestIntake.Box {
        GuestIntake.Box(location.stateFolder.appending("guests")) { try? FileSystemFacts(at: $0).freeBytes }
    }

    /// Under which addresses shares of a store are seen.
    func shareLinks(_ store: any ObjectStore) -> ShareLinks {
        ShareLinks(store: store, publicBaseURL: settings.share.publicBaseURL, galleryURL: galleryURL, time: time)
    }

    /// Where others reach the gallery: by its own address, else by this machine's name; `nil` where only this machine can.
    private var galleryURL: URL? {
        if let base = settings.serve.baseURL { return base }
        return settings.serve.listen.isLoopback ? nil : galleryOfAgent.flatMap { URL(string: $0) }
    }
}

/// The parts of forgetting, put together from the configuration: for `forget`, and for the agent, which goes on with what a
/// command did not come to the end of.
struct ForgetServices: Sendable {
    let planner: ForgetPlanner
    let deletions: ObjectDeletions

    let workspace: Workspace
    private let store: any ObjectStore

    init(_ workspace: Workspace, store: any ObjectStore) async throws {
        self.workspace = workspace
        self.store = store
        planner = ForgetPlanner(
            ledger: try await workspace.ledger, others: try await Self.others(workspace, store: store),
            scanner: FileTreeScanner(), watched: workspace.settings.watch.map(\.path), pool: workspace.threads.disk,
            time: workspace.time)
        deletions = try await Self.deletions(workspace, store: store)
    }

    static func deletions(_ workspace: Workspace, store: any ObjectStore) async throws -> ObjectDeletions {
        let ledger = try await workspace.ledger
        return ObjectDeletions(
            store: store, ledger: ledger, others: try await others(workspace, store: store),
            hold: { [installation = workspace.installation, ledger = ledger.ledger] in
                try installation.takeDeletionLock(
                    in: store, ledger, orSay: "the next sync deletes there what was forgotten")
            }, time: workspace.time)
    }

    static func others(_ workspace: Workspace, store: any ObjectStore) async throws -> OtherReferences {
        OtherReferences(
            store: store, ledger: try await workspace.ledger, keys: try workspace.keys,
            spool: workspace.installation.rebuildSpool, pool: workspace.threads.disk,
            holdCatalog: workspace.catalogHold, time: workspace.time)
    }

    /// What tells others of the photos no longer does: manifests of vacations, and the catalogue. An agent that is running
    /// does so itself, within a minute.
    /// - Returns: what could not be brought up to date; the next pass makes up for it.
    func publishChanges() async throws -> [String] {
        guard let lock = try await workspace.takeLockIfFree() else { return [] }
        defer { withExtendedLifetime(lock) {} }
        let (ledger, keys) = (try await workspace.ledger, try workspace.keys)
        var problems: [String] = []
        let manifests = VacationManifestSync(
            ledger: ledger, store: store, keys: keys, pool: workspace.threads.disk, time: workspace.time)
        do {
            problems += try await manifests.run(where: \.hasForgotten).failures
        } catch let error as StoreError {
            problems.append("\(error)")
        }
        if workspace.settings.catalog == .on {
            // What it could not write it has told.
            try await workspace.catalogWriter(store).run()
        }
        return problems
    }
}
