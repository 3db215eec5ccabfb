import Glibc

extension String {
    /// As the text of an XML element.
    var xmlEscaped: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}

/// Texts of a document, where its bytes are.
extension [UInt8] {
    /// Where a byte stands first in a part of it. By memchr(3): a loop takes ten instructions for each byte, and all of a
    /// listing is looked through for `<` and `&`.
    func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        withUnsafeBytes { bytes in
            let part = UnsafeRawBufferPointer(rebasing: bytes[range])
            return part.baseAddress.flatMap { start in
                memchr(start, Int32(byte), part.count).map { range.lowerBound + (UnsafeRawPointer($0) - start) }
            }
        }
    }

    /// The text behind the references of XML; `nil` where one is not among those that every document has.
    func xmlText(in range: Range<Int>) -> String? { xmlBytes(in: range).map { String(decoding: $0, as: UTF8.self) } }

    /// As ``xmlText(in:)``, in UTF-8: the same bytes where there is no reference.
    func xmlBytes(in range: Range<Int>) -> ArraySlice<UInt8>? {
        guard var mark = firstIndex(of: UInt8(ascii: "&"), in: range) else { return self[range] }
        var text: [UInt8] = []
        text.reserveCapacity(range.count)
        var start = range.lowerBound
        while true {
            text += self[start..<mark]
            guard let end = firstIndex(of: UInt8(ascii: ";"), in: mark..<range.upperBound),
                let scalar = Self.scalar(self[(mark + 1)..<end])
            else { return nil }
            text += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            start = end + 1
            guard let next = firstIndex(of: UInt8(ascii: "&"), in: start..<range.upperBound) else { break }
            mark = next
        }
        text += self[start..<range.upperBound]
        return text[...]
    }

    private static func scalar(_ name: ArraySlice<UInt8>) -> Unicode.Scalar? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            let name = String(decoding: name, as: UTF8.self)
            guard name.hasPrefix("#") else { return nil }
            let isHexadecimal = name.hasPrefix("#x")
            return UInt32(name.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10)
                .flatMap(Unicode.Scalar.init)
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// By memchr(3), too.
    func has(_ byte: UInt8) -> Bool {
        baseAddress.map { memchr($0, Int32(byte), count) != nil } ?? false
    }
}

/// A name in the document, by its bytes.
func ~= (name: StaticString, bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard name.utf8CodeUnitCount == bytes.count, let start = bytes.baseAddress else { return false }
    return memcmp(name.utf8Start, start, bytes.count) == 0
}

func ~= (name: StaticString, bytes: ArraySlice<UInt8>) -> Bool {
    bytes.withUnsafeBufferPointer { name ~= $0 }
}
