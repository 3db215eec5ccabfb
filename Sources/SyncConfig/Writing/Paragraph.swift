/// Breaks text into lines.
enum Paragraph {
    /// Lines of at most `width` columns, `prefix` included; a word that is longer stands alone on its line.
    static func lines(_ text: String, prefix: String = "", width: Int = 80) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, prefix.count + line.count + 1 + word.count > width {
                lines.append(prefix + line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return line.isEmpty ? lines : lines + [prefix + line]
    }
}
