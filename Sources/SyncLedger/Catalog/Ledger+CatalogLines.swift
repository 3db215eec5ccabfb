import FoundationEssentials
import GRDB
package import SyncCore
import SystemPackage

/// Where a walk over what is to be written goes on. The first page begins with a new one.
package struct CatalogCursor: Sendable {
    fileprivate var directories: [(id: Int64, folder: Int64, path: FilePath)]?
    fileprivate var index = 0
    fileprivate var name = Data([0])
    fileprivate var change: (folder: Int64, directory: Data, name: Data) = (0, Data([0]), Data([0]))

    package init() {}
}

extension Ledger {
    /// A page of all that is stored of this machine's photos, in the order of their paths. What changes its place meanwhile
    /// is noted as a change, and written with the next segment.
    package func catalogPhotos(_ cursor: inout CatalogCursor, limit: Int) throws(LedgerError) -> [CatalogPhoto] {
        let start = cursor
        let (page, end) = try read("list what is stored") { db in
            var cursor = start
            var page: [CatalogPhoto] = []
            let directories = try cursor.directories ?? db.catalogDirectories()
            cursor.directories = directories
            var drives = try CatalogPhotoDrives(db)
            while page.count < limit, cursor.index < directories.count {
                let directory = directories[cursor.index]
                let room = limit - page.count
                let rows = try db.rawRows(Self.storedInDirectory, [directory.id, cursor.name, room])
                for row in rows {
                    page += try db.catalogPhotos(row, folder: directory.folder, directory: directory.path, &drives)
                }
                if rows.count < room {
                    cursor.index += 1
                    cursor.name = Data([0])
                } else if let last = rows.last {
                    cursor.name = last[0]
                }
            }
            return (page, cursor)
        }
        cursor = end
        return page
    }

    /// A page of what has changed since a write, and of what is being written: as it is now.
    package func catalogChanges(
        from segment: Int, _ cursor: inout CatalogCursor, limit: Int
    ) throws(LedgerError) -> [CatalogLine] {
        let start = cursor
        let (page, end) = try read("list what has changed") { db in
            var cursor = start
            let rows = try db.rawRows(
                Self.changes, [segment, cursor.change.folder, cursor.change.directory, cursor.change.name, limit])
            var drives = try CatalogPhotoDrives(db)
            let page = try rows.flatMap { row -> [CatalogLine] in
                let (folder, directory, name): (Int64, Data, Data) = (row[0], row[1], row[2])
                cursor.change = (folder, directory, name)
                let path = FilePath(directoryBlob: directory)
                let photo = try db.rawRow(Self.storedAtPlace, [folder, directory, name])
                if let photo {
                    return try db.catalogPhotos(photo, folder: folder, directory: path, &drives).map(CatalogLine.photo)
                }
                return [.gone(CatalogPlace(folder: folder, path: path.pushing(FilePath(blob: name))))]
            }
            return (page, cursor)
        }
        cursor = end
        return page
    }

    private static let changes = """
        SELECT folder_id, directory, name FROM catalog_changes
        WHERE (segment = 0 OR segment >= ?1) AND (folder_id, directory, name) > (?2, ?3, ?4)
        ORDER BY folder_id, directory, name LIMIT ?5
        """

    private static let columns = """
        photos.name, photos.size, photos.modified,
        photos.object_generation = photos.generation,
        objects.md5, objects.key, objects.sha256, objects.size, objects.content_type, objects.taken_at,
        objects.taken_offset, objects.width, objects.height,
        photos.id, EXISTS (SELECT 1 FROM event_notes WHERE photo_id = photos.id), objects.duration,
        photos.drive
        """

    private static let storedInDirectory = """
        SELECT \(columns) FROM \(LedgerQuery.catalogued)
        WHERE photos.directory_id = ? AND photos.name > ? ORDER BY photos.name LIMIT ?
        """

    private static let storedAtPlace = """
        SELECT \(columns) FROM directories CROSS JOIN \(LedgerQuery.catalogued)
        WHERE directories.folder_id = ?1 AND directories.path = ?2
            AND photos.directory_id = directories.id AND photos.name = ?3
        """
}

extension LedgerQuery {
    /// The rows of `photos` that the catalogue names, each with what its file is stored as: what has no object is told to
    /// nobody.
    static let catalogued = "photos CROSS JOIN objects ON objects.id = photos.object_id"
}

extension Database {
    fileprivate func catalogDirectories() throws -> [(id: Int64, folder: Int64, path: FilePath)] {
        try rawRows(
            """
            SELECT directories.id, folder_id, directories.path FROM folders
            CROSS JOIN directories ON directories.folder_id = folders.id
            WHERE folders.machine IS NULL ORDER BY folder_id, directories.path
            """
        ).map { ($0[0], $0[1], FilePath(directoryBlob: $0[2])) }
    }

    /// What is stored of one file: of a file of events, the photos of its events, under the names that they have as files.
    /// What else such a file holds is in no catalogue, so that it is always read again.
    fileprivate func catalogPhotos(
        _ row: Row, folder: Int64, directory: FilePath, _ drives: inout CatalogPhotoDrives
    ) throws -> [CatalogPhoto] {
        let drive = drives.told(row[16], in: directory, of: folder)
        let file = try CatalogPhoto(row: row, folder: folder, directory: directory, drive: drive)
        guard row[14] else { return [file] }
        let events = try rows(LedgerQuery.eventsOfFile, [row[13] as Int64], as: EventRecord.self)
        let first = try self.row(LedgerQuery.object, [file.key.rawValue], as: ObjectRecord.self)
        var keys: Set<ObjectKey> = []
        let photos = (events.compactMap(\.object) + [first].compactMap(\.self)).filter { keys.insert($0.key).inserted }
        return photos.enumerated().map { index, object in
            let path = EventPhotoName.path(
                in: file.place.path, index: index, of: photos.count, contentType: object.contentType)
            return CatalogPhoto(
                place: CatalogPlace(folder: folder, path: path), file: nil, md5: object.md5, key: object.key,
                sha256: object.sha256, size: object.size, contentType: object.contentType, takenAt: object.takenAt,
                width: object.width, height: object.height, duration: object.duration, drive: drive)
        }
    }
}

extension CatalogPhoto {
    fileprivate init(row: Row, folder: Int64, directory: FilePath, drive: DriveIdentity?) throws {
        let isCurrent: Bool = row[3]
        self.init(
            place: CatalogPlace(folder: folder, path: directory.pushing(FilePath(blob: row[0]))),
            file: isCurrent ? File(size: row[1], modified: row[2] as Int64) : nil, md5: MD5Digest(blob: row[4]),
            key: try ObjectKey(row[5] as String), sha256: SHA256Digest(blob: row[6]), size: row[7], contentType: row[8],
            takenAt: CaptureTime(clock: row[9], offset: row[10]), width: row[11], height: row[12],
            duration: (row[15] as Int64?).map { .milliseconds($0) }, drive: drive)
    }
}

// MARK: What is not photos

extension Ledger {
    /// Vacations, shares, restores and profiles, as far as they may leave this machine: no telephone number, nobody to whom a
    /// share was sent.
    package func catalogState() throws(LedgerError) -> [CatalogLine] {
        try read("list what the catalogue tells besides photos") { db in
            try db.catalogVacations().map(CatalogLine.vacation) + db.catalogShares().map(CatalogLine.share)
                + db.catalogRestores().flatMap(\.lines).map(CatalogLine.restore)
                + db.catalogProfiles().map(CatalogLine.profile)
        }
    }
}

extension Database {
    fileprivate func catalogVacations() throws -> [CatalogVacation] {
        try rawRows(
            """
            SELECT folder_id, name, location, start_date, end_date, shared_by, cache_key, photo_count, fingerprint,
                manifest, is_own, stored_at
            FROM vacations WHERE location IS NOT NULL AND start_date IS NOT NULL AND end_date IS NOT NULL
            AND folder_id IN (SELECT id FROM folders WHERE machine IS NULL) ORDER BY folder_id, name
            """
        ).map { row in
            var line = CatalogVacation(
                folder: row[0], name: FilePath(blob: row[1]), location: row[2], start: row[3], end: row[4])
            line.sharedBy = row[5]
            guard let key = row[6] as String? else { return line }
            line.key = key
            line.photos = row[7]
            line.fingerprint = SHA256Digest(blob: row[8]).map { "\($0)" }
            line.manifest = SHA256Digest(blob: row[9]).map { "\($0)" }
            line.own = row[10]
            line.storedAt = row[11]
            return line
        }
    }

    fileprivate func catalogShares() throws -> [CatalogShare] {
        try rawRows(
            """
            SELECT number, id, folder, selection, quality, location, start_day, end_day, created_at, expires_at, state,
                step, next_slot, shared_by, published_at, page_written_at, links_end_at, ended_at,
                ended_by, tells_names, takes_guests
            FROM shares ORDER BY number
            """
        ).map { row in
            var line = CatalogShare(
                share: row[1], path: FilePath(blob: row[2]), selection: row[3], quality: row[4], location: row[5],
                start: row[6], end: row[7], createdAt: row[8], expiresAt: row[9], state: row[10], step: row[11],
                nextSlot: row[12])
            line.sharedBy = row[13]
            line.publishedAt = row[14]
            line.pageWrittenAt = row[15]
            line.linksEndAt = row[16]
            line.endedAt = row[17]
            line.endedBy = row[18]
            if row[19] == 1 as Int64 { line.names = true }
            if row[20] == 1 as Int64 { line.guests = true }
            // Of what is over, nobody needs to know which photos it was.
            if line.endedAt == nil { line.photos = try catalogPhotos(ofShare: row[0]) }
            return line
        }
    }

    fileprivate func catalogPhotos(ofShare number: Int64) throws -> [CatalogShare.Photo] {
        try rawRows(
            """
            SELECT slot, md5, path, is_local, position, source_key, taken_at, taken_offset, sha256, size, width, height,
                stored_at, media_type, duration, has_poster
            FROM share_photos WHERE share = ? ORDER BY slot
            """, [number]
        ).map { row in
            guard let md5 = MD5Digest(blob: row[1]) else { throw UnknownName() }
            var photo = CatalogShare.Photo(slot: row[0], md5: "\(md5)", path: FilePath(blob: row[2]), local: row[3])
            photo.position = row[4]
            photo.key = row[5]
            photo.at = CaptureTime(clock: row[6], offset: row[7])?.description
            photo.sha256 = SHA256Digest(blob: row[8]).map { "\($0)" }
            photo.size = row[9]
            photo.w = row[10]
            photo.h = row[11]
            photo.storedAt = row[12]
            photo.film = row[13]
            photo.ms = row[14]
            if row[15] == 0 as Int64 { photo.poster = false }
            return photo
        }
    }

    /// Those that are not over: of what has ended, the store tells all that is to be known.
    fileprivate func catalogRestores() throws -> [CatalogRestore] {
        try rawRows(
            """
            SELECT id, requested_at, requested_by, tier, is_rush, days FROM restore_jobs WHERE id IN (
                SELECT job_id FROM restore_items WHERE state IN ('planned', 'retrieving')
                UNION SELECT job_id FROM restore_items WHERE state = 'restored' AND requested_at IS NOT NULL
            ) ORDER BY id
            """
        ).map { row in
            let items = try rawRows(
                """
                SELECT key, path, size, storage_class, tier, state, requested_at, ready_at, expires_at,
                    saved_at IS NULL AND state IN ('planned', 'retrieving', 'restored') AND \(LedgerQuery.isSavingJob)
                FROM restore_items AS items WHERE job_id = ? ORDER BY id
                """, [row[0] as Int64]
            ).map { row in
                var item = CatalogRestore.Item(
                    key: row[0], path: row.path(1), size: row[2], storageClass: row[3], tier: row[4], state: row[5])
                item.requestedAt = row[6]
                item.readyAt = row[7]
                item.expiresAt = row[8]
                let isUnsaved: Bool = row[9]
                if isUnsaved { item.unsaved = true }
                return item
            }
            return CatalogRestore(
                restore: row[0], requestedAt: row[1], by: row[2], tier: row[3], rush: row[4], days: row[5], items: items
            )
        }
    }

    /// Those that merges lead from and to included.
    fileprivate func catalogProfiles() throws -> [CatalogProfile] {
        try rawRows(
            """
            WITH ids AS (
                SELECT uuid AS id FROM profiles UNION SELECT uuid FROM profile_ids
                UNION SELECT profile FROM profile_merges UNION SELECT profile FROM merge_announcements
            )
            SELECT ids.id, ifnull(profiles.name, profile_ids.name), profile_merges.into_profile,
                profiles.uuid IS NOT NULL OR profile_ids.needs_number IS 1, merge_announcements.into_profile
            FROM ids LEFT JOIN profiles ON profiles.uuid = ids.id LEFT JOIN profile_ids ON profile_ids.uuid = ids.id
            LEFT JOIN profile_merges ON profile_merges.profile = ids.id
            LEFT JOIN merge_announcements ON merge_announcements.profile = ids.id ORDER BY ids.id
            """
        ).map { row in
            CatalogProfile(
                profile: row[0], name: (row[1] as String?).flatMap { $0.mayTellNumber ? nil : $0 }, into: row[2],
                number: row[3] ? nil : false, announced: row[4])
        }
    }
}

extension String {
    /// Whether so many digits are in it that a telephone number may be: what people call a profile is for people, and stays
    /// here then.
    fileprivate var mayTellNumber: Bool { unicodeScalars.count { $0.properties.numericType != nil } >= 7 }
}
