package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

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

    package var takenAt: CaptureTime? { object?.takenAt }
    /// When the file was last written.
    package var modified: Date { Date(timeIntervalSince1970: Double(stamp.modified) / 1e9) }
    package var isStored: Bool { object != nil }

    package init(
        path: FilePath, name: String, state: PhotoState, stamp: FileStamp, md5: MD5Digest?, object: ObjectRecord?
    ) {
        self.path = path
        self.name = name
        self.state = state
        self.stamp = stamp
        self.md5 = md5
        self.object = object
    }
}

/// A photo's row before the place of the vacation is put in front of it.
struct VacationPhotoRow: FetchableRecord {
    static let columns = """
        directories.path, photos.name, photos.state, \(FileStamp.columns(of: "photos")), photos.md5, \
        \(ObjectRecord.columns)
        """

    private let path: FilePath
    private let state: PhotoState
    private let stamp: FileStamp
    private let md5: MD5Digest?
    private let object: ObjectRecord?

    init(row: Row) throws {
        guard let state = PhotoState(rawValue: row[2]) else { throw UnknownName() }
        self.state = state
        path = FilePath(directoryBlob: row[0]).pushing(FilePath(blob: row[1]))
        stamp = FileStamp(row: row, from: 3)
        let known = row.hasNull(atIndex: 10) ? nil : try ObjectRecord(row: row, from: 10)
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
            object: object)
    }
}
