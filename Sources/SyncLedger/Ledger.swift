import GRDB
import Glibc
import SyncSystem
package import SystemPackage

/// What is known of every folder, photo, object and attempt: an SQLite database. The ledger is the queue.
///
/// All functions block, from microseconds to the busy timeout: call them on threads you own. They are safe from any
/// thread and from several processes. Each function that writes is one transaction: it is done whole or not at all, and
/// what it promises holds again when it returns. All throw ``LedgerError``.
///
/// One agent at a time takes photos from the queue (a lock file sees to that); readers and single writes of other
/// processes are welcome while it runs.
package final class Ledger: Sendable {
    package enum Connections: Sendable {
        /// One that writes, and up to three that read meanwhile: for what works for long, or on many threads.
        case pool
        /// One for all: for what asks one thing after the other, and ends. SQLite parses the whole schema for each.
        case single
    }

    /// Seconds that a call waits for another process to finish its transaction.
    package static let busyTimeout = 5.0

    /// The file; empty when in memory.
    package let path: FilePath
    let database: any DatabaseWriter
    /// The file that was opened under `path`.
    private let file: FileStatus?

    /// Opens the ledger, and creates it (file 0600, missing folders 0700) or migrates it where needed.
    /// - Throws: `.unreadable`, `.readOnly`, `.noSpace`, `.damaged`, `.newerSchema`, `.busy`.
    package init(at path: FilePath, connections: Connections = .pool) throws(LedgerError) {
        self.path = path
        database = try Self.open(path, connections)
        file = try? FileStatus(at: path, followsLinks: true)
    }

    /// Opens the file, again and again for as long as the busy timeout: while another process turns a new file into one
    /// with a write-ahead log, SQLite answers SQLITE_BUSY at once and does not ask its busy handler
    /// (https://www.sqlite.org/wal.html, "Sometimes Queries Return SQLITE_BUSY In WAL Mode").
    private static func open(_ path: FilePath, _ connections: Connections) throws(LedgerError) -> any DatabaseWriter {
        let patience = SuspendingClock.now + .seconds(busyTimeout)
        var isSecondTry = false
        while true {
            do {
                try LedgerFile.prepare(path)
                if connections == .single, let database = try SingleConnection.open(path, configuration) {
                    return database
                }
                let database = try openPool(path)
                try migrate(database, path: path)
                return database
            } catch {
                let error = LedgerError(error, operation: "open", path: path)
                // SQLite calls a schema malformed, too, that a drive did not give it for once.
                if error.code == .damaged, !isSecondTry {
                    isSecondTry = true
                    continue
                }
                guard error.code == .busy, SuspendingClock.now < patience else { throw error }
                usleep(20_000)
            }
        }
    }

    private static func openPool(_ path: FilePath) throws -> DatabasePool {
        do {
            return try DatabasePool(path: path.string, configuration: configuration)
        } catch let error as DatabaseError {
            throw error
        } catch {
            // It asks the file system how long a log is that it has just seen there: whoever closes last takes it away.
            throw LedgerError(
                code: .busy, operation: "open", path: path,
                message: "another process keeps removing its write-ahead log; try again when that one is done")
        }
    }

    /// An empty ledger in memory. It is gone with the last reference to it.
    package static func inMemory() throws(LedgerError) -> Ledger {
        let ledger = try Ledger(inMemoryAs: empty.get(), operation: "open")
        try ledger.write("open") { db in
            try CatalogSchema.drawMachineID(db)
            try PseudonymSchema.drawKey(db)
        }
        return ledger
    }

    /// A copy in memory of a whole ledger.
    /// - Parameter place: where the original is, for errors.
    init(inMemoryAs original: any DatabaseReader, at place: FilePath = "", operation: String) throws(LedgerError) {
        path = ""
        file = nil
        do {
            let copy = try DatabaseQueue(configuration: Self.configuration)
            try original.backup(to: copy)
            database = copy
        } catch {
            throw LedgerError(error, operation: operation, path: place)
        }
    }

    /// What empty ledgers in memory are copied from: to make its tables takes five times as long as a copy.
    private static let empty = Result { () throws(LedgerError) in
        do {
            let database = try DatabaseQueue(configuration: configuration)
            try migrate(database, path: "")
            return database
        } catch {
            throw LedgerError(error, operation: "open", path: "")
        }
    }

    /// Folds the write-ahead log into the file, and closes: every later call throws. A ledger in memory stays as it is.
    package func close() throws(LedgerError) {
        guard !path.isEmpty else { return }
        do {
            try database.writeWithoutTransaction { db in
                // A reader in another process may hold the log: then it stays, and the last one to close folds it.
                try db.execute(sql: "PRAGMA busy_timeout = 0")
                _ = try? db.checkpoint(.truncate)
            }
            if let single = database as? DatabaseQueue {
                try SingleConnection.close(single)
            } else {
                try database.close()
            }
        } catch {
            throw LedgerError(error, operation: "close", path: path)
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "ledger"
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(busyTimeout)
        configuration.maximumReaderCount = 3
        configuration.prepareDatabase { db in
            // NORMAL does not sync at each commit: after a power failure the last transactions may be missing, and the
            // file is whole. That only repeats a step which is idempotent: a file is scanned again, a photo is put
            // again under the same key. What would not be found again is written durably.
            try db.execute(sql: "PRAGMA synchronous = NORMAL")
            try Self.boundLog(db)
            // What is deleted is overwritten: of events that were signed off, only their records remain.
            try db.execute(sql: "PRAGMA secure_delete = ON")
        }
        return configuration
    }

    private static func migrate(_ database: any DatabaseWriter, path: FilePath) throws {
        if try database.read(Schema.isCurrent) { return }
        let migrator = Schema.migrator
        if try database.read(migrator.hasBeenSuperseded) {
            throw LedgerError(
                code: .newerSchema, operation: "open", path: path,
                message: "it was written by a newer version; install that version again, or give another state folder")
        }
        try database.write(SchemaSnapshot.make)
        // Several processes may find a file that is new or of an earlier version. Each step is taken by one of them; the
        // others fail at it, and go on behind whoever was first.
        var applied = try database.read(migrator.appliedIdentifiers).count
        while true {
            do {
                return try migrator.migrate(database)
            } catch {
                let (isDone, now) = try database.read { db in
                    try (migrator.hasCompletedMigrations(db), migrator.appliedIdentifiers(db).count)
                }
                if isDone { return }
                guard now > applied else { throw error }
                applied = now
            }
        }
    }
}

extension Ledger {
    func read<Value>(_ operation: String, _ body: (Database) throws -> Value) throws(LedgerError) -> Value {
        try requireUnmoved(operation)
        do {
            return try PooledWork.elsewhere {
                guard let single = database as? DatabaseQueue else { return try database.read(body) }
                return try single.unsafeRead { try $0.reading(body) }
            }
        } catch {
            throw LedgerError(error, operation: operation, path: path)
        }
    }

    /// One transaction, IMMEDIATE from its start, so that waiting for another writer cannot end in a deadlock.
    /// - Parameter isDurable: whether it is on the disk when this returns, with all that was committed before it. A sync
    ///   that fails takes the transaction back. For what a promise to others leans on: an object that only the ledger can
    ///   find, a request that costs money.
    @discardableResult
    func write<Value>(
        _ operation: String, isDurable: Bool = false, _ body: (Database) throws -> Value
    ) throws(LedgerError) -> Value {
        try requireWanted(operation)
        try requireUnmoved(operation)
        if isDurable { return try onWriter(operation) { try $0.durably(body) } }
        do {
            return try PooledWork.elsewhere { try database.write(body) }
        } catch {
            throw LedgerError(error, operation: operation, path: path)
        }
    }

    /// One statement in a transaction of its own. Answers the rows that it changed.
    @discardableResult
    func write(
        _ operation: String, isDurable: Bool = false, _ sql: String, _ arguments: StatementArguments
    ) throws(LedgerError) -> Int {
        try write(operation, isDurable: isDurable) { try $0.run(sql, arguments) }
    }

    /// One statement for each of some arguments, all in one transaction.
    func write(_ operation: String, _ sql: String, each arguments: [StatementArguments]) throws(LedgerError) {
        try write(operation) { db in
            for values in arguments { try db.run(sql, values) }
        }
    }

    /// Puts all that was committed so far on the disk. The number is not used for anything else; to write it makes a
    /// commit.
    package func makeDurable() throws(LedgerError) {
        try write("put the ledger on the disk", isDurable: true) { try $0.execute(sql: "PRAGMA user_version = 0") }
    }

    /// On the connection that writes, in no transaction.
    func onWriter<Value>(_ operation: String, _ body: (Database) throws -> Value) throws(LedgerError) -> Value {
        do {
            return try PooledWork.elsewhere { try database.writeWithoutTransaction(body) }
        } catch {
            throw LedgerError(error, operation: operation, path: path)
        }
    }

    /// Work that was given up with its thread may come back much later (``SyncSystem/PooledWork``): what it has seen is
    /// old by then, and others have looked since.
    private func requireWanted(_ operation: String) throws(LedgerError) {
        guard PooledWork.isGivenUp else { return }
        throw LedgerError(
            code: .failed, operation: operation, path: path,
            message: "it took too long, and nobody waits for it any more; what is to be written is found out anew")
    }

    /// SQLite itself goes on with a file that was removed (https://www.sqlite.org/howtocorrupt.html, 2.3): what is read of it
    /// is true no more, and what is written is gone. A second agent, with a new ledger, would not be kept away.
    private func requireUnmoved(_ operation: String) throws(LedgerError) {
        guard let file else { return }
        do {
            if let found = try FileStatus.find(path, followsLinks: true), found.isSameFile(as: file) { return }
        } catch {
            // Its drive does not answer: SQLite will say so.
            return
        }
        throw LedgerError(
            code: .moved, operation: operation, path: path,
            message: "the file was removed or replaced while it was in use; start again: the next pass finds what is "
                + "stored")
    }
}

extension Database {
    /// One transaction that writes nothing, as of `DatabaseQueue.read`: of a closed connection, that one asks SQLite how it
    /// stands, and SQLite follows its null pointer. That one sets `PRAGMA query_only`, too, after which SQLite prepares each
    /// statement anew: half of what a list of photos took.
    fileprivate func reading<Value>(_ body: (Database) throws -> Value) throws -> Value {
        guard sqliteConnection != nil else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
        let changes = totalChangesCount
        defer { assert(totalChangesCount == changes, "a read has written") }
        return try inTransaction(.deferred, returning: body)
    }

    /// One transaction that is on the disk when this returns: with FULL, SQLite syncs the write-ahead log at the commit
    /// (https://www.sqlite.org/pragma.html#pragma_synchronous). The level cannot be changed inside of a transaction.
    fileprivate func durably<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try execute(sql: "PRAGMA synchronous = FULL")
        defer { try? execute(sql: "PRAGMA synchronous = NORMAL") }
        return try inTransaction(.immediate, returning: body)
    }

    private func inTransaction<Value>(
        _ kind: TransactionKind, returning body: (Database) throws -> Value
    ) throws -> Value {
        try beginTransaction(kind)
        do {
            let value = try body(self)
            try commit()
            return value
        } catch {
            // SQLite may have rolled back by itself.
            if isInsideTransaction { try rollback() }
            throw error
        }
    }
}

/// The one way to the ledger for those who await: each call runs on one of its threads, which do nothing else. A commit
/// waits for no decoder and no disk of photos. There is one for each opened ledger.
package final class LedgerQueue: Sendable {
    /// One may wait for another process's transaction while another one reads.
    private static let threads = 2

    /// For what runs on a thread of ours anyway, and reads a disk between two calls: a scan, the preparing of a photo.
    package let ledger: Ledger
    private let pool: BlockingPool
    /// Looks at the files every few seconds, so that the others end where there is nothing to do (``mark(at:)``).
    let marks = BlockingPool(ofGlances: "ledger-mark")
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

    /// As ``finish(_:)``, for what tells by itself when it is done.
    package func add(_ body: @escaping @Sendable (Ledger) -> Void) {
        pool.add { [ledger] in body(ledger) }
    }

    /// Closes the ledger (``Ledger/close()``), and waits until its threads are gone.
    package func close() async throws {
        let result = await pool.finish { [ledger] in Result { try ledger.close() } }
        await pool.shutDown()
        await marks.shutDown()
        try result.get()
    }
}
