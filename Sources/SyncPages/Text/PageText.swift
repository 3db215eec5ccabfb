import SyncCore

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
    /// `-`, `_` and `.` inside; the rest becomes `_`. At most 100 scalars.
    static func fileName(_ text: String) -> String {
        // Not by characters: one may join a letter with what follows it, a quote or a semicolon too (UAX #29, GB9b).
        var name: [Unicode.Scalar] = []
        var marks = 0
        for scalar in text.unicodeScalars {
            var kept = scalar
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
                .letterNumber, .otherNumber:
                marks = 0
            case .nonspacingMark, .spacingMark:
                // On a letter, and not any number of them.
                let isOnLetter = name.last.map { !"-_.".contains($0) } ?? false
                if marks >= 3 || !isOnLetter { kept = "_" }
                marks += 1
            default: if !"-_.".contains(scalar) { kept = "_" }
            }
            if kept != "_" || name.last != "_" { name.append(kept) }
        }
        let bare = name.prefix(100).drop { "._".contains($0) }
        guard let end = bare.lastIndex(where: { !"._".contains($0) }) else { return "photo" }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: bare[...end])
        return String(view)
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
        count.counted("photo")
    }
}

extension String {
    fileprivate func contains(_ scalar: Unicode.Scalar) -> Bool { unicodeScalars.contains(scalar) }
}
