import SyncPages

/// A page of the gallery that `serve` shows to its owner. All of it can be read and used without a script; the script
/// adds keys and an endless stream.
struct SitePage: Sendable {
    enum Content: Sendable {
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
    enum Place: String, Sendable, CaseIterable {
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

    var title: String
    /// `nil`: a page beside them, and without the way to them.
    var place: Place?
    /// What each form of the page sends along.
    var formToken: String
    var content: Content

    /// Its script shows it anew when something has changed.
    var follows = false

    /// The whole page as UTF-8 text.
    func html() throws(PageError) -> String {
        try SiteTemplate.html(SiteView(self))
    }

    /// Of the browser's tab, and what stands for a picture that cannot be made (SVG).
    static let icon = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="3" y="6" width="26" height="20" rx="3" fill="none" \
        stroke="#6f8f8c" stroke-width="2"/><circle cx="11" cy="13" r="2.5" fill="#6f8f8c"/><path d="M6 24l8-8 5 5 3-3 5 6z" \
        fill="#6f8f8c"/></svg>
        """
}
