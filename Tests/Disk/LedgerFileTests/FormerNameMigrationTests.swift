import Foundation
import GRDB
import SyncCore
import SystemPackage
import Testing

@testable import SyncLedger

@Suite struct FormerNameMigrationTests {
    @Test func `photos of an older ledger leave names that look like wildcards when they are forgotten`() throws {
        let state = try StateFolder()
        try state.makeLedger(upTo: "objects that the store denied") { db in
            try db.execute(
                sql: """
                    INSERT INTO folders (id, path, kind, active, position)
                        VALUES (1, CAST('/pictures/gallery' AS BLOB), 'gallery', 1, 0);
                    INSERT INTO directories (id, folder_id, path)
                        VALUES (1, 1, CAST('/' AS BLOB)), (2, 1, CAST('/Rome [1]' AS BLOB));
                    INSERT INTO objects (id, key, size, content_type, storage_class, restore_state, stored_at)
                        VALUES (1, 'users/ana/photos/a.dat', 500, 'image/jpeg', 'STANDARD', 'none', 1);
                    INSERT INTO photos (id, folder_id, directory_id, name, device, inode, size, modified, state,
                        queued_at, object_id, object_generation)
                    VALUES (1, 1, 1, CAST('x?.jpg' AS BLOB), 1, 1, 10, 1, 'missing', 1, 1, 1),
                        (2, 1, 2, CAST('a.jpg' AS BLOB), 1, 2, 10, 1, 'missing', 1, 1, 1);
                    """)
        }
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.check() == [])
        let names: [FilePath] = ["/pictures/gallery/x?.jpg", "/pictures/gallery/Rome [1]"]
        for name in names { #expect(try ledger.hasName(name)) }
        let now = Date(timeIntervalSince1970: 2_000_000)
        #expect(try ledger.beginForget([(1, .missing), (2, .missing)], at: now) == [1, 2])
        for name in names { #expect(try ledger.hasName(name)) }
        #expect(try !ledger.hasName("/pictures/gallery/Rome [1]/a?.jpg"))
        #expect(try ledger.check() == [])
    }
}
