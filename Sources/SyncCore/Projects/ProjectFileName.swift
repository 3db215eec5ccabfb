package import SystemPackage

/// What a file directly in a projects folder is, by its name.
package enum ProjectFileName: Hashable, Sendable {
    /// `projects.json`: the list of all projects.
    case list
    /// `{id}.jpg`, or another kind of image under the id of a project.
    case image(id: String)
    /// `{id}-metadata.json`
    case metadata(id: String)
    case other

    package static let listName = "projects.json"

    package static func == (left: ProjectFileName, right: ProjectFileName) -> Bool {
        switch (left, right) {
        case (.list, .list), (.other, .other): true
        case (.image(let one), .image(let other)), (.metadata(let one), .metadata(let other)):
            one.inBytes == other.inBytes
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(id?.inBytes)
    }

    private static let metadataEnding = "-metadata.json"
    private static let imageExtensions: Set<String> = [
        "jpg", "jpeg", "png", "heic", "heif", "webp", "gif", "tif", "tiff",
    ]

    package init(_ name: String) {
        if name == Self.listName {
            self = .list
        } else if name.lowercased().hasSuffix(Self.metadataEnding), name.utf8.count > Self.metadataEnding.utf8.count {
            self = .metadata(id: String(name.dropLast(Self.metadataEnding.count)))
        } else if let dot = name.lastIndex(of: "."), dot != name.startIndex,
            Self.imageExtensions.contains(name[name.index(after: dot)...].lowercased())
        {
            self = .image(id: String(name[..<dot]))
        } else {
            self = .other
        }
    }

    /// - Parameter relativePath: below the projects folder. A file in a folder below it is no project's.
    package init(below relativePath: FilePath) {
        self = relativePath.components.count == 1 ? Self(relativePath.string) : .other
    }

    /// Whose file it is.
    package var id: String? {
        switch self {
        case .image(let id), .metadata(let id): id
        case .list, .other: nil
        }
    }

    /// Whether an id can be the name of a file and a segment of a key, here and on other systems.
    static func isUsable(id: String) -> Bool {
        id.utf8.count <= 200 && !id.hasPrefix(".") && !id.hasPrefix("~") && !id.contains("/")
            && (try? ObjectKey(segments: [id])) != nil
    }
}
