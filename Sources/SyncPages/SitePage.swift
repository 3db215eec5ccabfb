import FoundationEssentials
package import SyncCore

/// A page of the gallery that `serve` shows to its owner. All of it can be read and used without a script; the script
/// adds keys and an endless stream.
package struct SitePage: Sendable {
    package enum Content: Sendable {
        case timeline(Timeline)
        case photo(Photo)
        case offer(Offer)
        case list(Listing)
        /// What a command prints, line by line.
        case text([String])
        case message(Message)
        case password(Password)
    }

    /// Where the page stands among the others.
    package enum Place: String, Sendable, CaseIterable {
        case photos = "Photos"
        case vacations = "Vacations"
        case restores = "Restores"
        case shares = "Shares"
        case status = "Status"

        var link: String {
            switch self {
            case .photos: "/"
            case .vacations: "/vacations"
            case .restores: "/restores"
            case .shares: "/shares"
            case .status: "/status"
            }
        }
    }

    /// The stream of pictures, page by page.
    package struct Timeline: Sendable {
        package struct Item: Sendable {
            /// Hexadecimal MD5; `nil` before the file was read: it has no page yet.
            package var id: String?
            package var name: String
            package var day: CalendarDay
            package var badge: String?
            /// How it stands, in words.
            package var state: String
            /// Pixels; 0 where they are not known.
            package var width: Int
            package var height: Int
            package var isFilm: Bool
            package var hasThumbnail: Bool
            package var canBeRestored: Bool

            package init(
                id: String?, name: String, day: CalendarDay, badge: String?, state: String, width: Int, height: Int,
                isFilm: Bool, hasThumbnail: Bool, canBeRestored: Bool
            ) {
                self.id = id
                self.name = name
                self.day = day
                self.badge = badge
                self.state = state
                self.width = width
                self.height = height
                self.isFilm = isFilm
                self.hasThumbnail = hasThumbnail
                self.canBeRestored = canBeRestored
            }
        }

        /// A choice of a filter; the first stands for no choice.
        package struct Choice: Sendable {
            package var value: String
            package var label: String
            package var isChosen: Bool

            package init(value: String, label: String, isChosen: Bool) {
                self.value = value
                self.label = label
                self.isChosen = isChosen
            }
        }

        package struct Filter: Sendable {
            package var name: String
            package var label: String
            package var choices: [Choice]

            package init(name: String, label: String, choices: [Choice]) {
                self.name = name
                self.label = label
                self.choices = choices
            }
        }

        package var items: [Item]
        package var filters: [Filter]
        package var search: String
        /// The link to what is older; `nil` at the end.
        package var next: String?
        /// Whether it is the beginning of the stream.
        package var isFirst: Bool
        package var isFiltered: Bool
        /// Whether something may be asked for.
        package var takesOrders: Bool

        package init(
            items: [Item], filters: [Filter], search: String, next: String?, isFirst: Bool, isFiltered: Bool,
            takesOrders: Bool
        ) {
            self.items = items
            self.filters = filters
            self.search = search
            self.next = next
            self.isFirst = isFirst
            self.isFiltered = isFiltered
            self.takesOrders = takesOrders
        }
    }

    package struct Fact: Sendable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// One photo, large, with what is known of it.
    package struct Photo: Sendable {
        package var id: String
        package var name: String
        package var badge: String?
        package var state: String
        package var facts: [Fact]
        package var places: [String]
        /// Its picture can be shown; else its thumbnail, if there is one.
        package var hasPicture: Bool
        package var hasThumbnail: Bool
        package var isFilm: Bool
        package var canBeRestored: Bool
        /// Its file, or the stored copy.
        package var download: String?

        package init(
            id: String, name: String, badge: String?, state: String, facts: [Fact], places: [String],
            hasPicture: Bool, hasThumbnail: Bool, isFilm: Bool, canBeRestored: Bool, download: String?
        ) {
            self.id = id
            self.name = name
            self.badge = badge
            self.state = state
            self.facts = facts
            self.places = places
            self.hasPicture = hasPicture
            self.hasThumbnail = hasThumbnail
            self.isFilm = isFilm
            self.canBeRestored = canBeRestored
            self.download = download
        }
    }

    /// What a restore would cost and take, before it is asked for.
    package struct Offer: Sendable {
        package struct Tier: Sendable {
            package var value: String
            package var label: String
            package var price: String
            package var wait: String
            package var isChosen: Bool

            package init(value: String, label: String, price: String, wait: String, isChosen: Bool) {
                self.value = value
                self.label = label
                self.price = price
                self.wait = wait
                self.isChosen = isChosen
            }
        }

        package var photos: [String]
        package var summary: String
        package var tiers: [Tier]
        /// What is left out of it, and why.
        package var remarks: [String]

        package init(photos: [String], summary: String, tiers: [Tier], remarks: [String]) {
            self.photos = photos
            self.summary = summary
            self.tiers = tiers
            self.remarks = remarks
        }
    }

    package struct Listing: Sendable {
        package struct Row: Sendable {
            package var title: String
            package var state: String
            package var facts: [String]
            package var link: String?
            /// Done and to be done, where it goes on.
            package var progress: (done: Int, total: Int)?

            package init(
                title: String, state: String, facts: [String], link: String? = nil,
                progress: (done: Int, total: Int)? = nil
            ) {
                self.title = title
                self.state = state
                self.facts = facts
                self.link = link
                self.progress = progress
            }
        }

        package var rows: [Row]
        /// What stands there when there are none.
        package var whenEmpty: String

        package init(rows: [Row], whenEmpty: String) {
            self.rows = rows
            self.whenEmpty = whenEmpty
        }
    }

    package struct Message: Sendable {
        package var text: String
        package var link: (label: String, target: String)?

        package init(text: String, link: (label: String, target: String)? = nil) {
            self.text = text
            self.link = link
        }
    }

    package struct Password: Sendable {
        package var problem: String?

        package init(problem: String? = nil) {
            self.problem = problem
        }
    }

    package var title: String
    /// `nil`: a page beside them, and without the way to them.
    package var place: Place?
    /// What each form of the page sends along.
    package var formToken: String
    package var content: Content

    package init(title: String, place: Place?, formToken: String, content: Content) {
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
    package static var style: String { PageTemplate.site.style }
    package static var script: String { PageTemplate.site.script ?? "" }
    /// The header `Content-Security-Policy` of every page (CSP level 3).
    package static var policy: String { PageTemplate.site.policy }
}

/// What `site.mustache` reads, by the names of these properties.
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
    }

    struct Day: Sendable {
        let name: String
        let machine: String
        var items: [Item]
    }

    struct Timeline: Sendable {
        let days: [Day]
        let filters: [SitePage.Timeline.Filter]
        let search: String
        let next: String?
        let isFirst: Bool
        let isFiltered: Bool
        let isEmpty: Bool
        let takesOrders: Bool
    }

    struct Row: Sendable {
        let title: String
        let state: String
        let facts: [String]
        let link: String?
        let hasProgress: Bool
        let done: Int
        let total: Int
    }

    struct Listing: Sendable {
        let rows: [Row]
        let isEmpty: Bool
        let whenEmpty: String
    }

    struct Message: Sendable {
        let text: String
        let label: String?
        let target: String?
    }

    let title: String
    let links: [Link]
    let formToken: String
    var timeline: Timeline?
    var photo: SitePage.Photo?
    var offer: SitePage.Offer?
    var listing: Listing?
    var text: String?
    var message: Message?
    var password: SitePage.Password?

    init(_ page: SitePage) {
        title = PageText.line(page.title)
        links =
            page.place.map { here in
                SitePage.Place.allCases.map { Link(label: $0.rawValue, target: $0.link, isHere: $0 == here) }
            } ?? []
        formToken = page.formToken
        switch page.content {
        case .timeline(let stream): timeline = Self.timeline(stream)
        case .photo(var photo):
            photo.name = PageText.line(photo.name)
            photo.places = photo.places.map { PageText.line($0, limit: 400) }
            self.photo = photo
        case .offer(let offer): self.offer = offer
        case .list(let list):
            listing = Listing(
                rows: list.rows.map {
                    Row(
                        title: PageText.line($0.title), state: PageText.line($0.state),
                        facts: $0.facts.map { PageText.line($0) }, link: $0.link, hasProgress: $0.progress != nil,
                        done: $0.progress?.done ?? 0, total: max($0.progress?.total ?? 1, 1))
                }, isEmpty: list.rows.isEmpty, whenEmpty: list.whenEmpty)
        case .text(let lines): text = lines.joined(separator: "\n")
        case .message(let words):
            message = Message(
                text: PageText.line(words.text, limit: 600), label: words.link?.label, target: words.link?.target)
        case .password(let words): password = words
        }
    }

    private static func timeline(_ stream: SitePage.Timeline) -> Timeline {
        var days: [Day] = []
        for item in stream.items {
            let day = PageDates.day(item.day)
            if days.last?.machine != item.day.description {
                days.append(Day(name: day, machine: item.day.description, items: []))
            }
            let (width, height) = item.width > 0 && item.height > 0 ? (item.width, item.height) : (1, 1)
            let name = PageText.line(item.name)
            days[days.count - 1].items.append(
                Item(
                    id: item.id, name: name, label: "\(name), \(day), \(item.state)", badge: item.badge,
                    state: item.state, shape: min(max((width * 10 + height / 2) / height, 6), 18), isFilm: item.isFilm,
                    hasThumbnail: item.hasThumbnail && item.id != nil, canBeRestored: item.canBeRestored))
        }
        return Timeline(
            days: days, filters: stream.filters, search: stream.search, next: stream.next, isFirst: stream.isFirst,
            isFiltered: stream.isFiltered, isEmpty: stream.items.isEmpty, takesOrders: stream.takesOrders)
    }
}
