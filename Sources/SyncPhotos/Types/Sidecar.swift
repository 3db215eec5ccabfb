import SyncCore
import SystemPackage

/// Files beside photos: XMP (ISO 16684-1) with ratings, keywords and edits, and the property lists of Apple's Photos.
enum Sidecar {
    private static let largest: Int64 = 16 << 20
    private static let tailSize = 4_096

    /// What a file is that is named as one; `nil` when it is none by its first bytes.
    static func type(of head: [UInt8], named path: FilePath) -> MediaType? {
        guard UnitName.isSidecar(path.lastComponent) else { return nil }
        let isAAE = path.extension?.lowercased() == "aae"
        if isAAE, head.starts(with: "bplist00".utf8) { return .aae }
        // Of UTF-8, UTF-16 and UTF-32 what is ASCII, which all of its markup is, without the mark.
        let text = String(decoding: head.filter { (1..<0x80).contains($0) }, as: UTF8.self)
        guard text.drop(while: \.isWhitespace).first == "<" else { return nil }
        if isAAE { return text.contains("<plist") ? .aae : nil }
        return ["x:xmpmeta", "x:xapmeta", "rdf:RDF", "<?xpacket"].contains { text.contains($0) } ? .xmp : nil
    }

    /// - Throws: ``PhotoError``: `.truncated` when the text ends within a tag, `.notStored` when it is too large for one.
    static func requireWhole(_ file: borrowing PhotoFile, size: Int64) throws(PhotoError) {
        guard size <= largest else {
            throw PhotoError(.notStored, "a sidecar of more than \(largest >> 20) MiB stays on this machine")
        }
        if try file.read(0..<min(6, Int(size))).elementsEqual("bplist".utf8) { return }
        let tail = try file.read(max(0, Int(size) - tailSize)..<Int(size))
        guard tail.last(where: { ![0x20, 0x09, 0x0A, 0x0D, 0].contains($0) }) == UInt8(ascii: ">") else {
            throw PhotoError(.truncated, "the sidecar ends within its text")
        }
    }
}
