import SyncCore
import SyncDigest

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
