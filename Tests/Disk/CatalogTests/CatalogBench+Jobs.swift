import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncTestSupport

extension CatalogBench {
    /// What one machine does for all, that day.
    /// - Parameter other: a store in front of that of the bench.
    func jobs(
        _ machine: CatalogMachine, percent: Double = 100, budget: Double = 1, prices: PriceTable? = nil,
        mode: TierMode = .off, through other: (any ObjectStore)? = nil, guests: GuestIntake? = nil
    ) async throws -> UserJobs.Summary {
        let store = other ?? self.store
        let (queue, spool) = (LedgerQueue(machine.ledger), tree.path("jobs.part"))
        let objects = SilentObjects(
            store: store, ledger: queue, keys: keys,
            policy: TierPolicy(
                user: "ana", mode: mode, archiveAfterDays: 3, originalsAfterDays: 3,
                floor: ArchiveFloor(configured: 5, prices: nil), shareExpireDays: 30),
            verification: VerificationRule(
                percentPerDay: percent, maximumUSDPerMonth: budget, cost: VerificationCost(prices: prices)),
            spool: spool, pool: pool, time: time.source)
        return try await UserJobs(
            store: store, ledger: queue, keys: keys,
            others: OtherShares(store: store, ledger: queue, keys: keys, spool: spool, pool: pool, time: time.source),
            guests: guests, objects: objects, time: time.source
        ).run()
    }

    /// Of a photo with this text.
    func photoKey(_ text: String) throws -> ObjectKey {
        try keys.photo(PhotoID(ContentDigest(of: Array(text.utf8)).md5))
    }

    /// The note of a machine, as it is written now.
    func sign(
        of id: String, name: String? = nil, catalogWrite: Int? = nil, replaces: [String: Int] = [:]
    ) async throws {
        let note = MachineNote(
            id: id, name: name ?? id, version: "1.0", lastSyncAt: nil, pending: 0, failed: 0, lost: 0,
            replaces: replaces,
            catalogWrite: catalogWrite)
        try await memory.store(note.encoded(), at: keys.machine(id))
    }

    func loseCatalogs() async throws {
        for key in try await keysOfSegments() { memory.lose(key) }
    }
}
