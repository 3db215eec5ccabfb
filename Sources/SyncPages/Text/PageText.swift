/// Texts from outside, made fit to be shown. Escaping is another matter: ``PageEscaping``.
enum PageText {
    /// One line: controls and line ends become spaces, marks that turn the direction of the text around them are left
    /// out, runs of spaces become one.
    /// - Parameter limit: characters; what is longer is cut and ends in "…".
    static func line(_ text: String, limit: Int = 160) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator:
                if scalars.last != " ", !scalars.isEmpty { scalars.append(" ") }
            // Format: direction overrides and isolates among them. A joiner (U+200C, U+200D) makes letters and emoji.
            case .format where scalar != "\u{200C}" && scalar != "\u{200D}": continue
            default: scalars.append(scalar)
            }
        }
        if scalars.last == " " { scalars.removeLast() }
        let line = String(scalars)
        return line.count > limit ? line.prefix(limit - 1) + "…" : line
    }

    /// A name that every file system takes, and none reads as a path or as hidden: letters and digits of any script,
    /// `-`, `_` and `.` inside; the rest becomes `_`. At most 100 characters.
    static func fileName(_ text: String) -> String {
        var name = ""
        for character in text {
            let isPlain = character.isLetter || character.isNumber || "-_.".contains(character)
            // A character may be a letter with any number of marks on it.
            let kept = isPlain && character.unicodeScalars.count <= 4 ? character : "_"
            if kept != "_" || name.last != "_" { name.append(kept) }
        }
        let bare = name.prefix(100).drop { "._".contains($0) }
        let end = bare.lastIndex { !"._".contains($0) }
        return end.map { String(bare[...$0]) } ?? "photo"
    }

    /// As one word for a POSIX shell: in single quotes unless nothing in it can be misread.
    static func shellWord(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-._~/:@%+,".utf8.contains($0) }
        // A "~" in front would be the home folder, a "-" an option.
        guard !isPlain || text.isEmpty || text.hasPrefix("~") || text.hasPrefix("-") else { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    /// Bytes in decimal units, two or three digits: `830 kB`, `4.2 MB`, `62 MB`.
    static func size(_ bytes: Int64) -> String {
        var value = Double(max(bytes, 0))
        var unit = 0
        let units = ["bytes", "kB", "MB", "GB", "TB"]
        // 999.5 would be shown as 1000.
        while value >= 999.5, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        let tenths = (value * 10).rounded() / 10
        let shown = unit > 0 && tenths < 10 ? "\(tenths)" : "\(Int(value.rounded()))"
        return "\(shown) \(units[unit])"
    }

    static func photos(_ count: Int) -> String {
        count == 1 ? "1 photo" : "\(count) photos"
    }
}
