package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// A folder of photos, and how much of it is archived.
package struct Album: Hashable, Sendable {
    /// Absolute.
    package let folder: FilePath
    /// What has to be restored before it can be read, and nobody has asked for: by class, each object once.
    package let cold: [ClassLoad]

    package var coldPhotos: Int { cold.reduce(0) { $0 + $1.objects } }
    package var coldBytes: Int64 { cold.reduce(0) { $0 + $1.bytes } }
}

/// An album that was met by some of its photos.
package struct AlbumSighting: Hashable, Sendable {
    package let album: Album
    /// How many of its objects were met.
    package let objects: Int
}

/// Albums are folders below the watched ones. Those with more than ``albumLimit`` photos are none, and are left out, so
/// that every call costs no more than some ten thousand rows however many photos there are.
extension Ledger {
    package static let albumLimit = 10_000
    /// How many photos are looked at to find albums.
    private static let sightsLimit = 2_000

    /// Those of which something was asked for since a moment and came, or is to come; those met most at the head.
    package func recentlyRestoredAlbums(since time: Date, limit: Int) throws(LedgerError) -> [AlbumSighting] {
        try read("find restored albums") { db in
            guard let first = try db.number(LedgerQuery.firstJobSince, [time.milliseconds]) else { return [] }
            let sights = try db.rows(LedgerQuery.restoredAlbums, [first, Self.sightsLimit], as: AlbumSight.self)
            return try db.albums(sights, limit: limit)
        }
    }

    /// Those with archived photos that were taken in a span of time; those with most of them at the head.
    package func archivedAlbums(
        takenFrom start: Date, to end: Date, limit: Int
    ) throws(LedgerError) -> [AlbumSighting] {
        try read("find albums of a time") { db in
            let sights = try db.rows(
                LedgerQuery.albumsTaken, [start.milliseconds, end.milliseconds, Self.sightsLimit], as: AlbumSight.self)
            return try db.albums(sights, limit: limit)
        }
    }
}

/// One object, and a folder in which a photo of it lies.
private struct AlbumSight: FetchableRecord {
    let object: Int64
    let directory: Int64
    /// Below the watched folder; empty for that itself.
    let place: FilePath
    let folder: FilePath

    init(row: Row) {
        object = row[0]
        directory = row[1]
        place = FilePath(directoryBlob: row[2])
        folder = FilePath(blob: row[3])
    }
}

/// One photo of an album, as it is stored.
private struct AlbumPhoto: FetchableRecord {
    let object: Int64
    let storageClass: StorageClass
    let size: Int64
    let isAskedFor: Bool

    init(row: Row) {
        object = row[0]
        storageClass = StorageClass(rawValue: row[1])
        size = row[2]
        isAskedFor = row[3] != "none"
    }
}

extension Database {
    fileprivate func albums(_ sights: [AlbumSight], limit: Int) throws -> [AlbumSighting] {
        let met = Dictionary(grouping: sights.filter { !$0.place.isEmpty }, by: \.directory)
            .compactMap { _, sights in sights.first.map { (sight: $0, objects: Set(sights.map(\.object)).count) } }
            .sorted { ($1.objects, $0.sight.directory) < ($0.objects, $1.sight.directory) }
        var sightings: [AlbumSighting] = []
        for (sight, objects) in met {
            guard sightings.count < limit else { break }
            let photos = try rows(
                LedgerQuery.photosOfAlbum, [sight.directory, Ledger.albumLimit + 1], as: AlbumPhoto.self)
            if photos.count > Ledger.albumLimit { continue }
            let album = Album(folder: sight.folder.pushing(sight.place), photos)
            if album.coldPhotos > 0 { sightings.append(AlbumSighting(album: album, objects: objects)) }
        }
        return sightings
    }
}

extension Album {
    fileprivate init(folder: FilePath, _ photos: [AlbumPhoto]) {
        var seen: Set<Int64> = []
        var loads: [StorageClass: ClassLoad] = [:]
        for photo in photos where photo.storageClass.isArchive && !photo.isAskedFor {
            guard seen.insert(photo.object).inserted else { continue }
            let none = ClassLoad(storageClass: photo.storageClass, objects: 0, bytes: 0)
            loads[photo.storageClass, default: none].objects += 1
            loads[photo.storageClass, default: none].bytes += photo.size
        }
        self.init(folder: folder, cold: loads.values.sorted { $0.storageClass.rawValue < $1.storageClass.rawValue })
    }
}

extension LedgerQuery {
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
    private static let placesOfObject = """
        CROSS JOIN photos ON photos.object_id = objects.id AND photos.state IN ('uploaded', 'missing')
        CROSS JOIN directories ON directories.id = photos.directory_id
        CROSS JOIN folders ON folders.id = photos.folder_id
        """
}
