import FoundationEssentials
import GRDB
import SyncCore

/// What intake and commit need of a photo's row.
struct PhotoRow {
    let id: Int64
    let folderID: FolderID
    let directoryID: DirectoryID
    let name: [UInt8]
    let stamp: FileStamp
    let state: PhotoState
    /// Counts the changes of the file. Whoever works on a photo remembers it, and compares when the work is done.
    let generation: Int64
    /// What is stored of this photo, and of which generation.
    let objectID: Int64?
    let objectGeneration: Int64?
    /// The file vanished while it was being uploaded.
    let isGone: Bool

    /// Whether the content that the file had last is the one that is stored.
    var isStored: Bool { objectID != nil && objectGeneration == generation }
    /// As far as is known.
    var isOnDisk: Bool { state.isOnDisk && !isGone }
}

extension PhotoRow: FetchableRecord {
    static let columns = """
        photos.id, photos.folder_id, photos.directory_id, photos.name, photos.state, photos.generation, \
        photos.object_id, photos.object_generation, photos.gone, \(FileStamp.columns(of: "photos"))
        """

    init(row: Row) throws {
        guard let state = PhotoState(rawValue: row[4]) else { throw UnknownName() }
        id = row[0]
        folderID = FolderID(rawValue: row[1])
        directoryID = DirectoryID(rawValue: row[2])
        name = try row.withUnsafeData(atIndex: 3) { $0.map { [UInt8]($0) } ?? [] }
        self.state = state
        generation = row[5]
        objectID = row[6]
        objectGeneration = row[7]
        isGone = row[8]
        stamp = FileStamp(row: row, from: 9)
    }
}
