import FoundationEssentials
import GRDB
import SyncCore

// Whether what the store has under the key of a photo is the photo's copy. A key of the pool tells it. One that is made of
// a file's name does not: another machine may have stored a file of that name there since the catalogue was written.

/// What an object is to a photo that a catalogue tells of, by all that is known of both.
enum CataloguedContent: Hashable {
    /// Its copy: nothing speaks against that.
    case copy
    /// The bytes that are known as its copy, which were stored as that of another file: its own is read once more.
    case doubtful
    /// The copy of another one.
    case other
}

extension CatalogPhoto {
    /// What an object under its key, or under that of a version of it, is to it.
    func content(of object: StoredContent) -> CataloguedContent {
        guard key.isNamedByFile else { return .copy }
        if let md5, let told = object.md5 {
            // The same file may be stored in other bytes: another machine reduces it by other settings.
            if md5 == told { return .copy }
            let isSame = object.size == size && object.sha256 != nil && object.sha256 == sha256
            return isSame ? .doubtful : .other
        }
        guard object.size == size else { return .other }
        guard let sha256, let told = object.sha256 else { return .copy }
        return sha256 == told ? .copy : .other
    }
}

extension CatalogPhoto {
    /// Whether an object that counts as its copy may be cut: it has another size, and nothing says that other bytes were
    /// stored there than the catalogue knows.
    func doubts(_ object: StoredContent) -> Bool {
        object.size != size && (object.sha256 == nil || object.sha256 == sha256)
    }
}

/// What is known of the bytes that are stored under a key.
struct StoredContent {
    var size: Int64
    /// Of the file that they are the copy of.
    var md5: MD5Digest?
    var sha256: SHA256Digest?
}

extension StoredContent {
    init(_ object: ObjectRecord) {
        self.init(size: object.size, md5: object.md5, sha256: object.sha256)
    }
}

/// What is stored of a photo that a catalogue tells of.
struct CataloguedObject {
    var id: Int64
    var problem: String?
    var storedAt: Int64
    var content = CataloguedContent.copy
}

extension Database {
    /// What is stored of a photo, with what its catalogue tells of it; `nil` where its key has another content by now, and
    /// no version has its own. One that the listing does not have is known as missing.
    func object(of photo: CatalogPhoto, at time: Date) throws -> CataloguedObject? {
        let known = try rawRow(
            "SELECT id, problem, size, stored_at, md5, sha256 FROM objects WHERE key = ?", [photo.key.rawValue])
        guard let known else { return try version(holding: photo) ?? missing(photo, at: time) }
        let stored = StoredContent(size: known[2], md5: MD5Digest(blob: known[4]), sha256: SHA256Digest(blob: known[5]))
        let content = photo.content(of: stored)
        if content == .other { return try version(holding: photo) }
        let object = CataloguedObject(id: known[0], problem: known[1], storedAt: known[3], content: content)
        try learn(photo, of: object.id, stored)
        return object
    }

    private func missing(_ photo: CatalogPhoto, at time: Date) throws -> CataloguedObject {
        try run(
            """
            INSERT INTO objects (key, size, md5, sha256, content_type, storage_class, restore_state, width, height,
                taken_at, taken_offset, taken_rules, stored_at, problem, duration)
            VALUES (?, ?, ?, ?, ?, 'STANDARD', 'none', ?, ?, ?, ?, 1, ?, ?, ?)
            """,
            [
                photo.key.rawValue, photo.size, photo.md5?.blob, photo.sha256?.blob, photo.contentType, photo.width,
                photo.height, photo.takenAt?.clock, photo.takenAt?.offset, time.milliseconds,
                ObjectFault.missing.text, photo.duration?.inMilliseconds,
            ])
        return CataloguedObject(id: lastInsertedRowID, problem: ObjectFault.missing.text, storedAt: time.milliseconds)
    }

    /// The version that was made of a photo when its key got another content: the latest one of its file.
    private func version(holding photo: CatalogPhoto) throws -> CataloguedObject? {
        guard let md5 = photo.md5, let file = photo.key.versionedFile else { return nil }
        let range = KeyRange(prefix: file.versions, after: nil)
        let rows = try rawRows(
            """
            SELECT id, problem, size, stored_at, md5, sha256, key FROM objects
            WHERE \(KeyRange.condition) AND problem IS NULL
            """, [range.from, range.to]
        ).reduce(into: [ObjectKey: Row]()) { $0[try ObjectKey($1[6] as String)] = $1 }
        for key in file.candidates(with: md5, among: rows.keys) {
            guard let row = rows[key] else { continue }
            let stored = StoredContent(size: row[2], md5: MD5Digest(blob: row[4]), sha256: SHA256Digest(blob: row[5]))
            guard photo.content(of: stored) == .copy else { continue }
            let version = CataloguedObject(id: row[0], problem: row[1], storedAt: row[3])
            try learn(photo, of: version.id, stored)
            return version
        }
        return nil
    }

    /// Notes what a catalogue tells of an object, and the store does not.
    private func learn(_ photo: CatalogPhoto, of object: Int64, _ stored: StoredContent) throws {
        if photo.doubts(stored) { try doubt(object, as: photo) }
        // Bytes of another size are another copy, of which the catalogue does not know the digest.
        let sha256 = stored.size == photo.size ? photo.sha256 : nil
        try run(
            """
            UPDATE objects SET md5 = COALESCE(md5, ?1), sha256 = COALESCE(sha256, ?2),
                content_type = IIF(content_type = ?3, ?4, content_type), width = COALESCE(width, ?5),
                height = COALESCE(height, ?6), taken_at = COALESCE(taken_at, ?7),
                taken_offset = IIF(taken_at IS NULL, ?8, taken_offset), duration = COALESCE(duration, ?10)
            WHERE id = ?9
            """,
            [
                photo.md5?.blob, sha256?.blob, MediaType.unknown.name, photo.contentType, photo.width, photo.height,
                photo.takenAt?.clock, photo.takenAt?.offset, object, photo.duration?.inMilliseconds,
            ])
    }

    /// Takes the word of a catalogue for what was stored. What the store has instead contradicts it, as it would any ledger:
    /// it is unclear until the next look, which reads it.
    private func doubt(_ object: Int64, as photo: CatalogPhoto) throws {
        let isWhole = try run(
            """
            UPDATE objects SET size = ?, sha256 = COALESCE(sha256, ?), stored_md5 = NULL
            WHERE id = ? AND problem IS NULL
            """, [photo.size, photo.sha256?.blob, object])
        guard isWhole > 0, let key = try record(ofObject: object)?.key else { return }
        try noteUnclear([key])
    }

    /// Notes of which file the store's own words say that an object is a copy. A ledger that was rebuilt from the
    /// catalogue alone may have taken it for that of another one, and may have its digest from there, too: what counts
    /// as stored there is read once more.
    /// - Parameter object: as it is in the store now. What was stored anew since the ledger noted it is left to the next
    ///   look at the store.
    func noteFile(of object: ObjectRecord, at time: Date) throws {
        guard object.key.isNamedByFile, let md5 = object.md5 else { return }
        let id = try number(
            """
            UPDATE objects SET md5 = ?1, sha256 = COALESCE(?5, IIF(md5 IS NULL, sha256, NULL))
            WHERE key = ?2 AND md5 IS NOT ?1 AND size = ?3 AND (etag IS NULL OR etag IS ?4) AND problem IS NULL
            RETURNING id
            """, [md5.blob, object.key.rawValue, object.size, object.etag, object.sha256?.blob])
        guard let id else { return }
        let photos = try numbers(
            """
            SELECT photos.id FROM photos JOIN folders ON folders.id = photos.folder_id
            WHERE photos.object_id = ? AND photos.state = 'uploaded' AND folders.machine IS NULL
            """, [id])
        for photo in photos { try PhotoTable(self).repend(stored: photo, at: time) }
    }
}
