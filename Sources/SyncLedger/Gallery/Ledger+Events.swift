import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

extension Ledger {
    /// Notes the events of a file that is in hand, and that it is the file that holds them, in place of what it held
    /// before.
    ///
    /// An element is the event that is known under its id when profile, time and photo are the same; a photo beside a
    /// file in another folder is the same by its bytes, never by its name. Any other is an event of its own, whatever
    /// was seen first. Text that is back after it was deleted is due again. When the file is no longer the one that was
    /// claimed, nothing is noted: what was read of it may be gone, and it will be read again.
    /// - Parameters:
    ///   - events: their ids may be there twice.
    ///   - photos: the MD5 of each photo that stands in the file, by the index of its element.
    ///   - isWhole: whether all of the file could be told. Else what it held before may stand in the rest: such events stay
    ///     known as being in it.
    /// - Returns: what is known of each event, in the same order.
    @discardableResult
    package func noteEvents(
        _ events: [GalleryEvent], photos: [Int: MD5Digest] = [:], isWhole: Bool = true, of claim: Claim
    ) throws(LedgerError) -> [EventRecord] {
        try write("note gallery events") { db in
            guard let row = try db.row(LedgerQuery.rowOfPhoto, [claim.photoID], as: PhotoRow.self),
                row.generation == claim.generation, !row.isGone
            else { return [] }
            let before = try db.rows(LedgerQuery.eventsOfFile, [claim.photoID], as: EventRecord.self)
            try db.run("DELETE FROM event_files WHERE photo_id = ? AND (? OR clean = 1)", [claim.photoID, isWhole])
            let held = Set(before.map(\.id))
            var noted: [EventRecord] = []
            for event in events {
                let identity = EventIdentity(event: event, md5: photos[event.index])
                let record = try db.note(identity, in: claim.photoID, before: held)
                try db.run(
                    "INSERT OR IGNORE INTO event_files (event, photo_id) VALUES (?, ?)", [record.id, claim.photoID])
                noted.append(record)
            }
            try db.forgetCorrected(before, now: noted)
            return noted
        }
    }

    /// Notes that the store has proved to hold an event's photo. A photo that is stored already stays the one it is,
    /// unless it was edited: no other file is known to hold the event.
    /// - Parameter claim: the file that holds this photo; `nil` when it may not take the place of another.
    /// - Returns: whether it is the event's photo now. The object is known in any case.
    @discardableResult
    package func noteEventPhoto(
        _ event: EventRecord, md5: MD5Digest, object: ObjectRecord, in claim: Claim? = nil
    ) throws(LedgerError) -> Bool {
        try write("note a stored photo of an event") { db in
            let id = try db.store(object)
            let places = try db.places(of: event)
            let isEdited = claim.map { claim in places.allSatisfy { $0.isClean || $0.photoID == claim.photoID } }
            let isItsPhoto =
                try db.run(
                    """
                    UPDATE events SET photo_state = 'stored', photo_md5 = ?, object_id = ?, photo_name = NULL,
                        problem = NULL
                    WHERE id = ? AND (photo_state <> 'stored' OR ?)
                    """, [md5.blob, id, event.id, isEdited ?? false]) > 0
            if isItsPhoto { try db.unite(event, md5) }
            if let claim { try db.forgetCatalogName(of: id, in: claim) }
            // It was deleted for good while it was looked at: the file is read again, and the photo stored anew.
            if try !db.mayCount(object.key, attempt: claim?.attemptID ?? 0) {
                var count = BrokenCount()
                try db.markBroken(BrokenObject(object, .missing), at: object.storedAt, &count)
            }
            return isItsPhoto
        }
    }

    /// Notes that an event's photo cannot be stored as it is.
    /// - Parameter problem: a reason of ours: it quotes nothing of the event.
    package func noteEventPhoto(_ event: EventRecord, failed problem: String) throws(LedgerError) {
        try write(
            "note a failed photo of an event",
            """
            UPDATE events SET photo_state = 'failed', problem = ?, photo_name = NULL
            WHERE id = ? AND photo_state <> 'stored'
            """, [problem, event.id])
    }

    /// Notes that an event's photo is to be a file beside it which is not there. When it is stored, the event's file is
    /// in the queue again.
    package func noteEventPhoto(_ event: EventRecord, waitsFor name: FilePath.Component) throws(LedgerError) {
        try write(
            "note a photo that an event waits for",
            """
            UPDATE events SET photo_state = 'waiting', problem = NULL, photo_name = ?
            WHERE id = ? AND photo_state <> 'stored'
            """, [Data(name.bytes), event.id])
    }

    /// Where the photo of this name stands that is in the same folder as a claimed file; `nil` when none is known.
    package func photo(_ name: FilePath.Component, beside claim: Claim) throws(LedgerError) -> PhotoBeside? {
        try photo(name, besideFile: claim.photoID)
    }

    /// The same, beside any file that is known.
    package func photo(_ name: FilePath.Component, besideFile file: Int64) throws(LedgerError) -> PhotoBeside? {
        try read("look up a photo beside an event") { db in
            try db.row(LedgerQuery.photoBeside, [Data(name.bytes), file])
        }
    }

    /// The first event that was seen with an id.
    package func event(_ id: String) throws(LedgerError) -> EventRecord? {
        try read("look up an event") { try $0.row(LedgerQuery.event, [id]) }
    }

    /// An event as it is known by now; `nil` when it is forgotten.
    package func event(_ record: EventRecord) throws(LedgerError) -> EventRecord? {
        try read("look up an event") { try $0.row(LedgerQuery.eventOfRow, [record.id]) }
    }

    /// All events with an id, the first that was seen first.
    package func events(withID id: String) throws(LedgerError) -> [EventRecord] {
        try read("look up the events of an id") { try $0.rows(LedgerQuery.eventsOfID, [id]) }
    }

    /// The events that a file was found to hold, in the order in which they became known.
    package func events(of photoID: Int64) throws(LedgerError) -> [EventRecord] {
        try read("list the events of a file") { try $0.rows(LedgerQuery.eventsOfFile, [photoID]) }
    }

    /// How many events there are, by photo and retention. A few seeks.
    package func eventCounts() throws(LedgerError) -> EventCounts {
        try read("count events") { db in
            let rows = try db.rawRows(LedgerQuery.eventTallies)
            return rows.reduce(into: EventCounts()) { counts, row in
                if let photo = EventPhotoState(rawValue: row[0]), let retention = EventRetention(rawValue: row[1]) {
                    counts.photos[photo, default: 0] += row[2] as Int
                    counts.retention[retention, default: 0] += row[2] as Int
                }
            }
        }
    }
}

/// How many events are known.
package struct EventCounts: Hashable, Sendable {
    package fileprivate(set) var photos: [EventPhotoState: Int] = [:]
    package fileprivate(set) var retention: [EventRetention: Int] = [:]
}

extension Ledger {
    /// Galleries of which the last scan has not seen all, and why; also those that no scan has come to yet.
    /// - Parameter galleries: absolute.
    package func unseenGalleries(of galleries: [FilePath]) throws(LedgerError) -> [LeftOutSummary.Item] {
        try read("list galleries that were not seen as a whole") { db in
            let known = try db.activeFolders()
            return galleries.compactMap { path in
                let folder = known.first { $0.path == path }
                let reason = folder?.problem ?? (folder?.scannedAt == nil ? "nobody has looked at it yet" : nil)
                return reason.map { LeftOutSummary.Item(path: path, reason: $0) }
            }
        }
    }

    /// Files of active galleries with elements that are no events, and those that cannot be read, as they were read last.
    /// Text in them is never due: nobody knows its time.
    package func unclearEventFiles() throws(LedgerError) -> [LeftOutSummary.Item] {
        try read("list unclear files of events") { db in
            let galleries = try db.activeFolders().filter { $0.kind == .gallery }.map(\.id.rawValue)
            let unread = try galleries.flatMap { try db.numbers(LedgerQuery.unreadableEventFiles, [$0]) }
            let malformed = try db.rawRows(LedgerQuery.allMalformedEventFiles)
                .filter { galleries.contains($0[1]) }.map { $0[0] as Int64 }
            return try (malformed + unread).compactMap { id in
                try db.row(LedgerQuery.photo, [id], as: PhotoStatus.self).map {
                    LeftOutSummary.Item(path: $0.path, reason: $0.note ?? $0.error ?? "")
                }
            }
        }
    }

    /// Links in active galleries under names of files of events, as the last scans have found them. Nobody reads what
    /// they lead to. Absolute.
    package func linkedEventFiles() throws(LedgerError) -> [FilePath] {
        try read("list links to files of events") { db in
            let galleries = try db.activeFolders().filter { $0.kind == .gallery }
            let entries = try galleries.flatMap { try db.leftOutEntries(of: $0.id.rawValue, limit: .max) }
            return entries.map(\.path).filter { $0.lastComponent?.isOfEvents == true }
        }
    }

    /// A page of the events that give a profile in one spelling, in the order in which they became known, each with the
    /// files that it was seen in.
    /// - Parameter last: the last one of the page before; `nil` for the first page.
    package func events(
        ofProfile spelling: String, after last: EventRecord?, limit: Int
    ) throws(LedgerError) -> [DueEvent] {
        try read("list the events of a profile") { db in
            try db.events(LedgerQuery.eventsOfProfile, [spelling, last?.id ?? 0, limit])
        }
    }

    /// Forgets an event of which no text is left. What was signed off, and what is stored, stays.
    /// - Returns: `false`, with nothing forgotten, when a file is known that was not noted as clean.
    package func removeEvent(_ event: EventRecord) throws(LedgerError) -> Bool {
        try write("forget an event") { db in
            guard try db.places(of: event).allSatisfy(\.isClean) else { return false }
            try db.run("DELETE FROM events WHERE id = ?", [event.id])
            return true
        }
    }

    /// Notes that the archived photo of an event has another key now, with a profile's UUID in it. The old object is
    /// forgotten.
    package func moveArchivedPhoto(_ old: ObjectKey, to object: ObjectRecord, profile: String) throws(LedgerError) {
        try write("note the new key of an archived photo", isDurable: true) { db in
            _ = try db.store(object)
            try db.run(
                "UPDATE retention_records SET key = ?, profile = ? WHERE key = ?",
                [object.key.rawValue, profile, old.rawValue])
            try db.run(
                """
                DELETE FROM objects WHERE key = ?
                AND NOT EXISTS (SELECT 1 FROM photos WHERE object_id = objects.id)
                AND NOT EXISTS (SELECT 1 FROM events WHERE object_id = objects.id)
                """, [old.rawValue])
        }
    }
}

extension Database {
    /// A catalogue names the photos of events as files, for when the file of events is gone. It is here.
    fileprivate func forgetCatalogName(of object: Int64, in claim: Claim) throws {
        let stem = EventPhotoName.stem(of: claim.relativePath)
        try run(
            """
            DELETE FROM photos WHERE object_id = ?1 AND state IN ('missing', 'lost') AND device = 0 AND inode = 0
            AND object_generation = -1 AND substr(name, 1, ?2) = ?3
            AND directory_id = (SELECT directory_id FROM photos WHERE id = ?4)
            """, [object, stem.count, Data(stem), claim.photoID])
    }
}

/// What the photos in a file of gallery events are called, where they are to be files: `june.json` holds `june.jpg`, or, with
/// several of them, `june-1.jpg` and so on.
package enum EventPhotoName {
    /// - Parameters:
    ///   - index: of the photo among those of its file.
    ///   - contentType: of the stored copy.
    package static func path(in file: FilePath, index: Int, of count: Int, contentType: String) -> FilePath {
        let mark = count > 1 ? "-\(index + 1)" : ""
        let ending = "\(mark).\(MediaType.ending(ofContentType: contentType))"
        guard let component = FilePath.Component(bytes: stem(of: file) + Array(ending.utf8)) else { return file }
        return file.removingLastComponent().appending(component)
    }

    /// What all of these names begin with.
    static func stem(of file: FilePath) -> [UInt8] {
        guard let name = file.lastComponent?.bytes else { return [] }
        // As FilePath has it: a dot at the beginning begins no ending.
        let dot = name.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? $0 : nil } ?? name.endIndex
        return Array(name[..<dot])
    }
}

extension LedgerQuery {
    package static let event = "SELECT \(EventRecord.columns) FROM \(EventRecord.source) WHERE events.event_id = ?"
    package static let eventOfRow = "SELECT \(EventRecord.columns) FROM \(EventRecord.source) WHERE events.id = ?"
    /// All events with an id, the first that was seen first.
    package static let eventsOfID = """
        SELECT \(EventRecord.columns) FROM events INDEXED BY events_by_given_id
        LEFT JOIN objects ON objects.id = events.object_id
        WHERE events.given_id = ? ORDER BY events.id
        """
    package static let usesOfEventName = """
        SELECT 1 WHERE EXISTS (SELECT 1 FROM events WHERE event_id = ?1)
        OR EXISTS (SELECT 1 FROM retention_records WHERE event_id = ?1)
        """
    /// Whether an event is known in the folder of a file.
    package static let eventInFolder = """
        SELECT 1 FROM photos AS events_file
        CROSS JOIN event_files ON event_files.event = ?1
        CROSS JOIN photos ON photos.id = event_files.photo_id AND photos.directory_id = events_file.directory_id
        WHERE events_file.id = ?2 LIMIT 1
        """
    package static let firstFileOfEvent = "SELECT photo_id FROM event_files WHERE event = ? LIMIT 1"
    package static let eventsOfFile = """
        SELECT \(EventRecord.columns) FROM event_files
        CROSS JOIN events ON events.id = event_files.event
        LEFT JOIN objects ON objects.id = events.object_id
        WHERE event_files.photo_id = ? ORDER BY event_files.photo_id, event_files.event
        """
    package static let eventsOfProfile = """
        SELECT \(EventRecord.columns) FROM events INDEXED BY events_by_profile
        LEFT JOIN objects ON objects.id = events.object_id
        WHERE events.profile = ? AND events.id > ? ORDER BY events.id LIMIT ?
        """
    package static let photoBeside = """
        SELECT photos.state, photos.object_generation = photos.generation, \(ObjectRecord.columns)
        FROM photos AS events_file
        CROSS JOIN photos ON photos.directory_id = events_file.directory_id AND photos.name = ?
        LEFT JOIN objects ON objects.id = photos.object_id
        WHERE events_file.id = ?
        """
    package static let eventTallies = "SELECT photo_state, retention, events FROM event_tallies WHERE events > 0"
    package static let unreadableEventFiles = """
        SELECT id FROM photos INDEXED BY photos_left_out
        WHERE folder_id = ? AND state = 'skipped' AND left_out IS NOT NULL AND left_out = 'unreadable'
        """
    package static let allMalformedEventFiles = """
        SELECT photos.id, photos.folder_id, event_notes.malformed
        FROM event_notes INDEXED BY event_notes_malformed CROSS JOIN photos ON photos.id = event_notes.photo_id
        WHERE event_notes.malformed > 0 AND photos.state IN ('uploaded', 'skipped', 'failed')
        """
}
