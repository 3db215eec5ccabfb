/// What names and words of others may hold, and a terminal, a log or a reader of JSON must not see raw.
extension Unicode.Scalar {
    /// Control characters (C0, DEL, C1).
    private var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }

    /// What moves text about without being seen: the separators of lines and paragraphs, and the marks that turn the
    /// direction of writing (UAX #9), by which `gpj.exe` reads as `exe.jpg`. Joiners are part of emoji, and stay.
    package var movesText: Bool {
        switch value {
        case 0x2028, 0x2029, 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Whether it is a control character of the second set: no terminal line of ours has any.
    package var isLateControl: Bool { (0x7F...0x9F).contains(value) }

    fileprivate var isUnprintable: Bool { isControl || movesText }
}

extension String {
    /// The text with control characters, and what else would move it about, as `\u{…}`: safe to print on a terminal.
    package var escapingControls: String {
        escaping(\.isUnprintable) { "\\u{\(String($0.value, radix: 16))}" }
    }

    /// The text with some scalars written in another way. By scalars, because a mark that combines with one of them makes
    /// another character of it.
    package func escaping(
        _ isEscaped: (Unicode.Scalar) -> Bool, as form: (Unicode.Scalar) -> String
    ) -> String {
        guard unicodeScalars.contains(where: isEscaped) else { return self }
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if isEscaped(scalar) { text.append(contentsOf: form(scalar).unicodeScalars) } else { text.append(scalar) }
        }
        return String(text)
    }
}
