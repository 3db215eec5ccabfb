import GRDB
import SyncCore

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
    private static let moments =
        "\(photoMoments) UNION ALL \(eventMoments) AND \(isNoFile) UNION ALL \(memoryMoments) AND \(isNoFilesCopy)"
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
    /// It walks over all earlier versions: photos of projects have keys of their own.
    static let photosOfEarlierContent = """
        SELECT DISTINCT photo_versions.photo_id FROM photo_versions CROSS JOIN objects ON objects.id = photo_versions.object_id
        WHERE objects.md5 = ? AND objects.problem IS NULL LIMIT 100
        """

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
