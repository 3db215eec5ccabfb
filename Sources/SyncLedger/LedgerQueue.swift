import SyncSystem

/// The one way to the ledger for those who await: each call runs on one of its threads, which do nothing else. A commit
/// waits for no decoder and no disk of photos. There is one for each opened ledger.
package final class LedgerQueue: Sendable {
    /// One may wait for another process's transaction while another one reads.
    private static let threads = 2

    /// For what runs on a thread of ours anyway, and reads a disk between two calls: a scan, the preparing of a photo.
    package let ledger: Ledger
    private let pool: BlockingPool
    private let cache: Int

    package convenience init(_ ledger: Ledger) {
        self.init(ledger, Self.makePool())
    }

    private init(_ ledger: Ledger, _ pool: BlockingPool) {
        self.ledger = ledger
        self.pool = pool
        cache = IdleMemory.addCache { ledger.releaseMemory() }
    }

    deinit {
        IdleMemory.removeCache(cache)
    }

    /// Opens a ledger, which may take as long as its migration, or the patience with another process.
    /// - Throws: what `open` throws; `CancellationError`.
    package static func open(_ open: @escaping @Sendable () throws -> Ledger) async throws -> LedgerQueue {
        let pool = makePool()
        do {
            return LedgerQueue(try await pool.run(open), pool)
        } catch {
            await pool.shutDown()
            throw error
        }
    }

    private static func makePool() -> BlockingPool { BlockingPool(name: "ledger", threads: threads) }

    /// - Throws: what `body` throws; `CancellationError`.
    package func callAsFunction<Value: Sendable>(
        _ body: @escaping @Sendable (Ledger) throws -> Value
    ) async throws -> Value {
        try await pool.run { [ledger] in try body(ledger) }
    }

    /// As a call, for what has happened already and has to be noted, whether the task was cancelled or not.
    /// - Throws: what `body` throws.
    package func finish<Value: Sendable>(_ body: @escaping @Sendable (Ledger) throws -> Value) async throws -> Value {
        try await pool.finish { [ledger] in Result { try body(ledger) } }.get()
    }

    /// Closes the ledger (``Ledger/close()``), and waits until its threads are gone.
    package func close() async throws {
        let result = await pool.finish { [ledger] in Result { try ledger.close() } }
        await pool.shutDown()
        try result.get()
    }
}
