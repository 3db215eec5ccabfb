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

/// What pages show.
extension SitePage {
    /// The stream of pictures, page by page.
    struct Timeline: Sendable {
        struct Item: Sendable {
            /// Hexadecimal MD5; `nil` before the file was read: it has no page yet.
            var id: String?
            var name: String
            var day: CalendarDay
            var badge: String?
            /// How it stands, in words.
            var state: String
            /// Pixels; 0 where they are not known.
            var width: Int
            var height: Int
            var isFilm: Bool
            var hasThumbnail: Bool
            var canBeRestored: Bool
            /// Its bytes can be had now.
            var canBeKept: Bool
        }

        /// A choice of a filter; the first stands for no choice.
        struct Choice: Sendable {
            var value: String
            var label: String
            var isChosen: Bool
        }

        struct Filter: Sendable {
            var name: String
            var label: String
            var choices: [Choice]
        }

        /// Of the first page, without a query.
        var address: String
        var items: [Item]
        var filters: [Filter]
        var search: String
        /// The link to what is older; `nil` at the end.
        var next: String?
        /// Whether it is the beginning of the stream.
        var isFirst: Bool
        var isFiltered: Bool
        /// What stands there when there is nothing at all.
        var whenEmpty: String
        /// Whether something may be asked for.
        var takesOrders: Bool
        /// What the stream is of, in a sentence.
        var about: String?
        /// The link to the offer for all of the page that can come back.
        var all: String?
        /// The link to one file with all of it that can be read.
        var download: String?
    }

    struct Fact: Sendable {
        var name: String
        var value: String

        init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    /// One photo, large, with what is known of it.
    struct Photo: Sendable {
        /// Something that is stored of it beside its copy.
        struct Further: Sendable {
            var text: String
            var links: [Listing.Link]
        }

        var id: String
        var name: String
        var badge: String?
        var state: String
        var facts: [Fact]
        var places: [String]
        var further: [Further] = []
        /// Its picture can be shown; else its thumbnail, if there is one.
        var hasPicture: Bool
        var hasThumbnail: Bool
        var isFilm: Bool
        var canBeRestored: Bool
        /// Its file, or the stored copy.
        var download: String?
    }

    /// What a restore would cost and take, before it is asked for.
    struct Offer: Sendable {
        struct Tier: Sendable {
            var value: String
            var label: String
            var price: String
            /// The same as a number, which the order brings back: nobody pays what nobody was shown.
            var dollars: String
            var wait: String
            var isChosen: Bool
        }

        var photos: [String]
        /// The number of a vacation that is to come back.
        var vacation: String?
        var summary: String
        var tiers: [Tier]
        /// Classes that no price is known of; the order brings them back.
        var unpriced: [String] = []
        /// What is left out of it, and why.
        var remarks: [String]
    }

    /// Cards.
    struct Listing: Sendable {
        struct Link: Sendable {
            var label: String
            var target: String

            init(_ label: String, _ target: String) { (self.label, self.target) = (label, target) }
        }

        struct Row: Sendable {
            var title: String
            var state: String
            var facts: [String]
            var link: String?
            var progress: Progress?
            var links: [Link] = []
            /// The address of a small picture.
            var picture: String?
        }

        struct Search: Sendable {
            var address: String
            var text: String
            var label: String
            var filters: [Timeline.Filter]
            var isFiltered: Bool
        }

        /// Of all of them together.
        var facts: [Fact] = []
        var rows: [Row]
        /// What has to be said besides, a sentence each.
        var remarks: [String] = []
        /// What stands there when there are none.
        var whenEmpty: String
        var search: Search?
        /// The link to further ones.
        var next: String?
    }

    /// How far something is that goes on.
    struct Progress: Sendable {
        var done: Int
        var total: Int

        init(_ done: Int, of total: Int) { (self.done, self.total) = (done, max(total, 1)) }
    }

    /// One share, with its link.
    struct Share: Sendable {
        /// A square picture as an SVG path.
        struct Code: Sendable {
            var side: Int
            var path: String
        }

        var id: String
        var state: String
        var facts: [Fact]
        /// Absolute, or beginning with a slash; `nil` while nobody can see it.
        var link: String?
        /// What opens a message with the link in it.
        var send: [Listing.Link] = []
        /// When the link ends, and why then.
        var linkEnd: String?
        /// The same as a QR code; `nil` where no other machine can open it.
        var code: Code?
        /// Who can open the link, in words.
        var reach: String
        var canBeEnded: Bool
        var progress: Progress?
        /// `nil` where no photo of a guest waits.
        var guests: Guests?
    }

    /// Photos that guests have added to a share, and that nobody else sees.
    struct Guests: Sendable {
        struct Photo: Sendable {
            var number: Int
            /// Its size, and when it came.
            var facts: String
        }

        var photos: [Photo]
        var canDecide: Bool
    }

    /// Sharing a vacation: its photos, to choose among by looking.
    struct ShareForm: Sendable {
        struct Photo: Sendable {
            var id: String
            var name: String
            var isChosen: Bool
        }

        /// An open share, and what becomes of it; the order brings its id back.
        struct Update: Sendable {
            var share: String
            var text: String
        }

        /// What bringing photos back costs first; the order brings the number back.
        struct Price: Sendable {
            var dollars: String
            var text: String
        }

        /// Its number.
        var vacation: String
        var photos: [Photo]
        var sharedBy: String
        var days: Int
        var isFull: Bool
        var remarks: [String]
        /// Open shares of the same vacation, which stay as they are.
        var others: [Listing.Link]
        /// The one that changes by this order.
        var update: Update?
        var price: Price?
        /// Whether guests could reach its page.
        var canTakeGuests = false
        var takesGuests = false
        /// What the button that ticks photos says.
        var all = "Tick all"
    }

    /// What a command prints.
    struct Text: Sendable {
        var lines: String
        /// A form without fields.
        var button: Listing.Link?
        /// What the button does, in words.
        var remark: String
    }

    struct Message: Sendable {
        var text: String
        var link: Listing.Link?
    }

    struct Password: Sendable {
        var problem: String?
    }
}
