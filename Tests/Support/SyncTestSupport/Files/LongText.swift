/// A text as the argument of a test. Swift Testing tells each argument several times with each case, to the last byte
/// and byte by byte: with one of 4 MiB, that took ten seconds of a run and most of its log.
package struct LongText: CustomStringConvertible, Sendable {
    /// What is longer is told by its beginning and its length.
    private static let toldWhole = 4_000

    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package var description: String {
        let length = text.utf8.count
        if length <= Self.toldWhole { return text }
        return "\(String(decoding: text.utf8.prefix(80), as: UTF8.self))… (\(length) bytes)"
    }
}
