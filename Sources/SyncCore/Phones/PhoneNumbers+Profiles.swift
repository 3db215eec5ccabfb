/// What a profile's id is, as far as it can be told.
package enum ProfileIdentity: Hashable, Sendable {
    /// A UUID, a name, a short number: it may stand in keys.
    case id
    case number(PhoneNumber)
    /// It looks like a telephone number, and cannot be read as one. What may be somebody's number comes to stand in no key.
    case unreadNumber
}

extension PhoneNumbers {
    /// The one place that decides whether a profile's id may become part of a key.
    /// - Parameter region: whose numbers may be written without a country code.
    package func identity(ofProfile id: String, region: String?) -> ProfileIdentity {
        if let number = phoneNumber(ofProfile: id, region: region) { return .number(number) }
        return isWrittenAsNumber(ofProfile: id, region: region) ? .unreadNumber : .id
    }

    /// The telephone number that a profile goes by; `nil` when its id is something else: a UUID, a name, a short number.
    ///
    /// Stricter than ``parse(_:region:)``: a profile's id is a number only when it is nothing but digits and what people
    /// write between them. Letters stand for digits on a keypad, but `grandma-2024` is a name.
    package func phoneNumber(ofProfile id: String, region: String?) -> PhoneNumber? {
        guard Self.isSpelledLikeANumber(id) else { return nil }
        return try? parse(id, region: region)
    }

    /// Whether a profile is written as people write telephone numbers, so that it must be taken for one even where it
    /// cannot be read: it lacks its country, or is too short, or has an extension.
    private func isWrittenAsNumber(ofProfile id: String, region: String?) -> Bool {
        let text = id.lowercased()
        if text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) {
            return isDialledSomewhere(text, region: region)
        }
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

    /// Whether digits alone may be a number. Where no country is set they are one of some country; else they are an id,
    /// unless they begin as numbers do, or are one with the country code in front.
    private func isDialledSomewhere(_ digits: String, region: String?) -> Bool {
        // E.164 has 15 at most, and two zeros may stand in front. The shortest that can be dialled from abroad have 7.
        guard (7...17).contains(digits.utf8.count) else { return false }
        return region == nil || digits.hasPrefix("0") || (try? parse("+\(digits)", region: nil)) != nil
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
