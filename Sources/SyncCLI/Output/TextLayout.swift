import SyncCore

/// Widths of text on a terminal, in columns.
enum TextLayout {
    /// How many columns a text takes: East Asian wide characters and emoji take two, combining marks none (after UAX #11).
    static func width(_ text: some StringProtocol) -> Int {
        // One byte is one character here; elsewhere, to find where each ends takes most of the time that words take.
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text.utf8.count }
        return text.reduce(0) { $0 + width($1) }
    }

    static func width(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        if scalar.isASCII { return 1 }
        let hasEmojiPresentation =
            scalar.properties.isEmojiPresentation || character.unicodeScalars.contains { $0.value == 0xFE0F }
        let isWide: Bool =
            switch scalar.value {
            case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
                0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
                0x20000...0x3FFFD:
                true
            default: false
            }
        if isWide || hasEmojiPresentation { return 2 }
        return scalar.properties.generalCategory == .nonspacingMark ? 0 : 1
    }

    /// The text in exactly so many columns: padded, or cut in the middle with an ellipsis, so that the end of a path stays.
    static func fitted(_ text: String, to columns: Int, alignRight: Bool = false) -> String {
        let shortened = shortened(text, to: columns)
        let padding = String(repeating: " ", count: max(columns - width(shortened), 0))
        return alignRight ? padding + shortened : shortened + padding
    }

    /// The text in at most so many columns.
    static func shortened(_ text: String, to columns: Int) -> String {
        guard width(text) > columns, columns > 1 else { return text }
        let head = prefix(of: text, columns: (columns - 1) / 3)
        let tail = String(prefix(of: String(text.reversed()), columns: columns - 1 - width(head)).reversed())
        return head + "…" + tail
    }

    /// Lines of at most so many columns, broken at spaces where there are any.
    static func wrapped(_ text: String, to columns: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ", omittingEmptySubsequences: true) {
            if !line.isEmpty, width(line) + 1 + width(word) > columns {
                lines.append(line)
                line = ""
            }
            if !line.isEmpty { line += " " }
            // Not by an operator, which takes any sequence, and looks up at run time what one of characters is.
            line.append(contentsOf: word)
            while width(line) > columns {
                let head = prefix(of: line, columns: columns)
                guard !head.isEmpty else { break }
                lines.append(head)
                line.removeFirst(head.count)
            }
        }
        return line.isEmpty ? lines : lines + [line]
    }

    private static func prefix(of text: String, columns: Int) -> String {
        var used = 0
        return String(
            text.prefix { character in
                used += width(character)
                return used <= columns
            })
    }
}

/// Rows of cells in columns, for terminals.
struct Table {
    struct Column {
        /// `nil` for the last one, which takes what is left.
        fileprivate var width: Int?
        fileprivate var alignsRight = false
        fileprivate var gap = 0

        /// - Parameter gap: the columns that stay empty behind it.
        static func left(_ width: Int, gap: Int = 0) -> Column { Column(width: width, gap: gap) }
        static func right(_ width: Int, gap: Int = 0) -> Column { Column(width: width, alignsRight: true, gap: gap) }
        static let rest = Column(width: nil)
    }

    private let indent: String
    private let columns: [Column]

    init(indent: Int = 0, _ columns: Column...) {
        self.init(indent: indent, columns)
    }

    init(indent: Int = 0, _ columns: [Column]) {
        self.indent = String(repeating: " ", count: indent)
        self.columns = columns
    }

    func row(_ cells: String..., first: (String) -> String = { $0 }) -> String { row(cells, first: first) }

    /// - Parameter first: gives the first cell its style, once it is as wide as its column.
    func row(_ cells: [String], first: (String) -> String = { $0 }) -> String {
        var line = ""
        for (index, (cell, column)) in zip(cells, columns).enumerated() {
            guard let width = column.width else {
                line += cell
                continue
            }
            let text = TextLayout.fitted(cell, to: width, alignRight: column.alignsRight)
            line += (index == 0 ? first(text) : text) + String(repeating: " ", count: column.gap)
        }
        while line.last == " " { line.removeLast() }
        return indent + line
    }

    /// A row whose last cell is these lines, one below the other.
    func rows(_ cells: String..., last: [String], first: (String) -> String = { $0 }) -> [String] {
        last.enumerated().map { index, text in
            index == 0 ? row(cells + [text], first: first) : row(cells.map { _ in "" } + [text])
        }
    }
}

extension Terminal {
    /// No line of prose is longer, however wide the terminal.
    var textWidth: Int { min(width, 100) }

    /// Whether a table of so many columns would be torn apart: then what is in a row stands below each other.
    func isNarrow(for columns: Int) -> Bool { width < columns }

    /// A text in lines that fit, each behind so many spaces.
    func wrapped(_ text: String, indent: Int = 0, _ style: Style? = nil) -> [String] {
        TextLayout.wrapped(text, to: max(textWidth - indent, 8)).map { line in
            String(repeating: " ", count: indent) + (style.map { styled(line, $0) } ?? line)
        }
    }
}

extension String {
    /// As a shell takes it for one word.
    var asShellWord: String {
        let isPlain = utf8.allSatisfy { byte in
            byte >= 0x80 || Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber
                || "-._/+,:@".utf8.contains(byte)
        }
        guard self == escapingControls else { return asWordInBytes }
        if isPlain, !isEmpty { return self }
        return "'" + replacing("'", with: "'\\''") + "'"
    }

    /// With what a terminal acts on or does not show as its bytes (bash(1), QUOTING; zsh has the same).
    private var asWordInBytes: String {
        let bytes: (Unicode.Scalar) -> String = { scalar in
            String(scalar).utf8.map { "\\x" + $0.padded(to: 2, radix: 16) }.joined()
        }
        let quoted = replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        return "$'" + quoted.escapingForeign(as: bytes).escaping({ $0.value < 0x20 }, as: bytes) + "'"
    }
}
