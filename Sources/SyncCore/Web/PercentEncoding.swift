extension StringProtocol {
    /// The UTF-8 bytes with all but RFC 3986's unreserved ones (2.3) as `%XX`, which is also how SigV4 wants it ("UriEncode").
    /// - Parameter keepingSlashes: for a path: `/` stays.
    package func uriEncoded(keepingSlashes: Bool = false) -> String {
        percentEncoded { byte in
            byte.isAlphanumeric || "-_.~".utf8.contains(byte) || keepingSlashes && byte == UInt8(ascii: "/")
        }
    }

    /// The UTF-8 bytes as `%XX`, upper case, where `isKept` says no.
    package func percentEncoded(isKept: (UInt8) -> Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = Array(utf8)
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count)
        for byte in bytes {
            if isKept(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// As that of its bytes.
    package func percentDecoded(plusIsSpace: Bool = false) -> String? {
        String(self).percentDecoded(plusIsSpace: plusIsSpace)
    }
}

extension String {
    /// As that of its bytes. For this type alone: other modules call code for any text, byte by byte, through a table.
    package func percentDecoded(plusIsSpace: Bool = false) -> String? {
        // Most keys of a listing have nothing to be decoded.
        let isPlain = !utf8.contains { $0 == UInt8(ascii: "%") || plusIsSpace && $0 == UInt8(ascii: "+") }
        return isPlain ? self : Array(utf8).percentDecoded(plusIsSpace: plusIsSpace)
    }
}

extension [UInt8] {
    /// The text with each `%XX` as its byte; `nil` when a `%` has no two digits or the bytes are not UTF-8.
    /// - Parameter plusIsSpace: for form encoding (WHATWG URL), which S3 uses for the keys of a listing, too.
    package func percentDecoded(plusIsSpace: Bool = false) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(count)
        var rest = self[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let first = rest.popFirst(), let high = Self.nibble(first), let second = rest.popFirst(),
                    let low = Self.nibble(second)
                else { return nil }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
            default: decoded.append(byte)
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }
}
