package import SyncLedger
package import SyncSystem

/// The ledger for those who await: each call runs on a thread that may block.
package struct LedgerQueue: Sendable {
    private let ledger: Ledger
    private let pool: BlockingPool

    package init(_ ledger: Ledger, pool: BlockingPool) {
        self.ledger = ledger
        self.pool = pool
    }

    /// - Throws: what `body` throws; `CancellationError`.
    package func callAsFunction<Value: Sendable>(
        _ body: @escaping @Sendable (Ledger) throws -> Value
    ) async throws -> Value {
        try await pool.run { [ledger] in try body(ledger) }
    }

    /// As a call, for what has happened already and has to be noted, whether the task was cancelled or not.
    /// - Throws: what `body` throws.
    package func finish<Value: Sendable>(
        _ body: @escaping @Sendable (Ledger) throws -> Value
    ) async throws -> Value {
        try await pool.finish { [ledger] in Result { try body(ledger) } }.get()
    }
}
