package import FoundationEssentials
import GRDB
package import SyncCore

/// One picture or film in the stream of all that is or was here.
package struct TimelineItem: Sendable {
    package enum Source: Sendable {
        case photo(PhotoStatus)
        case event(EventPicture)
    }

    package let source: Source
    /// Milliseconds since 1970 on the clock of the place; where nothing tells when it was taken, that of the file in UTC.
    package let at: Int64
    package let cursor: TimelineCursor

    /// The day under which it stands.
    package var day: CalendarDay { CaptureTime(clock: at, offset: nil).day }

    /// What is stored of it, broken or not.
    package var object: ObjectRecord? {
        switch source {
        case .photo(let photo): photo.object ?? photo.earlier
        case .event(let picture): picture.object
        }
    }

    /// The name of its pages: only what was read once has one.
    package var md5: MD5Digest? {
        switch source {
        case .photo(let photo): photo.md5 ?? photo.earlier?.md5
        case .event(let picture): picture.object.md5
        }
    }
}

/// The photo of a gallery event, in its pool or in the archive. No text of the event is in the ledger.
package struct EventPicture: Hashable, Sendable {
    package let eventID: String
    package let type: String
    /// Its id, else as the event gives it.
    package let profile: String
    package let createdAt: Date
    package let object: ObjectRecord
    /// Its text is gone from the disk, and its photo stands in the archive of memories.
    package let isArchived: Bool
}

/// A place in the stream: what comes after it is older.
package struct TimelineCursor: Hashable, Sendable {
    let at: Int64
    /// Photos and events in one order.
    let rank: Int64

    init(at: Int64, rank: Int64) {
        self.at = at
        self.rank = rank
    }

    /// As ``text`` has it; `nil` for any other text.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, let at = Int64(parts[0]), let rank = Int64(parts[1]) else { return nil }
        self.init(at: at, rank: rank)
    }

    /// Digits, `-` and `_`: it stands in links as it is.
    package var text: String { "\(at)_\(rank)" }
}

/// Which part of the stream is wanted: what each condition that is set holds for.
package struct TimelineFilter: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case gallery, vacations, projects
        /// Photos of gallery events, archived or not.
        case events
        /// Of these, the ones in the archive of memories.
        case memories
    }

    package enum State: String, Sendable, CaseIterable {
        /// Stored, and readable at once.
        case stored
        case archived, retrieving, restored
        /// Not stored yet.
        case waiting
        /// Cannot be stored, or what was stored of it is gone or damaged.
        case failed
        /// No longer on this disk.
        case missing
    }

    package var kind: Kind?
    package var state: State?
    package var folder: FolderID?
    /// Of the local day.
    package var year: Int?
    /// 1 to 12, of the local day.
    package var month: Int?
    /// Whose event it is, as ``Ledger/timelineProfiles()`` has it.
    package var profile: String?
    package var eventType: String?
    /// Part of a file's name or folder, or of an event's id; letters of ASCII in either case.
    package var text: String?

    package init(
        kind: Kind? = nil, state: State? = nil, folder: FolderID? = nil, year: Int? = nil, month: Int? = nil,
        profile: String? = nil, eventType: String? = nil, text: String? = nil
    ) {
        self.kind = kind
        self.state = state
        self.folder = folder
        self.year = year
        self.month = month
        self.profile = profile
        self.eventType = eventType
        self.text = text
    }
}

extension Ledger {
    /// The next items of the stream, the latest day first: pictures and films of folders, and photos of events.
    ///
    /// Each call walks over all photos and keeps no more than it returns: no index has to be kept for it by whoever stores photos.
    /// - Parameter cursor: where an earlier page ended; `nil` for the beginning.
    package func timeline(
        _ filter: TimelineFilter, after cursor: TimelineCursor?, limit: Int
    ) throws(LedgerError) -> [TimelineItem] {
        try read("read the timeline") { db in
            let (sql, arguments) = LedgerQuery.timeline(filter, after: cursor, limit: limit)
            return try db.timelineItems(sql, arguments)
        }
    }

    /// All that has these bytes: photos at their places, and photos of events.
    /// Cheap, but for a look at each archived event.
    /// - Parameter key: under which such a photo is stored.
    package func timeline(of md5: MD5Digest, storedAs key: ObjectKey) throws(LedgerError) -> [TimelineItem] {
        try read("read a photo") { db in
            let items =
                try db.timelineItems(LedgerQuery.timelineOfObject, [key.rawValue, key.rawValue])
                + db.timelineItems(LedgerQuery.timelineOfMemory, [md5.blob])
                + db.timelineItems(LedgerQuery.timelineOfProject, [key.rawValue, md5.blob])
                + db.timelineItems(LedgerQuery.timelineOfWaiting, [key.rawValue, md5.blob])
            var seen: Set<Int64> = []
            return items.filter { seen.insert($0.cursor.rank).inserted }.sorted {
                ($0.cursor.at, $0.cursor.rank) > ($1.cursor.at, $1.cursor.rank)
            }
        }
    }

    /// The years that the stream has, the latest first.
    package func timelineYears() throws(LedgerError) -> [Int] {
        try read("read the years of the timeline") { db in
            try db.numbers(LedgerQuery.timelineYears).map(Int.init)
        }
    }

    /// Whose photos of events the stream has: ids of profiles, else what the events give.
    package func timelineProfiles() throws(LedgerError) -> [String] {
        try read("read the profiles of the timeline") { try $0.texts(LedgerQuery.timelineProfiles) }
    }

    /// Of which types the stream has photos of events.
    package func timelineTypes() throws(LedgerError) -> [String] {
        try read("read the types of the timeline") { try $0.texts(LedgerQuery.timelineTypes) }
    }
}

extension Database {
    fileprivate func timelineItems(_ sql: String, _ arguments: StatementArguments) throws -> [TimelineItem] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments).compactMap { row in
            let cursor = TimelineCursor(at: row[0], rank: row[1])
            return try timelineSource(rank: cursor.rank).map {
                TimelineItem(source: $0, at: cursor.at, cursor: cursor)
            }
        }
    }

    /// `nil` for what is no longer there.
    private func timelineSource(rank: Int64) throws -> TimelineItem.Source? {
        let id = rank >> 2
        switch rank & 3 {
        case 0: return try row(LedgerQuery.photo, [id], as: PhotoStatus.self).map { .photo($0) }
        case 1: return try row(LedgerQuery.eventPicture, [id], as: EventPicture.self).map { .event($0) }
        default: return try row(LedgerQuery.archivedPicture, [id], as: EventPicture.self).map { .event($0) }
        }
    }
}

extension EventPicture: FetchableRecord {
    init(row: Row) throws {
        self.init(
            eventID: EventIdentity.givenID(row[0]), type: row[1], profile: row[4],
            createdAt: Date(milliseconds: row[2]),
            object: try ObjectRecord(row: row, from: 5), isArchived: row[3])
    }
}

extension LedgerQuery {
    static let eventPicture = """
        SELECT events.given_id, events.type, events.created_at, 0, COALESCE(events.profile_uuid, events.profile),
            \(ObjectRecord.columns)
        FROM events JOIN objects ON objects.id = events.object_id WHERE events.id = ?
        """
    static let archivedPicture = """
        SELECT records.event_id, records.type, records.created_at, 1, records.profile, \(ObjectRecord.columns)
        FROM retention_records AS records JOIN objects ON objects.key = records.key WHERE records.rowid = ?
        """

    // What is shown: pictures and films. Of what is not stored yet the names tell no more than that it is no text.
    private static let photoMoments = """
        SELECT COALESCE(objects.taken_at, photos.modified / 1000000) AS at, photos.id << 2 AS rank, photos.state AS state,
            folders.kind AS kind, photos.folder_id AS folder, objects.storage_class AS class,
            objects.restore_state AS restore, objects.problem AS problem,
            CAST(directories.path AS TEXT) || '/' || CAST(photos.name AS TEXT) AS name,
            NULL AS profile, NULL AS type
        FROM photos
        JOIN directories ON directories.id = photos.directory_id
        JOIN folders ON folders.id = photos.folder_id
        LEFT JOIN objects ON objects.id = photos.object_id
        WHERE photos.state <> 'skipped'
            -- A file of events stands for its first picture, and shows none: events are told below.
            AND NOT EXISTS (SELECT 1 FROM event_notes WHERE event_notes.photo_id = photos.id)
            AND CASE WHEN objects.id IS NULL
                THEN CAST(photos.name AS TEXT) NOT LIKE '%.json' AND CAST(photos.name AS TEXT) NOT LIKE '%.xmp'
                    AND CAST(photos.name AS TEXT) NOT LIKE '%.aae'
                ELSE objects.content_type LIKE 'image/%' OR objects.content_type LIKE 'video/%' END
        """
    private static let eventMoments = """
        SELECT COALESCE(objects.taken_at, events.created_at) AS at, events.id << 2 | 1 AS rank, 'uploaded' AS state,
            'events' AS kind, NULL AS folder, objects.storage_class AS class, objects.restore_state AS restore,
            objects.problem AS problem, events.given_id AS name,
            COALESCE(events.profile_uuid, events.profile) AS profile, events.type AS type
        FROM events JOIN objects ON objects.id = events.object_id WHERE events.retention = 'kept'
        """
    private static let memoryMoments = """
        SELECT COALESCE(objects.taken_at, records.created_at) AS at, records.rowid << 2 | 2 AS rank, 'uploaded' AS state,
            'memories' AS kind, NULL AS folder, objects.storage_class AS class, objects.restore_state AS restore,
            objects.problem AS problem, records.event_id AS name, records.profile AS profile, records.type AS type
        FROM retention_records AS records JOIN objects ON objects.key = records.key
        WHERE \(isNotBack)
        """
    /// The photo of an event may lie beside the event's file, too: then it is told as that file, unless events are asked for.
    private static let isNoFile = """
        NOT EXISTS (SELECT 1 FROM photos WHERE photos.object_id = objects.id AND photos.state <> 'skipped'
            AND NOT EXISTS (SELECT 1 FROM event_notes WHERE event_notes.photo_id = photos.id))
        """
    /// The file of an event that was archived may come back: then it is told as any other.
    private static let isNotBack = """
        NOT EXISTS (SELECT 1 FROM events WHERE events.event_id = records.event_id AND events.retention = 'kept')
        -- Of a record that a rebuild has made, the event got another name.
        AND NOT EXISTS (SELECT 1 FROM events WHERE events.given_id = records.event_id AND events.retention = 'kept'
            AND events.created_at / 1000 = records.created_at / 1000
            AND records.profile IN (events.profile, events.profile_uuid))
        """
    private static let yearOfMoment = "CAST(strftime('%Y', at / 1000, 'unixepoch') AS INTEGER)"
    private static let monthOfMoment = "CAST(strftime('%m', at / 1000, 'unixepoch') AS INTEGER)"
    /// The same of an archived one, whose object is another one. It is a walk of its own, made once and only when there are such.
    private static let isNoFilesCopy = """
        COALESCE(objects.md5, x'') NOT IN (SELECT shown.md5 FROM photos JOIN objects AS shown ON shown.id = photos.object_id
            WHERE photos.state <> 'skipped' AND shown.md5 IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM event_notes WHERE event_notes.photo_id = photos.id))
        """
    private static let moments = """
        \(photoMoments) UNION ALL \(eventMoments) AND \(isNoFile) UNION ALL \(memoryMoments) AND \(isNoFilesCopy)
        """
    private static let momentsOfEvents = "\(eventMoments) UNION ALL \(memoryMoments)"

    /// The statement, and what is bound in it.
    static func timeline(
        _ filter: TimelineFilter, after cursor: TimelineCursor?, limit: Int
    ) -> (sql: String, arguments: StatementArguments) {
        var conditions: [String] = []
        var arguments: StatementArguments = []
        func require(_ condition: String, _ values: StatementArguments = []) {
            conditions.append("(\(condition))")
            arguments += values
        }
        require("at < ? OR (at = ? AND rank < ?)", [cursor?.at ?? .max, cursor?.at ?? .max, cursor?.rank ?? .max])
        var source = moments
        switch filter.kind {
        case .events: source = momentsOfEvents
        case .memories: source = memoryMoments
        case let kind?: require("kind = ?", [kind.rawValue])
        case nil: if filter.profile != nil || filter.eventType != nil { source = momentsOfEvents }
        }
        if let profile = filter.profile { require("profile = ?", [profile]) }
        if let type = filter.eventType { require("type = ?", [type]) }
        if let month = filter.month { require("\(monthOfMoment) = ?", [month]) }
        if let folder = filter.folder { require("folder = ?", [folder.rawValue]) }
        if let year = filter.year { require("\(yearOfMoment) = ?", [year]) }
        if let text = filter.text {
            let literal = text.map { "%_\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()
            require("name LIKE ? ESCAPE '\\'", ["%\(literal)%"])
        }
        if let state = filter.state { require(condition(of: state)) }
        return (
            """
            SELECT at, rank FROM (\(source)) WHERE \(conditions.joined(separator: " AND "))
            ORDER BY at DESC, rank DESC LIMIT ?
            """, arguments + [limit]
        )
    }

    static let timelineOfObject = """
        SELECT COALESCE(objects.taken_at, photos.modified / 1000000) AS at, photos.id << 2 AS rank
        FROM objects CROSS JOIN photos ON photos.object_id = objects.id WHERE objects.key = ?
        AND NOT EXISTS (SELECT 1 FROM event_notes WHERE event_notes.photo_id = photos.id)
        UNION ALL
        SELECT COALESCE(objects.taken_at, events.created_at), events.id << 2 | 1
        FROM objects CROSS JOIN events ON events.object_id = objects.id
        WHERE objects.key = ? AND events.retention = 'kept'
        LIMIT 100
        """
    /// The archive has keys of its own. It walks over all that was archived of events: nothing else has a use for an index.
    static let timelineOfMemory = """
        SELECT COALESCE(objects.taken_at, records.created_at) AS at, records.rowid << 2 | 2 AS rank
        FROM retention_records AS records CROSS JOIN objects ON objects.key = records.key
        WHERE objects.md5 = ? AND \(isNotBack) LIMIT 100
        """
    /// Images of projects have keys of their own, too. It walks over the folders of projects.
    static let timelineOfProject = """
        SELECT COALESCE(objects.taken_at, photos.modified / 1000000) AS at, photos.id << 2 AS rank
        FROM folders CROSS JOIN directories ON directories.folder_id = folders.id
        CROSS JOIN photos ON photos.directory_id = directories.id
        CROSS JOIN objects ON objects.id = photos.object_id
        WHERE folders.kind = 'projects' AND photos.state <> 'skipped' AND objects.key <> ? AND objects.md5 = ? LIMIT 100
        """
    /// What is stored under another key, or not yet.
    static let timelineOfWaiting = """
        SELECT COALESCE(objects.taken_at, photos.modified / 1000000) AS at, photos.id << 2 AS rank
        FROM photos INDEXED BY photos_unsynced LEFT JOIN objects ON objects.id = photos.object_id
        WHERE (photos.state = 'pending' OR photos.state = 'uploading' OR photos.state = 'failed')
        AND objects.key IS NOT ? AND photos.md5 = ?
        AND NOT EXISTS (SELECT 1 FROM event_notes WHERE event_notes.photo_id = photos.id)
        LIMIT 100
        """
    static let ofTimeline = [timelineOfObject]

    static let timelineYears = """
        SELECT DISTINCT \(yearOfMoment) AS year FROM (\(moments))
        WHERE at IS NOT NULL ORDER BY year DESC
        """

    static let timelineProfiles = "SELECT DISTINCT profile FROM (\(momentsOfEvents)) ORDER BY profile"
    static let timelineTypes = "SELECT DISTINCT type FROM (\(momentsOfEvents)) ORDER BY type"

    private static func condition(of state: TimelineFilter.State) -> String {
        let whole = "problem IS NULL AND state IN ('uploaded', 'missing')"
        let archive = "class IN ('GLACIER', 'DEEP_ARCHIVE')"
        return switch state {
        case .stored: "\(whole) AND NOT \(archive)"
        case .archived: "\(whole) AND \(archive) AND restore = 'none'"
        case .retrieving: "\(whole) AND restore = 'inProgress'"
        case .restored: "\(whole) AND restore = 'restored'"
        case .waiting: "state IN ('pending', 'uploading')"
        case .failed: "(state IN ('failed', 'lost') OR problem IS NOT NULL)"
        case .missing: "state IN ('missing', 'lost')"
        }
    }
}
