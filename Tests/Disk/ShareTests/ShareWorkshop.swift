import Logging
import SyncCore
import SyncPhotos
import SyncSystem
import SyncTestSupport
import SyncWatch
import SystemPackage
import Testing

@testable import SyncEngine
@testable import SyncLedger

/// What makes shares and ends them, put together as the program does, over the store and the ledger of a test.
struct ShareWorkshop: Sendable {
    let store: any ObjectStore
    let ledger: LedgerQueue
    let time: ManualTime
    var owner = "me"
    /// `nil` where no share takes guests.
    var guestBox: GuestIntake.Box?

    /// All other owners have ended.
    private var lease: ShareLease {
        ShareLease(
            ledger: ledger, owner: ClaimOwner(name: owner, hasEnded: { [owner] in $0 != owner }), time: time.source)
    }
    private var logger: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
    var remover: ShareRemover {
        ShareRemover(store: store, ledger: ledger, notes: notes, lease: lease, guests: guests)
    }
    var guests: GuestIntake? {
        guestBox.map {
            GuestIntake(
                store: store, ledger: ledger, box: $0, reducer: PhotoFileReducer(), maker: SharedPhotoMaker(),
                pool: BlockingPool(name: "pictures", threads: 1), disk: BlockingPool(name: "disk", threads: 1),
                time: time.source, logger: logger)
        }
    }
    private var notes: ShareNotes {
        ShareNotes(store: store, ledger: ledger, keys: .ana, name: "laptop", time: time.source)
    }

    var otherRemover: OtherShareRemover {
        OtherShareRemover(store: store, ledger: ledger, notes: notes, guests: guests, time: time.source)
    }
    /// - Precondition: only strays are looked for: no catalogue is read.
    var others: OtherShares {
        OtherShares(
            store: store, ledger: ledger, keys: .ana, spool: "/nonexistent",
            pool: BlockingPool(name: "files", threads: 1), time: time.source)
    }

    /// The agent's part.
    var service: ShareService {
        ShareService(
            publisher: publisher, remover: remover, notes: notes,
            others: otherRemover,
            guests: guests, ledger: ledger, scanner: FileTreeScanner(),
            pool: BlockingPool(name: "files", threads: 1), notifiers: Notifiers([], logger: logger),
            patience: LedgerPatience(ledger: ledger, time: time.source, logger: logger), time: time.source,
            logger: logger)
    }

    var publisher: SharePublisher {
        SharePublisher(
            store: store, ledger: ledger, scanner: FileTreeScanner(), reducer: PhotoFileReducer(),
            maker: SharedPhotoMaker(), pool: BlockingPool(name: "copies", threads: 3), policy: ReducePolicy(),
            writer: SharePageWriter(
                store: store, links: ShareLinks(store: store, publicBaseURL: nil, time: time.source)),
            notes: notes, lease: lease, time: time.source)
    }

    /// Photos of a folder that no pass has stored yet.
    func order(
        _ names: [String], in folder: FilePath, taken day: String, quality: ShareQuality = .reduced
    ) throws -> ShareOrder {
        let day = try #require(CalendarDay(day))
        let photos = try names.map { name in
            VacationPhoto(
                path: folder.appending(name), name: name, state: .pending,
                stamp: try FileStamp(of: folder.appending(name)), md5: nil, object: nil)
        }
        return ShareOrder(
            vacation: Vacation(
                id: VacationID(rawValue: 1), folder: folder,
                details: VacationDetails(location: "Paris", startDate: day, endDate: day), photos: photos),
            quality: quality, sharedBy: "Ana")
    }

    /// Proposes a share, accepts it and publishes it.
    func share(_ order: ShareOrder) async throws -> (
        result: SharePublisher.Publication, proposal: ShareProposal, id: ShareID
    ) {
        let pool = BlockingPool(name: "share", threads: 3)
        let planner = SharePlanner(
            store: store, ledger: ledger, reducer: PhotoFileReducer(), maker: SharedPhotoMaker(), pool: pool,
            lease: lease,
            maximumPhotos: 50, expireDays: 30, time: time.source)
        let proposal = try await planner.propose(order)
        let id = try await planner.accept(proposal)
        return (try await publisher.run(id), proposal, id)
    }
}
