/// Which file system a device number stands for, from proc(5), `/proc/self/mountinfo`.
///
/// Unlike statfs(2) it does not wait for a server that is gone, and it names the type.
enum MountTable {
    /// The type, as `mount` shows it; `nil` when the table does not have the device (a btrfs subvolume, a mount that is
    /// no more).
    static func type(ofDevice device: UInt64, in table: String) -> String? {
        let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
        let minor = device & 0xFF | (device >> 12) & 0xFFFF_FF00
        let number = "\(major):\(minor)"
        for line in table.split(separator: "\n") {
            // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
            let fields = line.split(separator: " ")
            guard fields.count > 2, fields[2] == number, let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count
            else { continue }
            return String(fields[dash + 1])
        }
        return nil
    }

    /// Whether changes can happen on a file system of this type without this kernel seeing them, so that inotify would
    /// miss them. FUSE on a local disk (`fuseblk`: NTFS, exFAT) is not such a type.
    static func isRemote(_ type: String) -> Bool {
        if type.hasPrefix("fuse.") || type.hasPrefix("nfs") || type.hasPrefix("smb") { return true }
        return remote.contains(type)
    }

    private static let remote: Set = [
        "fuse", "cifs", "9p", "afs", "ceph", "coda", "ncpfs", "lustre", "gfs2", "ocfs2", "beegfs", "orangefs",
        "virtiofs",
        "vboxsf", "prl_fs", "acfs", "gpfs",
    ]
}
