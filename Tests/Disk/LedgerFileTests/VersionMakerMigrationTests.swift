import GRDB
import SyncCore
import Testing

@testable import SyncLedger

@Suite struct VersionMakerMigrationTests {
    @Test(arguments: [(false, VersionMaker.this), (true, VersionMaker.unknown)])
    func `whose the versions of an older ledger are is known where no rebuild has found another machine`(
        hasOthers: Bool, maker: VersionMaker
    ) throws {
        let state = try StateFolder()
        let key = try ObjectKey("users/ana/projects/a/versions/20260501T101500Z-0a.jpg")
        try state.makeLedger(upTo: "damaged objects that were forgotten") { db in
            try db.execute(
                sql: """
                    INSERT INTO folders (id, path, kind, active, position, machine)
                        VALUES (1, CAST('/projects' AS BLOB), 'projects', 1, 0, NULL);
                    INSERT INTO project_versions (project_id, key) VALUES ('a', '\(key)');
                    """)
            if hasOthers {
                try db.execute(
                    sql: """
                        INSERT INTO folders (id, path, kind, active, position, machine)
                            VALUES (2, CAST('/machines/tower/projects' AS BLOB), 'projects', 0, 0, 'tower');
                        """)
            }
        }
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.check() == [])
        #expect(try ledger.maker(ofVersion: key) == maker)
    }
}
