extension PhoneNumbers {
    /// The telephone number that a profile goes by; `nil` when its id is something else: a UUID, a name, a short number.
    ///
    /// Stricter than ``parse(_:region:)``: a profile's id is a number only when it is nothing but digits and what people
    /// write between them. Letters stand for digits on a keypad, but `grandma-2024` is a name.
    package func phoneNumber(ofProfile id: String, region: String?) -> PhoneNumber? {
        guard Self.isSpelledLikeANumber(id) else { return nil }
        return try? parse(id, region: region)
    }

    /// Whether a profile is written as people write telephone numbers, so that it must be taken for one even where it
    /// cannot be read: it lacks its country, or is too short, or has an extension. Digits alone may be an id.
    package func isWrittenAsNumber(ofProfile id: String) -> Bool {
        let text = id.lowercased()
        if text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) { return false }
        if text.hasPrefix("tel:") || Self.isSpelledLikeANumber(id) { return true }
        let scalars = text.unicodeScalars.drop { !Self.isDigit($0) && !"+＋".unicodeScalars.contains($0) }
        let before = text.unicodeScalars.prefix(upTo: scalars.startIndex)
        guard let first = scalars.first, !before.contains(where: \.properties.isAlphabetic) else { return false }
        if !Self.isDigit(first) { return true }
        // What follows the number itself.
        let end = scalars.firstIndex(where: \.properties.isAlphabetic) ?? scalars.endIndex
        let (number, rest) = (text.unicodeScalars[..<end], String(scalars[end...]))
        guard number.count(where: Self.isDigit) >= 7 else { return false }
        return rest.hasPrefix("x") || rest.hasPrefix("ext") || number.contains { " ()".unicodeScalars.contains($0) }
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .decimalNumber
    }

    private static func isSpelledLikeANumber(_ text: String) -> Bool {
        // RFC 3966
        let number = text.lowercased().hasPrefix("tel:") ? text.dropFirst(4) : text[...]
        var digits = 0
        for scalar in number.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .decimalNumber: digits += 1
            // Format: the marks for the direction of writing that address books put around a number.
            case .spaceSeparator, .dashPunctuation, .openPunctuation, .closePunctuation, .format: continue
            default: guard "+＋./−".unicodeScalars.contains(scalar) else { return false }
            }
        }
        // The shortest numbers that can be dialled from abroad have 7 digits with their country code (E.164 sets none).
        return (7...20).contains(digits)
    }
}
