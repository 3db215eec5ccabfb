import SyncCore
package import SystemPackage

/// Which folder it is, under whatever name (inode(7)). The root of a drive is another folder than the one that it is
/// mounted on; both names that a bind mount makes lead to one. A drive that is mounted anew may get another device, and
/// some file systems (FAT, network) other inodes, too.
package struct FolderIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    /// Of the folder that has a name now; links are followed. `nil` where there is none, or it cannot be looked at.
    package init?(at path: FilePath) {
        guard let status = try? FileStatus(at: path, followsLinks: true), status.kind == .folder else { return nil }
        self.init(device: status.stamp.device, inode: status.stamp.inode)
    }
}

/// A folder that has a name, and has to keep it while something is written there.
package struct KnownFolder: Hashable, Sendable {
    package let path: FilePath
    package let identity: FolderIdentity

    /// The folder that has the name now; `nil` where there is none.
    package init?(at path: FilePath) {
        guard let identity = FolderIdentity(at: path) else { return nil }
        self.path = path
        self.identity = identity
    }

    /// Whether it has its name still. Blocks.
    package var isInPlace: Bool { FolderIdentity(at: path) == identity }
}
