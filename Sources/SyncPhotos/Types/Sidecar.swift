import SyncCore
import SystemPackage

/// Files beside photos: XMP (ISO 16684-1) with ratings, keywords and edits, and the property lists of Apple's Photos.
enum Sidecar {
    private static let largest: Int64 = 16 << 20

    /// What a file is that is named as one; `nil` when it is none by its first bytes. What ends before it can be told is one,
    /// which is not whole.
    static func type(of head: [UInt8], named path: FilePath) -> MediaType? {
        guard UnitName.isSidecar(path.lastComponent) else { return nil }
        let isAAE = path.extension?.lowercased() == "aae"
        if isAAE, head.starts(with: "bplist00".utf8) { return .aae }
        let bytes = ascii(of: head)
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.drop(while: \.isWhitespace).first == "<" else { return nil }
        let marks = isAAE ? ["<plist"] : ["x:xmpmeta", "x:xapmeta", "rdf:RDF", "<?xpacket"]
        let ends = XMLEnds(bytes)
        guard marks.contains(where: text.contains) || (ends.root == nil && ends.isMarkup) else { return nil }
        return isAAE ? .aae : .xmp
    }

    /// Of UTF-8, UTF-16 and UTF-32 what is ASCII, without the mark.
    private static func ascii(of text: [UInt8]) -> [UInt8] {
        let start = Array(text.prefix(4))
        let widths: [(start: [UInt8], width: Int, place: Int)] = [
            ([0xFF, 0xFE, 0, 0], 4, 0), ([0x3C, 0, 0, 0], 4, 0), ([0, 0, 0xFE, 0xFF], 4, 3), ([0, 0, 0, 0x3C], 4, 3),
            ([0xFF, 0xFE], 2, 0), ([0x3C, 0], 2, 0), ([0xFE, 0xFF], 2, 1), ([0, 0x3C], 2, 1),
        ]
        guard let unit = widths.first(where: { start.starts(with: $0.start) }) else {
            return text.filter { (1..<0x80).contains($0) }
        }
        return stride(from: 0, to: text.count - unit.width + 1, by: unit.width).compactMap { at in
            let byte = text[at + unit.place]
            let others = text[at..<at + unit.width].reduce(0) { $0 | Int($1) } & ~Int(byte)
            return others == 0 && (1..<0x80).contains(byte) ? byte : nil
        }
    }

    /// - Throws: ``PhotoError``: `.truncated` when its text is not closed, `.notStored` when it is too large for one.
    static func requireWhole(_ file: borrowing PhotoFile, size: Int64) throws(PhotoError) {
        guard size <= largest else {
            throw PhotoError(.notStored, "a sidecar of more than \(largest >> 20) MiB stays on this machine")
        }
        let text = try file.read(0..<Int(size))
        guard !text.starts(with: "bplist".utf8), !XMLEnds(ascii(of: text)).isWhole else { return }
        throw PhotoError(.truncated, "the sidecar ends within its text")
    }
}
