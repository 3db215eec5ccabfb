import SyncCore

/// A configuration as written: the YAML tree without anchors and tags, each part with its line.
struct ConfigNode: Sendable {
    enum Content: Sendable {
        /// `isPlain`: written without quotes, so that it may also mean a number, true or false, or nothing.
        case text(String, isPlain: Bool)
        case list([ConfigNode])
        case section([Entry])
    }

    struct Entry: Sendable {
        var name: String
        /// Of the name; the value may begin further down.
        var line: Int
        var value: ConfigNode
    }

    var line: Int
    var content: Content

    /// Nothing was written, or one of YAML's words for it.
    var isNull: Bool {
        guard case .text(let text, isPlain: true) = content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    /// The node in a message: `found …`.
    var summary: String {
        switch content {
        case .list: return "a list"
        case .section: return "a section"
        case .text where isNull: return "nothing"
        case .text(let text, _) where text.contains("://") && text.contains("@"):
            return "an address with a password"
        case .text(let text, let isPlain):
            guard let shown = ShownText.value(text) else { return ShownText.hidden }
            return isPlain ? shown : "\"\(shown)\""
        }
    }
}
