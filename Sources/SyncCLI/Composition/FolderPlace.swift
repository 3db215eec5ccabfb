import SyncSystem
import SyncWatch
import SystemPackage

/// Where a folder is, held against others: the one place that tells whether a folder lies in another. Neither a symbolic link
/// nor a bind mount makes it another one. Making one blocks.
struct FolderPlace {
    /// Without symbolic links as far as it is there, and those by which other mounts show it.
    private let names: [FilePath]
    /// `nil` where it is not there.
    private let identity: FolderIdentity?
    /// Of itself and of those above it, as far as they are there.
    private let around: Set<FolderIdentity>

    /// - Parameter path: absolute.
    init(_ path: FilePath) {
        let name = path.resolvedAsFarAsThere ?? path
        names = [name] + MountedNames.others(of: name)
        identity = FolderIdentity(at: name)
        var (folder, around) = (name, Set<FolderIdentity>())
        repeat {
            if let identity = FolderIdentity(at: folder) { around.insert(identity) }
        } while folder.removeLastComponent()
        self.around = around
    }

    /// Whether it is the other one, or lies in it.
    func isIn(_ other: FolderPlace) -> Bool {
        if let identity = other.identity, around.contains(identity) { return true }
        return names.contains { name in other.names.contains { name.starts(with: $0) } }
    }

    func isSame(as other: FolderPlace) -> Bool { relation(to: other) == .same }

    /// How it is to another one, in the words of a message.
    enum Relation: String {
        case same = "is"
        case inside = "is in"
        case around = "holds"
    }

    /// `nil` where the two are apart.
    func relation(to other: FolderPlace) -> Relation? {
        switch (isIn(other), other.isIn(self)) {
        case (true, true): return .same
        case (true, false): return .inside
        case (false, true): return .around
        case (false, false): return nil
        }
    }
}
