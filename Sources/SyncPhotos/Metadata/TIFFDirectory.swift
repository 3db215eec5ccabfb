/// A directory of a TIFF block while it is written, big-endian (TIFF 6.0, section 2).
struct TIFFDirectory {
    enum Value {
        case short(Int)
        case long(Int)
        /// ASCII, without its final NUL.
        case text(String)
        case bytes([UInt8])
        case directory(TIFFDirectory)
    }

    private let entries: [(tag: Int, value: Value)]

    /// Entries without a value are left out. They are given in the order of their tags.
    init(_ entries: KeyValuePairs<Int, Value?>) {
        self.entries = entries.compactMap { entry in entry.value.map { (entry.key, $0) } }
    }

    /// A whole block: header and directories.
    var block: [UInt8] {
        let header = Array("MM\0*".utf8) + Self.number(8, 4)
        return header + bytes(at: header.count)
    }

    func bytes(at start: Int) -> [UInt8] {
        var directory = Self.number(entries.count, 2)
        var data: [UInt8] = []
        let dataStart = start + 2 + entries.count * 12 + 4
        for (tag, value) in entries {
            let (type, count, content) = value.encoded(at: dataStart + data.count)
            directory += Self.number(tag, 2) + Self.number(type, 2) + Self.number(count, 4)
            if content.count <= 4 {
                directory += content + [UInt8](repeating: 0, count: 4 - content.count)
            } else {
                directory += Self.number(dataStart + data.count, 4)
                data += content
            }
            // Values begin at even offsets.
            data += data.count.isMultiple(of: 2) ? [] : [0]
        }
        return directory + Self.number(0, 4) + data
    }

    fileprivate static func number(_ value: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}

extension TIFFDirectory.Value {
    /// Type, count and bytes of the value; a directory's bytes are for this offset.
    fileprivate func encoded(at offset: Int) -> (type: Int, count: Int, bytes: [UInt8]) {
        switch self {
        case .short(let value): (3, 1, TIFFDirectory.number(value, 2))
        case .long(let value): (4, 1, TIFFDirectory.number(value, 4))
        case .text(let text): (2, text.utf8.count + 1, Array(text.utf8) + [0])
        case .bytes(let bytes): (7, bytes.count, bytes)
        case .directory(let directory): (4, 1, directory.bytes(at: offset))
        }
    }
}
