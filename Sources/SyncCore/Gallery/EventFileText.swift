/// The text of a file of events as UTF-8, which is what all ranges are about, and the way back to the file's own bytes.
///
/// A file that begins with a byte order mark of UTF-16 is UTF-16; every other one is taken as it is.
package struct EventFileText: Hashable, Sendable {
    private enum Encoding: Hashable, Sendable {
        case utf8, utf16(isBigEndian: Bool)
    }

    /// UTF-8. A byte order mark of UTF-8 stays in it.
    package let bytes: [UInt8]
    /// What is wrong with UTF-16 that does not come back as it was: such a file is never written anew.
    package let damage: String?
    private let encoding: Encoding

    /// - Parameter file: the whole file.
    package init(_ file: [UInt8]) {
        guard let isBigEndian = Self.byteOrder(of: file) else {
            (bytes, damage, encoding) = (file, nil, .utf8)
            return
        }
        let units = stride(from: 2, to: file.count - 1, by: 2).map { index in
            let (first, second) = (UInt16(file[index]), UInt16(file[index + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        encoding = .utf16(isBigEndian: isBigEndian)
        bytes = Array(String(decoding: units, as: UTF16.self).utf8)
        let isWhole = Self.utf16(bytes, isBigEndian: isBigEndian) == file
        damage = isWhole ? nil : "is UTF-16 that is cut off or damaged"
    }

    /// Whether a file is UTF-16, by its first two bytes.
    package static func isUTF16(_ start: [UInt8]) -> Bool { byteOrder(of: start) != nil }

    /// A changed text as bytes of the file.
    package func encoded(_ text: [UInt8]) -> [UInt8] {
        switch encoding {
        case .utf8: text
        case .utf16(let isBigEndian): Self.utf16(text, isBigEndian: isBigEndian)
        }
    }

    /// - Returns: whether the high byte comes first; `nil` where there is no byte order mark of UTF-16.
    private static func byteOrder(of file: [UInt8]) -> Bool? {
        if file.starts(with: [0xFE, 0xFF]) { return true }
        // With two zeros behind it, it is the mark of UTF-32.
        return file.starts(with: [0xFF, 0xFE]) && !file.starts(with: [0xFF, 0xFE, 0, 0]) ? false : nil
    }

    private static func utf16(_ text: [UInt8], isBigEndian: Bool) -> [UInt8] {
        var file: [UInt8] = isBigEndian ? [0xFE, 0xFF] : [0xFF, 0xFE]
        file.reserveCapacity(2 * text.count + 2)
        for unit in String(decoding: text, as: UTF8.self).utf16 {
            let (high, low) = (UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit))
            file += isBigEndian ? [high, low] : [low, high]
        }
        return file
    }
}
