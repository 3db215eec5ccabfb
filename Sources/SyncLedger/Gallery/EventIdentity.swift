import FoundationEssentials
import GRDB
package import SyncCore

/// What tells events apart that have one id: profile, time and photo.
///
/// An app may give an id again, and people correct dates. The id alone would let the first event decide about the text of
/// every other.
struct EventIdentity {
    /// Between the id and the number of a second event with it; no id holds it.
    static let separator = "\u{1F}"

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

/// What is known of the events of a file.
package struct NotedEvents: Sendable {
    /// In the order of the events.
    package private(set) var records: [EventRecord] = []

    package var isEmpty: Bool { records.isEmpty }

    mutating func add(_ record: EventRecord) { records.append(record) }

    /// The first one with an id.
    package subscript(id: String) -> EventRecord? { records.first { $0.eventID.inBytes == id.inBytes } }
}

extension Database {
    /// Notes one event of a file, as the one that it is known to be, or as a new one.
    func note(_ identity: EventIdentity) throws -> EventRecord {
        let event = identity.event
        let known = try rows(LedgerQuery.eventsOfID, [event.id], as: EventRecord.self)
        let id: Int64
        if let record = known.first(where: { $0.isOf(event, photo: identity.md5) }) {
            id = record.id
            try run(
                """
                UPDATE events SET mark = IIF(?1, ?2, mark), retention = IIF(?3, retention, 'kept'),
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
        guard let record = try row(LedgerQuery.eventOfRow, [id], as: EventRecord.self) else { throw UnknownName() }
        return record
    }

    /// A name under which nothing was signed off either: records are never replaced by those of another event.
    private func freeName(for id: String) throws -> String {
        var (name, uses) = (id, 1)
        while try number(LedgerQuery.usesOfEventName, [name]) != nil {
            uses += 1
            name = "\(id)\(EventIdentity.separator)\(uses)"
        }
        return name
    }

    /// Forgets what a file held before under an id that it still holds, as its date, profile or photo was corrected. What
    /// is stored of another photo is kept: it comes into the archive in its time.
    func forgetCorrected(_ before: [EventRecord], now: NotedEvents) throws {
        let held = Set(now.records.map(\.id))
        for old in before where !held.contains(old.id) && old.retention == .kept {
            let successors = now.records.filter { $0.eventID.inBytes == old.eventID.inBytes }
            let isStoredAgain = successors.contains { $0.photoMD5 == old.photoMD5 || $0.mark == old.photoMD5?.blob }
            guard !successors.isEmpty, old.photoMD5 == nil || isStoredAgain,
                try number(LedgerQuery.firstFileOfEvent, [old.id]) == nil
            else { continue }
            try run("DELETE FROM events WHERE id = ?", [old.id])
        }
    }
}
