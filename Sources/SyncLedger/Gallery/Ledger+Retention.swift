package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// An event whose time has come.
package struct DueEvent: Hashable, Sendable {
    package let event: EventRecord
    /// All files in which it was seen and that are still there.
    package let places: [EventPlace]

    /// Absolute.
    package var files: [FilePath] { places.map(\.file) }
}

/// Files that may hold events, and that nobody has read as they are.
package struct UnreadEventFiles: Sendable {
    /// Such a claim serves ``Ledger/noteEvents(_:photos:isWhole:of:)`` and no commit.
    package var whole: [Claim] = []
    /// Those that were not whole when they were seen, absolute: they are left until they are.
    package var held: [FilePath] = []
}

/// A file in which an event was seen.
package struct EventPlace: Hashable, Sendable {
    package let photoID: Int64
    /// Absolute.
    package let file: FilePath
    /// Of events in it that name none.
    package let profile: String?
    /// Whether retention has seen, or seen to it, that no text of the event is in it.
    package let isClean: Bool
    /// Whether it is in a gallery of the configuration. In no other file may anything be deleted.
    package let isConfigured: Bool
    /// Bytes, when it was seen last.
    package let size: Int64
    /// Below its folder.
    let path: FilePath
    let filter: PathFilter

    /// The rule of the folder's filter that leaves out a file beside this one; `nil` for one that is stored.
    package func exclusion(ofFileBeside name: FilePath.Component) -> String? {
        filter.exclusion(of: path.removingLastComponent().appending(name))
    }
}

/// A file of events from which text has gone.
package struct CleanedEventFile: Sendable {
    let place: EventPlace
    /// Of the file, from just before its text was looked for.
    let generation: Int64?
    /// Those of which no text is in it any more.
    let events: [EventRecord]
    /// Whether nothing at all is left in it: the caller is about to remove it.
    let isEmptied: Bool

    package init(place: EventPlace, generation: Int64?, events: [EventRecord], isEmptied: Bool = false) {
        self.place = place
        self.generation = generation
        self.events = events
        self.isEmptied = isEmptied
    }
}

/// An event of which no text is left.
package struct ArchivedEvent: Sendable {
    package let event: EventRecord
    /// As it stands in keys.
    package let profile: String
    /// The archived photo as the store reports it; `nil` for an event without a photo.
    package let object: ObjectRecord?

    package init(event: EventRecord, profile: String, object: ObjectRecord?) {
        self.event = event
        self.profile = profile
        self.object = object
    }
}

extension Ledger {
    /// A page of the events that were created before a moment and are not signed off, the oldest first.
    /// - Parameter last: the last one of the page before; `nil` for the first page.
    package func dueEvents(
        createdBefore time: Date, after last: EventRecord?, limit: Int
    ) throws(LedgerError) -> [DueEvent] {
        try read("list due events") { db in
            try db.events(
                LedgerQuery.dueEvents, [time.milliseconds, last?.createdAt.milliseconds ?? .min, last?.id ?? 0, limit])
        }
    }

    /// Files of active galleries that may hold events, and that wait in the queue or are in hand: what they hold is not
    /// known yet. Nothing is claimed by this.
    package func unreadEventFiles() throws(LedgerError) -> UnreadEventFiles {
        try read("list unread files of events") { db in
            var files = UnreadEventFiles()
            for folder in try db.activeFolders() where folder.kind == .gallery {
                for query in [LedgerQuery.queuedEventFiles, LedgerQuery.eventFilesInHand] {
                    for id in try db.numbers(query, [folder.id.rawValue]) { try db.note(unread: id, &files) }
                }
            }
            return files
        }
    }

    /// How many events were created before a moment and are not signed off. It walks an index over them.
    package func dueEventCount(createdBefore time: Date) throws(LedgerError) -> Int {
        try read("count due events") { try $0.total(LedgerQuery.dueEventCount, [time.milliseconds]) }
    }

    /// Counts the changes of files that were seen; `nil` for one that is not known any more. In the same order.
    package func generations(of places: [EventPlace]) throws(LedgerError) -> [Int64?] {
        try read("look up files of events") { db in
            try places.map { try db.number(LedgerQuery.generationOfPhoto, [$0.photoID]) }
        }
    }

    /// Notes of files that no text of some events is in them any more, and that this is on the disk for good. One transaction.
    /// - Returns: `false` for a file that was seen to change since: of that one nothing is noted. In the same order.
    package func noteClean(_ files: [CleanedEventFile]) throws(LedgerError) -> [Bool] {
        try write("note that files hold no text of events") { db in
            try files.map { file in
                let current = try db.number(LedgerQuery.generationOfPhoto, [file.place.photoID])
                guard let current, current == file.generation else { return false }
                for event in file.events {
                    try db.run(
                        "UPDATE event_files SET clean = 1 WHERE event = ? AND photo_id = ?",
                        [event.id, file.place.photoID])
                }
                if file.isEmptied {
                    try db.run("INSERT OR REPLACE INTO file_removals VALUES (?, ?)", [file.place.photoID, current])
                }
                return true
            }
        }
    }

    /// Notes for good that no text of some events is left and where their photos are proven to be stored. One transaction.
    ///
    /// The caller has proved both. The events are not due any more, unless a file is found that holds their text again, or
    /// one is back that was missing.
    /// - Returns: `false` for an event of which a file is known that was not noted as clean: nothing is noted of that one. In
    ///   the same order.
    @discardableResult
    package func signOff(_ events: [ArchivedEvent], user: String, at time: Date) throws(LedgerError) -> [Bool] {
        try write("sign off events") { db in try events.map { try db.signOff($0, user: user, at: time) } }
    }

    /// Notes why events that are due could not be signed off. They stay due.
    /// - Parameter problems: reasons of ours, which quote nothing of the events.
    package func noteRetention(_ problems: [(event: EventRecord, reason: String)], at time: Date) throws(LedgerError) {
        if problems.isEmpty { return }
        try write(
            "note why events are still kept",
            "UPDATE events SET tried_at = ?, retention_problem = ? WHERE id = ? AND retention = 'kept'",
            each: problems.map { [time.milliseconds, $0.reason, $0.event.id] })
    }

    /// Has files of events read again, also where they are as they were: they do not hold what is known of them.
    package func readEventFilesAgain(_ files: [Int64], at time: Date) throws(LedgerError) {
        if files.isEmpty { return }
        try write("have files of events read again") { db in
            for file in files { try PhotoTable(db).repend(read: file, at: time) }
        }
    }

    /// Those of the objects below a prefix that no record tells of, in the order of their keys.
    /// - Parameter last: the last one of the page before; `nil` for the first page.
    package func unrecordedObjects(
        below prefix: String, after last: ObjectKey?, limit: Int
    ) throws(LedgerError) -> [ObjectRecord] {
        let range = KeyRange(prefix: prefix, after: last)
        return try read("list archived photos without a record") { db in
            try db.rows(
                """
                SELECT \(ObjectRecord.columns) FROM objects WHERE \(KeyRange.condition) AND problem IS NULL
                AND NOT EXISTS (SELECT 1 FROM retention_records WHERE retention_records.key = objects.key)
                ORDER BY key LIMIT ?
                """, [range.from, range.to, limit])
        }
    }

    /// Notes archived photos as the store tells of them: their events were signed off by a ledger that is gone, or on
    /// another machine. What is known of a photo already stays.
    package func noteArchived(_ photos: [(record: RetentionRecord, object: ObjectRecord)]) throws(LedgerError) {
        if photos.isEmpty { return }
        try write("note what the archive has") { db in
            for (record, object) in photos {
                let isKnown = try db.number("SELECT 1 FROM retention_records WHERE key = ?", [object.key.rawValue])
                guard let photo = record.photo, isKnown == nil, try !db.isBeingDeleted(object.key) else { continue }
                _ = try db.store(object)
                try db.run(
                    "INSERT INTO retention_records VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    [
                        try db.freeName(for: record.eventID), record.userID, record.profile, record.type.rawValue,
                        record.createdAt.milliseconds, record.signedOffAt.milliseconds, photo.key.rawValue,
                        photo.sha256.blob,
                    ])
            }
        }
    }

    /// What was signed off last, the latest first.
    package func retentionRecords(limit: Int) throws(LedgerError) -> [RetentionRecord] {
        try read("list what was signed off") { try $0.rows(LedgerQuery.newestRetentionRecords, [limit]) }
    }

    /// What was signed off with an archived photo; `nil` when nothing was.
    package func retentionRecord(of key: ObjectKey) throws(LedgerError) -> RetentionRecord? {
        try read("look up what was signed off") {
            try $0.row("SELECT \(RetentionRecord.columns) FROM retention_records WHERE key = ?", [key.rawValue])
        }
    }

    /// The scheduled moment up to which a daily task is done; `nil` before its first run.
    package func dailyRun(_ name: String) throws(LedgerError) -> DailyRun? {
        try read("read when a daily task ran") { db in
            try db.row("SELECT scheduled_at, finished_at FROM daily_runs WHERE name = ?", [name])
        }
    }

    /// Notes that a daily task is done for a scheduled moment and all before it.
    package func noteDailyRun(_ name: String, scheduledAt: Date, at time: Date) throws(LedgerError) {
        try write(
            "note a daily run",
            """
            INSERT INTO daily_runs VALUES (?, ?, ?) ON CONFLICT DO UPDATE
            SET scheduled_at = excluded.scheduled_at, finished_at = excluded.finished_at
            """, [name, scheduledAt.milliseconds, time.milliseconds])
    }

    /// Takes what was deleted out of the write-ahead log too; the file itself holds zeros in its place (secure_delete).
    /// Where another process reads at this moment, the log stays until the next time. All that was signed off before is on
    /// the disk when this returns: one sync for all of them.
    package func purgeDeleted() throws(LedgerError) {
        let isEmptied = try onWriter("empty the write-ahead log") { db -> Bool in
            do {
                try db.checkpoint(.truncate)
                return true
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                return false
            }
        }
        if !isEmptied { try makeDurable() }
    }

    /// As ``markGone(_:path:drive:at:)``, of files that we have removed ourselves. A folder of which they were the last
    /// ones is then empty, and no drive that is not mounted.
    package func markRemoved(_ photos: [Int64]) throws(LedgerError) {
        try write("note that files are removed") { db in
            for photo in photos {
                guard let row = try db.row(LedgerQuery.rowOfPhoto, [photo], as: PhotoRow.self) else { continue }
                _ = try db.vanish([row], of: row.directoryID, at: nil)
                try db.run("DELETE FROM file_removals WHERE photo_id = ?", [photo])
            }
        }
    }

    /// What now stands in keys in place of an id.
    package func mergedProfile(_ id: String) throws(LedgerError) -> String {
        try read("look up a profile") { try $0.mergedProfile(id) }
    }
}

extension Database {
    fileprivate func note(unread id: Int64, _ files: inout UnreadEventFiles) throws {
        guard let row = try self.row(LedgerQuery.rowOfPhoto, [id], as: PhotoRow.self), !row.isGone,
            let place = try self.row(LedgerQuery.placeOfRow, [id], as: PhotoPlace.self)
        else { return }
        if row.isHeld {
            files.held.append(place.absolute)
        } else {
            files.whole.append(
                Claim(
                    photoID: id, attemptID: 0, generation: row.generation, folder: place.folder,
                    relativePath: place.path, stamp: row.stamp, attempts: 0, isSuspect: try isSuspect(row),
                    hasObject: row.objectID != nil, mustBeCopy: row.supposition?.isOpen == true))
        }
    }

    /// Events with the files that they were seen in.
    func events(_ query: String, _ arguments: StatementArguments) throws -> [DueEvent] {
        try rows(query, arguments, as: EventRecord.self).map { DueEvent(event: $0, places: try places(of: $0)) }
    }

    func places(of event: EventRecord) throws -> [EventPlace] { try rows(LedgerQuery.filesOfEvent, [event.id]) }

    func mergedProfile(_ id: String) throws -> String {
        try texts("SELECT into_profile FROM profile_merges WHERE profile = ?", [id]).first ?? id
    }

    fileprivate func signOff(_ archived: ArchivedEvent, user: String, at time: Date) throws -> Bool {
        let (event, object) = (archived.event, archived.object)
        guard try places(of: event).allSatisfy(\.isClean) else { return false }
        if let object {
            _ = try store(object)
            // What a rebuild has taken up of it may stand under another name.
            try run("DELETE FROM retention_records WHERE key = ?", [object.key.rawValue])
        }
        try run(
            "INSERT OR REPLACE INTO retention_records VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                event.name, user, archived.profile, event.type.rawValue, event.createdAt.milliseconds,
                time.milliseconds, object?.key.rawValue, object?.sha256?.blob,
            ])
        try run(
            "UPDATE events SET retention = ?, tried_at = ?, retention_problem = NULL WHERE id = ?",
            [(object == nil ? EventRetention.deleted : .archived).rawValue, time.milliseconds, event.id])
        if let md5 = object?.md5 {
            try run(
                """
                UPDATE events SET photo_state = 'stored', photo_md5 = ?, photo_name = NULL, problem = NULL
                WHERE id = ? AND photo_state <> 'stored'
                """, [md5.blob, event.id])
        }
        return true
    }
}

extension EventPlace: FetchableRecord {
    static let columns = """
        \(PhotoPlace.columns), photos.id, event_files.clean, \
        folders.active = 1 AND folders.kind = 'gallery', photos.size, folders.filter AS folder_filter
        """

    init(row: Row) throws {
        let place = try PhotoPlace(row: row)
        self.init(
            photoID: row[10], file: place.absolute, profile: place.folder.profile, isClean: row[11],
            isConfigured: row[12], size: row[13], path: place.path, filter: place.folder.filter)
    }
}

/// The last run of a daily task.
package struct DailyRun: Hashable, Sendable, FetchableRecord {
    /// For which moment of the schedule.
    package let scheduledAt: Date
    package let finishedAt: Date

    init(row: Row) {
        scheduledAt = Date(milliseconds: row[0])
        finishedAt = Date(milliseconds: row[1])
    }
}

extension LedgerQuery {
    /// What has been seen before a moment, the oldest first. The last three arguments are where the page begins.
    package static let dueEvents = """
        SELECT \(EventRecord.columns) FROM events INDEXED BY events_due
        LEFT JOIN objects ON objects.id = events.object_id
        WHERE events.retention = 'kept' AND events.created_at < ? AND (events.created_at, events.id) > (?, ?)
        ORDER BY events.created_at, events.id LIMIT ?
        """
    package static let dueEventCount =
        "SELECT COUNT(*) FROM events INDEXED BY events_due WHERE retention = 'kept' AND created_at < ?"
    package static let generationOfPhoto = "SELECT generation FROM photos WHERE id = ?"
    package static let filesOfEvent = """
        SELECT \(EventPlace.columns) FROM event_files
        JOIN photos ON photos.id = event_files.photo_id
        \(PhotoPlace.joins)
        WHERE event_files.event = ? AND photos.state NOT IN ('missing', 'lost') AND photos.gone = 0
        ORDER BY event_files.photo_id
        """
    package static let newestRetentionRecords =
        "SELECT \(RetentionRecord.columns) FROM retention_records ORDER BY signed_off_at DESC LIMIT ?"
    /// Names as in `FileName.isJSON`; LIKE leaves the case of ASCII letters aside.
    private static let isNamedAsEvents =
        "(CAST(name AS TEXT) LIKE '%.json' OR CAST(name AS TEXT) LIKE '%.jsonl' OR CAST(name AS TEXT) LIKE '%.ndjson')"
    package static let queuedEventFiles =
        "SELECT id FROM photos WHERE folder_id = ? AND state = 'pending' AND \(isNamedAsEvents)"
    package static let eventFilesInHand =
        "SELECT id FROM photos WHERE folder_id = ? AND state = 'uploading' AND \(isNamedAsEvents)"
}
