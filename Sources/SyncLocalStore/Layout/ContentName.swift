import SyncCore
import SyncDigest
import SystemPackage

/// Names below `objects/`, made for people: the key itself wherever a file system lets it be.
///
/// `%` and `~` are percent-encoded, so that a plain name never looks like a substitute and belongs to one key only.
enum ContentName {
    /// Bytes of one name that every file system takes (NAME_MAX).
    private static let maximumLength = 255

    /// The plain name of a segment; `nil` when it is too long.
    static func plain(_ segment: some StringProtocol) -> String? {
        let name = escaped(segment)
        return name.utf8.count <= maximumLength ? name : nil
    }

    /// The name of a folder whose plain name is too long or taken by a file. The same for every key below it.
    static func folderSubstitute(_ segment: some StringProtocol) -> String {
        let digest = SHA256Digest(of: segment.utf8).description.prefix(16)
        return "\(shortened(escaped(segment), to: 200))~\(digest)"
    }

    /// A name for a file whose plain name is too long or taken. It keeps the extension, by which programs know pictures.
    /// - Parameter id: hexadecimal digits; the first 8 are used.
    static func fileSubstitute(_ segment: some StringProtocol, id: String) -> String {
        let name = escaped(segment)
        var stem = name[...]
        var ending = ""[...]
        if let dot = name.lastIndex(of: "."), dot != name.startIndex, name[dot...].utf8.count <= 16 {
            stem = name[..<dot]
            ending = name[dot...]
        }
        return "\(shortened(stem, to: 200))~\(id.prefix(8))\(ending)"
    }

    /// Whether a path below `objects/` is one that the bytes of a key may have.
    static func isPath(_ path: FilePath, of key: ObjectKey) -> Bool {
        let segments = key.rawValue.split(separator: "/")
        let names = path.components.map(\.string)
        guard names.count == segments.count, let name = names.last, let segment = segments.last else { return false }
        let folders = zip(names, segments).dropLast().allSatisfy { name, segment in
            isSame(name, plain(segment)) || isSame(name, folderSubstitute(segment))
        }
        return folders && (isSame(name, plain(segment)) || isFileSubstitute(name, of: segment))
    }

    /// By bytes: two names that read alike are two files.
    private static func isSame(_ name: String, _ other: String?) -> Bool {
        other.map { name.utf8.elementsEqual($0.utf8) } ?? false
    }

    private static func isFileSubstitute(_ name: String, of segment: some StringProtocol) -> Bool {
        guard let mark = name.lastIndex(of: "~") else { return false }
        return isSame(name, fileSubstitute(segment, id: String(name[name.index(after: mark)...].prefix(8))))
    }

    private static func escaped(_ segment: some StringProtocol) -> String {
        var name = ""
        for scalar in segment.unicodeScalars {
            switch scalar {
            case "%": name += "%25"
            case "~": name += "%7E"
            default: name.unicodeScalars.append(scalar)
            }
        }
        return name
    }

    /// Cut between characters.
    private static func shortened(_ name: some StringProtocol, to length: Int) -> String {
        var result = ""
        var used = 0
        for character in name {
            used += character.utf8.count
            if used > length { break }
            result.append(character)
        }
        return result
    }
}
