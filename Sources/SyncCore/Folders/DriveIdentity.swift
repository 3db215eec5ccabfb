package import SystemPackage

/// What tells a file system from another one that is mounted in its place, as long as it is not made anew.
package struct DriveIdentity: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        /// On a block device, or in a pool of them.
        case disk
        /// Of a server, or of another program.
        case network
        /// Made with each mount or container (tmpfs, overlay): nothing tells one from the next.
        case passing
    }

    package let kind: Kind
    /// As blkid(8) shows it.
    package let uuid: String?
    /// `f_fsid` of statvfs(3), where the file system keeps it.
    package let fsid: String?
    /// What was mounted, of a network file system: `server:/photos`.
    package let source: String?
    /// Which folder of the file system, absolute in it: two subvolumes, or two folders that are mounted elsewhere, are
    /// two drives.
    package let folder: FilePath?

    package init(
        _ kind: Kind, uuid: String? = nil, fsid: String? = nil, source: String? = nil, folder: FilePath? = nil
    ) {
        self.kind = kind
        self.uuid = uuid
        self.fsid = fsid
        self.source = source
        self.folder = folder
    }

    /// One of which nothing is told yet, or that came or went while it was looked at: it is the same as none.
    package static let untold = DriveIdentity(.disk)

    /// Whether it can be recognised later.
    package var isLasting: Bool { uuid != nil || fsid != nil || source != nil }

    /// What two identities tell of each other.
    package enum Likeness: Hashable, Sendable {
        case same, other
        /// Both tell nothing that can be compared. It is not the same one as long as nothing says so.
        case untold
    }

    /// Whether this is the drive that was noted. What only one of both tells decides nothing: a service may see less of
    /// the system than a command does.
    package func likeness(to noted: DriveIdentity) -> Likeness {
        if kind != noted.kind { return .other }
        if let folder, let other = noted.folder, folder != other { return .other }
        for (own, other) in [(uuid, noted.uuid), (fsid, noted.fsid), (source, noted.source)] {
            guard let own, let other else { continue }
            return own == other ? .same : .other
        }
        return isLasting || noted.isLasting ? .untold : .same
    }

    /// Whether both tell something that can be compared, whichever folders of drives they are.
    package func isComparable(to other: DriveIdentity) -> Bool {
        let (own, known) = (withoutFolder, other.withoutFolder)
        return own.likeness(to: known) != .untold
    }

    private var withoutFolder: DriveIdentity { DriveIdentity(kind, uuid: uuid, fsid: fsid, source: source) }

    /// The same of a folder below.
    /// - Parameter path: relative to it.
    package func below(_ path: FilePath) -> DriveIdentity {
        DriveIdentity(kind, uuid: uuid, fsid: fsid, source: source, folder: folder?.pushing(path))
    }

    /// The same with what was known of it before.
    package func completed(by noted: DriveIdentity) -> DriveIdentity {
        DriveIdentity(
            kind, uuid: uuid ?? noted.uuid, fsid: fsid ?? noted.fsid, source: source ?? noted.source,
            folder: folder ?? noted.folder)
    }
}

extension DriveIdentity {
    private static let uuidName = "uuid="
    private static let fsidName = "fsid="
    private static let sourceName = "source="
    private static let folderName = "folder="

    /// One line for each thing that is known.
    package var text: String {
        let marks = [
            uuid.map { Self.uuidName + $0 }, fsid.map { Self.fsidName + $0 }, source.map { Self.sourceName + $0 },
            folder.map { Self.folderName + RawText.text(of: $0.bytes).uriEncoded(keepingSlashes: true) },
        ]
        return ([kind.rawValue] + marks.compactMap(\.self)).joined(separator: "\n")
    }

    /// `nil` for what this version does not know.
    package init?(text: String) {
        let lines = text.split(separator: "\n").map(String.init)
        guard let kind = lines.first.flatMap(Kind.init) else { return nil }
        let mark = { (name: String) in
            lines.first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
        }
        self.init(
            kind, uuid: mark(Self.uuidName), fsid: mark(Self.fsidName), source: mark(Self.sourceName),
            folder: mark(Self.folderName)?.percentDecoded().map { FilePath(argument: $0) })
    }
}
