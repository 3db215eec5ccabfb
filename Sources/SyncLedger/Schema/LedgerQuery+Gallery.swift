extension LedgerQuery {
    // Gallery events
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
    package static let firstFileOfEvent = "SELECT photo_id FROM event_files WHERE event = ? LIMIT 1"
    package static let eventsOfFile = """
        SELECT \(EventRecord.columns) FROM event_files
        CROSS JOIN events ON events.id = event_files.event
        LEFT JOIN objects ON objects.id = events.object_id
        WHERE event_files.photo_id = ? ORDER BY event_files.photo_id, event_files.event
        """
    /// What has been seen before a moment, the oldest first. The last three arguments are where the page begins.
    package static let dueEvents = """
        SELECT \(EventRecord.columns) FROM events INDEXED BY events_due
        LEFT JOIN objects ON objects.id = events.object_id
        WHERE events.retention = 'kept' AND events.created_at < ? AND (events.created_at, events.id) > (?, ?)
        ORDER BY events.created_at, events.id LIMIT ?
        """
    package static let dueEventCount =
        "SELECT COUNT(*) FROM events INDEXED BY events_due WHERE retention = 'kept' AND created_at < ?"
    package static let eventsOfProfile = """
        SELECT \(EventRecord.columns) FROM events INDEXED BY events_by_profile
        LEFT JOIN objects ON objects.id = events.object_id
        WHERE events.profile = ? AND events.id > ? ORDER BY events.id LIMIT ?
        """
    package static let generationOfPhoto = "SELECT generation FROM photos WHERE id = ?"
    package static let filesOfEvent = """
        SELECT \(EventPlace.columns) FROM event_files
        JOIN photos ON photos.id = event_files.photo_id
        \(PhotoPlace.joins)
        WHERE event_files.event = ? AND photos.state NOT IN ('missing', 'lost') AND photos.gone = 0
        ORDER BY event_files.photo_id
        """
    package static let photoBeside = """
        SELECT photos.state, \(ObjectRecord.columns) FROM photos AS events_file
        CROSS JOIN photos ON photos.directory_id = events_file.directory_id AND photos.name = ?
        LEFT JOIN objects ON objects.id = photos.object_id
        WHERE events_file.id = ?
        """
    package static let eventTallies = "SELECT photo_state, retention, events FROM event_tallies WHERE events > 0"
    package static let newestRetentionRecords =
        "SELECT \(RetentionRecord.columns) FROM retention_records ORDER BY signed_off_at DESC LIMIT ?"

    /// Names as in `FileName.isJSON`; LIKE leaves the case of ASCII letters aside.
    private static let isNamedAsEvents =
        "(CAST(name AS TEXT) LIKE '%.json' OR CAST(name AS TEXT) LIKE '%.jsonl' OR CAST(name AS TEXT) LIKE '%.ndjson')"
    package static let queuedEventFiles =
        "SELECT id FROM photos WHERE folder_id = ? AND state = 'pending' AND \(isNamedAsEvents)"
    package static let eventFilesInHand =
        "SELECT id FROM photos WHERE folder_id = ? AND state = 'uploading' AND \(isNamedAsEvents)"
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
