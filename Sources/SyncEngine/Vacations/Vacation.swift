package import SyncCore
package import SyncLedger
package import SystemPackage

/// A vacation as it is now: what it is called, when it was, and its photos.
package struct Vacation: Hashable, Sendable {
    package let id: VacationID
    /// Absolute. It may be gone from this disk.
    package var folder: FilePath
    package var details: VacationDetails
    /// In order. Those on the disk that are stored or wait to be; or, when the whole folder is gone from the disk, those
    /// that were stored last, each of them `.missing` or `.lost`.
    package var photos: [VacationPhoto]
    /// How many of its photos cannot be stored.
    package var failed: Int
    /// Those of them that are on the disk.
    package var failures: [VacationPhoto]
    /// How many photos were in its folder, and are not there any more.
    package var gone: Int
    /// What of its `vacation.json` is ignored, and why, for people.
    package var problems: [String]
    /// Counts the changes of what the ledger knows of it.
    package var revision: Int64

    package init(
        id: VacationID, folder: FilePath, details: VacationDetails, photos: [VacationPhoto], failed: Int = 0,
        failures: [VacationPhoto] = [], gone: Int = 0, problems: [String] = [], revision: Int64 = 0
    ) {
        self.id = id
        self.folder = folder
        self.details = details
        self.photos = photos
        self.failed = failed
        self.failures = failures
        self.gone = gone
        self.problems = problems
        self.revision = revision
    }

    package var location: String { details.location }
    package var startDate: CalendarDay { details.startDate }
    package var endDate: CalendarDay { details.endDate }
    package var sharedBy: String? { details.sharedBy }
    package var cacheKey: String { details.cacheKey(photoCount: photos.count) }
    /// How many of its photos are not stored yet.
    package var waiting: Int { photos.count { !$0.isStored } }
}
