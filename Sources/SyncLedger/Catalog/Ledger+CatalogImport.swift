package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// Whose photos are in a folder of the ledger.
package enum FolderOwner: Hashable, Sendable {
    case thisMachine
    case machine(String)
    /// Nobody knows: they were found in the store without a name.
    case recovered

    static let recoveredName = "recovered"

    fileprivate var column: String? {
        switch self {
        case .thisMachine: nil
        case .machine(let id): id
        case .recovered: Self.recoveredName
        }
    }
}

extension Ledger {
    /// The folder of the ledger with this path, which is made when it is not known. It is not watched.
    package func folderForCatalog(
        _ kind: WatchedFolder.Kind, at path: FilePath, of owner: FolderOwner
    ) throws(LedgerError) -> FolderID {
        try write("note a folder") { db in
            if let id = try db.number("SELECT id FROM folders WHERE path = ?", [path.blob]) {
                return FolderID(rawValue: id)
            }
            try db.run(
                "INSERT INTO folders (path, kind, active, position, machine) VALUES (?, ?, 0, 0, ?)",
                [path.blob, kind.rawValue, owner.column])
            return FolderID(rawValue: db.lastInsertedRowID)
        }
    }

    /// What the store has, by its listing: objects that are not known yet are from now on, with the damage that was
    /// found of them when they were another machine's, or were forgotten. Of known ones under names of files, of which
    /// files they are copies, where that is told. What the listing leaves open, or tells otherwise than it is known, is
    /// unclear until the next look at all of them (``unclearObjects()``).
    /// - Parameters:
    ///   - damaged: what was known of it until now. What the store tells of it takes its place, but for its ETag and time:
    ///     as long as those are others than listed, its bytes are still to be read (``LeftBehind/isChanged(_:)``).
    ///   - tellsDigests: whether listings of the store tell a digest of each object that is whole.
    package func noteListed(
        _ page: [ObjectInfo], keys: KeyLayout, damaged: [ObjectKey: ObjectRecord] = [:], tellsRestores: Bool,
        tellsDigests: Bool = false, at time: Date
    ) throws(LedgerError) {
        _ = try mergeReport(page, tellsRestores: tellsRestores, at: time)
        try write("note what the store has") { db in
            let faults = try db.otherFaults()
            let hasRuins = try db.hasForgottenRuins()
            // What is just being deleted may have been listed before.
            for info in page where try keys.isKept(info.key) && !db.isBeingDeleted(info.key) {
                var record = ObjectRecord(info)
                if record.md5 == nil { record.md5 = keys.photoMD5(info.key) }
                let known = damaged[info.key]
                if known != nil, let ruin = try db.objectID(info.key) { try db.forgetUnused(ruin) }
                let isNew = try db.run("\(ObjectRecord.insertion) ON CONFLICT DO NOTHING", record.arguments) > 0
                guard isNew else {
                    try db.noteFile(of: record, at: time)
                    if try db.isKnownOtherwise(record, before: time) { try db.noteUnclear([info.key]) }
                    continue
                }
                // All of them may be such, as of a store that was copied without its times.
                if tellsDigests, info.md5 == nil, info.sha256 == nil { try db.noteUntold(info.key) }
                // What was gone is there again. A listing alone does not say of what was damaged that it is right.
                // Nor does another ETag than that of what was stored: it may be the ruin's.
                let ruin = try hasRuins ? db.forgottenRuin(info.key) : nil
                let found = [faults[info.key], known?.problem, ruin].compactMap(\.self)
                guard let fault = found.first(where: \.isDamage) else { continue }
                try db.run("UPDATE objects SET problem = ? WHERE key = ?", [fault.text, info.key.rawValue])
                guard let known else { continue }
                if (record.md5 ?? known.md5) == known.md5 { try db.keepDigests(of: known) }
                try db.run(
                    "UPDATE objects SET etag = ?, stored_at = ? WHERE key = ?",
                    [known.etag, known.storedAt.milliseconds, info.key.rawValue])
            }
        }
    }

    /// Of what a damaged segment tells, what the store confirms: a key has the photo's digest in it, and no damage makes
    /// one that is there; of one that is made of a name, what the store tells speaks for the photo. Size and digests are
    /// those that the store tells. What it does not have is no loss.
    package func confirmed(_ photos: [CatalogPhoto]) throws(LedgerError) -> [CatalogPhoto] {
        if photos.isEmpty { return [] }
        return try read("look up what the catalogue tells") { db in
            try photos.compactMap { photo -> CatalogPhoto? in
                guard let id = try db.objectID(photo.key), let object = try db.record(ofObject: id),
                    object.problem != .missing, photo.content(of: StoredContent(object)) != .other
                else { return nil }
                var confirmed = photo
                (confirmed.size, confirmed.md5, confirmed.sha256) = (object.size, object.md5, object.sha256)
                return confirmed
            }
        }
    }

    /// What a catalogue says of photos. What is known to be on the disk stays as it is: the disk is right.
    /// - Parameters:
    ///   - folders: those of the ledger, by the numbers of the segment. What is in others is left out.
    ///   - machine: what people call the one whose place is taken. Where another photo of this disk has the name of one of its
    ///     photos, that one is told apart by it; `nil`: it gets no name.
    /// - Returns: of which the store has nothing, as far as is known: another file is stored under its key.
    @discardableResult
    package func noteCatalog(
        _ photos: [CatalogPhoto], in folders: [Int64: FolderID], of machine: String? = nil, at time: Date
    ) throws(LedgerError) -> Set<CatalogPlace> {
        try write("note what the catalogue tells") { db in
            var replaced: Set<CatalogPlace> = []
            var last: (folder: FolderID, path: FilePath, id: DirectoryID)?
            for var photo in photos {
                guard let folder = folders[photo.place.folder], let name = photo.place.path.lastComponent else {
                    continue
                }
                let path = photo.place.path.removingLastComponent()
                guard let object = try db.object(of: photo, at: time) else {
                    replaced.insert(photo.place)
                    guard let directory = try DirectoryTable(db).find(path, in: folder) else { continue }
                    let row = try PhotoTable(db).row(in: directory, named: name)
                    if try db.forget(catalogued: row, as: photo) {
                        try DirectoryTable(db).removeIfEmpty(directory)
                        last = nil
                    }
                    continue
                }
                let directory: DirectoryID
                if let last, last.folder == folder, last.path == path {
                    directory = last.id
                } else {
                    directory = try DirectoryTable(db).findOrAdd(path, in: folder)
                    last = (folder, path, directory)
                }
                // It has that name only where its file of events is gone.
                if photo.file == nil, try db.isOfEventsHere(object.id, in: directory) { continue }
                let free = try db.freeName(name, for: photo, object.id, in: directory, of: machine)
                if object.content == .doubtful { photo.file = nil }
                try db.note(photo, object: object, named: free, in: directory, of: folder, at: time)
            }
            return replaced
        }
    }

    /// What a catalogue no longer knows. It stays where the store has it, and it has no other name here.
    package func noteCatalogGone(
        _ places: [CatalogPlace], in folders: [Int64: FolderID], of machine: String? = nil
    ) throws(LedgerError) {
        try write("note what the catalogue no longer tells") { db in
            for place in places {
                guard let folder = folders[place.folder], let name = place.path.lastComponent,
                    let directory = try DirectoryTable(db).find(place.path.removingLastComponent(), in: folder)
                else { continue }
                let other = machine.flatMap { name.toldApart(by: $0) } ?? name
                let removed = try db.numbers(
                    """
                    DELETE FROM photos WHERE directory_id = ? AND name IN (?, ?) AND state IN ('missing', 'lost')
                    AND (EXISTS (SELECT 1 FROM photos AS others
                            WHERE others.object_id = photos.object_id AND others.id <> photos.id)
                        OR EXISTS (SELECT 1 FROM objects WHERE id = photos.object_id AND problem IS NOT NULL))
                    RETURNING object_id
                    """, [directory.rawValue, Data(name.bytes), Data(other.bytes)])
                for object in removed { try db.forgetUnused(object) }
                if !removed.isEmpty { try DirectoryTable(db).removeIfEmpty(directory) }
            }
        }
    }

    /// Forgets what was noted of other machines' photos, to be noted anew.
    package func forgetOtherMachines() throws(LedgerError) {
        try write("forget other machines' photos") { db in
            for folder in try db.numbers("SELECT id FROM folders WHERE machine IS NOT NULL") {
                try db.run("DELETE FROM photos WHERE folder_id = ?", [folder])
                try db.run("UPDATE directories SET vacation_id = NULL WHERE folder_id = ?", [folder])
                try db.run("DELETE FROM vacations WHERE folder_id = ?", [folder])
                try db.run("DELETE FROM directories WHERE folder_id = ?", [folder])
                try db.run("DELETE FROM photo_tallies WHERE folder_id = ?", [folder])
                try db.run("DELETE FROM folders WHERE id = ?", [folder])
            }
        }
    }

    /// All folders of which photos are known, with whose they are: this machine's first, then others', then what has no name.
    package func ownedFolders() throws(LedgerError) -> [(path: FilePath, owner: FolderOwner)] {
        try read("list folders") { db in
            try db.rawRows(
                """
                SELECT path, machine FROM folders
                ORDER BY machine IS NOT NULL, machine = ?, active DESC, position, path
                """, [FolderOwner.recoveredName]
            ).map { row in
                let owner: FolderOwner =
                    switch row[1] as String? {
                    case nil: .thisMachine
                    case FolderOwner.recoveredName: .recovered
                    case let id?: .machine(id)
                    }
                return (FilePath(blob: row[0]), owner)
            }
        }
    }
}

extension KeyLayout {
    fileprivate func isKept(_ key: ObjectKey) -> Bool { recordedPrefixes.contains { key.isBelow($0) } }

    fileprivate func photoMD5(_ key: ObjectKey) -> MD5Digest? {
        let name = key.name(below: photos) ?? key.name(below: originals)
        guard let name, name.hasSuffix(".dat") else { return nil }
        return MD5Digest(hex: name.dropLast(4))
    }
}

extension Database {
    /// Notes of a damaged object what was stored there, known or not: the store may tell the digests of the ruin.
    fileprivate func keepDigests(of known: ObjectRecord) throws {
        try run(
            "UPDATE objects SET sha256 = ?, stored_md5 = ? WHERE key = ?",
            [known.sha256?.blob, known.storedMD5?.blob, known.key.rawValue])
    }

    /// Whether what is known of an object that counts as whole is contradicted by a listing. What is under the name of a
    /// file is replaced as that is: it is contradicted where it is said to be the copy of the same file, and has another
    /// size. A version is never replaced. What was moved to the archive may have another ETag.
    /// - Parameter time: when it was asked for: what was stored since then is none of it.
    fileprivate func isKnownOtherwise(_ listed: ObjectRecord, before time: Date) throws -> Bool {
        let isReplaceable = listed.key.isNamedByFile && !listed.key.isProjectVersion
        let etag = isReplaceable || listed.storageClass.isArchive ? nil : listed.etag
        return try number(
            """
            SELECT 1 FROM objects WHERE key = ?1 AND problem IS NULL AND stored_at <= ?4
            AND (size <> ?2 OR (etag IS NOT NULL AND ?3 IS NOT NULL AND etag <> ?3))
            AND (NOT ?5 OR (md5 IS NOT NULL AND md5 IS ?6))
            """,
            [listed.key.rawValue, listed.size, etag, time.milliseconds, isReplaceable, listed.md5?.blob]) != nil
    }

    /// Whether an object is the photo of an event in a file of this folder that is on the disk.
    fileprivate func isOfEventsHere(_ object: Int64, in directory: DirectoryID) throws -> Bool {
        try number(
            """
            SELECT 1 FROM events CROSS JOIN event_files ON event_files.event = events.id
            CROSS JOIN photos ON photos.id = event_files.photo_id
            WHERE events.object_id = ? AND photos.directory_id = ? AND photos.state NOT IN ('missing', 'lost') LIMIT 1
            """, [object, directory.rawValue]) != nil
    }

    /// The name under which a photo of a catalogue is noted: its own, but where the disk has another photo under that. Of a
    /// key that is made of a name, a file with the same content is the same photo, whatever is taken for its copy.
    fileprivate func freeName(
        _ name: FilePath.Component, for photo: CatalogPhoto, _ object: Int64, in directory: DirectoryID,
        of machine: String?
    ) throws -> FilePath.Component {
        let photos = PhotoTable(self)
        guard let machine, let row = try photos.row(in: directory, named: name), row.isOnDisk,
            let known = row.objectID, known != object, try !(photo.key.isNamedByFile && isContent(of: row, photo.md5)),
            let other = name.toldApart(by: machine)
        else { return name }
        if let row = try photos.row(in: directory, named: other), row.objectID != object { return name }
        return other
    }

    /// Whether a scan has met the file of a photo, and what is under its key is stored of it: this ledger knows better
    /// then what that is than a catalogue, which may be older. Not where both tell of one content: the key has another.
    private func hasMet(_ row: PhotoRow, of photo: CatalogPhoto) throws -> Bool {
        guard !row.stamp.isOfCatalog, let object = row.objectID, try objectID(photo.key) == object else { return false }
        return try !isContent(of: row, photo.md5)
    }

    /// Whether a file has that content, as it was read last.
    private func isContent(of row: PhotoRow, _ md5: MD5Digest?) throws -> Bool {
        try number("SELECT 1 FROM photos WHERE id = ? AND md5 = ?", [row.id, md5?.blob]) != nil
    }

    /// A catalogue told that a photo that is not here is what its key has, and it is another one.
    /// - Parameter photo: of which the store has nothing.
    /// - Returns: whether it was known.
    fileprivate func forget(catalogued row: PhotoRow?, as photo: CatalogPhoto) throws -> Bool {
        guard let row, let object = row.objectID, try objectID(photo.key) == object else { return false }
        return try run(
            """
            DELETE FROM photos WHERE id = ? AND state IN ('missing', 'lost') AND (\(FileStamp.isOfCatalog) OR md5 = ?)
            """, [row.id, photo.md5?.blob]) > 0
    }

    private func isOfOthers(_ folder: FolderID) throws -> Bool {
        try number("SELECT 1 FROM folders WHERE id = ? AND machine IS NOT NULL", [folder.rawValue]) != nil
    }

    fileprivate func note(
        _ photo: CatalogPhoto, object: CataloguedObject, named name: FilePath.Component, in directory: DirectoryID,
        of folder: FolderID, at time: Date
    ) throws {
        let fault = object.problem == nil ? nil : try loss(of: object.id)
        let why = try fault.map { try isOfOthers(folder) ? $0.othersLossWords : $0.lossWords }
        let row = try PhotoTable(self).row(in: directory, named: name)
        if let row {
            // The last segment that tells of it is right; with the same object there is nothing new.
            guard !row.isOnDisk, row.objectID != object.id || row.stamp.isOfCatalog else { return }
            if try hasMet(row, of: photo) { return }
            let told = try driveID(of: photo, in: folder)
            // Where the file was met here, this ledger knows better.
            let drive = row.stamp.isOfCatalog ? told ?? row.drive : row.drive ?? told
            try run(
                """
                UPDATE photos SET device = 0, inode = 0, changed = NULL, born = NULL, size = ?, modified = ?, md5 = ?,
                    object_id = ?, object_generation = IIF(?, generation, -1), uploaded_at = ?, drive = ?,
                    state = IIF(state IN ('missing', 'lost'), ?, state),
                    error = IIF(state IN ('missing', 'lost'), ?, error)
                WHERE id = ?
                """,
                [
                    photo.file?.size ?? photo.size,
                    photo.file?.modified ?? photo.believedTime(storedAt: object.storedAt), photo.md5?.blob, object.id,
                    photo.file != nil, object.storedAt, drive, why == nil ? "missing" : "lost", why, row.id,
                ])
            return
        }
        let drive = try driveID(of: photo, in: folder)
        try run(
            """
            INSERT INTO photos (folder_id, directory_id, name, device, inode, size, modified, state, md5, object_id,
                object_generation, uploaded_at, queued_at, error, missing_since, drive)
            VALUES (?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                folder.rawValue, directory.rawValue, Data(name.bytes), photo.file?.size ?? photo.size,
                photo.file?.modified ?? photo.believedTime(storedAt: object.storedAt),
                why == nil ? "missing" : "lost", photo.md5?.blob, object.id,
                photo.file == nil ? -1 : 1, object.storedAt, time.milliseconds, why, time.milliseconds,
                drive,
            ])
    }

    /// Drives of other machines are none of this one's.
    private func driveID(of photo: CatalogPhoto, in folder: FolderID) throws -> Int64? {
        guard let drive = photo.drive, try !isOfOthers(folder) else { return nil }
        return try DriveTable(self).id(of: drive)
    }
}

extension CatalogPhoto {
    /// What a file of it is dated by where its own time is not known: nanoseconds since 1970.
    fileprivate func believedTime(storedAt: Int64) -> Int64 {
        FileStamp.time(takenAt.map { $0.instant ?? $0.instant(offset: 0) } ?? Date(milliseconds: storedAt))
    }
}

extension FilePath.Component {
    /// `a.jpg` as `a (laptop).jpg`.
    fileprivate func toldApart(by machine: String) -> FilePath.Component? {
        let mark = " (\(machine.escapingControls.replacing("/", with: "_")))"
        // As FilePath has it: a dot at the beginning begins no ending.
        let dot = bytes.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? $0 : nil } ?? bytes.endIndex
        return FilePath.Component(bytes: Array(bytes[..<dot]) + Array(mark.utf8) + Array(bytes[dot...]))
    }
}
