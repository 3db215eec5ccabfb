/// The name of a share, and all that protects it where everybody can read it: a version 4 UUID (RFC 9562, 5.4), 122
/// random bits, in lower case.
package struct ShareID: Hashable, Sendable, LosslessStringConvertible {
    package let description: String

    /// `nil` unless the text is a UUID in its usual form, in either case.
    package init?(_ description: String) {
        let groups = description.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
            groups.allSatisfy({ $0.unicodeScalars.allSatisfy { $0.isASCII && $0.properties.isASCIIHexDigit } })
        else { return nil }
        self.description = description.lowercased()
    }

    /// A new one.
    /// - Parameter generator: has to be fit for secrets, as the system's is (getrandom(2)).
    package init(using generator: inout some RandomNumberGenerator) {
        var bytes = (0..<2).flatMap { _ in
            withUnsafeBytes(of: generator.next() as UInt64) { Array($0) }
        }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        description = text
    }
}
