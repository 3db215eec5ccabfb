/// What names and words of others may hold, and a terminal, a log or a reader of JSON must not see raw.
extension Unicode.Scalar {
    /// Control characters (C0, DEL, C1).
    fileprivate var isControl: Bool { value < 0x20 || isLateControl }

    /// Whether it is a control character of the second set: no terminal line of ours has any.
    fileprivate var isLateControl: Bool { (0x7F...0x9F).contains(value) }

    /// What is not seen, or moves text about without being seen: by marks of the direction of writing (UAX #9) `gpj.exe`
    /// reads as `exe.jpg`, and by blanks without a width two names read as one. Unicode calls most of it ignorable; the
    /// separators of lines and paragraphs, and the frames of annotations, are more of that kind.
    fileprivate var isUnseen: Bool {
        switch value {
        case ..<0xAD: false
        case 0x2028, 0x2029, 0xFFF9...0xFFFB: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }

    /// Whether it has a meaning behind a certain other one, as joiners and variants have in emoji and in some scripts.
    fileprivate func isPart(of base: Unicode.Scalar?) -> Bool {
        guard let base else { return false }
        switch value {
        // A digit with a frame around it, or of the width of text.
        case 0xFE0E...0xFE0F where base.isASCII: return "0123456789#*".unicodeScalars.contains(base)
        case 0x200C, 0x200D, 0x180B...0x180D, 0x180F, 0xFE00...0xFE0F, 0xE0100...0xE01EF: return !base.isASCII
        // The flags of England, Scotland and Wales.
        case 0xE0020...0xE007F: return base == "\u{1F3F4}"
        default: return false
        }
    }
}

extension String {
    /// As one word for a POSIX shell: in single quotes unless nothing in it can be misread.
    package var shellWord: String {
        let isPlain = utf8.allSatisfy { $0.isAlphanumeric || "-._~/:@%+,".utf8.contains($0) }
        // A "~" in front would be the home folder, a "-" an option.
        guard !isPlain || isEmpty || hasPrefix("~") || hasPrefix("-") else { return self }
        return "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    /// The text with control characters, and what is not seen, as `\u{…}`: safe to print on a terminal.
    package var escapingControls: String {
        escapingUnseen(and: \.isControl) { "\\u{\(String($0.value, radix: 16))}" }
    }

    /// The same of a text of several lines, which stay.
    package var escapingControlsInLines: String {
        split(separator: "\n", omittingEmptySubsequences: false).map { String($0).escapingControls }
            .joined(separator: "\n")
    }

    /// The text with what no line of ours has written in another way: what is not seen, and late control characters. The
    /// others are of the terminal's language, as ours is.
    package func escapingForeign(as form: (Unicode.Scalar) -> String) -> String {
        escapingUnseen(and: \.isLateControl, as: form)
    }

    /// The text with some scalars written in another way. By scalars, because a mark that combines with one of them makes
    /// another character of it.
    package func escaping(_ isEscaped: (Unicode.Scalar) -> Bool, as form: (Unicode.Scalar) -> String) -> String {
        guard unicodeScalars.contains(where: isEscaped) else { return self }
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if isEscaped(scalar) { text.append(contentsOf: form(scalar).unicodeScalars) } else { text.append(scalar) }
        }
        return String(text)
    }

    private func escapingUnseen(
        and isEscaped: (Unicode.Scalar) -> Bool, as form: (Unicode.Scalar) -> String
    ) -> String {
        guard unicodeScalars.contains(where: { isEscaped($0) || $0.isUnseen }) else { return self }
        var text = String.UnicodeScalarView()
        var base: Unicode.Scalar?
        for scalar in unicodeScalars {
            let isUnseen = scalar.isUnseen
            if isEscaped(scalar) || isUnseen && !scalar.isPart(of: base) {
                text.append(contentsOf: form(scalar).unicodeScalars)
                base = nil
            } else {
                text.append(scalar)
                if !isUnseen { base = scalar }
            }
        }
        return String(text)
    }
}
