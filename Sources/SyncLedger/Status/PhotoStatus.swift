package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// Where one photo stands.
package struct PhotoStatus: Hashable, Sendable {
    package let id: Int64
    package let folder: FolderRecord
    /// Below the folder.
    package let relativePath: FilePath
    package let state: PhotoState
    /// Of the file, once it was read; of a missing photo, that of what is stored.
    package let md5: MD5Digest?
    package let sha256: SHA256Digest?
    /// When the file was last written, as it is or was on the disk.
    package let modified: Date
    /// Size of the file; `nil` when it is missing.
    package let bytesLocal: Int64?
    /// What is stored of it: for an uploaded photo and for a missing one, else `nil`.
    package let object: ObjectRecord?
    /// What is stored of an earlier content of a file that is not uploaded as it is now.
    package let earlier: ObjectRecord?
    /// When `object` or `earlier` was committed.
    package let uploadedAt: Date?
    /// When the file, as it is now, was first seen.
    package let queuedAt: Date
    package let error: String?
    /// What a file of gallery events holds; of other files, what is to be known of the stored copy.
    package let note: String?
    package let attempts: Int
    /// When a pending photo is tried again; `nil` when it is due.
    package let nextTry: Date?

    /// Absolute.
    package var path: FilePath { folder.path.pushing(relativePath) }
    package var key: ObjectKey? { object?.key }
    package var storageClass: StorageClass? { object?.storageClass }
    package var restore: RestoreState { object?.restore ?? .none }
    package var restoredUntil: Date? {
        if case .restored(let until) = restore { until } else { nil }
    }
    package var bytesStored: Int64? { object?.size }
    package var width: Int? { object?.width }
    package var height: Int? { object?.height }
    package var takenAt: CaptureTime? { object?.takenAt }
    package var dropped: [DroppedPart] { object?.dropped ?? [] }
    /// Why a photo is not safe, in plain words: its last error, or what it waits for; of a file of events, what it holds.
    package var why: String? {
        switch state {
        case .uploaded: note
        case .missing: nil
        case .skipped, .failed, .lost: error
        case .pending: error ?? "it waits for its turn"
        case .uploading: "it is being uploaded"
        }
    }
}

extension PhotoStatus: FetchableRecord {
    static let selection = """
        SELECT \(PhotoPlace.columns), photos.id, photos.state, photos.md5, photos.sha256, photos.size, \
        photos.uploaded_at, photos.queued_at, photos.error, photos.attempts, photos.next_try_at, \
        photos.modified, \(ObjectRecord.columns), event_notes.note
        FROM photos
        JOIN directories ON directories.id = photos.directory_id
        JOIN folders ON folders.id = photos.folder_id
        LEFT JOIN objects ON objects.id = photos.object_id
        LEFT JOIN event_notes ON event_notes.photo_id = photos.id
        """

    init(row: Row) throws {
        guard let state = PhotoState(rawValue: row[11]) else { throw UnknownName() }
        let place = try PhotoPlace(row: row)
        let stored = row.hasNull(atIndex: 21) ? nil : try ObjectRecord(row: row, from: 21)
        let isMissing = !state.isOnDisk
        let isStored = state == .missing || state == .uploaded
        let nextTry: Int64 = row[19]
        self.init(
            id: row[10], folder: place.folder, relativePath: place.path, state: state,
            md5: MD5Digest(blob: row[12]) ?? (isMissing ? stored?.md5 : nil), sha256: SHA256Digest(blob: row[13]),
            modified: Date(timeIntervalSince1970: Double(row[20] as Int64) / 1e9),
            bytesLocal: isMissing ? nil : row[14], object: isStored ? stored : nil, earlier: isStored ? nil : stored,
            uploadedAt: (row[15] as Int64?).map(Date.init(milliseconds:)), queuedAt: Date(milliseconds: row[16]),
            error: row[17], note: row[21 + ObjectRecord.columnCount] ?? (isStored ? stored?.note : nil),
            attempts: row[18],
            nextTry: state == .pending && nextTry > 0 ? Date(milliseconds: nextTry) : nil)
    }
}

/// How many files, and their bytes on the disk.
package struct Tally: Hashable, Sendable {
    package var files: Int
    package var bytes: Int64

    package init(files: Int = 0, bytes: Int64 = 0) {
        self.files = files
        self.bytes = bytes
    }

    package static func + (left: Tally, right: Tally) -> Tally {
        Tally(files: left.files + right.files, bytes: left.bytes + right.bytes)
    }
}

/// A tally for each state.
package struct PhotoTallies: Hashable, Sendable {
    private var tallies: [PhotoState: Tally] = [:]

    package init() {}

    package subscript(state: PhotoState) -> Tally {
        get { tallies[state] ?? Tally() }
        set { tallies[state] = newValue == Tally() ? nil : newValue }
    }

    /// What is on the disk: all but the missing and the lost.
    package var onDisk: Tally {
        tallies.reduce(Tally()) { $1.key.isOnDisk ? $0 + $1.value : $0 }
    }

    package static func + (left: PhotoTallies, right: PhotoTallies) -> PhotoTallies {
        PhotoState.allCases.reduce(into: left) { $0[$1] = $0[$1] + right[$1] }
    }
}
