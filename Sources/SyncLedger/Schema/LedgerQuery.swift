/// The queries whose cost must not grow with the number of photos, in one place so that a test can ask SQLite how it
/// would run each of them. States are literals: a partial index serves only a query that repeats its condition.
package enum LedgerQuery {
    // Intake
    package static let directory = "SELECT id FROM directories WHERE folder_id = ? AND path = ?"
    package static let directoriesInRange =
        "SELECT id, path FROM directories WHERE folder_id = ? AND path > ? AND path < ? ORDER BY path"
    package static let rowsOfDirectory = "SELECT \(PhotoRow.columns) FROM photos WHERE directory_id = ?"
    package static let rowOfFile = "SELECT \(PhotoRow.columns) FROM photos WHERE directory_id = ? AND name = ?"
    package static let rowsOfStamp = """
        SELECT \(PhotoRow.columns) FROM photos WHERE inode = ? AND device = ? AND size = ? AND modified = ?
        """
    package static let placeOfRow = """
        SELECT \(PhotoPlace.columns) FROM photos
        JOIN directories ON directories.id = photos.directory_id
        JOIN folders ON folders.id = photos.folder_id
        WHERE photos.id = ?
        """

    // Queue
    package static let fresh = """
        SELECT id, queued_at FROM photos
        WHERE folder_id = ? AND state = 'pending' AND next_try_at = 0 AND size <= ? ORDER BY queued_at, id LIMIT ?
        """
    package static let due = """
        SELECT id, next_try_at FROM photos
        WHERE folder_id = ? AND state = 'pending' AND next_try_at > 0 AND next_try_at <= ? AND size <= ?
        ORDER BY next_try_at LIMIT ?
        """
    /// To be tried later than any photo ever is.
    package static let astray = """
        SELECT id, next_try_at FROM photos
        WHERE folder_id = ? AND state = 'pending' AND next_try_at > ? AND size <= ? ORDER BY next_try_at LIMIT ?
        """
    package static let nextTry = """
        SELECT next_try_at FROM photos
        WHERE folder_id = ? AND state = 'pending' AND size <= ? ORDER BY next_try_at LIMIT 1
        """
    package static let inHand = "SELECT \(PhotoRow.columns) FROM photos WHERE folder_id = ? AND state = 'uploading'"
    package static let rowOfPhoto = "SELECT \(PhotoRow.columns) FROM photos WHERE id = ?"

    // Status
    package static let photoTallies = "SELECT state, files, bytes FROM photo_tallies WHERE folder_id = ?"
    package static let objectTallies = """
        SELECT storage_class, objects, bytes FROM object_tallies WHERE objects > 0 ORDER BY storage_class
        """
    package static let oldestPending = oldest(in: "pending")
    package static let oldestUploading = oldest(in: "uploading")
    package static let oldestFailed = oldest(in: "failed")
    package static let firstFailed = """
        SELECT id FROM photos WHERE folder_id = ? AND state = 'failed' ORDER BY queued_at LIMIT ?
        """
    package static let leftOutCount = """
        SELECT COUNT(*) FROM photos INDEXED BY photos_left_out
        WHERE folder_id = ? AND state = 'skipped' AND left_out IS NOT NULL
        """
    package static let leftOut = """
        \(PhotoStatus.selection) WHERE photos.id IN (
            SELECT id FROM photos INDEXED BY photos_left_out
            WHERE folder_id = ? AND state = 'skipped' AND left_out IS NOT NULL ORDER BY queued_at LIMIT ?
        )
        """
    package static let malformedEventFiles = """
        SELECT photos.id, photos.folder_id, event_notes.malformed
        FROM event_notes INDEXED BY event_notes_malformed CROSS JOIN photos ON photos.id = event_notes.photo_id
        WHERE event_notes.malformed > 0 AND photos.state IN ('uploaded', 'skipped')
        """
    package static let firstDelayed = """
        SELECT id FROM photos
        WHERE folder_id = ? AND state = 'pending' AND error IS NOT NULL AND attempts > 0 ORDER BY queued_at LIMIT ?
        """
    package static let object = "SELECT \(ObjectRecord.columns) FROM objects WHERE key = ?"
    package static let photosOfDirectory = """
        \(PhotoStatus.selection) WHERE photos.directory_id = ? AND photos.name > ? ORDER BY photos.name LIMIT ?
        """
    package static let photoOfFile = "\(PhotoStatus.selection) WHERE photos.directory_id = ? AND photos.name = ?"
    package static let photo = "\(PhotoStatus.selection) WHERE photos.id = ?"
    package static let nextDirectory = """
        SELECT id, path FROM directories WHERE folder_id = ? AND path > ? AND path < ? ORDER BY path LIMIT 1
        """

    // Objects
    package static let objectAges = """
        SELECT family, storage_class, day, objects, bytes FROM object_ages WHERE objects > 0
        ORDER BY family, storage_class
        """
    /// The first argument is the last day from which objects are due.
    package static let archiveBacklog = """
        SELECT SUM(CASE WHEN is_small = 0 AND day <= ? THEN objects END), SUM(CASE WHEN is_small THEN objects END)
        FROM object_ages WHERE family = ? AND storage_class = 'STANDARD'
        """
    package static let reportedObject = "SELECT \(ReportedObject.columns) FROM objects WHERE key = ?"
    package static let photosOfObject = """
        SELECT \(PhotoPlace.columns) FROM objects
        JOIN photos ON photos.object_id = objects.id
        JOIN directories ON directories.id = photos.directory_id
        JOIN folders ON folders.id = photos.folder_id
        WHERE objects.key = ? AND photos.state IN ('uploaded', 'missing') ORDER BY photos.id LIMIT ?
        """
    /// - Parameter classes: how many there are to choose from.
    package static func archiveCandidates(classes: Int) -> String {
        let names = [String](repeating: "?", count: classes).joined(separator: ", ")
        return """
            SELECT \(ObjectRecord.columns) FROM objects INDEXED BY objects_unarchived
            WHERE storage_class NOT IN ('GLACIER', 'DEEP_ARCHIVE') AND \(KeyRange.condition)
            AND stored_at < ? AND size > ? AND storage_class IN (\(names)) ORDER BY key LIMIT ?
            """
    }

    /// Every query of which a test asks whether it stays cheap.
    package static let all =
        [
            directory, directoriesInRange, rowsOfDirectory, rowOfFile, rowsOfStamp, placeOfRow, fresh, due,
            astray, nextTry, inHand, rowOfPhoto, photoTallies, objectTallies, oldestPending, oldestUploading,
            oldestFailed, firstFailed, firstDelayed, leftOutCount, leftOut, malformedEventFiles, object,
            photosOfDirectory, photoOfFile, photo, nextDirectory, objectAges,
            archiveBacklog, reportedObject, photosOfObject, archiveCandidates(classes: 2),
        ] + ofRestores + ofAlbums + ofShares + ofVacations + ofGallery + ofProjects + ofProofs + ofVersions

    private static func oldest(in state: String) -> String {
        "SELECT id, queued_at FROM photos WHERE folder_id = ? AND state = '\(state)' ORDER BY queued_at LIMIT 1"
    }
}
