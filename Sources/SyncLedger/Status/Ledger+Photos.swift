package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

extension Ledger {
    /// Tells of the photo at a path, or of every photo below it, folders that are no longer configured included; a path
    /// known only to the ledger is found. The order is that of the bytes of directories, then of names.
    ///
    /// Photos are read in pages: memory is bounded, no transaction stays open while `visit` runs, and a photo that
    /// changes its place meanwhile may be met twice or not at all.
    /// - Parameter path: absolute.
    /// - Returns: how many there were.
    /// - Throws: ``LedgerError``, or what `visit` throws.
    @discardableResult
    package func photos(at path: FilePath, visit: (PhotoStatus) throws -> Void) throws -> Int {
        let folders = try read("list photos") { db in
            try db.rows("SELECT \(FolderRecord.columns) FROM folders ORDER BY path", as: FolderRecord.self)
        }
        var count = 0
        for folder in folders {
            guard let start = Self.place(path, in: folder.path) else { continue }
            var listing: PhotoListing? = PhotoListing(folder: folder.id, start: start)
            while var current = listing {
                let page = try read("list photos") { try current.next(in: $0) }
                try page.forEach(visit)
                count += page.count
                listing = page.isEmpty ? nil : current
            }
        }
        return count
    }

    /// Photos that cannot be stored as they are, those that failed first at the head.
    package func failedPhotos(limit: Int) throws(LedgerError) -> [PhotoStatus] {
        try read("list failed photos") { try $0.firstPhotos(LedgerQuery.firstFailed, limit: limit) }
    }

    /// Where `path` is in a folder, relative to it; the folder itself when it is above; `nil` when it is elsewhere.
    private static func place(_ path: FilePath, in folder: FilePath) -> FilePath? {
        if folder.starts(with: path) { return "" }
        var rest = path
        return rest.removePrefix(folder) ? rest : nil
    }
}

/// A walk over the photos at and below a place, page by page. It remembers the last photo that it told of.
private struct PhotoListing {
    static let pageSize = 500
    /// No name holds a NUL. (An empty BLOB would be bound as NULL.)
    private static let beforeAllNames = Data([0])

    let folder: FolderID
    let start: FilePath
    var directory: DirectoryEntry?
    var name = Self.beforeAllNames
    var isBegun = false

    /// The next photos; none at the end.
    mutating func next(in db: Database) throws -> [PhotoStatus] {
        var page: [PhotoStatus] = []
        if !isBegun {
            isBegun = true
            page += try file(in: db)
            directory = try DirectoryTable(db).find(start, in: folder).map { DirectoryEntry(id: $0, path: start) }
            if directory == nil { directory = try following(start, in: db) }
        }
        while let current = directory, page.count < Self.pageSize {
            let room = Self.pageSize - page.count
            let photos = try db.rows(
                LedgerQuery.photosOfDirectory, [current.id.rawValue, name, room], as: PhotoStatus.self)
            page += photos
            if photos.count == room, let last = photos.last?.relativePath.lastComponent {
                name = Data(last.bytes)
            } else {
                directory = try following(current.path, in: db)
                name = Self.beforeAllNames
            }
        }
        return page
    }

    /// The photo when `start` is a file.
    private func file(in db: Database) throws -> [PhotoStatus] {
        guard let last = start.lastComponent,
            let parent = try DirectoryTable(db).find(start.removingLastComponent(), in: folder)
        else { return [] }
        return try db.rows(LedgerQuery.photoOfFile, [parent.rawValue, Data(last.bytes)])
    }

    /// The directory after `path` in the order of bytes, below `start`.
    private func following(_ path: FilePath, in db: Database) throws -> DirectoryEntry? {
        let range = SubtreeRange(below: start)
        let path = path.directoryBlob
        let from = path.lexicographicallyPrecedes(range.from) ? range.from : path
        return try db.row(LedgerQuery.nextDirectory, [folder.rawValue, from, range.to])
    }
}

/// What is stored of an earlier content of a photo's file.
package struct PhotoVersion: Hashable, Sendable {
    /// 1 for the content before the one that is stored now.
    package let number: Int
    package let object: ObjectRecord
    /// From when to when it was what is stored of the photo.
    package let storedAt: Date
    package let replacedAt: Date
}

extension Ledger {
    /// The earlier versions of a photo that are stored, the latest first. What is stored of an earlier content of a file
    /// that waits or has failed is the first. Where a copy is gone or damaged, and its original is whole, that is told.
    package func versions(of photo: PhotoStatus) throws(LedgerError) -> [PhotoVersion] {
        try read("list the versions of a photo") { try $0.versions(of: photo) }
    }
}

extension Database {
    /// Photos of all active folders, the oldest at the head.
    /// - Parameters:
    ///   - query: gives the rows of one folder's.
    ///   - unwatched: also those of all other folders.
    func firstPhotos(_ query: String, limit: Int, unwatched: Bool = false) throws -> [PhotoStatus] {
        let folders = try numbers("SELECT id FROM folders WHERE active = 1 OR ?", [unwatched])
        return try folders.flatMap { try numbers(query, [$0, limit]) }
            .compactMap { try row(LedgerQuery.photo, [$0], as: PhotoStatus.self) }
            .sorted { ($0.queuedAt, $0.id) < ($1.queuedAt, $1.id) }
            .prefix(limit).map(\.self)
    }

    func versions(of photo: PhotoStatus) throws -> [PhotoVersion] {
        let rows = try rawRows(LedgerQuery.versionsOfPhoto, [photo.id])
        var found = try rows.map { row in
            (
                object: try ObjectRecord(row: row), stored: Date(milliseconds: row[ObjectRecord.columnCount]),
                replaced: Date(milliseconds: row[ObjectRecord.columnCount + 1])
            )
        }
        found.sort { ($0.replaced, $0.object.key) > ($1.replaced, $1.object.key) }
        if let earlier = photo.earlier, photo.state.isOnDisk, !photo.isStoredElsewhere, earlier.md5 != photo.md5 {
            found.insert((earlier, photo.uploadedAt ?? earlier.storedAt, photo.queuedAt), at: 0)
        }
        // Of one whose copy is gone or damaged, its original gives the file.
        let whole = try found.compactMap { version in
            let object = try version.object.problem == nil ? version.object : original(of: version.object.key)
            return object.map { (object: $0, stored: version.stored, replaced: version.replaced) }
        }
        return whole.enumerated().map { index, version in
            PhotoVersion(
                number: index + 1, object: version.object, storedAt: version.stored, replacedAt: version.replaced)
        }
    }

    /// The photos of which an object is an earlier version.
    func photos(ofVersion key: ObjectKey, limit: Int) throws -> [FilePath] {
        try rows(LedgerQuery.photosOfVersion, [key.rawValue, limit], as: PhotoPlace.self).map(\.absolute)
    }
}

extension LedgerQuery {
    package static let firstFailed =
        "SELECT id FROM photos WHERE folder_id = ? AND state = 'failed' ORDER BY queued_at LIMIT ?"
    package static let photosOfDirectory =
        "\(PhotoStatus.selection) WHERE photos.directory_id = ? AND photos.name > ? ORDER BY photos.name LIMIT ?"
    /// Files of a folder whose names are in a range.
    package static let photosOfStem = """
        \(PhotoStatus.selection) WHERE photos.directory_id = ? AND photos.name >= ? AND photos.name < ?
        ORDER BY photos.name
        """
    package static let photoOfFile = "\(PhotoStatus.selection) WHERE photos.directory_id = ? AND photos.name = ?"
    package static let nextDirectory =
        "SELECT id, path FROM directories WHERE folder_id = ? AND path > ? AND path < ? ORDER BY path LIMIT 1"
    package static let versionsOfPhoto = """
        SELECT \(ObjectRecord.columns), photo_versions.stored_at, photo_versions.replaced_at FROM photo_versions
        CROSS JOIN objects ON objects.id = photo_versions.object_id WHERE photo_versions.photo_id = ?
        """
    package static let photosOfVersion = """
        SELECT \(PhotoPlace.columns) FROM objects
        CROSS JOIN photo_versions INDEXED BY photo_versions_by_object ON photo_versions.object_id = objects.id
        JOIN photos ON photos.id = photo_versions.photo_id
        \(PhotoPlace.joins)
        WHERE objects.key = ? LIMIT ?
        """
    /// Of an object: whether it is the archived photo of an event, or an earlier image of a project. No photo names these.
    static let isBesidePhotos = """
        (EXISTS (SELECT 1 FROM retention_records WHERE retention_records.key = objects.key)
        OR EXISTS (SELECT 1 FROM project_versions WHERE project_versions.key = objects.key))
        """
    /// Of an object: whether it is in the pool the photo of an event that no file on the disk holds, as after a cleanup.
    static let isOfEventWithoutFile = """
        EXISTS (
            SELECT 1 FROM events WHERE events.object_id = objects.id AND NOT EXISTS (
                SELECT 1 FROM event_files JOIN photos ON photos.id = event_files.photo_id
                WHERE event_files.event = events.id AND event_files.clean = 0
                AND photos.state NOT IN ('missing', 'lost')
            )
        )
        """
    /// Objects that are gone or damaged, whatever they are of.
    package static let brokenStock =
        "SELECT storage_class, size FROM objects INDEXED BY objects_broken WHERE problem IS NOT NULL AND key > ''"
    /// Of them: archived photos of events, and earlier images of projects.
    package static let lostBesidePhotos = """
        SELECT \(ObjectRecord.columns) FROM objects INDEXED BY objects_broken
        WHERE problem IS NOT NULL AND key > ? AND \(isBesidePhotos) ORDER BY key LIMIT ?
        """

    /// How many of them are named with what is lost.
    static let brokenOfLost = """
        SELECT COUNT(*) FROM objects INDEXED BY objects_broken
        WHERE problem IS NOT NULL AND key > '' AND (
            EXISTS (SELECT 1 FROM photos WHERE photos.object_id IN (\(objectAndCopy)) AND photos.state = 'lost')
            OR \(isBesidePhotos)
        )
        """
}

/// Where one photo stands.
package struct PhotoStatus: Hashable, Sendable {
    package let id: Int64
    package let folder: FolderRecord
    /// Below the folder.
    package let relativePath: FilePath
    package let state: PhotoState
    /// Of the file, once it was read; of a missing photo, that of what is stored.
    package let md5: MD5Digest?
    package let sha256: SHA256Digest?
    /// When the file was last written, as it is or was on the disk.
    package let modified: Date
    /// Size of the file; `nil` when it is missing.
    package let bytesLocal: Int64?
    /// What is stored of it: for an uploaded photo and for a missing one, else `nil`.
    package let object: ObjectRecord?
    /// What is stored of an earlier content of a file that is not uploaded as it is now.
    package let earlier: ObjectRecord?
    /// When `object` or `earlier` was committed.
    package let uploadedAt: Date?
    /// When the file, as it is now, was first seen.
    package let queuedAt: Date
    package let error: String?
    /// What a file of gallery events holds; of other files, what is to be known of the stored copy.
    package let note: String?
    /// Whether it is a file of gallery events.
    package let isOfEvents: Bool
    package let attempts: Int
    /// When a pending photo is tried again; `nil` when it is due.
    package let nextTry: Date?
    /// Since when its file is known to be gone; `nil` while it is there.
    package let missingSince: Date?
    /// Whether `earlier` is the photo as it is on its own drive: the file that is there may be a copy of it, and is still
    /// to be read.
    let isStoredElsewhere: Bool

    /// What brings the photo back.
    package var restorable: ObjectRecord? { object ?? (isStoredElsewhere ? earlier : nil) }
    /// What is stored of the photo as it is, and is gone or damaged while the photo waits to be stored again.
    package var brokenCopy: ObjectRecord? {
        guard state.isOnDisk, !isOfEvents, let earlier, earlier.problem != nil, let md5, earlier.md5 == md5 else {
            return nil
        }
        return earlier
    }
    /// Absolute.
    package var path: FilePath { folder.path.pushing(relativePath) }
    package var key: ObjectKey? { object?.key }
    package var storageClass: StorageClass? { object?.storageClass }
    package var restore: RestoreState { object?.restore ?? .none }
    package var bytesStored: Int64? { object?.size }
    package var width: Int? { object?.width }
    package var height: Int? { object?.height }
    package var duration: Duration? { object?.duration }
    package var takenAt: CaptureTime? { object?.takenAt }
    package var dropped: [DroppedPart] { object?.dropped ?? [] }
    /// That a stored photo is left out by now, in plain words.
    private var filtered: String? {
        folder.filter.exclusion(of: relativePath).map {
            "the filter of its folder leaves it out by now (\($0.escapingControls)); what is stored stays stored"
        }
    }
    /// Why a photo is not safe, in plain words: its last error, or what it waits for; of a file of events, what it holds.
    package var why: String? {
        switch state {
        case .uploaded: filtered.map { rule in (note.map { "\($0); " } ?? "") + rule } ?? note
        case .missing: nil
        case .skipped, .failed, .lost: error
        case .pending where error == nil && attempts == 0 && nextTry != nil:
            "it was just written, and is stored when it is whole"
        case .pending: error ?? "it waits for its turn"
        case .uploading: "it is being read or uploaded"
        }
    }
}

extension PhotoStatus: FetchableRecord {
    static let selection = """
        SELECT \(PhotoPlace.columns), photos.id, photos.state, photos.md5, photos.sha256, photos.size, \
        photos.uploaded_at, photos.queued_at, photos.error, photos.attempts, photos.next_try_at, \
        photos.modified, \(ObjectRecord.columns), event_notes.note, photos.missing_since, \
        folders.filter AS folder_filter, photos.supposed_drive >= 0 AND photos.object_generation = photos.generation \
        FROM photos
        \(PhotoPlace.joins)
        LEFT JOIN objects ON objects.id = photos.object_id
        LEFT JOIN event_notes ON event_notes.photo_id = photos.id
        """

    init(row: Row) throws {
        guard let state = PhotoState(rawValue: row[11]) else { throw UnknownName() }
        let place = try PhotoPlace(row: row)
        let stored = row.hasNull(atIndex: 21) ? nil : try ObjectRecord(row: row, from: 21)
        let isMissing = !state.isOnDisk
        let isStored = state == .missing || state == .uploaded
        let nextTry: Int64 = row[19]
        self.init(
            id: row[10], folder: place.folder, relativePath: place.path, state: state,
            md5: MD5Digest(blob: row[12]) ?? (isMissing ? stored?.md5 : nil), sha256: SHA256Digest(blob: row[13]),
            modified: Date(timeIntervalSince1970: Double(row[20] as Int64) / 1e9),
            bytesLocal: isMissing ? nil : row[14], object: isStored ? stored : nil, earlier: isStored ? nil : stored,
            uploadedAt: row.time(15), queuedAt: Date(milliseconds: row[16]),
            error: row[17], note: row[21 + ObjectRecord.columnCount] ?? (isStored ? stored?.note : nil),
            isOfEvents: !row.hasNull(atIndex: 21 + ObjectRecord.columnCount), attempts: row[18],
            nextTry: state == .pending && nextTry > 0 ? Date(milliseconds: nextTry) : nil,
            missingSince: isMissing ? row.time(22 + ObjectRecord.columnCount) : nil,
            isStoredElsewhere: (row[24 + ObjectRecord.columnCount] as Bool?) ?? false)
    }
}

/// How many files, and their bytes on the disk.
package struct Tally: Hashable, Sendable {
    package var files = 0
    package var bytes: Int64 = 0

    package static func + (left: Tally, right: Tally) -> Tally {
        Tally(files: left.files + right.files, bytes: left.bytes + right.bytes)
    }
}

/// A tally for each state.
package struct PhotoTallies: Hashable, Sendable {
    private var tallies: [PhotoState: Tally] = [:]

    package init() {}

    package subscript(state: PhotoState) -> Tally {
        get { tallies[state] ?? Tally() }
        set { tallies[state] = newValue == Tally() ? nil : newValue }
    }

    /// What is on the disk: all but the missing and the lost.
    package var onDisk: Tally {
        tallies.reduce(Tally()) { $1.key.isOnDisk ? $0 + $1.value : $0 }
    }

    /// Not stored yet, and nothing is wrong with them: queued or in hand.
    package var waiting: Int { self[.pending].files + self[.uploading].files }

    package static func + (left: PhotoTallies, right: PhotoTallies) -> PhotoTallies {
        PhotoState.allCases.reduce(into: left) { $0[$1] = $0[$1] + right[$1] }
    }
}

extension Ledger {
    /// The files that belong to a photo; none where it stands for itself, or belongs to another one.
    package func companions(of photo: PhotoStatus) throws(LedgerError) -> [PhotoStatus] {
        guard let unit = try unit(of: photo), unit.photo.id == photo.id else { return [] }
        return unit.companions.map(\.member)
    }

    /// The files that belong together with a photo, itself included; `nil` where it stands for itself. Its cost is that of a
    /// few seeks.
    package func unit(of photo: PhotoStatus) throws(LedgerError) -> PhotoUnit<PhotoStatus>? {
        guard let name = photo.relativePath.lastComponent.flatMap({ UnitName($0) }) else { return nil }
        return try read("look up what belongs to a photo") { db in
            guard
                let directory = try db.number("SELECT directory_id FROM photos WHERE id = ?", [photo.id])
            else { return nil }
            let members = try name.prefixes.flatMap { prefix in
                // All names with a dot behind it, in the order of bytes: a slash follows the dot.
                try db.rows(
                    LedgerQuery.photosOfStem,
                    [directory, Data(prefix + Array(".".utf8)), Data(prefix + Array("/".utf8))], as: PhotoStatus.self)
            }
            let units = PhotoUnit.units(
                of: members, isThere: { $0.state.isOnDisk && $0.state != .failed && $0.state != .skipped },
                name: { $0.relativePath.lastComponent ?? "." })
            return units.first { unit in
                unit.photo.id == photo.id || unit.companions.contains { $0.member.id == photo.id }
            }
        }
    }
}
