/// A page of the gallery that `serve` shows to its owner. All of it can be read and used without a script; the script
/// adds keys and an endless stream.
package struct SitePage: Sendable {
    package enum Content: Sendable {
        case timeline(Timeline)
        case photo(Photo)
        case offer(Offer)
        case list(Listing)
        case share(Share)
        case shareForm(ShareForm)
        case text(Text)
        case message(Message)
        case password(Password)
    }

    /// Where the page stands among the others.
    package enum Place: String, Sendable, CaseIterable {
        case photos = "Photos"
        case vacations = "Vacations"
        case projects = "Projects"
        case archive = "Archive"
        case restores = "Restores"
        case shares = "Shares"
        case status = "Status"

        var link: String {
            switch self {
            case .photos: "/"
            case .vacations: "/vacations"
            case .projects: "/projects"
            case .archive: "/archive"
            case .restores: "/restores"
            case .shares: "/shares"
            case .status: "/status"
            }
        }
    }

    package var title: String
    /// `nil`: a page beside them, and without the way to them.
    package var place: Place?
    /// What each form of the page sends along.
    package var formToken: String
    package var content: Content

    /// Its script shows it anew when something has changed.
    package var follows: Bool

    package init(title: String, place: Place?, formToken: String, content: Content, follows: Bool = false) {
        self.follows = follows
        self.title = title
        self.place = place
        self.formToken = formToken
        self.content = content
    }

    /// The whole page as UTF-8 text.
    package func html() throws(PageError) -> String {
        try PageTemplate.site.render(SiteView(self))
    }

    /// What the pages are dressed in, and the script, as files of their own.
    /// Of the browser's tab, and what stands for a picture that cannot be made (SVG).
    package static let icon = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="3" y="6" width="26" height="20" rx="3" fill="none" \
        stroke="#6f8f8c" stroke-width="2"/><circle cx="11" cy="13" r="2.5" fill="#6f8f8c"/><path d="M6 24l8-8 5 5 3-3 5 6z" \
        fill="#6f8f8c"/></svg>
        """
    package static var style: String { PageTemplate.site.style }
    package static var script: String { PageTemplate.site.script ?? "" }
    /// The header `Content-Security-Policy` of every page (CSP level 3).
    package static var policy: String { PageTemplate.site.policy }
}
