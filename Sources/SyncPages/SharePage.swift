package import FoundationEssentials
package import SyncCore

/// The page by which friends see a share: one static HTML file, no script or picture from another origin, the photos
/// as plain links for browsers without JavaScript.
package struct SharePage: Hashable, Sendable {
    package struct Photo: Hashable, Sendable {
        /// As in ``ShareManifest/Photo/orderIndex``.
        package var orderIndex: Int
        /// Relative to the page, or absolute on the page's own origin; the same holds for every link here.
        package var link: String
        /// A JPEG of at most 320 pixels in each direction.
        package var thumbnailLink: String
        /// Pixels of the photo, as it is to be seen.
        package var width: Int
        package var height: Int
        /// Bytes.
        package var size: Int64
        /// The camera's clock as UTC.
        package var takenAt: CaptureTime?
        /// What the file is called on the friend's disk. The page makes a plain name of it, and tells equal ones apart.
        package var downloadName: String

        package init(
            orderIndex: Int, link: String, thumbnailLink: String, width: Int, height: Int, size: Int64,
            takenAt: CaptureTime?,
            downloadName: String
        ) {
            self.orderIndex = orderIndex
            self.link = link
            self.thumbnailLink = thumbnailLink
            self.width = width
            self.height = height
            self.size = size
            self.takenAt = takenAt
            self.downloadName = downloadName
        }
    }

    package var location: String
    package var startDate: CalendarDay
    package var endDate: CalendarDay
    package var sharedBy: String?
    package var expiresAt: Date
    /// In the order in which they are to be seen.
    package var photos: [Photo]
    package var manifestLink: String
    /// What `sync-agent mirror` takes for this share: an id or a link.
    package var mirrorReference: String

    package init(
        location: String, startDate: CalendarDay, endDate: CalendarDay, sharedBy: String?, expiresAt: Date,
        photos: [Photo], manifestLink: String, mirrorReference: String
    ) {
        self.location = location
        self.startDate = startDate
        self.endDate = endDate
        self.sharedBy = sharedBy
        self.expiresAt = expiresAt
        self.photos = photos
        self.manifestLink = manifestLink
        self.mirrorReference = mirrorReference
    }

    /// The whole page as UTF-8 text. The same value gives the same bytes.
    package func html() throws(PageError) -> String {
        let template = PageTemplate.share
        return try template.render(try ShareView(self, template))
    }
}
