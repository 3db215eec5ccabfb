/// An object's key as bytes: a `String` would take the composed and the decomposed form of "ü" for the same key, which
/// S3 does not.
struct ObjectName: Hashable, Comparable, Sendable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    func hasPrefix(_ prefix: [UInt8]) -> Bool { bytes.starts(with: prefix) }

    /// The order of listings: that of the UTF-8 bytes.
    static func < (left: ObjectName, right: ObjectName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
