package import SyncCore
package import SyncLedger

/// Stores photos, each of them once: what has the same key waits for its turn, and then finds the photo stored.
package struct PhotoSender: Sendable {
    private let ledger: Ledger
    private let uploader: Uploader
    private let pool: BlockingPool
    private let keys = KeyGuard<ObjectKey>()

    package init(ledger: Ledger, uploader: Uploader, pool: BlockingPool) {
        self.ledger = ledger
        self.uploader = uploader
        self.pool = pool
    }

    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    package func send(_ photo: PreparedPhoto) async throws -> Uploader.Receipt {
        try await keys.withKey(photo.plan.key) {
            // Its twin may have been stored while this one was prepared.
            let known = try await pool.run { [ledger] in try ledger.object(photo.plan.key) }
            if let known, known.md5 == photo.examined.digest.md5 {
                return Uploader.Receipt(object: known, wasSent: false)
            }
            return try await uploader.upload(photo)
        }
    }
}
