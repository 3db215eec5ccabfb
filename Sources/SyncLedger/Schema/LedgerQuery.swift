import SyncCore

/// The queries whose cost must not grow with the number of photos, in one place so that a test can ask SQLite how it
/// would run each of them. States are literals: a partial index serves only a query that repeats its condition.
package enum LedgerQuery {
    // Intake
    package static let directory = "SELECT id FROM directories WHERE folder_id = ? AND path = ?"
    package static let directoriesInRange =
        "SELECT id, path FROM directories WHERE folder_id = ? AND path > ? AND path < ? ORDER BY path"
    package static let digestsInRange = """
        SELECT path, id, digest, digest_files FROM directories
        WHERE folder_id = ? AND path >= ? AND path < ? AND digest IS NOT NULL
        """
    package static let rowsOfDirectory = "SELECT \(PhotoRow.columns) FROM photos WHERE directory_id = ?"
    package static let rowOfFile = "SELECT \(PhotoRow.columns) FROM photos WHERE directory_id = ? AND name = ?"
    package static let rowsOfStamp =
        "SELECT \(PhotoRow.columns) FROM photos WHERE inode = ? AND device = ? AND size = ? AND modified = ?"
    package static let placeOfRow = """
        SELECT \(PhotoPlace.columns), folders.filter AS folder_filter FROM photos
        \(PhotoPlace.joins)
        WHERE photos.id = ?
        """

    package static let placeOfDirectory = """
        SELECT \(DirectoryPlace.columns), folders.filter AS folder_filter FROM directories
        JOIN folders ON folders.id = directories.folder_id
        WHERE directories.id = ?
        """

    // Queue
    package static let take = """
        UPDATE photos SET state = 'uploading', attempts = attempts + 1 WHERE id = ?
        RETURNING \(PhotoRow.columns), photos.attempts
        """
    package static let fresh = """
        SELECT id, queued_at, size FROM photos INDEXED BY photos_queue
        WHERE folder_id = ? AND state = 'pending' AND next_try_at = 0 AND size <= ? ORDER BY queued_at, id LIMIT ?
        """
    package static let due = """
        SELECT id, next_try_at, size FROM photos
        WHERE folder_id = ? AND state = 'pending' AND next_try_at > 0 AND next_try_at <= ? AND size <= ?
        ORDER BY next_try_at LIMIT ?
        """
    /// To be tried later than any photo ever is.
    package static let astray = """
        SELECT id, next_try_at, size FROM photos
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
    package static let objectTallies =
        "SELECT storage_class, objects, bytes FROM object_tallies WHERE objects > 0 ORDER BY storage_class"
    package static let oldestPending = oldest(in: "pending")
    package static let oldestUploading = oldest(in: "uploading")
    package static let oldestFailed = oldest(in: "failed")
    package static let firstFailed =
        "SELECT id FROM photos WHERE folder_id = ? AND state = 'failed' ORDER BY queued_at LIMIT ?"
    package static let leftOutCount = """
        SELECT COUNT(*) FROM photos INDEXED BY photos_left_out
        WHERE folder_id = ? AND state = 'skipped' AND left_out IS NOT NULL
        """
    package static let filteredCount = """
        SELECT COUNT(*) FROM photos INDEXED BY photos_filtered
        WHERE folder_id = ? AND state = 'skipped' AND is_filtered = 1
        """
    package static let leftOut = """
        \(PhotoStatus.selection) WHERE photos.id IN (
            SELECT id FROM photos INDEXED BY photos_left_out
            WHERE folder_id = ? AND state = 'skipped' AND left_out IS NOT NULL ORDER BY queued_at LIMIT ?
        )
        """
    /// Photo, folder, and how many elements are no events.
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
    package static let photosOfDirectory =
        "\(PhotoStatus.selection) WHERE photos.directory_id = ? AND photos.name > ? ORDER BY photos.name LIMIT ?"
    /// Files of a folder whose names are in a range.
    package static let photosOfStem = """
        \(PhotoStatus.selection) WHERE photos.directory_id = ? AND photos.name >= ? AND photos.name < ?
        ORDER BY photos.name
        """
    package static let photoOfFile = "\(PhotoStatus.selection) WHERE photos.directory_id = ? AND photos.name = ?"
    package static let photo = "\(PhotoStatus.selection) WHERE photos.id = ?"
    package static let nextDirectory =
        "SELECT id, path FROM directories WHERE folder_id = ? AND path > ? AND path < ? ORDER BY path LIMIT 1"

    // Objects
    package static let objectAges = """
        SELECT family, storage_class, day, objects, bytes FROM object_ages WHERE objects > 0
        ORDER BY family, storage_class
        """
    /// The first argument is the last day from which objects are due.
    package static let archiveBacklog = """
        SELECT SUM(CASE WHEN is_small = 0 AND day <= ? THEN objects END), SUM(CASE WHEN is_small THEN objects END)
        FROM object_ages WHERE family = ? AND storage_class = ?
        """
    /// The same without the counts: a walk over all objects.
    static let uncountedArchiveBacklog = """
        SELECT COUNT(CASE WHEN since_day <= ?1 AND size >= ?2 THEN 1 END), COUNT(CASE WHEN size < ?2 THEN 1 END)
        FROM objects WHERE family = ?3 AND storage_class = ?4
        """
    /// Of those that are counted as too small, the ones that are known to be gone or damaged.
    static let smallBroken = """
        SELECT COUNT(*) FROM objects INDEXED BY objects_broken
        WHERE problem IS NOT NULL AND size < ? AND family = ? AND storage_class = ?
        """
    package static let reportedObject = "SELECT \(ReportedObject.columns) FROM objects WHERE key = ?"
    package static let photosOfObject =
        "\(placesOfKey) AND photos.state IN ('uploaded', 'missing') ORDER BY photos.id LIMIT ?"
    package static let anyPhotosOfObject = "\(placesOfKey) ORDER BY photos.id LIMIT ?"
    private static let placesOfKey = """
        SELECT \(PhotoPlace.columns) FROM objects
        JOIN photos ON photos.object_id = objects.id
        \(PhotoPlace.joins)
        WHERE objects.key = ?
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

    private static func oldest(in state: String) -> String {
        "SELECT id, queued_at FROM photos WHERE folder_id = ? AND state = '\(state)' ORDER BY queued_at LIMIT 1"
    }
}

extension LedgerQuery {
    // Albums
    package static let firstJobSince = "SELECT MIN(id) FROM restore_jobs WHERE requested_at >= ?"
    /// Of the jobs from one on, the last items first.
    package static let restoredAlbums = """
        SELECT objects.id, photos.directory_id, directories.path, folders.path
        FROM restore_items AS items INDEXED BY restore_items_by_job
        CROSS JOIN objects ON objects.key = items.key
        \(placesOfObject)
        WHERE items.job_id >= ? AND items.state IN ('retrieving', 'restored', 'expired')
        ORDER BY items.job_id DESC, items.id DESC LIMIT ?
        """
    package static let albumsTaken = """
        SELECT objects.id, photos.directory_id, directories.path, folders.path
        FROM objects INDEXED BY objects_archived_by_taken
        \(placesOfObject)
        WHERE objects.storage_class IN ('GLACIER', 'DEEP_ARCHIVE') AND objects.taken_at IS NOT NULL
        AND objects.taken_at >= ? AND objects.taken_at < ? AND objects.restore_state = 'none'
        ORDER BY objects.taken_at LIMIT ?
        """
    package static let photosOfAlbum = """
        SELECT objects.id, objects.storage_class, objects.size, objects.restore_state
        FROM photos JOIN objects ON objects.id = photos.object_id
        WHERE photos.directory_id = ? AND photos.state IN ('uploaded', 'missing') LIMIT ?
        """

    /// Of the photos on the disk, those whose capture time was read before offsets were kept.
    package static let datedBefore = """
        SELECT \(PhotoPlace.columns), objects.id, \(FileStamp.columns(of: "photos"))
        FROM objects INDEXED BY objects_taken_before
        CROSS JOIN photos ON photos.object_id = objects.id AND photos.state = 'uploaded'
        CROSS JOIN directories ON directories.id = photos.directory_id
        CROSS JOIN folders ON folders.id = photos.folder_id
        WHERE objects.taken_rules = 0 AND objects.id > ?
        AND (objects.content_type GLOB 'image/*' OR objects.content_type GLOB 'video/*')
        ORDER BY objects.id LIMIT ?
        """

    private static let placesOfObject = """
        CROSS JOIN photos ON photos.object_id = objects.id AND photos.state IN ('uploaded', 'missing')
        CROSS JOIN directories ON directories.id = photos.directory_id
        CROSS JOIN folders ON folders.id = photos.folder_id
        """

    package static let projectsOfFolder = "SELECT \(KnownProject.columns) FROM projects WHERE folder = ? ORDER BY id"
    package static let project = "SELECT \(KnownProject.columns) FROM projects WHERE folder = ? AND id = ?"
    /// Projects that are to be given up and were not told yet.
    package static let projectsToGiveUp = """
        SELECT \(KnownProject.columns) FROM projects
        WHERE folder = ? AND status = 'Processing' AND created_at < ? AND given_up_at IS NULL
        """
    package static let versionsOfProject = """
        SELECT \(ObjectRecord.columns) FROM project_versions
        JOIN objects ON objects.key = project_versions.key
        WHERE project_versions.project_id = ? ORDER BY project_versions.key DESC
        """

    package static let versionsInUse = """
        SELECT \(ObjectRecord.columns) FROM project_versions
        JOIN objects ON objects.key = project_versions.key
        WHERE project_versions.project_id = ? AND EXISTS (SELECT 1 FROM photos WHERE photos.object_id = objects.id)
        """
    /// The last two arguments are `{id}.` and `{id}/`: names that begin with the id and a dot.
    package static let statesOfProjectImages = """
        SELECT CAST(name AS TEXT), state FROM photos
        WHERE directory_id = ? AND name >= ? AND name < ? AND state NOT IN ('missing', 'lost')
        """
    package static let firstUnsynced =
        "SELECT 1 FROM photos WHERE folder_id = ? AND state = 'pending' AND error IS NOT ? LIMIT 1"

    package static let unfinishedImages =
        "SELECT COUNT(*) FROM photos WHERE folder_id = ? AND state = 'pending' AND error = ?"

    package static let brokenObject = "SELECT id FROM objects WHERE key = ? AND problem IS NOT NULL"
    package static let brokenObjectOfPhoto = """
        SELECT objects.id FROM photos JOIN objects ON objects.id = photos.object_id
        WHERE photos.id = ? AND objects.problem IS NOT NULL
        """
    package static let firstLost = """
        SELECT id FROM photos INDEXED BY photos_lost_in_folder
        WHERE folder_id = ? AND state = 'lost' ORDER BY queued_at LIMIT ?
        """
    /// All but the SHA-256 is in the index: SQLite goes to a row for that alone, where it is asked for.
    package static let listedObjects = """
        SELECT \(ListedColumns.names) FROM objects INDEXED BY objects_listed
        WHERE \(KeyRange.condition) ORDER BY key
        """
    /// The longest unproven first. The second and third argument are where the page begins.
    package static let longestUnproven = """
        SELECT \(ObjectRecord.columns), objects.proved_at, objects.id FROM objects INDEXED BY objects_by_proof
        WHERE proved_at < ? AND (proved_at, id) > (?, ?) ORDER BY proved_at, id LIMIT ?
        """
    package static let oldestProof = "SELECT MIN(proved_at) FROM objects"

    package static let objectOfDigest = """
        SELECT \(ObjectRecord.columns) FROM objects INDEXED BY objects_by_sha256
        WHERE sha256 = ? AND \(KeyRange.condition) AND problem IS NULL ORDER BY key LIMIT 1
        """

    // Restores
    package static let job = "SELECT \(RestoreJob.columns) FROM restore_jobs WHERE id = ?"
    package static let newestJobs =
        "SELECT \(RestoreJob.columns) FROM restore_jobs WHERE id < ? ORDER BY id DESC LIMIT ?"
    /// Its cost is that of the job's items.
    package static let progressOfJob = """
        SELECT SUM(state = 'planned'), SUM(state = 'retrieving'), SUM(state = 'restored'), SUM(state = 'failed'),
            SUM(state = 'expired'), COUNT(saved_at), SUM(size),
            MIN(CASE WHEN state = 'restored' THEN expires_at END), MAX(ready_at),
            SUM(state = 'restored' AND storage_class IN ('GLACIER', 'DEEP_ARCHIVE'))
        FROM restore_items WHERE job_id = ?
        """
    package static let itemsOfJob = "\(items) WHERE items.job_id = ? AND items.id > ? ORDER BY items.id LIMIT ?"
    package static let openItemOfKey = "\(items) WHERE items.key = ? AND items.state IN ('planned', 'retrieving')"
    package static let retrievingItemsOfJob =
        "\(items) WHERE items.job_id = ? AND items.state = 'retrieving' ORDER BY items.id"
    /// The first two arguments are a range of jobs, the others a moment before which a claim has lapsed, and now: a claim
    /// from the future is one from before the clock was set back.
    package static let claimableItems = """
        \(RestoreItem.selection) FROM restore_items AS items INDEXED BY restore_items_planned
        JOIN restore_jobs AS jobs ON jobs.id = items.job_id
        WHERE items.state = 'planned' AND items.job_id >= ? AND items.job_id <= ?
        AND (items.claimed_at IS NULL OR items.claimed_at <= ? OR items.claimed_at > ?)
        ORDER BY items.job_id, items.id LIMIT ?
        """
    package static let restoreClaimOwners =
        "SELECT DISTINCT claimed_by FROM restore_items INDEXED BY restore_items_claimed WHERE claimed_by IS NOT NULL"
    package static let restoreTallies = "SELECT state, items FROM restore_tallies WHERE items > 0"
    /// A job's items have their ids one after the other, so that the order is that of the ids.
    package static let unsavedItems = """
        \(RestoreItem.selection) FROM restore_jobs AS jobs
        CROSS JOIN restore_items AS items INDEXED BY restore_items_unsaved ON items.job_id = jobs.id
        WHERE jobs.output IS NOT NULL AND items.state = 'restored' AND items.saved_at IS NULL AND items.id > ?
        ORDER BY jobs.id, items.id LIMIT ?
        """
    /// Of `jobs`.
    static let savesMore = """
        jobs.output IS NOT NULL AND EXISTS (
            SELECT 1 FROM restore_items AS items INDEXED BY restore_items_by_job WHERE items.job_id = jobs.id
            AND (items.state IN ('planned', 'retrieving') OR items.state = 'restored' AND items.saved_at IS NULL))
        """
    package static let endedItem = "SELECT id FROM restore_items WHERE state = 'restored' AND expires_at <= ? LIMIT 1"
    package static let endedObject =
        "SELECT id FROM objects WHERE restore_state = 'restored' AND restored_until <= ? LIMIT 1"

    private static let items =
        "\(RestoreItem.selection) FROM restore_items AS items JOIN restore_jobs AS jobs ON jobs.id = items.job_id"

    // Vacations
    package static let vacationsOfFolder = "\(vacations) WHERE vacations.folder_id = ? ORDER BY vacations.name"
    package static let vacation = "\(vacations) WHERE vacations.id = ?"
    package static let vacationsOfKey = "\(vacations) WHERE vacations.cache_key = ?"
    package static let changedVacations = """
        SELECT \(VacationRecord.columns) FROM vacations INDEXED BY vacations_changed
        JOIN folders ON folders.id = vacations.folder_id
        WHERE vacations.folder_id = ? AND vacations.revision <> vacations.looked_revision AND vacations.waiting = 0
        """
    package static let photosOfVacation = """
        \(filesOfVacation) AND photos.state <> 'skipped'
        AND photos.name <> CAST('vacation.json' AS BLOB) AND NOT photos.is_sidecar
        """
    /// Also what is not to be stored.
    package static let filesOfVacation = """
        SELECT \(VacationPhotoRow.columns) FROM directories INDEXED BY directories_by_vacation
        CROSS JOIN photos ON photos.directory_id = directories.id
        LEFT JOIN objects ON objects.id = photos.object_id
        WHERE directories.vacation_id = ?
        """
    package static let manifestsWritten = """
        SELECT digest FROM stale_manifests WHERE cache_key = ?
        UNION ALL SELECT manifest FROM vacations WHERE cache_key = ? AND is_own
        """
    package static let vacationSet = "SELECT photos FROM vacation_sets WHERE vacation_id = ?"

    private static let vacations =
        "SELECT \(VacationRecord.columns) FROM vacations JOIN folders ON folders.id = vacations.folder_id"
}
