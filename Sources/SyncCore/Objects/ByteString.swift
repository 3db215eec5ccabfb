/// A name that somebody else has given, equal only to the same bytes: an id, a name of a file, a key.
///
/// Two texts are equal for `String` when they show the same, `é` as one character and as `e` with an accent behind it; for
/// a store, a file system, SQLite and the app that made them, they are two. Whoever keeps such names in a set, as keys of a
/// dictionary, or compares them, does it by this type.
package struct ByteString: Hashable, Sendable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
    package let string: String

    package init(_ string: String) {
        self.string = string
    }

    package init(stringLiteral value: String) {
        string = value
    }

    package static func == (left: ByteString, right: ByteString) -> Bool {
        left.string.utf8.elementsEqual(right.string.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }

    package static func < (left: ByteString, right: ByteString) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }

    package var description: String { string }
}

extension String {
    /// The name as what it is compared by.
    package var inBytes: ByteString { ByteString(self) }
}
