import Foundation
import GRDB
import SyncCore
import SystemPackage
import Testing

@testable import SyncLedger

@Suite struct DriveMigrationTests {
    private static let first = DriveIdentity(.disk, uuid: "1111")
    private static let second = DriveIdentity(.disk, uuid: "2222")

    /// Photos at a place with a known drive, at one below it, beside that, and where a drive was that told nothing.
    private func makeOld(in state: StateFolder) throws {
        try state.makeLedger(upTo: "drives of folders") { db in
            try db.execute(
                sql: """
                    INSERT INTO folders (id, path, kind, active, position) VALUES
                        (1, CAST('/pictures/gallery' AS BLOB), 'gallery', 1, 0),
                        (2, CAST('/pictures/others' AS BLOB), 'gallery', 1, 1);
                    INSERT INTO directories (id, folder_id, path, digest, digest_files) VALUES
                        (1, 1, CAST('/' AS BLOB), zeroblob(32), 1), (2, 1, CAST('/SD' AS BLOB), zeroblob(32), 1),
                        (3, 1, CAST('/SD/x' AS BLOB), zeroblob(32), 1), (4, 1, CAST('/SDX' AS BLOB), zeroblob(32), 1),
                        (5, 1, CAST('/tmp' AS BLOB), zeroblob(32), 1), (6, 2, CAST('/' AS BLOB), zeroblob(32), 1);
                    INSERT INTO objects (id, key, size, content_type, storage_class, restore_state, stored_at)
                        VALUES (1, 'users/ana/photos/a.dat', 500, 'image/jpeg', 'STANDARD', 'none', 1);
                    INSERT INTO folder_mounts VALUES (1, CAST('/SD' AS BLOB), 1, 1), (1, CAST('/tmp' AS BLOB), 1, 1);
                    INSERT INTO photos (folder_id, directory_id, name, device, inode, size, modified, state, queued_at,
                        object_id, object_generation)
                    SELECT folder_id, id, CAST('a.jpg' AS BLOB), 1, id, 10, 1, 'uploaded', 1, 1, 1 FROM directories
                    UNION ALL
                    SELECT folder_id, id, CAST('gone.jpg' AS BLOB), 1, id, 10, 1, 'missing', 1, 1, 1 FROM directories;
                    UPDATE directories SET digest = zeroblob(32), digest_files = 1;
                    """)
            for (path, drive) in [("/", Self.first), ("/SD", Self.second)] {
                try db.execute(
                    sql: "INSERT INTO folder_drives VALUES (1, CAST(? AS BLOB), ?)", arguments: [path, drive.text])
            }
        }
    }

    @Test func `photos of an older ledger are on the drives that were known of their places`() throws {
        let state = try StateFolder()
        try makeOld(in: state)
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.check() == [])
        let (folder, other) = (FolderID(rawValue: 1), FolderID(rawValue: 2))
        let expected: [(FilePath, DriveIdentity?)] = [
            ("a.jpg", Self.first), ("SD/a.jpg", Self.second), ("SD/x/a.jpg", Self.second), ("SDX/a.jpg", Self.first),
            ("tmp/a.jpg", nil), ("gone.jpg", nil), ("SD/gone.jpg", nil),
        ]
        for (file, drive) in expected { #expect(try ledger.drive(ofFile: file, in: folder) == drive, "\(file)") }
        #expect(try ledger.drive(ofFile: "a.jpg", in: other) == nil)
        #expect(try ledger.drives(of: folder) == [FilePath(): Self.first, "SD": Self.second])
    }

    /// What was found on another drive than the one of its place has that until then.
    @Test func `folders with known drives are compared once more`() throws {
        let state = try StateFolder()
        try makeOld(in: state)
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.knownDirectories(of: FolderID(rawValue: 1), below: "").isEmpty)
        #expect(try ledger.knownDirectories(of: FolderID(rawValue: 2), below: "").count == 1)
    }
}
