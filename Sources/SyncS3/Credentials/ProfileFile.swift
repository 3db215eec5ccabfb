/// A file of AWS profiles: `~/.aws/credentials` or `~/.aws/config`.
///
/// Source: AWS SDKs and Tools Reference Guide, "Shared config and credentials files". Lines are `[section]`,
/// `name = value`, or a comment that begins with `#` or `;`; behind a value, a comment begins with ` #` or ` ;`. Indented
/// lines are settings inside a setting (`s3 =`), none of which concern us.
package struct ProfileFile: Hashable, Sendable {
    package enum Kind: Sendable {
        /// Sections are named after profiles.
        case credentials
        /// Sections are `[default]` and `[profile NAME]`.
        case config
    }

    /// Settings of each profile, by their lower-case names.
    package private(set) var profiles: [String: [String: String]] = [:]

    package init(_ text: String, kind: Kind) {
        var profile: String?
        for line in text.split(whereSeparator: \.isNewline) {
            guard let first = line.first(where: { $0 != "\u{FEFF}" }), first != "#", first != ";" else { continue }
            if let title = Self.sectionTitle(line) {
                profile = Self.profileName(title, kind: kind)
                if let profile { profiles[profile, default: [:]] = profiles[profile] ?? [:] }
            } else if !first.isWhitespace, let profile, let equals = line.firstIndex(of: "=") {
                let name = line[..<equals].trimmingSpaces().lowercased()
                let value = Self.withoutComment(line[line.index(after: equals)...])
                profiles[profile, default: [:]][name] = value.trimmingSpaces()
            }
        }
    }

    private static func sectionTitle(_ line: Substring) -> String? {
        let line = withoutComment(line.drop { $0 == "\u{FEFF}" || $0.isWhitespace }).trimmingSpaces()
        guard line.hasPrefix("["), line.hasSuffix("]") else { return nil }
        return line.dropFirst().dropLast().trimmingSpaces()
    }

    /// `nil` for sections that are no profile: `[sso-session x]`, `[services x]`.
    private static func profileName(_ title: String, kind: Kind) -> String? {
        let words = title.split(whereSeparator: \.isWhitespace)
        switch kind {
        case .credentials: return title
        case .config where title == "default": return title
        case .config where words.count > 1 && words[0] == "profile":
            return words.dropFirst().joined(separator: " ").trimmingQuotes()
        case .config: return nil
        }
    }

    private static func withoutComment(_ text: Substring) -> Substring {
        var before: Character?
        for index in text.indices {
            if text[index] == "#" || text[index] == ";", before?.isWhitespace == true { return text[..<index] }
            before = text[index]
        }
        return text
    }
}

extension StringProtocol {
    fileprivate func trimmingSpaces() -> String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    fileprivate func trimmingQuotes() -> String {
        guard count > 1, let first, first == last, first == "\"" || first == "'" else { return String(self) }
        return String(dropFirst().dropLast())
    }
}
