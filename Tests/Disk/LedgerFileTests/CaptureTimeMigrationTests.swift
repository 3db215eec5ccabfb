import Foundation
import GRDB
import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncLedger

/// A ledger from before offsets of capture times were kept.
@Suite struct CaptureTimeMigrationTests {
    @Test func `old capture times are read as they were, and those of files that are here are to be read again`() throws
    {
        let state = try StateFolder()
        try state.makeLedger(upTo: "lost photos, proofs") { db in
            try db.execute(
                sql: """
                    INSERT INTO folders (id, path, kind, active, position)
                        VALUES (1, CAST('/trips' AS BLOB), 'vacations', 1, 0);
                    INSERT INTO directories (id, folder_id, path) VALUES (1, 1, CAST('/Osaka' AS BLOB));
                    INSERT INTO objects (id, key, size, content_type, storage_class, restore_state, stored_at, taken_at)
                        VALUES (1, 'users/ana/photos/a.dat', 5, 'image/jpeg', 'STANDARD', 'none', 1000, 1718404200000),
                        (2, 'users/ana/photos/b.dat', 5, 'image/jpeg', 'STANDARD', 'none', 1000, 1718404200000),
                        (3, 'users/ana/photos/c.dat', 5, 'application/json', 'STANDARD', 'none', 1000, NULL);
                    INSERT INTO photos (folder_id, directory_id, name, device, inode, size, modified, state, queued_at,
                        object_id, object_generation)
                    VALUES (1, 1, CAST('a.jpg' AS BLOB), 1, 7, 10, 1, 'uploaded', 1, 1, 1),
                        (1, 1, CAST('gone.jpg' AS BLOB), 1, 1, 10, 1, 'missing', 1, 2, 1),
                        (1, 1, CAST('c.json' AS BLOB), 1, 2, 10, 1, 'uploaded', 1, 3, 1);
                    """)
        }
        let ledger = try Ledger(at: state.ledger)
        let key = try ObjectKey("users/ana/photos/a.dat")
        #expect(try ledger.object(key)?.takenAt?.description == "2024-06-14T22:30:00")

        let due = try ledger.photosDatedBefore(after: 0, limit: 9)
        // A file with the same bytes is committed with what is known of the object: that makes nothing newer.
        let again = FileStamp(device: 1, inode: 9, size: 10, modified: 2)
        let folder = try #require(try ledger.register([WatchedFolder(kind: .vacations, path: "/trips")]).first)
        _ = try ledger.observe(folder.id, file: "Osaka/b.jpg", stamp: again, stillThere: { _ in true }, at: Date())
        let digest = ContentDigest(
            md5: try #require(MD5Digest(bytes: [UInt8](repeating: 1, count: 16))),
            sha256: try #require(SHA256Digest(bytes: [UInt8](repeating: 1, count: 32))))
        for claim in try ledger.claim(limit: 9, at: Date()) {
            let known = try #require(try ledger.object(ObjectKey("users/ana/photos/b.dat")))
            try ledger.commit(claim, outcome: .uploaded(digest, known), at: Date())
        }
        let both = try ledger.photosDatedBefore(after: 0, limit: 9)
        #expect(both.map(\.file) == ["/trips/Osaka/a.jpg", "/trips/Osaka/b.jpg"])
        #expect(try ledger.photosDatedBefore(after: due[0].object, limit: 9).map(\.file) == ["/trips/Osaka/b.jpg"])
        #expect(due.map(\.file) == ["/trips/Osaka/a.jpg"] && due.map(\.stamp.inode) == [7])
        #expect(try ledger.object(key)?.isDatedBefore == true)
        let vacation = try #require(try ledger.vacations().first)
        try ledger.noteCaptureTimes([due[0].object: CaptureTime("2024-06-15T07:30:00+09:00")])
        #expect(try ledger.object(key)?.takenAt?.description == "2024-06-15T07:30:00+09:00")
        #expect(try ledger.photosDatedBefore(after: 0, limit: 9).map(\.file) == ["/trips/Osaka/b.jpg"])
        #expect(try ledger.vacations().first?.revision == vacation.revision + 1)
        // The same again is nothing new.
        try ledger.noteCaptureTimes([due[0].object: CaptureTime("2024-06-15T07:30:00+09:00")])
        #expect(try ledger.vacations().first?.revision == vacation.revision + 1)
        #expect(try ledger.check() == [])
    }
}
