/// How a person names a share: by its id, or by a link.
package enum ShareReference: Hashable, Sendable {
    /// In the store of the configuration.
    case id(ShareID)
    /// Its page or its manifest, for everybody who has the link.
    case link(WebLink)

    /// Why a text names no share, with what does.
    package struct Invalid: Error, Hashable, Sendable, CustomStringConvertible {
        package let text: String

        package var description: String {
            let text = WebLink.withoutSecrets(text)
            let shown = text.count > 80 ? "\(text.prefix(80))…" : text
            return
                "\"\(shown.escapingControls)\" names no share: give its id, vacationphotos://share/ID, or the http(s) "
                + "link of its page or manifest, without user and password"
        }
    }

    private static let appLink = "vacationphotos://share/"

    package init(_ text: String) throws(Invalid) {
        // A link that was pasted may bring spaces and an end of line along.
        let trimmed = text.trimmingPrefix(while: \.isWhitespace).reversed().drop(while: \.isWhitespace)
        let name = String(trimmed.reversed())
        if let id = ShareID(name) {
            self = .id(id)
        } else if name.lowercased().hasPrefix(Self.appLink) {
            let rest = name.dropFirst(Self.appLink.count).prefix { !"/?#".contains($0) }
            guard let id = ShareID(String(rest)) else { throw Invalid(text: text) }
            self = .id(id)
        } else if let link = WebLink(name) {
            self = .link(link)
        } else {
            throw Invalid(text: text)
        }
    }

    /// The share, where the reference tells: a link does when it leads to the objects of one (`…/shares/ID/…`).
    package var shareID: ShareID? {
        switch self {
        case .id(let id): return id
        case .link(let link):
            let segments = link.path.split(separator: "/")
            return zip(segments, segments.dropFirst()).reversed().lazy
                .filter { $0.0 == "shares" }.compactMap { ShareID(String($0.1)) }.first
        }
    }
}
