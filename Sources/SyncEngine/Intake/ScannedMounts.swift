import SyncCore
import SystemPackage

/// What a scan meets at and below places where a drive is mounted, or was. A drive that is not mounted looks like an empty
/// folder, or like none; only the whole scan, and the table of mounts after it, tell which it is. So folders there that
/// hold no files wait for the end.
struct ScannedMounts {
    /// Below the watched folder.
    private let places: Set<FilePath>
    /// Places at or below which there are files.
    private(set) var inUse: Set<FilePath> = []
    /// Folders there without files.
    private(set) var empty: [ScannedFolder] = []

    init(_ places: Set<FilePath>) {
        self.places = places
    }

    /// - Returns: whether the folder is to be compared with the ledger at once.
    mutating func meet(_ folder: ScannedFolder) -> Bool {
        if places.isEmpty { return true }
        let above = places.filter { folder.path.starts(with: $0) }
        guard !above.isEmpty, folder.files.isEmpty else {
            inUse.formUnion(above)
            return true
        }
        empty.append(folder)
        return false
    }
}
