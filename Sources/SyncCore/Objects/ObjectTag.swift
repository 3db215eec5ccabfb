/// The mark that a store has given to a version of an object: its ETag, without quotes.
///
/// As S3 writes them (32 digits, of an object in parts with their number behind), its bytes are in the value itself: a
/// listing has one for each object, and a `String` of more than 15 bytes is a piece of memory of its own.
package struct ObjectTag: Hashable, Sendable, CustomStringConvertible {
    /// The last byte is how many of the others count; those behind are 0.
    private struct Short: Hashable, Sendable {
        static let greatestLength = 39

        private var words: (UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0)

        /// `nil` for more than there is room for, and for what is not ASCII: of that, the same text may be other bytes.
        init?(_ bytes: UnsafeBufferPointer<UInt8>) {
            guard bytes.count <= Self.greatestLength else { return nil }
            withUnsafeMutableBytes(of: &words) { words in
                if !bytes.isEmpty { words.copyMemory(from: UnsafeRawBufferPointer(bytes)) }
                words[Self.greatestLength] = UInt8(bytes.count)
            }
            guard (words.0 | words.1 | words.2 | words.3 | words.4) & 0x8080_8080_8080_8080 == 0 else { return nil }
        }

        func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
            withUnsafeBytes(of: words) { words in
                let bytes = words.bindMemory(to: UInt8.self)
                return body(UnsafeBufferPointer(rebasing: bytes[..<Int(bytes[Self.greatestLength])]))
            }
        }

        static func == (left: Self, right: Self) -> Bool {
            left.words == right.words
        }

        func hash(into hasher: inout Hasher) {
            withUnsafeBytes(of: words) { hasher.combine(bytes: $0) }
        }
    }

    private enum Form: Hashable, Sendable {
        case short(Short)
        case text(String)
    }

    private let form: Form

    package init(_ text: String) {
        var text = text
        self.init(utf8: text.withUTF8 { Short($0) }, or: text)
    }

    /// The same of a text in UTF-8, where it stands.
    package init(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        self.init(utf8: Short(bytes), or: String(decoding: bytes, as: UTF8.self))
    }

    private init(utf8 short: Short?, or text: @autoclosure () -> String) {
        form = if let short { .short(short) } else { .text(text()) }
    }

    package var description: String {
        switch form {
        case .short(let short): short.withUTF8 { String(decoding: $0, as: UTF8.self) }
        case .text(let text): text
        }
    }

    /// The digest that it is, where it is 32 hexadecimal digits.
    package var md5: MD5Digest? { withUTF8 { MD5Digest(hex: $0) } }

    package func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        switch form {
        case .short(let short): return short.withUTF8(body)
        case .text(var text): return text.withUTF8(body)
        }
    }
}
