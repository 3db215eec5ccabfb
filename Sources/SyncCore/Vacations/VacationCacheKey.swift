@_spi(_Unicode) import Swift

/// The name of what is stored of a vacation: `{location}_{startDate}_{endDate}_{photoCount}`, as in
/// `Paris_France_2024-06-15_2024-06-22_45`. It is a segment of an object key.
package enum VacationCacheKey {
    /// Bytes of UTF-8 that a location may take.
    private static let maximumLength = 200

    package static func text(location: String, days: ClosedRange<CalendarDay>, photoCount: Int) -> String {
        "\(segment(of: location))_\(days.lowerBound)_\(days.upperBound)_\(photoCount)"
    }

    /// The key of one of several vacations that have the same: the first as it is, then `…-2`.
    package static func text(_ cacheKey: String, number: Int) -> String {
        number == 1 ? cacheKey : "\(cacheKey)-\(number)"
    }

    /// Whether a text is ``text(_:number:)`` of this key, whatever the number. A key ends with the count of photos, so that
    /// none is another with a number.
    package static func isText(_ text: String, numbering cacheKey: String) -> Bool {
        guard text.hasPrefix(cacheKey) else { return false }
        let rest = text.dropFirst(cacheKey.count)
        return rest.isEmpty || rest.first == "-" && Int(rest.dropFirst()).map { $0 > 1 } ?? false
    }

    /// A location in the Unicode Normalization Form C, so that the names that macOS and Linux give one folder are one key.
    /// Every run of characters other than letters, digits, marks and `-` is one `_`.
    private static func segment(of location: String) -> String {
        var composed = String.UnicodeScalarView()
        composed.append(contentsOf: location._nfc)
        let words = composed.split { !isKept($0) }.map { String($0) }.joined(separator: "_")
        var result = ""
        var length = 0
        for character in words {
            length += character.utf8.count
            if length > maximumLength { break }
            result.append(character)
        }
        while result.last == "_" { result.removeLast() }
        return result.isEmpty ? "vacation" : result
    }

    private static func isKept(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.isASCIILetterOrDigit || scalar == "-" }
        return switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
            true
        default: false
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isASCIILetterOrDigit: Bool {
        ("a"..."z").contains(self) || ("A"..."Z").contains(self) || ("0"..."9").contains(self)
    }
}
