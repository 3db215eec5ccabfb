package import SystemPackage

/// One configured root.
package struct WatchedFolder: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case gallery, vacations, projects
    }

    package var kind: Kind
    /// Absolute and lexically normalised; the folder itself may be a symbolic link.
    package var path: FilePath
    /// Whose gallery it is.
    package var profile: String?
    /// What of it is left out.
    package var filter: PathFilter

    package init(kind: Kind, path: FilePath, profile: String? = nil, filter: PathFilter = PathFilter()) {
        self.kind = kind
        self.path = path
        self.profile = profile
        self.filter = filter
    }
}

/// Names that are never photos: what editors, browsers and copy programs leave behind while they work.
package enum IgnoredNames {
    private static let suffixes = [".tmp", ".part", ".partial", ".crdownload", ".download", ".swp", "~"]
    /// What devices and desktops make of photos that stand elsewhere, and what was thrown away.
    private static let byproducts: Set<String> = [
        "@eadir", "thumbs.db", ".thumbnails", ".@__thumb", ".trash", ".trashes",
        ".stfolder", ".stversions", ".sync", ".appledouble", ".spotlight-v100", ".fseventsd", ".snapshot", ".snapshots",
        ".zfs",
    ]
    /// Folders of NAS devices and file systems (Synology, QNAP, Windows, ext4) that hold what was thrown away, and copies of
    /// all that is beside them. A file of such a name is one as any other.
    private static let systemFolders: Set<String> = [
        "#recycle", "#snapshot", "@recycle", "@recently-snapshot", "@tmp", "lost+found", "$recycle.bin",
        "system volume information",
    ]
    /// With the number of a user behind it (freedesktop.org, "Trash specification").
    private static let trash = ".trash-"

    /// All of them as one text: what was concluded by others holds no longer.
    package static let rules = [suffixes, byproducts.sorted(), systemFolders.sorted(), [trash]]
        .map { $0.joined(separator: "/") }.joined(separator: "//")

    /// Whether a file or folder of this name is left out. A name is one path component, as the directory holds it.
    package static func contains(_ name: some StringProtocol) -> Bool {
        if name.utf8.first == UInt8(ascii: ".") || name.utf8.first == UInt8(ascii: "~") { return true }
        let lowered = name.lowercased()
        return suffixes.contains { lowered.hasSuffix($0) } || byproducts.contains(lowered)
    }

    /// Whether a folder of this name is not looked into.
    package static func containsFolder(_ name: some StringProtocol) -> Bool {
        contains(name) || systemFolders.contains(name.lowercased())
    }

    /// Whether nobody misses what is under an ignored name: previews that devices make, the trash.
    package static func areByproducts(_ name: some StringProtocol) -> Bool {
        let lowered = name.lowercased()
        return byproducts.contains(lowered) || lowered.hasPrefix(trash) || systemFolders.contains(lowered)
    }
}
