package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// The ledger's number for a vacation: a folder directly below a watched folder of vacations. It is never used twice.
package struct VacationID: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }
}

/// A vacation as the ledger knows it, without its photos.
package struct VacationRecord: Hashable, Sendable {
    /// What was stored of it last.
    package struct Stored: Hashable, Sendable {
        package var cacheKey: String
        package var photoCount: Int
        /// See `VacationFingerprint`.
        package var fingerprint: SHA256Digest
        /// Of the manifest as this machine writes it.
        package var manifest: SHA256Digest
        /// Whether this machine has written it, and not another one of the same user.
        package var isOwn: Bool
        package var at: Date

        package init(
            cacheKey: String, photoCount: Int, fingerprint: SHA256Digest, manifest: SHA256Digest, isOwn: Bool, at: Date
        ) {
            self.cacheKey = cacheKey
            self.photoCount = photoCount
            self.fingerprint = fingerprint
            self.manifest = manifest
            self.isOwn = isOwn
            self.at = at
        }
    }

    package let id: VacationID
    /// Absolute. It may be gone from this disk.
    package let folder: FilePath
    /// Pending or being uploaded.
    package let waiting: Int
    package let uploaded: Int
    package let failed: Int
    /// No longer on the disk: stored, or ``lost``.
    package let missing: Int
    /// Of the missing ones, those of which nothing is stored any more.
    package let lost: Int
    /// Counts the changes of its photos and of its description.
    package let revision: Int64
    /// The revision at which it was looked at last; 0 before the first time.
    package let lookedRevision: Int64
    /// As they were at the last look; `nil` before the first.
    package let lookedDetails: VacationDetails?
    package let stored: Stored?
    /// Its photos went to other folders, and what is still known of it was removed by hand before.
    package let hasMoved: Bool
    /// Where the last of its photos went that left it.
    package let successor: VacationID?

    /// What the name of its folder tells, before the first look.
    let named: VacationName?

    package var folderName: String { folder.lastComponent?.string ?? "" }
    /// Photos on the disk that are stored or to be stored.
    package var photoCount: Int { waiting + uploaded }
    package var isOnDisk: Bool { waiting + uploaded + failed > 0 }
    /// Whether it is a vacation for people: there are photos, or photos of it are stored.
    package var isKnown: Bool { isOnDisk || (missing > 0 && !hasMoved) }
    package var isChanged: Bool { revision != lookedRevision }
}

extension VacationRecord: FetchableRecord {
    static let columns = """
        vacations.id, folders.path, vacations.name, vacations.waiting, vacations.uploaded, vacations.failed, \
        vacations.missing, vacations.revision, vacations.looked_revision, vacations.location, vacations.start_date, \
        vacations.end_date, vacations.shared_by, vacations.cache_key, vacations.photo_count, vacations.fingerprint, \
        vacations.manifest, vacations.is_own, vacations.stored_at, vacations.has_moved, vacations.successor_id, \
        (SELECT COUNT(*) FROM directories CROSS JOIN photos INDEXED BY photos_lost
            ON photos.directory_id = directories.id AND photos.state = 'lost'
            WHERE directories.vacation_id = vacations.id)
        """

    init(row: Row) throws {
        id = VacationID(rawValue: row[0])
        let name = FilePath(blob: row[2])
        folder = FilePath(blob: row[1]).pushing(name)
        waiting = row[3]
        uploaded = row[4]
        failed = row[5]
        missing = row[6]
        lost = row[21]
        revision = row[7]
        lookedRevision = row[8]
        lookedDetails = Self.details(row)
        // Not read for nothing: an overview has thousands of them.
        named = lookedDetails == nil ? VacationName(name.string) : nil
        stored = Self.stored(row)
        hasMoved = row[19]
        successor = (row[20] as Int64?).map(VacationID.init)
    }

    private static func details(_ row: Row) -> VacationDetails? {
        guard let location = row[9] as String?, let start = (row[10] as String?).flatMap({ CalendarDay($0) }),
            let end = (row[11] as String?).flatMap({ CalendarDay($0) })
        else { return nil }
        return VacationDetails(location: location, startDate: start, endDate: end, sharedBy: row[12])
    }

    private static func stored(_ row: Row) -> Stored? {
        guard let cacheKey = row[13] as String?, let fingerprint = SHA256Digest(blob: row[15]),
            let manifest = SHA256Digest(blob: row[16])
        else { return nil }
        return Stored(
            cacheKey: cacheKey, photoCount: row[14], fingerprint: fingerprint, manifest: manifest, isOwn: row[17],
            at: Date(milliseconds: row[18]))
    }
}
