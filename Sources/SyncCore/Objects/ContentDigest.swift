/// A digest of some bytes.
package struct Digest<Algorithm: DigestAlgorithm>: Hashable, Sendable, CustomStringConvertible {
    package static var length: Int { Algorithm.length }
    package let bytes: [UInt8]

    /// `nil` unless there are as many bytes as the digest has.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    /// `nil` unless the text is two hexadecimal digits for each byte.
    package init?(hex: some StringProtocol) {
        var hex = String(hex)
        guard let digest = hex.withUTF8({ Self(hex: $0) }) else { return nil }
        self = digest
    }

    /// The same of a text in UTF-8, where it stands.
    package init?(hex: UnsafeBufferPointer<UInt8>) {
        guard hex.count == 2 * Self.length, let bytes = [UInt8](hexadecimal: hex) else { return nil }
        self.init(bytes: bytes)
    }

    package var description: String { bytes.hexadecimal }
}

package protocol DigestAlgorithm {
    /// Bytes of a digest.
    static var length: Int { get }
}

/// RFC 1321. An identity and a transport check, not a defence against forgery.
package enum MD5: DigestAlgorithm { package static let length = 16 }

/// FIPS 180-4.
package enum SHA256: DigestAlgorithm { package static let length = 32 }

package typealias MD5Digest = Digest<MD5>
package typealias SHA256Digest = Digest<SHA256>

/// Both digests of the same bytes, made in one pass.
package struct ContentDigest: Hashable, Sendable {
    package let md5: MD5Digest
    package let sha256: SHA256Digest

    package init(md5: MD5Digest, sha256: SHA256Digest) {
        self.md5 = md5
        self.sha256 = sha256
    }
}

/// The identity of a photo: the MD5 of its bytes on the disk. Printed as 32 lower-case hexadecimal digits.
package struct PhotoID: Hashable, Sendable, CustomStringConvertible {
    package let md5: MD5Digest

    package init(_ md5: MD5Digest) {
        self.md5 = md5
    }

    package var description: String { md5.description }
}

extension [UInt8] {
    /// Lower-case hexadecimal, two digits a byte.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(unsafeUninitializedCapacity: count * 2) { buffer in
            for (index, byte) in enumerated() {
                buffer[2 * index] = digits[Int(byte >> 4)]
                buffer[2 * index + 1] = digits[Int(byte & 15)]
            }
            return count * 2
        }
    }

    /// `nil` unless the text has an even number of hexadecimal digits and nothing else.
    package init?(hexadecimal text: some StringProtocol) {
        var text = String(text)
        guard let bytes = text.withUTF8({ [UInt8](hexadecimal: $0) }) else { return nil }
        self = bytes
    }

    /// The same of digits where they are: a page of a listing has those of a thousand digests, and what is generic looks
    /// its text's type up for each digit.
    fileprivate init?(hexadecimal digits: UnsafeBufferPointer<UInt8>) {
        guard digits.count.isMultiple(of: 2) else { return nil }
        let length = digits.count / 2
        self.init(unsafeUninitializedCapacity: length) { bytes, count in
            while count < length, let high = Self.nibble(digits[2 * count]),
                let low = Self.nibble(digits[2 * count + 1])
            {
                bytes[count] = high << 4 | low
                count += 1
            }
        }
        // The first that is no digit has ended it.
        guard count == length else { return nil }
    }

    static func nibble(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// A name that somebody else has given, equal only to the same bytes: an id, a name of a file, a key.
///
/// Two texts are equal for `String` when they show the same, `é` as one character and as `e` with an accent behind it; for
/// a store, a file system, SQLite and the app that made them, they are two. Whoever keeps such names in a set, as keys of a
/// dictionary, or compares them, does it by this type.
package struct ByteString: Hashable, Sendable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
    package let string: String

    package init(stringLiteral value: String) {
        string = value
    }

    package static func == (left: ByteString, right: ByteString) -> Bool {
        var (left, right) = (left.string, right.string)
        return left.withUTF8 { left in
            right.withUTF8 { right in left.count == right.count && left.sharedBeginning(with: right) == left.count }
        }
    }

    package func hash(into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }

    package static func < (left: ByteString, right: ByteString) -> Bool {
        var (left, right) = (left.string, right.string)
        return left.withUTF8 { left in right.withUTF8 { right in left.precedes(right) } }
    }

    package var description: String { string }
}

extension String {
    /// The name as what it is compared by.
    package var inBytes: ByteString { ByteString(stringLiteral: self) }
}

extension Substring {
    /// What is before an end, by bytes; `nil` where nothing is, or it ends otherwise.
    package func beginning(before ending: String) -> Substring? {
        let bytes = utf8
        guard bytes.count > ending.utf8.count, bytes.suffix(ending.utf8.count).elementsEqual(ending.utf8) else {
            return nil
        }
        return Substring(bytes.dropLast(ending.utf8.count))
    }
}
