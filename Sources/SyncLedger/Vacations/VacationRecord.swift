package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// The ledger's number for a vacation: a folder directly below a watched folder of vacations. It is never used twice.
package typealias VacationID = RowID<VacationRecord>

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
    package let checkedRevision: Int64
    /// As they were at the last look; `nil` before the first.
    package let checkedDetails: VacationDetails?
    package let stored: Stored?
    /// Its photos went to other folders, and what is still known of it was removed by hand before.
    package let hasMoved: Bool
    /// Where the last of its photos went that left it.
    package let successor: VacationID?
    /// Whether photos that its manifest names were forgotten for good since it was written.
    package let hasForgotten: Bool

    /// What the name of its folder tells, before the first look.
    let named: VacationName?

    package var folderName: String { folder.lastComponent?.string ?? "" }
    /// Photos on the disk that are stored or to be stored.
    package var photoCount: Int { waiting + uploaded }
    package var isOnDisk: Bool { waiting + uploaded + failed > 0 }
    /// Whether it is a vacation for people: there are photos, or photos of it are stored.
    package var isKnown: Bool { isOnDisk || (missing > 0 && !hasMoved) }
    package var isChanged: Bool { revision != checkedRevision }
}

extension VacationRecord: FetchableRecord {
    static let columns = """
        vacations.id, folders.path, vacations.name, vacations.waiting, vacations.uploaded, vacations.failed, \
        vacations.missing, vacations.revision, vacations.looked_revision, vacations.location, vacations.start_date, \
        vacations.end_date, vacations.shared_by, vacations.cache_key, vacations.photo_count, vacations.fingerprint, \
        vacations.manifest, vacations.is_own, vacations.stored_at, vacations.has_moved, vacations.successor_id, \
        (SELECT COUNT(*) FROM directories CROSS JOIN photos INDEXED BY photos_lost
            ON photos.directory_id = directories.id AND photos.state = 'lost'
            WHERE directories.vacation_id = vacations.id AND NOT photos.is_sidecar), vacations.has_forgotten
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
        checkedRevision = row[8]
        checkedDetails = Self.details(row)
        // Not read for nothing: an overview has thousands of them.
        named = checkedDetails == nil ? VacationName(name.string) : nil
        stored = Self.stored(row)
        hasMoved = row[19]
        successor = (row[20] as Int64?).map(VacationID.init)
        hasForgotten = row[22]
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

/// Where a vacation stands, in the words of `status --json`.
package enum VacationState: String, Hashable, Sendable, CaseIterable {
    /// Nothing of it is stored.
    case pending
    case uploading
    /// All of it is stored, as it is now.
    case stored
    /// It was stored once, and is not what it was then; or others see it as it was.
    case changed
    /// As `stored`, and others see it as it is.
    case shared
    /// Some of its photos cannot be stored.
    case incomplete
}

extension VacationRecord {
    /// - Parameters:
    ///   - isShared: whether others can see it now.
    ///   - isShownAsItIs: whether they see it as it is.
    package func state(isShared: Bool, isShownAsItIs: Bool = true) -> VacationState {
        let state = state(shared: isShared && isShownAsItIs)
        return isShared && !isShownAsItIs && state == .stored ? .changed : state
    }

    private func state(shared isShared: Bool) -> VacationState {
        if !isOnDisk { return stored == nil || lost > 0 ? .incomplete : isShared ? .shared : .stored }
        if waiting > 0 {
            if stored != nil { return .changed }
            return uploaded == 0 ? .pending : .uploading
        }
        if failed > 0 { return .incomplete }
        guard stored != nil else { return .uploading }
        return isChanged ? .changed : isShared ? .shared : .stored
    }

    /// As it was at the last look; before the first, as the name of the folder says.
    package var location: String {
        if let checkedDetails { return checkedDetails.location }
        return named.flatMap { $0.location.isEmpty ? nil : $0.location } ?? "vacation"
    }

    /// As they were at the last look; before the first, as the name of the folder says; `nil` where that is silent.
    package var days: ClosedRange<CalendarDay>? {
        if let checkedDetails { return checkedDetails.days }
        guard let start = named?.startDate, let end = named?.endDate else { return nil }
        return start...end
    }

    /// Of what is stored; where it is another by now, of what is to be stored. `nil` while no date is known.
    package var cacheKey: String? {
        if let stored, !isOnDisk || !isChanged { return stored.cacheKey }
        return days.map { VacationCacheKey.text(location: location, days: $0, photoCount: photoCount) }
    }

    /// How many photos belong to it: those on the disk, or those that were stored when it is gone from the disk.
    package var memberCount: Int { isOnDisk ? photoCount : stored?.photoCount ?? missing }
}

/// A vacation and its photos at one moment.
package struct VacationContent: Sendable {
    package let record: VacationRecord
    /// All but the skipped and the descriptions, in no particular order.
    package let photos: [VacationPhoto]
    /// The photos of the manifest that was stored last.
    package let storedPhotos: Set<MD5Digest>
}

/// One photo of a vacation, as the ledger knows it.
package struct VacationPhoto: Hashable, Sendable {
    /// Absolute. The file is there unless ``state`` says that it is not.
    package let path: FilePath
    /// Below the folder of the vacation; what is no UTF-8 in it is shown as `U+FFFD`.
    package let name: String
    package let state: PhotoState
    /// The file as it was read last.
    package let stamp: FileStamp
    /// Of the photo: of the file as it is, and of the photo of which that is a restored copy; `nil` while it was not read
    /// yet.
    package let md5: MD5Digest?
    /// What is stored of it as it is now (of a missing photo: as it was); `nil` while nothing is.
    package let object: ObjectRecord?
    /// The file was seen before it was whole, and not since.
    package var isHeld = false

    package var takenAt: CaptureTime? { object?.takenAt }
    /// When the file was last written.
    package var modified: Date { Date(timeIntervalSince1970: Double(stamp.modified) / 1e9) }
    package var isStored: Bool { object != nil }
}

/// A photo's row before the place of the vacation is put in front of it.
struct VacationPhotoRow: FetchableRecord {
    static let columns = """
        directories.path, photos.name, photos.state, \(FileStamp.columns(of: "photos")), photos.md5, \
        \(PhotoRow.held), \(ObjectRecord.columns)
        """

    private let path: FilePath
    private let state: PhotoState
    private let stamp: FileStamp
    private let md5: MD5Digest?
    private let object: ObjectRecord?
    private let isHeld: Bool

    init(row: Row) throws {
        path = FilePath(directoryBlob: row[0]).pushing(FilePath(blob: row[1]))
        state = try PhotoState(rawValue: row[2]).known()
        stamp = FileStamp(row: row, from: 3)
        isHeld = row[10]
        let known = row.hasNull(atIndex: 11) ? nil : try ObjectRecord(row: row, from: 11)
        object = state == .uploaded || state == .missing ? known : nil
        // What is stored may be of an earlier content than the one that was on the disk last. Where it is of this one, it
        // tells which photo it is: the file may be a restored copy.
        let digest = MD5Digest(blob: row[9])
        md5 = object?.md5 ?? (state.isOnDisk ? digest : known?.md5)
    }

    /// - Parameter vacation: the one in whose folder it is.
    func photo(of vacation: VacationRecord) -> VacationPhoto {
        let name = FilePath(root: nil, path.components.dropFirst())
        return VacationPhoto(
            path: vacation.folder.pushing(name), name: name.string, state: state, stamp: stamp, md5: md5,
            object: object, isHeld: isHeld)
    }
}
