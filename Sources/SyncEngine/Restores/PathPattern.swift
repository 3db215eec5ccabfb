import Glibc
package import SystemPackage

/// A path with wildcards, as a shell writes it: `~/Pictures/Vacations/Paris*/IMG_00?.jpg`.
///
/// The shell expands only what is on the disk. What is known of photos that are no longer there is matched by this.
package struct PathPattern: Hashable, Sendable {
    /// The folder above the first wildcard.
    package let folder: FilePath
    private let pattern: FilePath

    /// `nil` when the path has no wildcard.
    /// - Parameter path: absolute.
    package init?(_ path: FilePath) {
        var folder = FilePath(root: path.root)
        for component in path.components {
            guard !component.string.contains(where: { "*?[".contains($0) }) else {
                self.folder = folder
                pattern = path
                return
            }
            folder.append(component)
        }
        return nil
    }

    /// Whether the path, or a folder above it, is one that the pattern means: a folder is taken whole. A wildcard stands
    /// for no `/`, and for no dot at the beginning of a name (fnmatch(3), FNM_PATHNAME and FNM_PERIOD).
    package func matches(_ path: FilePath) -> Bool {
        let start = FilePath(root: path.root, path.components.prefix(pattern.components.count))
        return pattern.withPlatformString { pattern in
            start.withPlatformString { fnmatch(pattern, $0, FNM_PATHNAME | FNM_PERIOD) == 0 }
        }
    }
}
