import CSyncLinux
package import SyncCore
package import SystemPackage

/// What statx(2) tells of a file. The only place where a ``FileStamp`` is made of a file on a disk.
package struct FileStatus: Sendable {
    package enum Kind: Hashable, Sendable {
        case file, folder, link, other
    }

    package let kind: Kind
    package let stamp: FileStamp
    package let permissions: FilePermissions
    /// How many names it has.
    package let links: UInt32
    package let user: UInt32
    package let group: UInt32

    /// Of an open file.
    /// - Throws: `Errno`.
    package init(of file: FileDescriptor) throws(Errno) {
        try self.init(ofDescriptor: file.rawValue)
    }

    /// Of an open file, by its descriptor.
    /// - Throws: `Errno`.
    package init(ofDescriptor descriptor: Int32) throws(Errno) {
        var status = CSyncLinux_Status()
        let code = CSyncLinux_StatusOf(descriptor, &status)
        guard code == 0 else { throw Errno(rawValue: code) }
        self.init(status)
    }

    /// Of what has a name now.
    /// - Throws: `Errno`.
    package init(at path: FilePath, followsLinks: Bool = false) throws(Errno) {
        self = try path.withPlatformString { name in
            Result { () throws(Errno) in
                try FileStatus(of: name, in: CSyncLinux_CurrentFolder, followsLinks: followsLinks)
            }
        }.get()
    }

    /// Of what has a name now; `nil` when nothing has it.
    /// - Throws: `Errno`.
    package static func find(_ path: FilePath, followsLinks: Bool = false) throws(Errno) -> FileStatus? {
        do {
            return try FileStatus(at: path, followsLinks: followsLinks)
        } catch {
            guard error == .noSuchFileOrDirectory else { throw error }
            return nil
        }
    }

    /// Of an entry of an open folder.
    /// - Throws: `Errno`.
    package init(of name: UnsafePointer<CChar>, in folder: Int32, followsLinks: Bool = false) throws(Errno) {
        var status = CSyncLinux_Status()
        let code = CSyncLinux_StatusAt(folder, name, followsLinks, &status)
        guard code == 0 else { throw Errno(rawValue: code) }
        self.init(status)
    }

    private init(_ status: CSyncLinux_Status) {
        // `S_IFMT` and its values (inode(7)).
        kind =
            switch status.mode & 0o170000 {
            case 0o100000: .file
            case 0o040000: .folder
            case 0o120000: .link
            default: .other
            }
        stamp = FileStamp(
            device: status.device, inode: status.inode, size: status.size,
            modified: status.modified.sinceEpoch, changed: status.changed.sinceEpoch,
            born: status.isBirthKnown ? status.born.sinceEpoch : nil)
        permissions = FilePermissions(rawValue: status.mode & 0o7777)
        (links, user, group) = (status.links, status.user, status.group)
    }

    /// Whether both are one file, under one name or two.
    package func isSameFile(as other: FileStatus) -> Bool {
        (stamp.device, stamp.inode) == (other.stamp.device, other.stamp.inode)
    }
}

extension FileStamp {
    /// The stamp of the regular file that has a name now; `nil` when none has. Links are not followed.
    package static func ofFile(_ path: FilePath) -> FileStamp? {
        guard let status = try? FileStatus(at: path), status.kind == .file else { return nil }
        return status.stamp
    }
}

extension CSyncLinux_Time {
    /// Nanoseconds. Wraps past the year 2262, and for a time that a broken camera made up: only equality counts.
    fileprivate var sinceEpoch: Int64 { seconds &* 1_000_000_000 &+ Int64(nanoseconds) }
}

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
