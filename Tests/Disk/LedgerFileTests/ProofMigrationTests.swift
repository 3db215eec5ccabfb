import Foundation
import GRDB
import SyncCore
import SystemPackage
import Testing

@testable import SyncLedger

/// A ledger from before photos could be lost.
@Suite struct ProofMigrationTests {
    @Test func `rows, indexes, triggers and columns of others stay, and a photo may be lost`() throws {
        let state = try StateFolder()
        let before = try state.makeLedger(upTo: "projects") { db in
            try db.execute(
                sql: """
                    ALTER TABLE photos ADD COLUMN foreign_column TEXT;
                    INSERT INTO folders (id, path, kind, active, position)
                        VALUES (1, CAST('/trips' AS BLOB), 'vacations', 1, 0);
                    INSERT INTO directories (id, folder_id, path) VALUES (1, 1, CAST('/Rome' AS BLOB));
                    INSERT INTO objects (id, key, size, content_type, storage_class, restore_state, stored_at)
                        VALUES (1, 'users/ana/photos/a.dat', 500, 'image/jpeg', 'STANDARD', 'none', 1000);
                    INSERT INTO photos (folder_id, directory_id, name, device, inode, size, modified, state, queued_at,
                        object_id, object_generation, foreign_column)
                    VALUES (1, 1, CAST('a.jpg' AS BLOB), 1, 1, 10, 1, 'missing', 1, 1, 1, 'kept');
                    """)
            return try names(db)
        }
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.check() == [])
        let record = try #require(try ledger.object(ObjectKey("users/ana/photos/a.dat")))
        #expect(record.storedMD5 == nil && record.etag == nil && record.problem == nil)
        try ledger.markBroken([BrokenObject(record, .missing)], at: Date())
        #expect(try ledger.overview().totals[.lost].files == 1)
        #expect(try ledger.vacations().first?.lost == 1)
        #expect(try ledger.check() == [])
        try ledger.close()
        let reopened = try DatabaseQueue(path: state.ledger.string)
        let (after, kept) = try reopened.read { db in
            (try names(db), try String.fetchOne(db, sql: "SELECT foreign_column FROM photos"))
        }
        #expect(after.isSuperset(of: before))
        #expect(kept == "kept")
        #expect(throws: DatabaseError.self) {
            try reopened.write { try $0.execute(sql: "UPDATE photos SET state = 'nothing'") }
        }
    }

    private func names(_ db: Database) throws -> Set<String> {
        Set(try String.fetchAll(db, sql: "SELECT type || ' ' || name FROM sqlite_schema"))
    }
}
