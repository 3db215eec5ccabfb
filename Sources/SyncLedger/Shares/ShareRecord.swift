package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// How a share stands.
package enum ShareState: String, Hashable, Sendable, CaseIterable {
    /// It was never published; its photos are on their way.
    case preparing
    /// It was never published: some of its photos have to come back from the archive first.
    case waiting
    /// Whoever has the link can see it.
    case live
    /// Its end has come, and not all of its objects are proven to be gone.
    case revoking, expiring
    /// Nothing of it is in the store.
    case revoked, expired

    /// Whether it is shared, or is going to be.
    package var isOpen: Bool { self == .preparing || self == .waiting || self == .live }
    package var isEnding: Bool { self == .revoking || self == .expiring }
    package var isOver: Bool { self == .revoked || self == .expired }
}

/// What has to be done next for an open share.
package enum ShareStep: String, Hashable, Sendable {
    /// What is published is not what is to be shared.
    case publish
    /// Photos that are no longer shared are still in the store.
    case clean
    case done
}

/// A share, as it was asked for and as it stands.
package struct ShareRecord: Hashable, Sendable {
    package let id: ShareID
    /// Of the vacation, absolute.
    package let folder: FilePath
    /// `nil` when all photos are shared.
    package let selection: PhotoSelection?
    package let quality: ShareQuality
    package let location: String
    package let startDate: CalendarDay
    package let endDate: CalendarDay
    package let sharedBy: String?
    package let createdAt: Date
    package let expiresAt: Date
    package let state: ShareState
    package let step: ShareStep
    /// The last one that brings back photos of it.
    package let restoreJob: RestoreJobID?
    /// Why the last attempt did not get to its end, in plain words.
    package let problem: String?
    /// When what others see changed last; `nil` as long as they see nothing.
    package let publishedAt: Date?
    /// When page and manifest were written last, with new links at least.
    package let pageWrittenAt: Date?
    /// When the first of the links inside the page ends; `nil` when they have no end of their own.
    package let linksEndAt: Date?
    package let link: StoreLink?
    /// When the last of its objects was gone.
    package let endedAt: Date?
    /// The process that has it in hand, or had when it ended.
    package let holder: String?
    /// Who is to get the link; `nil` when nobody was named, or it is over.
    package let recipient: String?
    /// Photos that are shared, or are going to be.
    package let photoCount: Int
    /// Those of them that are in the store.
    package let storedCount: Int
    /// What people call the machine on which it was taken back, where that is another one.
    package let endedBy: String?
    /// The number of the take-over by which this machine has it; 0 when it has made it; `nil` as long as the store does not
    /// tell the other machines that it is this one's.
    package let ownership: Int?
    /// Whether others are told the names of the files.
    package let tellsNames: Bool
    /// Whether others may add photos, which wait for the owner's word.
    package let takesGuests: Bool

    package var keys: ShareKeys { ShareKeys(id) }
}

extension ShareRecord: FetchableRecord {
    static let columns = """
        id, folder, selection, quality, location, start_day, end_day, shared_by, created_at, expires_at, state, step, \
        restore_job, problem, published_at, page_written_at, links_end_at, link, link_ends_at, link_limit, ended_at, claimed_by, \
        recipient, link_end_is_known, \
        (SELECT COUNT(*) FROM share_photos WHERE share = number AND position IS NOT NULL AND failure IS NULL), \
        (SELECT COUNT(*) FROM share_photos WHERE share = number AND position IS NOT NULL AND stored_at IS NOT NULL), \
        ended_by, ownership, tells_names, takes_guests
        """

    init(row: Row) throws {
        guard let id = ShareID(row[0] as String), let quality = ShareQuality(rawValue: row[3]),
            let start = CalendarDay(row[5] as String), let end = CalendarDay(row[6] as String),
            let state = ShareState(rawValue: row[10]), let step = ShareStep(rawValue: row[11])
        else { throw UnknownName() }
        var link: StoreLink?
        if let url = row[17] as String?, let end = row[18] as Int64? {
            link = StoreLink(url: url, endsAt: Date(milliseconds: end), limit: row[19], isEndKnown: row[23])
        }
        self.init(
            id: id, folder: FilePath(blob: row[1]), selection: PhotoSelection(row[2] as String), quality: quality,
            location: row[4], startDate: start, endDate: end, sharedBy: row[7], createdAt: Date(milliseconds: row[8]),
            expiresAt: Date(milliseconds: row[9]), state: state, step: step,
            restoreJob: (row[12] as Int64?).map(RestoreJobID.init(rawValue:)), problem: row[13],
            publishedAt: row.time(14), pageWrittenAt: row.time(15), linksEndAt: row.time(16), link: link,
            endedAt: row.time(20), holder: row[21], recipient: row[22], photoCount: row[24], storedCount: row[25],
            endedBy: row[26], ownership: row[27], tellsNames: row[28], takesGuests: row[29])
    }
}

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
    /// Whether others are told the names of the files.
    package var tellsNames: Bool
    /// Whether others may add photos.
    package var takesGuests: Bool
    /// Each content once, in the order in which they are to be seen.
    package var photos: [Photo]

    package init(
        folder: FilePath, selection: PhotoSelection?, quality: ShareQuality, location: String, startDate: CalendarDay,
        endDate: CalendarDay, sharedBy: String?, expiresAt: Date, tellsNames: Bool = false, takesGuests: Bool = false,
        photos: [Photo]
    ) {
        self.tellsNames = tellsNames
        self.takesGuests = takesGuests
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

/// One photo of a share.
package struct SharePhoto: Hashable, Sendable {
    /// The copy that others see.
    package struct Copy: Hashable, Sendable {
        /// Of its bytes.
        package var sha256: SHA256Digest
        package var size: Int64
        /// Pixels.
        package var width: Int
        package var height: Int
        /// `nil` for a photo.
        package var film: FilmType?
        package var duration: Duration?
        /// Whether there is a small picture of it too: of each photo, and of a film where one could be made.
        package var hasThumbnail: Bool

        package init(
            sha256: SHA256Digest, size: Int64, width: Int, height: Int, film: FilmType? = nil,
            duration: Duration? = nil, hasThumbnail: Bool = true
        ) {
            self.sha256 = sha256
            self.size = size
            self.width = width
            self.height = height
            self.film = film
            self.duration = duration
            self.hasThumbnail = hasThumbnail
        }
    }

    /// Its place in names, from 0; it keeps it for as long as it is shared.
    package let slot: Int
    /// Among those that are seen; `nil` when it is no longer shared and its objects are to go.
    package let position: Int?
    /// Of the photo on the disk.
    package let md5: MD5Digest
    /// Where it is on this machine, or was.
    package let path: FilePath
    /// Where its stored copy is.
    package let sourceKey: ObjectKey?
    package let takenAt: CaptureTime?
    /// `nil` as long as the store does not have it.
    package let copy: Copy?
    /// Why it cannot be shared, in plain words.
    package let failure: String?
    /// Whether it would fail again.
    package let isFinal: Bool
    /// Whether its file was there when it was chosen: then nothing but that file is shared.
    package let isLocal: Bool
}

/// What came of an attempt to share a photo.
package enum SharePhotoOutcome: Hashable, Sendable {
    case stored(SharePhoto.Copy, takenAt: CaptureTime?)
    /// - Parameter isFinal: whether the same photo would fail again.
    case failed(String, isFinal: Bool)
}

extension SharePhoto {
    /// Whether a reading of the capture time counts before the one that is known. Of a stored copy it may lack the offset
    /// that the file on the disk has.
    package func isDatedAnew(by time: CaptureTime?) -> Bool {
        guard let time else { return false }
        return time != takenAt && (time.offset != nil || takenAt?.offset == nil)
    }

    /// The copy that others see, and the small picture of it.
    package func objects(in keys: ShareKeys) -> [ObjectKey] {
        guard let copy else { return [] }
        return [keys.copy(slot, film: copy.film)] + (copy.hasThumbnail ? [keys.thumbnail(slot)] : [])
    }
}

extension SharePhoto: FetchableRecord {
    static let columns = """
        slot, position, md5, path, source_key, taken_at, sha256, size, width, height, failure, is_final, is_local, \
        taken_offset, media_type, duration, has_poster
        """

    init(row: Row) throws {
        let md5 = try MD5Digest(blob: row[2]).known()
        let copy = SHA256Digest(blob: row[6]).map {
            Copy(
                sha256: $0, size: row[7], width: row[8], height: row[9],
                film: (row[14] as String?).flatMap(FilmType.init(rawValue:)),
                duration: (row[15] as Int64?).map { .milliseconds($0) }, hasThumbnail: row[16])
        }
        self.init(
            slot: row[0], position: row[1], md5: md5, path: FilePath(blob: row[3]),
            sourceKey: try (row[4] as String?).map { try ObjectKey($0) },
            takenAt: CaptureTime(clock: row[5], offset: row[13]), copy: copy, failure: row[10], isFinal: row[11],
            isLocal: row[12])
    }
}

/// An object of a share, as it was put into the store.
package struct ShareObject: Hashable, Sendable {
    package var key: ObjectKey
    package var sha256: SHA256Digest
    /// `nil` where the store gives none.
    package var etag: String?

    package init(key: ObjectKey, sha256: SHA256Digest, etag: String?) {
        self.key = key
        self.sha256 = sha256
        self.etag = etag
    }
}

extension ShareObject: FetchableRecord {
    init(row: Row) throws {
        self.init(key: try ObjectKey(row[0] as String), sha256: try SHA256Digest(blob: row[1]).known(), etag: row[2])
    }
}
