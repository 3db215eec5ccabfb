import Foundation
import GRDB
import SyncCore
import SystemPackage
import Testing

@testable import SyncLedger

@Suite struct ProjectContentMigrationTests {
    /// Two projects folders, one watched after the other: of `a.jpg` the other one's content is stored.
    private func makeOld(in state: StateFolder) throws {
        try state.makeLedger(upTo: "drives of photos") { db in
            try db.execute(
                sql: """
                    INSERT INTO folders (id, path, kind, active, position) VALUES
                        (1, CAST('/mine' AS BLOB), 'projects', 1, 0), (2, CAST('/others' AS BLOB), 'projects', 0, 1);
                    INSERT INTO directories (id, folder_id, path) VALUES
                        (1, 1, CAST('/' AS BLOB)), (2, 2, CAST('/' AS BLOB));
                    INSERT INTO objects (id, key, size, md5, content_type, storage_class, restore_state, stored_at) VALUES
                        (1, 'users/ana/projects/a.jpg', 5, CAST('another content.' AS BLOB), 'image/jpeg', 'STANDARD',
                            'none', 9000),
                        (2, 'users/ana/projects/b.jpg', 5, zeroblob(16), 'image/jpeg', 'STANDARD', 'none', 1000),
                        (3, 'users/ana/projects/c.jpg', 5, NULL, 'image/jpeg', 'STANDARD', 'none', 1000),
                        (4, 'users/ana/projects/a/versions/1.jpg', 5, CAST('an older content' AS BLOB), 'image/jpeg',
                            'STANDARD', 'none', 1000);
                    INSERT INTO project_versions (project_id, key) VALUES ('a', 'users/ana/projects/a/versions/1.jpg');
                    INSERT INTO photos (id, folder_id, directory_id, name, device, inode, size, modified, state, queued_at,
                        md5, object_id, object_generation, uploaded_at)
                    VALUES
                        (1, 1, 1, CAST('a.jpg' AS BLOB), 1, 1, 10, 1, 'uploaded', 1, zeroblob(16), 1, 1, 1000),
                        (2, 2, 2, CAST('a.jpg' AS BLOB), 1, 2, 10, 1, 'uploaded', 1,
                            CAST('another content.' AS BLOB), 1, 1, 9000),
                        (3, 1, 1, CAST('b.jpg' AS BLOB), 1, 3, 10, 1, 'uploaded', 1, zeroblob(16), 2, 1, 1000),
                        (4, 1, 1, CAST('c.jpg' AS BLOB), 1, 4, 10, 1, 'uploaded', 1, zeroblob(16), 3, 1, 1000),
                        (5, 1, 1, CAST('gone.jpg' AS BLOB), 1, 5, 10, 1, 'missing', 1, zeroblob(16), 1, 1, 1000),
                        (6, 1, 1, CAST('kept.jpg' AS BLOB), 1, 6, 10, 1, 'missing', 1,
                            CAST('an older content' AS BLOB), 1, 1, 1000),
                        (7, 1, 1, CAST('lost.jpg' AS BLOB), 1, 7, 10, 1, 'lost', 1,
                            CAST('an older content' AS BLOB), 1, 1, 1000);
                    -- What b.jpg was before, when it had the name a.jpg; what c.jpg was before is as it was.
                    INSERT INTO photo_versions VALUES (3, 1, 500, 1000), (4, 2, 1000, 2000);
                    """)
        }
    }

    @Test func `a projects file whose key has got another content waits, and no other one`() throws {
        let state = try StateFolder()
        try makeOld(in: state)
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.check() == [])
        let now = Date(timeIntervalSince1970: 2_000_000)
        #expect(try ledger.claim(limit: 9, at: now).map(\.file) == ["/mine/a.jpg"])
        let (photos, versions) = try ledger.database.read { db in
            try (
                String.fetchAll(db, sql: "SELECT id || ' ' || state FROM photos ORDER BY id"),
                Int64.fetchAll(db, sql: "SELECT photo_id FROM photo_versions")
            )
        }
        #expect(photos == ["1 uploading", "2 uploaded", "3 uploaded", "4 uploaded", "6 missing", "7 missing"])
        #expect(versions == [4])
    }

    @Test func `one whose content is among the versions of its project is stored as that version`() throws {
        let state = try StateFolder()
        try makeOld(in: state)
        let ledger = try Ledger(at: state.ledger)
        let stored = try ledger.projectVersionsInUse(below: "users/ana/projects/a/versions/").map(\.rawValue)
        #expect(stored == ["users/ana/projects/a/versions/1.jpg"])
        let objects = try ledger.database.read { db in
            try Int64.fetchAll(db, sql: "SELECT object_id FROM photos WHERE id IN (6, 7)")
        }
        #expect(objects == [4, 4])
        #expect(try ledger.check() == [])
    }
}
