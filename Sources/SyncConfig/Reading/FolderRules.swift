import SyncCore
import SystemPackage

/// Which folders may be watched together. Compares paths as they are written: a symbolic link is not followed.
struct FolderRules {
    struct Folder {
        var path: FilePath
        var kind: WatchedFolder.Kind
        /// Which entry of `watch`, from 0.
        var entry: Int
    }

    var folders: [Folder]
    /// Folders that would be uploaded into themselves, with what they are.
    var reserved: [(path: FilePath, name: String)]

    /// What is wrong, each with the entry of `watch` that it concerns.
    var violations: [(entry: Int, message: String)] {
        var found: [(entry: Int, message: String)] = []
        for (index, folder) in folders.enumerated() {
            for other in folders[..<index] {
                if let relation = Self.relation(of: folder.path, to: other.path) {
                    found.append(
                        (folder.entry, "\(relation) watch[\(other.entry)]; a photo may be in one watched folder only"))
                }
            }
            if folder.kind == .projects, let first = folders[..<index].first(where: { $0.kind == .projects }) {
                found.append(
                    (
                        folder.entry,
                        "is a second folder of kind projects, beside watch[\(first.entry)]; both would be stored under the "
                            + "same keys, so there may be one only"
                    ))
            }
            for (path, name) in reserved {
                if let relation = Self.relation(of: folder.path, to: path) {
                    found.append(
                        (folder.entry, "\(relation) \(name), \(path); the agent would upload its own files"))
                }
            }
        }
        return found
    }

    private static func relation(of path: FilePath, to other: FilePath) -> String? {
        if path == other { return "is the same folder as" }
        if path.starts(with: other) { return "lies inside" }
        if other.starts(with: path) { return "holds" }
        return nil
    }
}
