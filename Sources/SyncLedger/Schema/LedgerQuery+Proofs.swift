extension LedgerQuery {
    package static let brokenObject = "SELECT id FROM objects WHERE key = ? AND problem IS NOT NULL"
    package static let brokenObjectOfPhoto = """
        SELECT objects.id FROM photos JOIN objects ON objects.id = photos.object_id
        WHERE photos.id = ? AND objects.problem IS NOT NULL
        """
    package static let brokenObjects = """
        SELECT \(ObjectRecord.columns) FROM objects INDEXED BY objects_broken
        WHERE problem IS NOT NULL AND key > ? ORDER BY key LIMIT ?
        """
    package static let firstLost = """
        SELECT id FROM photos INDEXED BY photos_lost_in_folder
        WHERE folder_id = ? AND state = 'lost' ORDER BY queued_at LIMIT ?
        """
    package static let objectsOfRange = """
        SELECT \(ObjectRecord.columns) FROM objects WHERE \(KeyRange.condition) ORDER BY key LIMIT ?
        """
    /// The longest unproven first. The second and third argument are where the page begins.
    package static let longestUnproven = """
        SELECT \(ObjectRecord.columns), objects.proved_at, objects.id FROM objects INDEXED BY objects_by_proof
        WHERE proved_at < ? AND (proved_at, id) > (?, ?) ORDER BY proved_at, id LIMIT ?
        """
    package static let oldestProof = "SELECT MIN(proved_at) FROM objects"
    package static let anyPhotosOfObject = """
        SELECT \(PhotoPlace.columns) FROM objects
        JOIN photos ON photos.object_id = objects.id
        JOIN directories ON directories.id = photos.directory_id
        JOIN folders ON folders.id = photos.folder_id
        WHERE objects.key = ? ORDER BY photos.id LIMIT ?
        """

    package static let objectOfDigest = """
        SELECT \(ObjectRecord.columns) FROM objects INDEXED BY objects_by_sha256
        WHERE sha256 = ? AND \(KeyRange.condition) AND problem IS NULL ORDER BY key LIMIT 1
        """

    static let ofProofs = [
        brokenObject, brokenObjectOfPhoto, brokenObjects, firstLost, objectsOfRange, longestUnproven, oldestProof,
        anyPhotosOfObject, objectOfDigest,
    ]
}
