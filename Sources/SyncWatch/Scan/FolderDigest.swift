import SyncCore
import SyncDigest
import SyncSystem
import SystemPackage

/// The digest of what a folder holds: of the names and kinds of all entries, in the order in which the file system tells
/// them, and of the stamps of the files. As long as it stays the same, a scan finds what the last one has found.
///
/// It says nothing where a look at something else decides, too: at the target of a link, into a hidden folder, or at an entry
/// whose kind the file system does not tell.
struct FolderDigest: ~Copyable {
    /// Bytes that are hashed at once.
    private static let piece = 32 << 10
    /// The form of what is hashed, and by which rules names are ignored.
    private static let beginning = Array("entries and stamps, 1\n\(IgnoredNames.rules)\n".utf8)

    private var hasher = SHA256Hasher()
    private var bytes: [UInt8] = []
    private var isWhole = true

    init() {
        bytes.reserveCapacity(Self.piece + 1_024)
        begin()
    }

    /// What was added is forgotten.
    mutating func begin() {
        _ = hasher.finalize()
        bytes.removeAll(keepingCapacity: true)
        bytes += Self.beginning
        isWhole = true
    }

    mutating func add(folder name: UnsafePointer<CChar>) {
        add(name, UInt8(ascii: "d"))
    }

    mutating func add(file name: UnsafePointer<CChar>, _ stamp: FileStamp) {
        add(name, UInt8(ascii: "f"))
        let numbers = (
            stamp.device, stamp.inode, stamp.size, stamp.modified, stamp.changed ?? .min, stamp.born ?? .min
        )
        withUnsafeBytes(of: numbers) { bytes.append(contentsOf: $0) }
    }

    /// There is something that it says nothing about.
    mutating func giveUp() { isWhole = false }

    /// - Returns: `nil` where it says nothing.
    mutating func finish() -> SHA256Digest? {
        flush()
        let digest = hasher.finalize()
        return isWhole ? digest : nil
    }

    private mutating func add(_ name: UnsafePointer<CChar>, _ kind: UInt8) {
        if bytes.count >= Self.piece { flush() }
        bytes.append(kind)
        var at = name
        while at.pointee != 0 {
            bytes.append(UInt8(bitPattern: at.pointee))
            at += 1
        }
        bytes.append(0)
    }

    private mutating func flush() {
        bytes.withUnsafeBytes { hasher.update($0) }
        bytes.removeAll(keepingCapacity: true)
    }

    /// Adds what a folder holds, and makes nothing of its files.
    /// - Returns: the folders in it that are looked into.
    mutating func add(contentsOf folder: DirectoryHandle) throws(Errno) -> [EntryName] {
        var folders: [EntryName] = []
        try folder.forEachEntry { name, kind throws(Errno) in
            switch kind {
            case .folder:
                add(folder: name)
                if let name = EntryName(ofFolderUnlessIgnored: name) { folders.append(name) }
            case .file:
                guard let status = try folder.status(of: name), status.kind == .file else { return giveUp() }
                add(file: name, status.stamp)
            case .other, .unknown: giveUp()
            }
        }
        return folders
    }
}
