import FoundationEssentials
import Glibc
import Logging
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncPhotos
import SyncSystem
import SyncWatch
import SystemPackage

/// The parts of shares, put together from the configuration: for the agent, and for the commands.
struct ShareServices: Sendable {
    let restores: RestoreServices
    let finder: VacationFinder
    let desk: SharePlanner
    let publisher: SharePublisher
    let ender: ShareRemover
    /// What became of shares on other machines.
    let notes: ShareNotes
    /// Those of other machines.
    let others: OtherShares
    let otherEnder: OtherShareRemover
    let takeOver: ShareTakeOver
    let service: ShareService
    let links: ShareLinks
    let guests: GuestIntake

    var ledger: LedgerQueue { restores.ledger }

    /// - Parameter restores: whose store and ledger these parts use too.
    init(_ workspace: Workspace, _ restores: RestoreServices) throws {
        let (installation, settings, time) = (workspace.installation, workspace.settings, workspace.time)
        let (store, ledger) = (restores.store, restores.ledger)
        let threads = workspace.threads
        let lease = ShareLease(ledger: ledger, owner: restores.owner, time: time)
        let reducer = PhotoFileReducer(pictures: workspace.pictures)
        let keys = try KeyLayout(user: settings.user)
        notes = ShareNotes(store: store, ledger: ledger, keys: keys, name: installation.machineName, time: time)
        takeOver = ShareTakeOver(ledger: ledger, notes: notes, watched: settings.watch)
        others = OtherShares(
            store: store, ledger: ledger, keys: keys, spool: installation.rebuildSpool, pool: threads.disk, time: time)
        self.restores = restores
        finder = VacationFinder(
            ledger: ledger, pool: threads.disk, places: installation.restorePlaces, scanner: FileTreeScanner())
        let maker = workspace.copyMaker
        desk = SharePlanner(
            store: store, ledger: ledger, reducer: reducer, maker: maker, pool: threads.photos, lease: lease,
            maximumPhotos: settings.share.maximumPhotos, expireDays: settings.share.expireDays, time: time)
        links = installation.shareLinks(store)
        guests = GuestIntake(
            store: store, ledger: ledger, box: installation.guestBox, reducer: reducer, maker: maker,
            pool: threads.photos, disk: threads.disk, time: time, logger: installation.logger)
        otherEnder = OtherShareRemover(store: store, ledger: ledger, notes: notes, guests: guests, time: time)
        publisher = SharePublisher(
            store: store, ledger: ledger, scanner: FileTreeScanner(), reducer: reducer,
            maker: maker, recompressor: workspace.recompressor, pool: threads.photos, policy: settings.photos.reduce,
            writer: SharePageWriter(store: store, links: links, language: settings.share.language),
            notes: notes, lease: lease, time: time)
        ender = ShareRemover(store: store, ledger: ledger, notes: notes, lease: lease, guests: guests)
        service = ShareService(
            publisher: publisher, ender: ender, notes: notes, others: otherEnder, guests: guests, ledger: ledger,
            scanner: FileTreeScanner(), pool: threads.disk,
            notifiers: workspace.notifiers, patience: restores.patience, time: time, logger: installation.logger)
    }
}

extension ShareServices {
    /// - Throws: ``ShareError/noGuests(_:)`` where guests are asked for and could not reach the page.
    func requireGuestsCanCome(_ order: ShareOrder) throws {
        if order.takesGuests == true, let reason = links.noGuests { throw ShareError.noGuests(reason) }
    }
}

extension Workspace {
    func guestDesk(_ ledger: LedgerQueue) -> GuestDesk {
        GuestDesk(ledger: ledger, box: installation.guestBox, disk: threads.disk, time: time)
    }
}

extension Installation {
    /// Whether an agent, or a pass, is at work at this moment.
    func agentRuns() throws -> Bool { try AgentLock.currentHolder(at: lockFile) != nil }

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
        let listen = settings.serve.listen
        guard settings.serve.isEnabled, !listen.isLoopback, listen.port != 0 else { return nil }
        return URL(string: "http://\(listen.reached(by: ProcessEnvironment.hostName))/")
    }

    /// Where names of photos and vacations are looked up.
    var restorePlaces: RestoreSelection.Places {
        let locator = pathLocator
        return RestoreSelection.Places(
            workingFolder: ProcessEnvironment.workingFolder,
            vacationRoots: settings.watch.filter { $0.kind == .vacations }.map(\.path),
            candidates: { locator.candidates(for: $0) })
    }
}
