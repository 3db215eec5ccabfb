import SyncCore
import SyncDigest
import SystemPackage

/// Where things lie in the store's folder.
struct StoreLayout: Sendable {
    let root: FilePath

    var marker: FilePath { root.appending(StoreMarker.name) }
    var objects: FilePath { root.appending("objects") }
    var records: FilePath { root.appending("records") }
    var staging: FilePath { root.appending("staging") }
    var locks: FilePath { root.appending("locks") }
    var folders: [FilePath] { [objects, records, staging, locks] }

    /// Those of 256 lock files that a key's commit needs, in the order in which they are taken. Keys that share one only
    /// wait for each other's commits.
    ///
    /// One is that of the key. A key with capitals needs that of the key without them as well: on a disk that ignores
    /// them, keys that have one place wait for each other.
    func lockFiles(for key: ObjectKey) -> [FilePath] { lockFiles(for: [key]) }

    /// Those of several keys, each once and in the same order: nobody waits for another in a circle.
    func lockFiles(for keys: [ObjectKey]) -> [FilePath] {
        let names = keys.flatMap { [$0.rawValue, $0.rawValue.lowercased()] }.map(Self.lockName)
        return Set(names).sorted().map { locks.appending($0) }
    }

    /// One of so many lanes. Keys of two of them share no lock file, unless they have capitals.
    static func lane(of key: ObjectKey, among count: Int) -> Int { Int(lockNumber(of: key.rawValue)) % count }

    private static func lockName(of key: String) -> String {
        let name = String(lockNumber(of: key), radix: 16)
        return name.count == 1 ? "0" + name : name
    }

    private static func lockNumber(of key: String) -> UInt32 {
        // FNV-1a (RFC 9923): it has to be the same in every process and version, which `Hasher` is not.
        let hash = key.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return (hash ^ (hash >> 16)) & 0xFF
    }

    /// The note that a commit of the key leaves in `staging/` until its folders are synced.
    func unsettled(_ key: ObjectKey) -> FilePath {
        staging.appending(SHA256Digest(of: key.rawValue.utf8).description.prefix(32) + Self.unsettledSuffix)
    }

    static let unsettledSuffix = "-unsettled.json"

    /// Whether a name in `staging/` is of the form that a put, a commit or the making of the marker gives. Somebody may have had
    /// files in a folder of that name before the store came, and what else lies there is theirs.
    static func isStaged(_ name: String) -> Bool {
        name.wholeMatch(of: /[0-9a-f]{16}(\.data|(-replaced)?\.json)|[0-9a-f]{32}-unsettled\.json|marker-[0-9a-f]{16}/)
            != nil
    }

    func record(for key: ObjectKey) -> FilePath {
        records.pushing(FilePath(RecordPath.path(of: key)))
    }

    /// The file that a record names.
    func content(_ record: CommitRecord) -> FilePath {
        objects.pushing(FilePath(record.file))
    }
}

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
    static func isPath(_ text: String, of key: ObjectKey) -> Bool {
        if isKeyItself(text, key) { return true }
        let path = FilePath(text)
        let segments = key.segments
        let names = path.components.map(\.string)
        guard path.isBelowAnyFolder, names.count == segments.count, let name = names.last, let segment = segments.last
        else { return false }
        let folders = zip(names, segments).dropLast().allSatisfy { name, segment in
            isSame(name, plain(segment)) || isSame(name, folderSubstitute(segment))
        }
        return folders && (isSame(name, plain(segment)) || isFileSubstitute(name, of: segment))
    }

    /// Whether the path is the key, byte by byte, and no segment of it needs another name: it is so of most.
    private static func isKeyItself(_ path: String, _ key: ObjectKey) -> Bool {
        guard path.utf8.elementsEqual(key.rawValue.utf8) else { return false }
        var length = 0
        for byte in path.utf8 {
            length = byte == UInt8(ascii: "/") ? 0 : length + 1
            if length > maximumLength || byte == UInt8(ascii: "%") || byte == UInt8(ascii: "~") { return false }
        }
        return true
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

/// The path of a key's record below `records/`: a function of the key, and from a folder's entries back to keys in
/// byte order.
///
/// - The segments of a key become folders, the last one the record `NAME~.json`. NAME keeps ASCII letters, digits, `-`,
///   `_` and inner dots; every other byte is `%XX`. A folder's name holds no `~`, so `a` and `a/b` do not clash.
/// - A segment of 80 bytes or more is cut: its first 80 bytes are a folder `NAME~`, in which the rest stands, and so on.
///   Percent-encoded, 80 bytes stay below the 255 that file systems take. An empty rest is written `%`.
enum RecordPath {
    static let chunkLength = 80
    private static let recordSuffix = "~.json"
    private static let emptyName = "%"

    /// What an entry of a folder in `records/` stands for.
    enum Kind: Sendable {
        case record, folder, chunk
    }

    static func path(of key: ObjectKey) -> String {
        var path = ""
        for segment in key.rawValue.utf8.split(separator: UInt8(ascii: "/")) {
            if !path.isEmpty { path += "/" }
            path += chunked(segment)
        }
        return path + recordSuffix
    }

    /// The folder that holds the records of keys that begin with `segments/`; `nil` when no key can.
    static func folder(ofSegments segments: some Collection<String.UTF8View.SubSequence>) -> String? {
        var names: [String] = []
        for segment in segments {
            if segment.isEmpty || segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8) { return nil }
            names.append(chunked(segment))
        }
        return names.joined(separator: "/")
    }

    /// The bytes that an entry adds to the key, `/` after a folder included; `nil` when it is not one of ours.
    ///
    /// Sorted by these bytes, the entries of a folder are in the order of the keys below them: no entry's bytes begin
    /// with those of a folder or chunk beside it.
    static func piece(ofEntry name: String) -> (bytes: [UInt8], kind: Kind)? {
        if name.hasSuffix(recordSuffix) {
            return decoded(name.dropLast(recordSuffix.count)).map { ($0, .record) }
        }
        if name.utf8.last == UInt8(ascii: "~") {
            return decoded(name.dropLast()).map { ($0, .chunk) }
        }
        return decoded(Substring(name)).map { ($0 + [UInt8(ascii: "/")], .folder) }
    }

    private static func chunked(_ segment: Substring.UTF8View) -> String {
        var rest = segment[...]
        var path = ""
        while rest.count >= chunkLength {
            path += encoded(rest.prefix(chunkLength)) + "~/"
            rest = rest.dropFirst(chunkLength)
        }
        return path + (rest.isEmpty ? emptyName : encoded(rest))
    }

    private static func encoded(_ bytes: some Collection<UInt8>) -> String {
        var name: [UInt8] = []
        name.reserveCapacity(3 * bytes.count)
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case _ where byte.isAlphanumeric, UInt8(ascii: "-"), UInt8(ascii: "_"):
                name.append(byte)
            case UInt8(ascii: ".") where index > 0:
                name.append(byte)
            default:
                name += ("%" + [byte].hexadecimal).utf8
            }
        }
        return String(decoding: name, as: UTF8.self)
    }

    private static func decoded(_ name: Substring) -> [UInt8]? {
        if name == emptyName { return [] }
        var bytes: [UInt8] = []
        var rest = name.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let code = [UInt8](hexadecimal: Substring(rest.prefix(2))), code.count == 1 else { return nil }
            bytes += code
            rest = rest.dropFirst(2)
        }
        return bytes.isEmpty ? nil : bytes
    }
}
