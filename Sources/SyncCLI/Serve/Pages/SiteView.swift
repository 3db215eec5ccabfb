import SyncCore
import SyncPages

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
        let address: String
        let days: [Day]
        let filters: [SitePage.Timeline.Filter]
        let search: String
        let next: String?
        let isFirst: Bool
        let isFiltered: Bool
        let isEmpty: Bool
        let whenEmpty: String
        let takesOrders: Bool
        let canRestore: Bool
        let canKeep: Bool
        let about: String?
        let all: String?
        let download: String?
    }

    struct Row: Sendable {
        let title: String
        let state: String
        let facts: [String]
        let link: String?
        let progress: Progress?
        let links: [SitePage.Listing.Link]
        let picture: String?
    }

    struct Progress: Sendable {
        let done: Int
        let total: Int

        init?(_ progress: (done: Int, total: Int)?) {
            guard let progress else { return nil }
            (done, total) = (progress.done, max(progress.total, 1))
        }
    }

    struct Listing: Sendable {
        let facts: [SitePage.Fact]
        let rows: [Row]
        let remarks: [String]
        let isEmpty: Bool
        let whenEmpty: String
        let search: SitePage.Listing.Search?
        let next: String?
    }

    struct Share: Sendable {
        let page: SitePage.Share
        let progress: Progress?
    }

    struct Text: Sendable {
        let lines: String
        let button: SitePage.Listing.Link?
        let remark: String
    }

    struct Message: Sendable {
        let text: String
        let label: String?
        let target: String?
    }

    let title: String
    let links: [Link]
    let formToken: String?
    let follows: Bool
    var timeline: Timeline?
    var photo: SitePage.Photo?
    var offer: SitePage.Offer?
    var listing: Listing?
    var share: Share?
    var shareForm: SitePage.ShareForm?
    var text: Text?
    var message: Message?
    var password: SitePage.Password?

    init(_ page: SitePage) {
        title = PageText.line(page.title)
        links =
            page.place.map { here in
                SitePage.Place.allCases.map { Link(label: $0.rawValue, target: $0.link, isHere: $0 == here) }
            } ?? []
        formToken = page.formToken.isEmpty ? nil : page.formToken
        follows = page.follows
        switch page.content {
        case .timeline(let stream): timeline = Self.timeline(stream)
        case .photo(var photo):
            photo.name = PageText.line(photo.name)
            photo.places = photo.places.map { PageText.line($0, limit: 400) }
            self.photo = photo
        case .offer(let offer): self.offer = offer
        case .list(let list):
            listing = Listing(
                facts: list.facts,
                rows: list.rows.map {
                    Row(
                        title: PageText.line($0.title), state: PageText.line($0.state),
                        facts: $0.facts.map { PageText.line($0, limit: 400) }, link: $0.link,
                        progress: Progress($0.progress), links: $0.links, picture: $0.picture)
                }, remarks: list.remarks.map { PageText.line($0, limit: 600) }, isEmpty: list.rows.isEmpty,
                whenEmpty: list.whenEmpty, search: list.search, next: list.next)
        case .share(let share): self.share = Share(page: share, progress: Progress(share.progress))
        case .shareForm(let form): shareForm = form
        case .text(let words):
            text = Text(lines: words.lines.joined(separator: "\n"), button: words.button, remark: words.remark)
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
                    hasThumbnail: item.hasThumbnail && item.id != nil, canBeRestored: item.canBeRestored,
                    canBeChosen: item.canBeRestored || item.canBeKept))
        }
        return Timeline(
            address: stream.address, days: days, filters: stream.filters, search: stream.search, next: stream.next,
            isFirst: stream.isFirst,
            isFiltered: stream.isFiltered, isEmpty: stream.items.isEmpty && stream.next == nil,
            whenEmpty: stream.whenEmpty,
            takesOrders: stream.takesOrders, canRestore: stream.items.contains(where: \.canBeRestored),
            canKeep: stream.items.contains(where: \.canBeKept), about: stream.about, all: stream.all,
            download: stream.download)
    }
}
