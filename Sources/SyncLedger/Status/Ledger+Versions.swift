package import FoundationEssentials
import GRDB
import SyncCore
import SystemPackage

/// What is stored of an earlier content of a photo's file.
package struct PhotoVersion: Hashable, Sendable {
    /// 1 for the content before the one that is stored now.
    package let number: Int
    package let object: ObjectRecord
    /// From when to when it was what is stored of the photo.
    package let storedAt: Date
    package let replacedAt: Date
}

extension Ledger {
    /// The earlier versions of a photo that are stored, the latest first. What is stored of an earlier content of a file
    /// that waits or has failed is the first.
    package func versions(of photo: PhotoStatus) throws(LedgerError) -> [PhotoVersion] {
        try read("list the versions of a photo") { db in
            let rows = try Row.fetchAll(db.cachedStatement(sql: LedgerQuery.versionsOfPhoto), arguments: [photo.id])
            var found = try rows.map { row in
                (
                    object: try ObjectRecord(row: row), stored: Date(milliseconds: row[ObjectRecord.columnCount]),
                    replaced: Date(milliseconds: row[ObjectRecord.columnCount + 1])
                )
            }
            found.sort { ($0.replaced, $0.object.key) > ($1.replaced, $1.object.key) }
            if let earlier = photo.earlier, photo.state.isOnDisk, earlier.md5 != photo.md5 {
                found.insert((earlier, photo.uploadedAt ?? earlier.storedAt, photo.queuedAt), at: 0)
            }
            return found.filter { $0.object.problem == nil }.enumerated().map { index, version in
                PhotoVersion(
                    number: index + 1, object: version.object, storedAt: version.stored, replacedAt: version.replaced)
            }
        }
    }
}

extension Database {
    /// The photos of which an object is an earlier version.
    func photos(ofVersion key: ObjectKey, limit: Int) throws -> [FilePath] {
        try rows(LedgerQuery.photosOfVersion, [key.rawValue, limit], as: PhotoPlace.self).map(\.absolute)
    }
}

extension LedgerQuery {
    package static let versionsOfPhoto = """
        SELECT \(ObjectRecord.columns), photo_versions.stored_at, photo_versions.replaced_at FROM photo_versions
        CROSS JOIN objects ON objects.id = photo_versions.object_id WHERE photo_versions.photo_id = ?
        """
    package static let photosOfVersion = """
        SELECT \(PhotoPlace.columns) FROM objects
        CROSS JOIN photo_versions INDEXED BY photo_versions_by_object ON photo_versions.object_id = objects.id
        JOIN photos ON photos.id = photo_versions.photo_id
        JOIN directories ON directories.id = photos.directory_id
        JOIN folders ON folders.id = photos.folder_id
        WHERE objects.key = ? LIMIT ?
        """
    /// Objects that are gone or damaged, whatever they are of.
    package static let brokenStock = """
        SELECT storage_class, size FROM objects INDEXED BY objects_broken WHERE problem IS NOT NULL AND key > ''
        """
    /// Of them: archived photos of events, and earlier images of projects.
    package static let lostBesidePhotos = """
        SELECT \(ObjectRecord.columns) FROM objects INDEXED BY objects_broken
        WHERE problem IS NOT NULL AND key > ? AND (
            EXISTS (SELECT 1 FROM retention_records WHERE retention_records.key = objects.key)
            OR EXISTS (SELECT 1 FROM project_versions WHERE project_versions.key = objects.key)
        ) ORDER BY key LIMIT ?
        """

    static let ofVersions = [versionsOfPhoto, photosOfVersion, brokenStock, lostBesidePhotos]
}
