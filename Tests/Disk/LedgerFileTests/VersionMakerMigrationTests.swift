import GRDB
import SyncCore
import Testing

@testable import SyncLedger

@Suite struct VersionMakerMigrationTests {
    /// This machine may have set aside what is another one's, also before a rebuild has found that one.
    @Test func `whose the versions of an older ledger are is not known`() throws {
        let state = try StateFolder()
        let key = try ObjectKey("users/ana/projects/a/versions/20260501T101500Z-0a.jpg")
        try state.makeLedger(upTo: "damaged objects that were forgotten") { db in
            try db.execute(
                sql: """
                    INSERT INTO folders (id, path, kind, active, position, machine)
                        VALUES (1, CAST('/projects' AS BLOB), 'projects', 1, 0, NULL);
                    INSERT INTO project_versions (project_id, key) VALUES ('a', '\(key)');
                    """)
        }
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.check() == [])
        #expect(try ledger.maker(ofVersion: key) == .unknown)
    }
}
