package import FoundationEssentials
import GRDB
package import SyncCore

package enum EventPhotoState: String, Hashable, Sendable, CaseIterable {
    /// The event has no photo.
    case none
    /// It is to be stored.
    case pending
    /// It is a file beside the event's, and not there yet.
    case waiting
    /// The store has proved that it holds it.
    case stored
    /// It cannot be stored as it is; tried again when a file of the event changes.
    case failed
}

/// How far an event is on the way to having no text any more.
package enum EventRetention: String, Hashable, Sendable, CaseIterable {
    /// Text of it may be on the disk.
    case kept
    /// Its photo is proven in the archive, and its text is gone.
    case archived
    /// It had no photo, and its text is gone.
    case deleted
}

/// A gallery event as the ledger knows it: all but its text.
package struct EventRecord: Hashable, Sendable {
    package let id: Int64
    /// As it is given. Another event may have it too.
    package let eventID: String
    /// What this event alone is called in the ledger.
    package let name: String
    /// Tells its photo apart before it is stored: ``EventIdentity``.
    let mark: Data?
    /// User and profile as the event gives them.
    package let userID: String?
    package let profile: String
    /// Of a profile that is given as a telephone number, once it is known.
    package let profileUUID: String?
    package let type: GalleryEventType
    package let createdAt: Date
    package let photoState: EventPhotoState
    /// Of its photo as the file holds it; `nil` unless it is stored.
    package let photoMD5: MD5Digest?
    /// Its photo in the pool; `nil` unless it is stored there.
    package let object: ObjectRecord?
    /// Why the photo is not stored.
    package let problem: String?
    package let retention: EventRetention
    /// When retention tried last, and why it did not succeed.
    package let triedAt: Date?
    package let retentionProblem: String?

    /// Whether another event had its id before.
    package var isOfUsedID: Bool { name.inBytes != eventID.inBytes }
}

extension EventRecord: FetchableRecord {
    static let source = "events LEFT JOIN objects ON objects.id = events.object_id"
    static let columns = """
        events.id, events.given_id, events.user_id, events.profile, events.profile_uuid, events.type, \
        events.created_at, events.photo_state, events.problem, events.retention, events.tried_at, \
        events.retention_problem, events.photo_md5, events.event_id, events.mark, \(ObjectRecord.columns)
        """

    init(row: Row) throws {
        guard let type = GalleryEventType(rawValue: row[5]), let state = EventPhotoState(rawValue: row[7]),
            let retention = EventRetention(rawValue: row[9])
        else { throw UnknownName() }
        self.init(
            id: row[0], eventID: row[1], name: row[13], mark: row[14], userID: row[2], profile: row[3],
            profileUUID: row[4], type: type,
            createdAt: Date(milliseconds: row[6]), photoState: state,
            photoMD5: MD5Digest(blob: row[12]),
            object: row.hasNull(atIndex: 15) ? nil : try ObjectRecord(row: row, from: 15), problem: row[8],
            retention: retention, triedAt: (row[10] as Int64?).map(Date.init(milliseconds:)),
            retentionProblem: row[11])
    }
}

/// What was found in a file of gallery events, for people.
package struct EventFileNote: Hashable, Sendable {
    /// Elements that are events, duplicates left out.
    package var events: Int
    package var malformed: Int
    /// One line, made by us: it quotes nothing of the file but ids.
    package var text: String

    package init(events: Int, malformed: Int, text: String) {
        self.events = events
        self.malformed = malformed
        self.text = text
    }
}

extension Database {
    /// Sets the note of a file, or removes it.
    func setEventNote(_ note: EventFileNote?, of photo: Int64) throws {
        guard let note else {
            try run("DELETE FROM event_notes WHERE photo_id = ?", [photo])
            return
        }
        try run(
            "INSERT OR REPLACE INTO event_notes VALUES (?, ?, ?, ?)", [photo, note.events, note.malformed, note.text])
    }
}

/// Where a photo stands that is named by an event in the same folder.
package struct PhotoBeside: Hashable, Sendable {
    package let state: PhotoState
    /// What is stored of the file as it is; `nil` unless it is uploaded.
    package let object: ObjectRecord?

    /// Whether it is stored, or will be tried without anybody's help.
    package var isOnItsWay: Bool { object != nil || state == .pending || state == .uploading }
}

extension PhotoBeside: FetchableRecord {
    init(row: Row) throws {
        guard let state = PhotoState(rawValue: row[0]) else { throw UnknownName() }
        let isStored = state == .uploaded || state == .missing
        self.init(state: state, object: isStored ? try ObjectRecord(row: row, from: 1) : nil)
    }
}

/// What remains of an event that was signed off: proof, and no text.
package struct RetentionRecord: Hashable, Sendable {
    package var eventID: String
    package var userID: String
    /// As it is in the key.
    package var profile: String
    package var type: GalleryEventType
    package var createdAt: Date
    package var signedOffAt: Date
    /// Where its photo is proven to be stored, and as what; `nil` for an event without a photo.
    package var photo: ArchivedPhoto?

    package struct ArchivedPhoto: Hashable, Sendable {
        package var key: ObjectKey
        /// Of the stored bytes.
        package var sha256: SHA256Digest

        package init(key: ObjectKey, sha256: SHA256Digest) {
            self.key = key
            self.sha256 = sha256
        }
    }
}

extension RetentionRecord: FetchableRecord {
    static let columns = "event_id, user_id, profile, type, created_at, signed_off_at, key, sha256"

    init(row: Row) throws {
        guard let type = GalleryEventType(rawValue: row[3]) else { throw UnknownName() }
        let photo = try (row[6] as String?).flatMap { key in
            try SHA256Digest(blob: row[7]).map { ArchivedPhoto(key: try ObjectKey(key), sha256: $0) }
        }
        self.init(
            eventID: String((row[0] as String).prefix { $0 != "\u{1F}" }), userID: row[1], profile: row[2], type: type,
            createdAt: Date(milliseconds: row[4]),
            signedOffAt: Date(milliseconds: row[5]), photo: photo)
    }
}
