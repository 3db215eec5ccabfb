import SyncCore
package import SystemPackage

/// Which folder it is, under whatever name (inode(7)). The root of a drive is another folder than the one that it is
/// mounted on; both names that a bind mount makes lead to one. A drive that is mounted anew may get another device, and
/// some file systems (FAT, network) other inodes, too.
package struct FolderIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    package init(of folder: FileStatus) {
        (device, inode) = (folder.stamp.device, folder.stamp.inode)
    }

    /// Of the folder that has a name now. `nil` where there is none, or it cannot be looked at.
    package init?(at path: FilePath, followsLinks: Bool = true) {
        guard let status = try? FileStatus(at: path, followsLinks: followsLinks), status.kind == .folder
        else { return nil }
        self.init(of: status)
    }
}
