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
            profileUUID: row[4], type: type, createdAt: Date(milliseconds: row[6]), photoState: state,
            photoMD5: MD5Digest(blob: row[12]),
            object: row.hasNull(atIndex: 15) ? nil : try ObjectRecord(row: row, from: 15), problem: row[8],
            retention: retention, triedAt: row.time(10), retentionProblem: row[11])
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
    /// Whether that is of the file as it was seen last: one that is gone may have been another one by then.
    let isCurrent: Bool

    /// What is stored of the file as it was seen last.
    package var proven: ObjectRecord? { isCurrent ? object : nil }

    /// Whether it is stored, or will be tried without anybody's help.
    package var isOnItsWay: Bool { object != nil || state == .pending || state == .uploading }
}

extension PhotoBeside: FetchableRecord {
    init(row: Row) throws {
        let state = try PhotoState(rawValue: row[0]).known()
        let isStored = state == .uploaded || state == .missing
        self.init(
            state: state, object: isStored ? try ObjectRecord(row: row, from: 2) : nil,
            isCurrent: (row[1] as Bool?) ?? false)
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

    package init(
        eventID: String, userID: String, profile: String, type: GalleryEventType, createdAt: Date, signedOffAt: Date,
        photo: ArchivedPhoto?
    ) {
        self.eventID = eventID
        self.userID = userID
        self.profile = profile
        self.type = type
        self.createdAt = createdAt
        self.signedOffAt = signedOffAt
        self.photo = photo
    }

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
        let photo = try (row[6] as String?).flatMap { key in
            try SHA256Digest(blob: row[7]).map { ArchivedPhoto(key: try ObjectKey(key), sha256: $0) }
        }
        self.init(
            eventID: EventIdentity.givenID(row[0]), userID: row[1], profile: row[2],
            type: try GalleryEventType(rawValue: row[3]).known(), createdAt: Date(milliseconds: row[4]),
            signedOffAt: Date(milliseconds: row[5]), photo: photo)
    }
}

/// What tells events apart that have one id: profile, time and photo. Of a photo beside the file the name tells only in
/// one folder.
///
/// An app may give an id again, and people correct dates. The id alone would let the first event decide about the text of
/// every other.
struct EventIdentity {
    /// Between the id and the number of a second event with it; no id holds it.
    static let separator = "\u{1F}"

    /// The id in a name that an event has in the ledger.
    static func givenID(_ name: String) -> String { String(name.prefix { String($0) != separator }) }

    let event: GalleryEvent
    /// Of a photo in the file; `nil` where it has none, or it is not known.
    let md5: MD5Digest?

    /// As it is kept of a photo that is not stored.
    var mark: Data? {
        switch event.photo {
        case .none: nil
        case .inline: md5?.blob
        case .beside(let name): Data([UInt8(ascii: "/")]) + Data(name.bytes)
        }
    }
}

extension EventRecord {
    /// Whether an element of a file is this event. One without a photo is: it may be a copy that leaves it out.
    /// - Parameter photo: of one in the file.
    package func isOf(_ event: GalleryEvent, photo: MD5Digest?) -> Bool {
        guard eventID.inBytes == event.id.inBytes, profile.inBytes == event.profileID.inBytes,
            createdAt.milliseconds == event.createdAt.milliseconds
        else { return false }
        let mark = EventIdentity(event: event, md5: photo).mark
        switch event.photo {
        case .none: return true
        case .inline:
            guard let photo else { return true }
            if let photoMD5 { return photoMD5 == photo }
            return self.mark == nil || self.mark == mark
        case .beside: return self.mark == nil || self.mark == mark
        }
    }
}

extension Database {
    /// Notes one event of a file, as the one that it is known to be, or as a new one.
    /// - Parameter before: the rows of the events that the file held when it was read last.
    func note(_ identity: EventIdentity, in file: Int64, before: Set<Int64>) throws -> EventRecord {
        let event = identity.event
        let known = try rows(LedgerQuery.eventsOfID, [event.id], as: EventRecord.self)
        let id: Int64
        if let record = try known.first(where: {
            try $0.isOf(event, photo: identity.md5) && mayHavePhoto(of: event, in: file, $0, before: before)
        }) {
            id = record.id
            // Once it is stored, a photo in one file and beside another is one event: the file that names it is told by
            // the name alone, one that holds it by the digest of what is stored.
            try run(
                """
                UPDATE events SET mark = IIF(?1, COALESCE(mark, ?2), mark), retention = IIF(?3, retention, 'kept'),
                    photo_state = IIF(?1 AND photo_state <> 'stored', 'pending', photo_state)
                WHERE id = ?4
                """, [event.photo != .none, identity.mark, event.isBare, id])
        } else {
            try run(
                """
                INSERT INTO events (event_id, user_id, profile, type, created_at, photo_state, mark)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    try freeName(for: event.id), event.userID, event.profileID, event.type.rawValue,
                    event.createdAt.milliseconds, event.photo == .none ? "none" : "pending", identity.mark,
                ])
            id = lastInsertedRowID
        }
        return try row(LedgerQuery.eventOfRow, [id], as: EventRecord.self).known()
    }

    /// Whether the photo beside a file may be that of a known event. A name in another folder is another file: there
    /// the bytes have to tell, once they are known.
    private func mayHavePhoto(
        of event: GalleryEvent, in file: Int64, _ record: EventRecord, before: Set<Int64>
    ) throws -> Bool {
        guard case .beside(let name) = event.photo, record.photoState != .none else { return true }
        if try number(LedgerQuery.eventInFolder, [record.id, file]) != nil { return true }
        let isNowhere = try number(LedgerQuery.firstFileOfEvent, [record.id]) == nil
        guard let stored = record.photoMD5 else { return isNowhere || before.contains(record.id) }
        if isNowhere, before.contains(record.id) { return true }
        let photo = try row(LedgerQuery.photoBeside, [Data(name.bytes), file], as: PhotoBeside.self)
        return photo?.object?.md5 == stored
    }

    /// Events of several folders are one, the first that was seen, when the photos beside their files prove to be the
    /// same.
    /// - Parameter md5: of the photo that is stored of one of them.
    func unite(_ event: EventRecord, _ md5: MD5Digest) throws {
        guard let mark = event.mark, mark.first == UInt8(ascii: "/") else { return }
        let same = try rows(LedgerQuery.eventsOfID, [event.eventID], as: EventRecord.self).filter {
            $0.mark == mark && $0.photoMD5 == md5 && $0.profile.inBytes == event.profile.inBytes
                && $0.createdAt.milliseconds == event.createdAt.milliseconds
        }
        guard let first = same.first else { return }
        for other in same.dropFirst() {
            try run("UPDATE OR REPLACE event_files SET event = ? WHERE event = ?", [first.id, other.id])
            try run(
                "UPDATE events SET retention = IIF(?, 'kept', retention) WHERE id = ?",
                [other.retention == .kept, first.id])
            try run("DELETE FROM events WHERE id = ?", [other.id])
        }
    }

    /// A name under which nothing was signed off either: records are never replaced by those of another event.
    func freeName(for id: String) throws -> String {
        var (name, uses) = (id, 1)
        while try number(LedgerQuery.usesOfEventName, [name]) != nil {
            uses += 1
            name = "\(id)\(EventIdentity.separator)\(uses)"
        }
        return name
    }

    /// Forgets what a file held before under an id that it still holds, as its date, profile or photo was corrected. What
    /// is stored of another photo is kept: it comes into the archive in its time.
    func forgetCorrected(_ before: [EventRecord], now: [EventRecord]) throws {
        let held = Set(now.map(\.id))
        for old in before where !held.contains(old.id) && old.retention == .kept {
            let successors = now.filter { $0.eventID.inBytes == old.eventID.inBytes }
            let isStoredAgain = successors.contains { $0.photoMD5 == old.photoMD5 || $0.mark == old.photoMD5?.blob }
            guard !successors.isEmpty, old.photoMD5 == nil || isStoredAgain,
                try number(LedgerQuery.firstFileOfEvent, [old.id]) == nil
            else { continue }
            try run("DELETE FROM events WHERE id = ?", [old.id])
        }
    }
}
