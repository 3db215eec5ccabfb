import FoundationEssentials
import SyncCore
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
        case photos, vacations, projects, archive, restores, shares, status

        var link: String { self == .photos ? "/" : "/\(rawValue)" }
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

/// What `site.mustache` of `SyncPages` reads, by the names of these properties.
struct SiteView: Sendable {
    struct Link: Sendable {
        let label: String
        let target: String
        let isHere: Bool
    }

    struct Item: Sendable {
        let id: String?
        let name: String
        let label: String
        let badge: String?
        let state: String
        let shape: Int
        let isFilm: Bool
        let hasThumbnail: Bool
        let canBeRestored: Bool
        let canBeChosen: Bool
    }

    struct Day: Sendable {
        let name: String
        let machine: String
        var items: [Item]
    }

    struct Timeline: Sendable {
        let page: SitePage.Timeline
        let days: [Day]
        let isEmpty: Bool
        let canRestore: Bool
        let canKeep: Bool

        init(_ page: SitePage.Timeline) {
            self.page = page
            isEmpty = page.items.isEmpty && page.next == nil
            canRestore = page.items.contains(where: \.canBeRestored)
            canKeep = page.items.contains(where: \.canBeKept)
            var days: [Day] = []
            for item in page.items {
                let day = PageDates.day(item.day)
                if days.last?.machine != item.day.description {
                    days.append(Day(name: day, machine: item.day.description, items: []))
                }
                let (width, height) = item.width > 0 && item.height > 0 ? (item.width, item.height) : (1, 1)
                let name = PageText.line(item.name)
                days[days.count - 1].items.append(
                    Item(
                        id: item.id, name: name, label: "\(name), \(day), \(item.state)", badge: item.badge,
                        state: item.state, shape: min(max((width * 10 + height / 2) / height, 6), 18),
                        isFilm: item.isFilm, hasThumbnail: item.hasThumbnail && item.id != nil,
                        canBeRestored: item.canBeRestored, canBeChosen: item.canBeRestored || item.canBeKept))
            }
            self.days = days
        }
    }

    let title: String
    let links: [Link]
    let formToken: String?
    let follows: Bool
    var timeline: Timeline?
    /// Has what the page shows by the name of its case; of a timeline, what is to be shown is above.
    let content: SitePage.Content

    init(_ page: SitePage) {
        title = PageText.line(page.title)
        let places = page.place == nil ? [] : SitePage.Place.allCases
        links = places.map { Link(label: $0.rawValue.capitalized, target: $0.link, isHere: $0 == page.place) }
        formToken = page.formToken.isEmpty ? nil : page.formToken
        follows = page.follows
        switch page.content {
        case .timeline(let stream):
            timeline = Timeline(stream)
            content = page.content
        case .photo(var photo):
            photo.name = PageText.line(photo.name)
            photo.places = photo.places.map { PageText.line($0, limit: 400) }
            content = .photo(photo)
        case .list(var list):
            for index in list.rows.indices {
                list.rows[index].title = PageText.line(list.rows[index].title)
                list.rows[index].state = PageText.line(list.rows[index].state)
                list.rows[index].facts = list.rows[index].facts.map { PageText.line($0, limit: 400) }
            }
            list.remarks = list.remarks.map { PageText.line($0, limit: 600) }
            content = .list(list)
        case .message(var words):
            words.text = PageText.line(words.text, limit: 600)
            content = .message(words)
        case .offer, .share, .shareForm, .text, .password: content = page.content
        }
    }
}
