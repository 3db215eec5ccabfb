import FoundationEssentials

extension ShareManifestRules {
    private static let maximumCharacters = 500

    /// A text of one line without what moves the cursor, turns the direction of writing or cannot be seen. What a name in
    /// Persian or an emoji is put together with stays (ZWNJ, ZWJ).
    package static func plain(_ text: String) -> String {
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .format where scalar.value == 0x200C || scalar.value == 0x200D: plain.append(scalar)
            case .format, .surrogate, .privateUse, .unassigned: continue
            case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator:
                if plain.last != " " { plain.append(" ") }
            default: plain.append(scalar)
            }
        }
        while plain.last == " " { plain.removeLast() }
        return String(plain.drop { $0 == " " })
    }

    static func checkedText(_ text: String, _ name: String) throws(ShareRefusal) -> String {
        guard text.unicodeScalars.count <= maximumCharacters else {
            throw ShareRefusal("\(name) is longer than \(maximumCharacters) characters")
        }
        return plain(text)
    }

    /// How deep arrays and objects stand in each other, by their brackets outside of texts.
    static func depth(of json: [UInt8]) -> Int {
        var depth = 0
        var deepest = 0
        var isText = false
        var isEscaped = false
        for byte in json {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isText = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
        return deepest
    }

    static func words(for error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): "\(path(context.codingPath + [key])) is missing in its manifest"
        case .typeMismatch(_, let context), .valueNotFound(_, let context): wrong(context)
        case .dataCorrupted(let context) where context.codingPath.isEmpty:
            // Foundation does not tell where.
            "its manifest is no JSON, or has a number or time in it that is none"
        case .dataCorrupted(let context): wrong(context)
        @unknown default: "its manifest cannot be read"
        }
    }

    private static func wrong(_ context: DecodingError.Context) -> String {
        context.codingPath.isEmpty
            ? "its manifest is no JSON object" : "\(path(context.codingPath)) in its manifest has no value of its kind"
    }

    /// `photos[3].size`: our own names only.
    private static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce("") { path, key in
            if let index = key.intValue { return "\(path)[\(index)]" }
            return path.isEmpty ? key.stringValue : "\(path).\(key.stringValue)"
        }
    }
}
