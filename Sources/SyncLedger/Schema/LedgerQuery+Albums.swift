import SyncCore

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

    static let ofAlbums = [firstJobSince, restoredAlbums, albumsTaken, photosOfAlbum, datedBefore]

    private static let placesOfObject = """
        CROSS JOIN photos ON photos.object_id = objects.id AND photos.state IN ('uploaded', 'missing')
        CROSS JOIN directories ON directories.id = photos.directory_id
        CROSS JOIN folders ON folders.id = photos.folder_id
        """
}
