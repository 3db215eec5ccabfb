import Logging
import ServiceLifecycle
package import SyncCore
package import SyncLedger
import SyncSystem

/// When the catalogue is written: not before a minute after the last write, and not for fewer than a hundred changes while
/// there are photos to store; for whatever is new when there are none. Then the other machines are told how this one stands.
package struct CatalogService: Service {
    private static let interval = Duration.seconds(60)
    private static let fewest = 100

    private let isKept: Bool
    private let writer: CatalogWriter
    private let notes: MachineNoteWriter
    private let ledger: LedgerQueue
    private let loop: ServiceLoop
    private let time: TimeSource

    /// - Parameter isKept: `false`: no catalogue is wanted, and what there is of this machine's is removed.
    package init(
        _ writer: CatalogWriter, notes: MachineNoteWriter, isKept: Bool, ledger: LedgerQueue, patience: LedgerPatience,
        time: TimeSource
    ) {
        self.writer = writer
        self.notes = notes
        self.isKept = isKept
        self.ledger = ledger
        self.time = time
        loop = ServiceLoop(name: "the catalogue", interval: Self.interval, patience: patience, time: time)
    }

    package func run() async throws {
        try await loop.run {
            if !isKept { try await writer.remove() } else if try await isItsTurn() { try await writer.run() }
            if try await isIdle() { try await notes.run() }
            return .round(after: Self.interval)
        }
    }

    /// At the end of a pass.
    /// - Throws: ``LedgerError``, `CancellationError`.
    @discardableResult
    package func round() async throws -> CatalogWriter.Outcome {
        let outcome = try await isKept ? writer.run() : writer.remove()
        try await notes.run(passEndedAt: time.now())
        return outcome
    }

    /// Runs a pass; one that lasts has its photos in the catalogue before it ends.
    package func during(_ pass: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            if isKept {
                group.addTask {
                    while true {
                        try await time.sleep(Self.interval)
                        if try await isItsTurn() { try await writer.run() }
                    }
                }
            }
            defer { group.cancelAll() }
            try await pass()
            group.cancelAll()
            // What has failed it is met again at the end of the pass.
            while await group.nextResult() != nil {}
        }
    }

    private func isItsTurn() async throws -> Bool {
        let changes = try await writer.waiting().changes
        return try await changes >= Self.fewest ? true : isIdle()
    }

    /// Whether there is nothing to store.
    private func isIdle() async throws -> Bool {
        let totals = try await ledger { try $0.overview().totals }
        return totals[.pending].files + totals[.uploading].files == 0
    }
}
