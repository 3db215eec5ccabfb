package import FoundationEssentials
package import SyncCore

/// The photo of a gallery event in the archive, as the store tells of it.
package struct ArchivedGalleryPhoto: Hashable, Sendable {
    /// Whether it can be read.
    package enum Status: String, Hashable, Sendable {
        case readable
        /// It has to be restored first.
        case archived
        case retrieving
        /// Readable for a while.
        case restored
    }

    package let place: ArchivedPhotoPlace
    /// Where two photos have one, only the first one's key ends with it.
    package let eventID: String
    package let type: GalleryEventType?
    /// When the event was created; where the store does not tell it, the beginning of its month.
    package let createdAt: Date
    package let archivedAt: Date?
    /// `nil` where titles are not kept.
    package let title: String?
    /// Bytes.
    package let size: Int64
    /// What the stored bytes are, as in `Content-Type`; `nil` where the store does not tell.
    package let contentType: String?
    /// Of the stored bytes, as their writer noted it.
    package let sha256: SHA256Digest?
    package let storageClass: StorageClass
    package let status: Status
    /// Pixels.
    package let width: Int?
    package let height: Int?

    package var key: ObjectKey { place.key }
    package var isReadable: Bool { status == .readable || status == .restored }

    /// - Parameter info: as `head` tells it.
    init(_ info: ObjectInfo, at place: ArchivedPhotoPlace) {
        func text(_ name: String) -> String? { info.metadata[name] }
        func date(_ name: String) -> Date? { text(name).flatMap { try? Date($0, strategy: .iso8601) } }
        self.place = place
        eventID = text(MetadataName.eventID) ?? place.eventID
        type = text(MetadataName.eventType).flatMap { GalleryEventType(rawValue: $0) }
        createdAt = date(MetadataName.originalCreatedAt) ?? Self.beginning(of: place.month)
        archivedAt = date(MetadataName.archivedAt)
        title = text(MetadataName.taskTitle)
        size = info.size
        contentType = info.contentType
        sha256 = text(MetadataName.sha256).flatMap { SHA256Digest(hex: $0) }
        storageClass = info.storageClass
        status =
            switch info.restore {
            case .inProgress: .retrieving
            case .restored: info.storageClass.isArchive ? .restored : .readable
            case .none: info.storageClass.isArchive || info.isInArchiveTier ? .archived : .readable
            }
        width = text(MetadataName.width).flatMap { Int($0) }
        height = text(MetadataName.height).flatMap { Int($0) }
    }

    /// Whether it stands before another one: the newest is first. The month is that of the key, so that photos stay in
    /// order whatever their metadata say.
    func precedes(_ other: ArchivedGalleryPhoto) -> Bool {
        if place.month != other.place.month { return place.month > other.place.month }
        return createdAt == other.createdAt ? key < other.key : createdAt > other.createdAt
    }

    private static func beginning(of day: CalendarDay) -> Date {
        Date(timeIntervalSince1970: Double(day.daysSince1970) * 86_400)
    }
}

/// What the key of an archived photo tells: `gallery-archive/{user}/{profile}/{year}/{month}/{eventId}.jpg`.
package struct ArchivedPhotoPlace: Hashable, Sendable {
    private static let ending = ".jpg"

    package let key: ObjectKey
    /// A UUID or a name; a telephone number where an early version put it there.
    package let profile: String
    /// The first day of the month, UTC, in which the event was created.
    package let month: CalendarDay
    package let eventID: String

    /// `nil` for what is no archived photo of the user.
    package init?(_ key: ObjectKey, of keys: KeyLayout) {
        guard key.isBelow(keys.galleryArchive) else { return nil }
        let segments = Array(key.segments.dropFirst(2))
        guard segments.count == 4, let id = segments[3].beginning(before: Self.ending),
            let month = CalendarDay("\(segments[1])-\(segments[2])-01")
        else { return nil }
        self.key = key
        self.month = month
        profile = String(segments[0])
        eventID = String(id)
    }
}
