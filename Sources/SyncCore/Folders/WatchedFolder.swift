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

    package init(kind: Kind, path: FilePath, profile: String? = nil) {
        self.kind = kind
        self.path = path
        self.profile = profile
    }
}
