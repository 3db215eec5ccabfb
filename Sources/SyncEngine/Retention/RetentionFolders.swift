import Glibc
import SystemPackage

/// The folders in which a cleanup rewrites files.
enum RetentionFolders {
    /// Those directly in a folder. Links are not followed, hidden ones left out; none where it cannot be read.
    static func children(of folder: FilePath) -> [FilePath] {
        guard let directory = opendir(folder.string) else { return [] }
        defer { closedir(directory) }
        var children: [FilePath] = []
        while let entry = readdir(directory) {
            let type = Int32(entry.pointee.d_type)
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { FilePath.Component(platformString: $0) }
            }
            guard let name, name.kind == .regular, !name.string.hasPrefix(".") else { continue }
            let path = folder.appending(name)
            if type == DT_DIR || (type == DT_UNKNOWN && isFolder(path)) { children.append(path) }
        }
        return children
    }

    private static func isFolder(_ path: FilePath) -> Bool {
        var status = stat()
        return lstat(path.string, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
