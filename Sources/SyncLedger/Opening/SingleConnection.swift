import CSyncSQLite
import GRDB
import SyncSystem
import SystemPackage

/// The connection of whoever asks one thing after the other, and ends.
enum SingleConnection {
    /// - Returns: `nil` where there is something to make or to migrate, or to refuse: a pool does that.
    static func open(_ path: FilePath, _ configuration: Configuration) throws -> DatabaseQueue? {
        let database = try DatabaseQueue(path: path.string, configuration: configuration)
        let isReady = try database.read { db -> Bool in
            let mode: String? = try db.rawRow("PRAGMA journal_mode")?[0]
            return try mode == "wal" && Schema.isCurrent(db)
        }
        if isReady {
            try database.unsafeRead { try noteNothing($0) }
            return database
        }
        try database.close()
        return nil
    }

    /// The one that was closed last stays until the process ends, or until the next one. When it is let go of, GRDB leaves
    /// Foundation's notification centre, for which Swift looks three times through all conformances of the program.
    static func close(_ database: DatabaseQueue) throws {
        try database.close()
        let earlier = closed.withLock { closed in
            defer { closed = database }
            return closed
        }
        // Not under the lock.
        withExtendedLifetime(earlier) {}
    }

    private static let closed = Lock<DatabaseQueue?>(nil)

    /// GRDB notes each column that a statement reads, for those who observe changes; nobody does here, and it was more than
    /// half of what it takes to prepare the statements of `status`. It learns in the same way that tables are changed; who
    /// does that has a pool.
    private static func noteNothing(_ db: Database) throws {
        guard let connection = db.sqliteConnection else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
        CSyncSQLite_RemoveAuthorizer(UnsafeMutableRawPointer(connection))
    }
}
