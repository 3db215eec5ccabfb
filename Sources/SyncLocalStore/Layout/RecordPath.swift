import SyncCore

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
        var name = ""
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ".") where index > 0:
                name.append(".")
            default:
                name += "%" + [byte].hexadecimal
            }
        }
        return name
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
