/// A file of a projects folder as the store has it: under its name, which the file of another machine may have, too. What
/// is replaced there is kept as a *version* of it, in a folder beside it.
package struct VersionedFile: Sendable {
    package enum Kind: Sendable {
        /// Of a project.
        case image
        /// `projects.json`.
        case list
        /// Of a project.
        case metadata
        /// What else is in the folder, or in one below it.
        case file
    }

    private static let metadataEnding = ProjectFileName.metadataEnding
    private static let point = UInt8(ascii: ".")

    package let kind: Kind
    /// As the ledger calls it: the project whose image it is, or the file's path below the projects folder.
    package let name: String
    /// The beginning of the keys of its versions: `users/ana/projects/a/versions/`. Files whose names differ in nothing
    /// but the ending share it.
    package let versions: String
    /// With what the names of its versions end: `.jpg`.
    package let ending: String

    /// - Parameter key: under which it is stored; `nil` for one that is not made of a file's name.
    package init?(_ key: ObjectKey) {
        let parts = key.segments
        guard key.isNamedByFile, parts.count > 3 else { return nil }
        let (stem, ending) = Self.split(parts[parts.count - 1])
        let path = parts.dropFirst(3).joined(separator: "/")
        var folder = (parts.dropLast() + [Substring(stem)]).joined(separator: "/")
        switch parts.count == 4 ? ProjectFileName(path) : .other {
        case .image(let id):
            (kind, name, self.ending) = (Kind.image, id, ending)
        // The list has a place beside the projects.
        case .list:
            (kind, name, self.ending) = (Kind.list, path, ending)
        case .metadata(let id):
            (kind, name, self.ending) = (Kind.metadata, id + Self.metadataEnding, Self.metadataEnding)
            folder = (parts.dropLast() + [Substring(id)]).joined(separator: "/")
        case .other:
            (kind, name, self.ending) = (Kind.file, path, ending)
        }
        versions = folder + "/versions/"
    }

    /// - Parameter version: the key of one of its versions; `nil` for one that is no version.
    package init?(ofVersion version: ObjectKey) {
        guard version.isProjectVersion else { return nil }
        let parts = version.segments
        let ending = Self.split(parts[parts.count - 1]).ending
        let path = parts.dropFirst(3).dropLast(2).joined(separator: "/")
        versions = version.folder
        guard parts.count == 6 else {
            (kind, name, self.ending) = (Kind.file, path + ending, ending)
            return
        }
        if parts[5].beginning(before: Self.metadataEnding) != nil {
            (kind, name, self.ending) = (Kind.metadata, path + Self.metadataEnding, Self.metadataEnding)
        } else if path.inBytes == "projects", ending.inBytes == ".json" {
            (kind, name, self.ending) = (Kind.list, ProjectFileName.listName, ending)
        } else if case .image = ProjectFileName("a" + ending) {
            (kind, name, self.ending) = (Kind.image, path, ending)
        } else {
            (kind, name, self.ending) = (Kind.file, path + ending, ending)
        }
    }

    /// The project whose image or metadata it is; `nil` for the list and for other files.
    package var project: String? {
        switch kind {
        case .image: name
        case .metadata: Substring(name).beginning(before: Self.metadataEnding).map(String.init)
        case .list, .file: nil
        }
    }

    /// Whether a key is that of a version of it.
    package func isVersion(_ key: ObjectKey) -> Bool {
        guard let other = VersionedFile(ofVersion: key) else { return false }
        return other.kind == kind && other.name.inBytes == name.inBytes && other.versions.inBytes == versions.inBytes
    }

    /// Which of these keys may be those of versions that have a content, by their names: first those that were made of this
    /// very file, then those of one whose name has another ending; of each the latest first.
    package func candidates(with md5: MD5Digest, among keys: some Sequence<ObjectKey>) -> [ObjectKey] {
        let found = keys.filter { $0.isBelow(versions) && $0.mayBeVersion(of: md5) }.sorted(by: >)
        return found.filter(isOfSameEnding) + found.filter { !isOfSameEnding($0) }
    }

    private func isOfSameEnding(_ version: ObjectKey) -> Bool {
        VersionedFile(ofVersion: version)?.ending.inBytes == ending.inBytes
    }

    /// By bytes: a mark that follows the dot makes one character with it.
    private static func split(_ name: Substring) -> (stem: String, ending: String) {
        guard let dot = name.utf8.lastIndex(of: point), dot > name.startIndex else { return (String(name), "") }
        return (String(Substring(name.utf8[..<dot])), String(Substring(name.utf8[dot...])))
    }
}

extension ObjectKey {
    /// The file of a projects folder that is stored under it, or of which it is a version; `nil` for all else.
    package var versionedFile: VersionedFile? {
        guard isNamedByFile else { return nil }
        return VersionedFile(ofVersion: self) ?? VersionedFile(self)
    }
}
