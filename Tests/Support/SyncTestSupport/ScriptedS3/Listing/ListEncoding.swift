import SyncCore

/// How a listing writes keys.
enum ListEncoding {
    case plain
    /// `encoding-type=url`. S3 encodes as HTML forms do: a space becomes `+`, and `*` stays.
    case url

    func text(_ key: String) -> String {
        guard self == .url else { return key }
        var encoded = ""
        for byte in key.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "*"), UInt8(ascii: "/"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: " "): encoded += "+"
            default: encoded += "%" + [byte].hexadecimal.uppercased()
            }
        }
        return encoded
    }
}
