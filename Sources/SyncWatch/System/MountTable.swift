import Glibc
import SyncSystem
package import SystemPackage

/// Which file system a device number stands for, from proc(5), `/proc/self/mountinfo`.
///
/// Unlike statfs(2) it does not wait for a server that is gone, and it names the type.
enum MountTable {
    /// The type, as `mount` shows it; `nil` when the table does not have the device (a btrfs subvolume, a mount that is
    /// no more).
    static func type(ofDevice device: UInt64, in table: String) -> String? {
        let number = Self.number(ofDevice: device)
        for line in table.split(separator: "\n") {
            // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
            let fields = line.split(separator: " ")
            guard fields.count > 2, fields[2] == number, let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count
            else { continue }
            return String(fields[dash + 1])
        }
        return nil
    }

    /// As the table writes it.
    static func number(ofDevice device: UInt64) -> String {
        let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
        let minor = device & 0xFF | (device >> 12) & 0xFFFF_FF00
        return "\(major):\(minor)"
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

/// One line of proc(5), `/proc/self/mountinfo`: a file system, and where it is mounted.
struct MountPoint: Hashable {
    /// The kernel's number of this mount; another one as soon as something is mounted anew.
    let id: Int
    /// Absolute, without symbolic links.
    let path: FilePath
    /// The number of the file system, as the table writes it.
    let device: String
    /// What of the file system is mounted: `/`, or a folder of it (a bind mount, a subvolume).
    let root: FilePath
    /// As `mount` shows both: `ext4` and `/dev/sda1`, `nfs4` and `server:/photos`.
    let type: String
    let source: String

    /// All mounts, in the order of the table: a later one covers an earlier one of the same path.
    static func all(in table: [UInt8]) -> [MountPoint] {
        table.split(separator: UInt8(ascii: "\n")).compactMap { line in
            // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            guard fields.count > 4, let id = Int(String(decoding: fields[0], as: UTF8.self)) else { return nil }
            let rest = fields.dropFirst(5).flatMap { $0.split(separator: UInt8(ascii: " ")) }
            let origin = rest.drop { !$0.elementsEqual([UInt8(ascii: "-")]) }.dropFirst().map {
                String(decoding: unescaped($0), as: UTF8.self)
            }
            return MountPoint(
                id: id, path: filePath(fields[4]), device: String(decoding: fields[2], as: UTF8.self),
                root: filePath(fields[3]), type: origin.first ?? "", source: origin.dropFirst().first ?? "")
        }
    }

    /// The one on which a path is: of several that lead to it the deepest, and of these the last.
    /// - Parameter path: absolute, without symbolic links.
    static func holding(_ path: FilePath, of mounts: [MountPoint]) -> MountPoint? {
        var own: MountPoint?
        for mount in mounts where path.starts(with: mount.path) {
            if own.map({ $0.path.components.count <= mount.path.components.count }) ?? true { own = mount }
        }
        return own
    }

    private static func filePath(_ field: ArraySlice<UInt8>) -> FilePath {
        FilePath(platformString: unescaped(field).map { CChar(bitPattern: $0) } + [0])
    }

    /// Where other mounts show the place of the file system that a folder is. Something else may be mounted over it there.
    /// - Parameter folder: absolute, without symbolic links.
    static func otherNames(of folder: FilePath, in table: [UInt8]) -> [FilePath] {
        let mounts = all(in: table)
        guard let own = holding(folder, of: mounts) else { return [] }
        let place = own.root.appending(folder.components.dropFirst(own.path.components.count))
        return mounts.filter { $0.device == own.device && $0.id != own.id && place.starts(with: $0.root) }.map {
            $0.path.appending(place.components.dropFirst($0.root.components.count))
        }
    }

    /// Those that decide what is seen below a folder: at it, below it, and on the way to it.
    static func around(_ folder: FilePath, in table: [UInt8]) -> [MountPoint] {
        all(in: table).filter { $0.path.starts(with: folder) || folder.starts(with: $0.path) }
    }

    /// Mount points below a folder, relative to it, each once; those below ignored names left out.
    static func below(_ folder: FilePath, in table: [UInt8]) -> [FilePath] {
        let paths = all(in: table).compactMap { mount -> RelativePath? in
            guard let path = RelativePath(mount.path, below: folder), !path.isEmpty else { return nil }
            return path.names.contains(where: \.isIgnoredFolder) ? nil : path
        }
        return Set(paths).map(\.filePath).sorted { $0.string < $1.string }
    }

    /// Blanks, tabs, newlines and backslashes are written as three octal digits.
    private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            let isEscape = byte == UInt8(ascii: "\\") && digits.count == 3 && digits.allSatisfy { 0x30...0x37 ~= $0 }
            guard isEscape else {
                bytes.append(byte)
                continue
            }
            bytes.append(digits.reduce(0) { $0 &* 8 &+ ($1 - 0x30) })
            rest = rest.dropFirst(3)
        }
        return bytes
    }
}

/// The names by which mounts show one folder.
package enum MountedNames {
    /// The other names of a folder: a bind mount (mount(8)) of it, or of one around it, shows it once more. What is not
    /// there has those of the nearest folder above it. Blocks.
    /// - Parameter folder: absolute, without symbolic links.
    package static func others(of folder: FilePath) -> [FilePath] {
        var (there, rest) = (folder, [FilePath.Component]())
        while FolderIdentity(at: there) == nil {
            guard let name = there.lastComponent else { return [] }
            rest.insert(name, at: 0)
            there.removeLastComponent()
        }
        let identity = FolderIdentity(at: there)
        return MountPoint.otherNames(of: there, in: WatchCalls.system.mountTable())
            .filter { FolderIdentity(at: $0) == identity }.map { $0.appending(rest) }
    }

    /// Where something is mounted: absolute, without symbolic links. Blocks.
    package static func points() -> Set<FilePath> {
        Set(MountPoint.all(in: WatchCalls.system.mountTable()).map(\.path))
    }
}

/// Tells when something was mounted or unmounted. `/proc/self/mountinfo` is to be polled for POLLPRI: the kernel reports
/// each change since the poll before (proc(5)).
final class MountEvents {
    let descriptor: Int32

    /// `nil` where the system has no such file: then nothing is ever told.
    init?() {
        descriptor = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}

/// Small files of proc(5).
package enum ProcFile {
    /// The text; `nil` where the file cannot be read.
    static func text(_ path: FilePath) -> String? {
        bytes(path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes; `nil` where the file cannot be read.
    package static func bytes(_ path: FilePath) -> [UInt8]? {
        guard let file = try? FileDescriptor.open(path, .readOnly, options: .closeOnExec) else { return nil }
        return try? file.closeAfter {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while true {
                let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0) }
                guard count > 0 else { return bytes }
                bytes.append(contentsOf: buffer[..<count])
            }
        }
    }

    /// The number that the file holds.
    static func number(_ path: FilePath) -> Int? {
        text(path)?.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) }
    }
}

/// What file system a path is on, and how full it is. Blocks, on a network file system for as long as its server does.
package struct FileSystemFacts: Hashable, Sendable {
    /// As `mount` shows it; `nil` where the system does not tell.
    package let type: String?
    /// Whether others can change it without this machine noticing.
    package let isRemote: Bool
    /// Bytes that this user may still write (statvfs(3), `f_bavail`).
    package let freeBytes: Int64
    package let totalBytes: Int64
    /// The same for two paths on one file system.
    package let device: UInt64

    package init(at path: FilePath) throws(Errno) {
        var status = stat()
        var volume = statvfs()
        try Errno.calling { path.withPlatformString { stat($0, &status) } }
        try Errno.calling { path.withPlatformString { statvfs($0, &volume) } }
        device = UInt64(status.st_dev)
        type = ProcFile.text("/proc/self/mountinfo").flatMap { [device] in MountTable.type(ofDevice: device, in: $0) }
        isRemote = type.map(MountTable.isRemote) ?? false
        freeBytes = Int64(clamping: UInt64(volume.f_bavail) * UInt64(volume.f_frsize))
        totalBytes = Int64(clamping: UInt64(volume.f_blocks) * UInt64(volume.f_frsize))
    }

    /// Of the path, or of the nearest folder above it that is there.
    package init?(nearest path: FilePath) {
        var place = path
        while true {
            if let facts = try? FileSystemFacts(at: place) {
                self = facts
                return
            }
            guard place.removeLastComponent() else { return nil }
        }
    }
}
