package import FoundationEssentials
package import SyncCore
package import SystemPackage

/// What is to be shared.
package struct ShareDraft: Hashable, Sendable {
    package struct Photo: Hashable, Sendable {
        /// Of the photo on the disk.
        package var md5: MD5Digest
        package var path: FilePath
        /// Where its stored copy is, when it is stored.
        package var sourceKey: ObjectKey?
        package var takenAt: CaptureTime?
        /// Whether its file was there when it was chosen.
        package var isLocal: Bool

        package init(
            md5: MD5Digest, path: FilePath, sourceKey: ObjectKey? = nil, takenAt: CaptureTime? = nil,
            isLocal: Bool = true
        ) {
            self.md5 = md5
            self.path = path
            self.sourceKey = sourceKey
            self.takenAt = takenAt
            self.isLocal = isLocal
        }
    }

    /// Of the vacation, absolute.
    package var folder: FilePath
    /// `nil`: all photos.
    package var selection: PhotoSelection?
    package var quality: ShareQuality
    package var location: String
    package var startDate: CalendarDay
    package var endDate: CalendarDay
    package var sharedBy: String?
    package var expiresAt: Date
    /// Each content once, in the order in which they are to be seen.
    package var photos: [Photo]

    package init(
        folder: FilePath, selection: PhotoSelection?, quality: ShareQuality, location: String, startDate: CalendarDay,
        endDate: CalendarDay, sharedBy: String?, expiresAt: Date, photos: [Photo]
    ) {
        self.folder = folder
        self.selection = selection
        self.quality = quality
        self.location = location
        self.startDate = startDate
        self.endDate = endDate
        self.sharedBy = sharedBy
        self.expiresAt = expiresAt
        self.photos = photos
    }
}
