import SyncCore
import SystemPackage

/// Files beside photos: XMP (ISO 16684-1) with ratings, keywords and edits, and the property lists of Apple's Photos.
enum Sidecar {
    /// Bytes of a file; larger ones are none.
    static let largest: Int64 = 16 << 20
    private static let tailSize = 256

    /// What a file is that is named as one; `nil` when it is none by its first bytes.
    static func type(of head: [UInt8], named path: FilePath) -> MediaType? {
        guard UnitName.isSidecar(path.lastComponent) else { return nil }
        let isAAE = path.extension?.lowercased() == "aae"
        if isAAE, head.starts(with: "bplist00".utf8) { return .aae }
        // Behind the mark of UTF-8.
        let text = String(
            decoding: head.starts(with: [0xEF, 0xBB, 0xBF]) ? head.dropFirst(3) : head[...], as: UTF8.self)
        guard text.drop(while: \.isWhitespace).first == "<" else { return nil }
        if isAAE { return text.contains("<plist") ? .aae : nil }
        return ["x:xmpmeta", "x:xapmeta", "rdf:RDF", "<?xpacket"].contains { text.contains($0) } ? .xmp : nil
    }

    /// - Throws: ``PhotoError``, `.truncated` when the text ends within a tag.
    static func requireEnd(of file: borrowing PhotoFile, size: Int64) throws(PhotoError) {
        let tail = try file.read(max(0, Int(size) - tailSize)..<Int(size))
        let head = try file.read(0..<min(8, Int(size)))
        if head.starts(with: "bplist".utf8) { return }
        guard tail.last(where: { ![0x20, 0x09, 0x0A, 0x0D, 0].contains($0) }) == UInt8(ascii: ">") else {
            throw PhotoError(.truncated, "the sidecar ends within its text")
        }
    }
}
