import Foundation
import GRDB
import SyncCore
import SystemPackage
import Testing

@testable import SyncLedger

@Suite struct MigrationTests {
    @Test func `a ledger in memory has the schema of one in a file, and ids of its own`() throws {
        let state = try StateFolder()
        let (file, one, other) = (try Ledger(at: state.ledger), try Ledger.inMemory(), try Ledger.inMemory())
        let schemas = try [file, one, other].map { ledger in
            try ledger.database.read { db in
                try String.fetchAll(
                    db, sql: "SELECT type || name || COALESCE(sql, '') FROM sqlite_master ORDER BY type, name")
                    + String.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid")
            }
        }
        #expect(schemas[0].count > 100 && schemas[0] == schemas[1] && schemas[1] == schemas[2])
        let ids = try [file, one, other].map { ledger in
            try ledger.database.read { db in
                try [
                    String.fetchOne(db, sql: "SELECT machine_id FROM agent"),
                    String.fetchOne(db, sql: "SELECT hex(key) FROM pseudonym_key"),
                ]
            }
        }
        #expect(Set(ids.flatMap { $0.compactMap(\.self) }).count == 6)
    }

    /// A ledger has taken the steps whose names stand in it: one of another name would be taken once more.
    @Test func `the steps that have shipped keep their names and their order`() {
        let shipped = [
            "folders, photos, objects, attempts", "restores, classes, memory", "vacations", "shares", "gallery events",
            "projects", "what is left out", "times of change and birth", "mounts below folders", "id of the store",
            "what servers refused", "events under one id", "lost photos, proofs",
            "objects by the digest of their bytes", "what copies leave out", "photos in hand at unclean ends",
            "what shares were made of", "offsets of capture times",
            "earlier versions of photos, entries that are left out", "the key of pseudonyms",
            "photos of events in hand at unclean ends", "owners of restores that are being sent",
            "the catalogue in the store", "further places of restored photos", "what other machines are told",
            "deletions for good", "ids of profiles from the catalogue", "files that were matched and not read",
            "shares and several machines", "owners of shares", "interrupted writes of the catalogue",
            "rebuilds under way", "objects of shares", "keys that were forgotten", "originals",
            "damaged objects of silent machines", "films", "originals on their way", "sidecars", "counters",
            "cleanups of old events", "standing notices", "names and merges of profiles", "names of shared files",
            "photos of guests", "announced merges of profiles", "filters of folders", "files that came untold",
            "what archived photos tell of themselves", "digests of directories", "files that are being removed",
            "folders that restores are saved in", "marks of folders that restores are saved in",
            "numbers of restores that are about to be made", "shares beside another of the same",
            "what parts of the catalogue are known by", "folders that restores have made",
            "objects that the store could not tell of",
        ]
        #expect(Schema.migrator.migrations.starts(with: shipped))
    }

    private let now = Date(timeIntervalSince1970: 2_000_000)

    /// A ledger of the first version, with two photos of one stored object, one that waits, and a store that is away.
    private func makeOld(in state: StateFolder) throws {
        try state.makeLedger(upTo: "folders, photos, objects, attempts") { db in
            try db.execute(
                sql: """
                    INSERT INTO folders (id, path, kind, active, position)
                        VALUES (1, CAST('/pictures/gallery' AS BLOB), 'gallery', 1, 0);
                    INSERT INTO directories (id, folder_id, path) VALUES (1, 1, CAST('/trip' AS BLOB));
                    INSERT INTO objects (id, key, size, content_type, storage_class, restore_state, restored_until,
                        stored_at)
                    VALUES (1, 'users/ana/photos/a.dat', 500, 'image/jpeg', 'DEEP_ARCHIVE', 'restored', 3000000000,
                        1000000000);
                    INSERT INTO photos (folder_id, directory_id, name, device, inode, size, modified, state, queued_at,
                        object_id, object_generation)
                    VALUES (1, 1, CAST('a.jpg' AS BLOB), 1, 1, 10, 1, 'uploaded', 1, 1, 1),
                        (1, 1, CAST('b.jpg' AS BLOB), 1, 2, 10, 1, 'missing', 1, 1, 1),
                        (1, 1, CAST('c.jpg' AS BLOB), 1, 3, 10, 1, 'pending', 1, NULL, NULL);
                    UPDATE agent SET store = 's3://one', last_sync_at = 1000, store_error = 'away',
                        store_checked_at = 2000;
                    """)
        }
    }

    @Test func `a ledger of the first version keeps everything and learns what is new`() throws {
        let state = try StateFolder()
        try makeOld(in: state)
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.check() == [])
        #expect(try ledger.leftOut(naming: 1) == LeftOutSummary())
        let overview = try ledger.overview()
        #expect(PhotoState.allCases.filter { overview.totals[$0].files == 1 } == [.pending, .uploaded, .missing])
        #expect(overview.tiers == [ClassLoad(storageClass: .deepArchive, objects: 1, bytes: 500)])
        #expect(overview.lastSyncAt == Date(timeIntervalSince1970: 1))
        #expect(overview.store?.since == Date(timeIntervalSince1970: 2))
        // Nobody knows whether it was away, or took no photos.
        #expect(try ledger.isStoreRefusing())
        #expect(overview.restores == Overview.Restores())
        #expect(try ledger.bind(to: "s3://two") == "s3://one")

        let key = try ObjectKey("users/ana/photos/a.dat")
        let paths: [FilePath] = ["/pictures/gallery/trip/a.jpg", "/pictures/gallery/trip/b.jpg"]
        #expect(try ledger.photoPaths(of: key, limit: 9) == paths)
        let shares = try ledger.tierReport(at: now) { _ in 180 }
        #expect(shares.map(\.prefix) == ["users/ana/photos/"])
        #expect(shares.map(\.youngBytes) == [500])
        #expect(try ledger.expireRestores(at: Date(timeIntervalSince1970: 3_000_000)) == 1)
        let item = RestoreJobDraft.Item(key: key, size: 500, storageClass: .deepArchive, tier: .bulk)
        let draft = RestoreJobDraft(requestedBy: "ana", tier: .bulk, days: 1, items: [item])
        #expect(try ledger.addRestoreJob(draft, at: now).job?.id == RestoreJobID(rawValue: 1))
        try ledger.note(RestoreOutcome(state: .retrieving), of: [1], at: now)
        #expect(try ledger.object(key)?.restore == .inProgress)
        #expect(try ledger.check() == [])
        // The agent goes on with what waited.
        #expect(try ledger.claim(limit: 9, at: now).map(\.file) == ["/pictures/gallery/trip/c.jpg"])
    }

    @Test func `a photo of a ledger without times of change is known by what it has, and takes them up`() throws {
        let state = try StateFolder()
        try makeOld(in: state)
        let ledger = try Ledger(at: state.ledger)
        let folder = try #require(
            try ledger.register([WatchedFolder(kind: .gallery, path: "/pictures/gallery")]).first)
        func check(changed: Int64) throws -> DirectoryDifference {
            let stamp = FileStamp(device: 1, inode: 1, size: 10, modified: 1, changed: changed, born: 7)
            return try ledger.reconcile(
                folder.id, directory: "trip", files: [ScannedFile(name: "a.jpg", stamp: stamp)],
                settled: { _ in true }, stillThere: { _ in true }, at: now)
        }
        #expect(try check(changed: 8).unchanged == 1)
        #expect(try check(changed: 8).unchanged == 1)
        #expect(try check(changed: 9).changed == 1)
        #expect(try ledger.check() == [])
    }

    @Test func `what servers had refused for good waits again, and broken photos stay failed`() throws {
        let state = try StateFolder()
        let errors = [
            "put users/ana/photos/a.dat: nothing is stored under this key (404)",
            "the file ends before its picture does",
            "head users/ana/photos/b.dat: s3.example does not accept the request (400)",
            "2 events, 1 failed: #1 e1: put users/ana/photos/c.dat: the object is larger than it takes (413)",
            "it is no photo: put it elsewhere",
        ]
        try state.makeLedger(upTo: "projects") { db in
            try db.execute(
                sql: """
                    INSERT INTO folders (id, path, kind, active, position)
                        VALUES (1, CAST('/gallery' AS BLOB), 'gallery', 1, 0);
                    INSERT INTO directories (id, folder_id, path) VALUES (1, 1, CAST('/' AS BLOB));
                    """)
            for (index, error) in errors.enumerated() {
                try db.execute(
                    sql: """
                        INSERT INTO photos (folder_id, directory_id, name, device, inode, size, modified, state, queued_at,
                            attempts, error)
                        VALUES (1, 1, CAST(? AS BLOB), 1, ?, 10, 1, 'failed', 1, 1, ?)
                        """, arguments: ["\(index).jpg", index, error])
            }
        }
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.check() == [])
        #expect(try ledger.claim(limit: 9, at: now).compactMap { $0.file.stem } == ["0", "2", "3"])
        #expect(try ledger.failedPhotos(limit: 9).compactMap { $0.path.stem } == ["1", "4"])
    }

    @Test func `what was shared before there were films are photos with thumbnails`() throws {
        let id = try #require(ShareID("7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10"))
        let state = try StateFolder()
        try state.makeLedger(upTo: "damaged objects of silent machines") { db in
            try db.execute(
                sql: """
                    INSERT INTO shares (number, id, folder, selection, quality, location, start_day, end_day, created_at,
                        expires_at, published_at, state)
                    VALUES (1, '\(id)', CAST('/trips/rome' AS BLOB), '', 'reduced', 'Rome', '2024-06-15', '2024-06-16', 1,
                        2, 1, 'live');
                    INSERT INTO share_photos (share, slot, position, md5, path, sha256, size, width, height, stored_at)
                    VALUES (1, 0, 0, zeroblob(16), CAST('/trips/rome/a.jpg' AS BLOB), zeroblob(32), 9, 4, 3, 1);
                    """)
        }
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.check() == [])
        let copy = try #require(try ledger.sharePhotos(id).first?.copy)
        #expect(copy.film == nil && copy.duration == nil && copy.hasThumbnail)
    }

    @Test func `what was read from guests' objects is known of each object`() throws {
        let id = try #require(ShareID("7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10"))
        let state = try StateFolder()
        try state.makeLedger(upTo: "objects by their age") { db in
            try db.execute(
                sql: """
                    INSERT INTO guest_photos (share, slot, sha256, size, content_type, received_at, state, source)
                    VALUES ('\(id)', 4, zeroblob(32), 9, 'image/jpeg', 1, 'waiting', '4 9 first'),
                        ('\(id)', 5, zeroblob(32), 9, 'image/jpeg', 1, 'waiting', NULL),
                        ('\(id)', 100, zeroblob(32), 8, 'image/jpeg', 2, 'waiting', '4 8 second');
                    """)
        }
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.check() == [])
        #expect(try ledger.guestPhotos(of: id).map(\.slot) == [4, 5, 100])
        let object = GuestObject(key: ShareKeys(id).guest(4), mark: "8 second")
        #expect(try ledger.guestObjects(of: id) == [object: 100])
    }

    @Test func `JSON that galleries skipped before there were events is read again`() throws {
        let state = try StateFolder()
        try state.makeLedger(upTo: "shares") { db in
            try db.execute(
                sql: """
                    INSERT INTO folders (id, path, kind, active, position)
                        VALUES (1, CAST('/trips' AS BLOB), 'vacations', 1, 0),
                            (2, CAST('/gallery' AS BLOB), 'gallery', 1, 1);
                    INSERT INTO directories (id, folder_id, path)
                        VALUES (1, 1, CAST('/' AS BLOB)), (2, 2, CAST('/' AS BLOB));
                    INSERT INTO photos (folder_id, directory_id, name, device, inode, size, modified, state, queued_at,
                        error)
                    VALUES (1, 1, CAST('a.json' AS BLOB), 1, 1, 10, 1, 'skipped', 1, 'no photo'),
                        (2, 2, CAST('b.json' AS BLOB), 1, 2, 10, 1, 'skipped', 1, 'no photo'),
                        (2, 2, CAST('C.JSON' AS BLOB), 1, 3, 10, 1, 'skipped', 1, 'no photo'),
                        (2, 2, CAST('json' AS BLOB), 1, 4, 10, 1, 'skipped', 1, 'no photo');
                    """)
        }
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.check() == [])
        #expect(try ledger.claim(limit: 9, at: now).map(\.file) == ["/gallery/b.json", "/gallery/C.JSON"])
    }

    @Test(arguments: [
        "UPDATE photo_tallies SET files = 9", "UPDATE object_tallies SET bytes = 9",
        "UPDATE object_ages SET day = day + 1", "DELETE FROM object_ages",
        "INSERT INTO restore_tallies VALUES ('failed', 1, 1)",
        "INSERT INTO vacations (folder_id, name, failed) VALUES (1, X'41', 1)",
    ])
    func `a tally that differs from its rows is told`(damage: String) throws {
        let state = try StateFolder()
        try makeOld(in: state)
        let ledger = try Ledger(at: state.ledger)
        try DatabaseQueue(path: state.ledger.string).write { try $0.execute(sql: damage) }
        #expect(try !ledger.check().isEmpty)
    }

    @Test func `the vacations of an older ledger are known and counted`() throws {
        let state = try StateFolder()
        try state.makeLedger(upTo: "restores, classes, memory") { db in
            try db.execute(
                sql: """
                    INSERT INTO folders (id, path, kind, active, position)
                        VALUES (1, CAST('/trips' AS BLOB), 'vacations', 1, 0),
                            (2, CAST('/gallery' AS BLOB), 'gallery', 1, 1);
                    INSERT INTO directories (id, folder_id, path)
                        VALUES (1, 1, CAST('/' AS BLOB)), (2, 1, CAST('/Zürich' AS BLOB)),
                            (3, 1, CAST('/Zürich/day 1' AS BLOB)), (4, 2, CAST('/Rome' AS BLOB));
                    INSERT INTO photos (folder_id, directory_id, name, device, inode, size, modified, state, queued_at)
                    VALUES (1, 1, CAST('top.jpg' AS BLOB), 1, 1, 10, 1, 'pending', 1),
                        (1, 2, CAST('a.jpg' AS BLOB), 1, 2, 10, 1, 'failed', 1),
                        (1, 2, CAST('vacation.json' AS BLOB), 1, 3, 10, 1, 'skipped', 1),
                        (1, 3, CAST('b.jpg' AS BLOB), 1, 4, 10, 1, 'pending', 1),
                        (1, 3, CAST('c.jpg' AS BLOB), 1, 5, 10, 1, 'uploading', 1),
                        (2, 4, CAST('d.jpg' AS BLOB), 1, 6, 10, 1, 'pending', 1);
                    """)
        }
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.check() == [])
        let vacation = try #require(try ledger.vacations().first)
        #expect(try ledger.vacations().count == 1)
        #expect(vacation.folder == "/trips/Zürich" && vacation.waiting == 2 && vacation.failed == 1)
        #expect(vacation.isChanged)
    }

    @Test func `sidecars that an older version has skipped are stored, but not those of projects`() throws {
        let state = try StateFolder()
        try state.makeLedger(upTo: "originals on their way") { db in
            try db.execute(
                sql: """
                    INSERT INTO folders (id, path, kind, active, position)
                        VALUES (1, CAST('/trips' AS BLOB), 'vacations', 1, 0),
                            (2, CAST('/projects' AS BLOB), 'projects', 1, 1);
                    INSERT INTO directories (id, folder_id, path)
                        VALUES (1, 1, CAST('/Rome' AS BLOB)), (2, 2, CAST('/' AS BLOB));
                    INSERT INTO photos (folder_id, directory_id, name, device, inode, size, modified, state, queued_at,
                        error)
                    VALUES (1, 1, CAST('a.jpg' AS BLOB), 1, 1, 10, 1, 'pending', 1, NULL),
                        (1, 1, CAST('a.XMP' AS BLOB), 1, 2, 10, 1, 'skipped', 1, 'no photo'),
                        (1, 1, CAST('notes.txt' AS BLOB), 1, 3, 10, 1, 'skipped', 1, 'no photo'),
                        (2, 2, CAST('b.xmp' AS BLOB), 1, 4, 10, 1, 'skipped', 1, 'no photo'),
                        (1, 1, CAST('waits.xmp' AS BLOB), 1, 5, 10, 1, 'pending', 1, NULL),
                        (1, 1, CAST('broken.aae' AS BLOB), 1, 6, 10, 1, 'failed', 1, 'no'),
                        (1, 1, CAST('cut.jpg' AS BLOB), 1, 7, 10, 1, 'failed', 1, 'no');
                    """)
        }
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.check() == [])
        #expect(try ledger.vacations().map(\.waiting) == [1] && ledger.vacations().map(\.failed) == [1])
        let names = try ledger.claim(limit: 9, at: now).compactMap(\.file.lastComponent?.string)
        #expect(Set(names) == ["a.jpg", "a.XMP", "waits.xmp"])
        #expect(try ledger.overview().totals[.skipped].files == 2)
    }

    @Test func `merges that were noted before they were announced stand`() throws {
        let state = try StateFolder()
        try state.makeLedger(upTo: "names and merges of profiles") { db in
            try db.execute(sql: "INSERT INTO profile_merges VALUES ('grandma', 'u-17')")
        }
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.check() == [])
        #expect(try ledger.mergedProfile("grandma") == "u-17" && !ledger.withdrawMerge())
        try ledger.announceMerge(of: "a", into: "u-17")
        try ledger.mergeProfile("a", into: "u-17")
        #expect(try ledger.mergedProfile("a") == "u-17" && !ledger.withdrawMerge())
    }

    @Test func `a restore of an older version goes on, with a file for its folder that is not put yet`() throws {
        let state = try StateFolder()
        try state.makeLedger(upTo: "folders that restores are saved in") { db in
            try db.execute(
                sql: """
                    INSERT INTO restore_jobs (
                        id, requested_at, requested_by, tier, is_rush, days, output, output_device, output_inode)
                        VALUES (1, 1000, 'ana', 'bulk', 0, 7, CAST('/out' AS BLOB), 2049, 2);
                    INSERT INTO restore_items (job_id, key, destination, size, storage_class, tier, state, saved_at)
                        VALUES (1, 'users/ana/photos/a.dat', CAST('a.jpg' AS BLOB), 5, 'DEEP_ARCHIVE', 'bulk',
                            'restored', 2000),
                        (1, 'users/ana/photos/b.dat', CAST('b.jpg' AS BLOB), 5, 'DEEP_ARCHIVE', 'bulk', 'restored', NULL);
                    """)
        }
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.check() == [])
        let summary = try #require(try ledger.restoreJob(RestoreJobID(rawValue: 1)))
        #expect(summary.job.output == "/out" && summary.job.mark != nil && !summary.job.isMarked && summary.saved == 1)
        #expect(try ledger.unsavedRestoredItems(after: nil, limit: 9).map(\.destination) == ["b.jpg"])
    }

    @Test func `profiles of which a catalogue told before they had names wait for their number as they did`() throws {
        let state = try StateFolder()
        try state.makeLedger(upTo: "standing notices") { db in
            try db.execute(
                sql: """
                    INSERT INTO profiles VALUES ('uuid-1', '+17788143739', 'Oma', 1000);
                    INSERT INTO profile_ids (uuid) VALUES ('uuid-2');
                    """)
        }
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.check() == [])
        #expect(try ledger.profiles().map(\.name) == ["Oma"] && ledger.profilesWithoutNumber() == ["uuid-2"])
        #expect(try ledger.mergedProfile("uuid-1") == "uuid-1")
    }
}
