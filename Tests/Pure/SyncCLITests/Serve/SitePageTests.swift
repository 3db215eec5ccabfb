import SyncCore
import SyncTestSupport
import Testing

@testable import SyncCLI

@Suite struct SitePageTests {
    private static let hostile = "\"><script>alert(1)</script>\u{202E}&'`"

    private func item(_ name: String, id: String? = String(repeating: "a", count: 32), day: String = "2024-06-15")
        throws
        -> SitePage.Timeline.Item
    {
        SitePage.Timeline.Item(
            id: id, name: name, day: try #require(CalendarDay(day)), badge: "❄️", state: "archived", width: 400,
            height: 300,
            isFilm: false, hasThumbnail: true, canBeRestored: true, canBeKept: true)
    }

    private func stream(_ items: [SitePage.Timeline.Item], takesOrders: Bool = true) throws -> PageMarkup {
        let stream = SitePage.Timeline(
            address: "/", items: items,
            filters: [.init(name: "kind", label: "Kind", choices: [.init(value: "", label: "All", isChosen: true)])],
            search: Self.hostile, next: "/?before=1_2", isFirst: true, isFiltered: true,
            whenEmpty: "Nothing.", takesOrders: takesOrders)
        return PageMarkup(
            try SitePage(title: "Photos", place: .photos, formToken: "t", content: .timeline(stream)).html())
    }

    private func all(_ name: String) throws -> [PageMarkup] {
        let places: [SitePage.Content] = [
            .photo(
                .init(
                    id: "a", name: name, badge: "❄️", state: name, facts: [.init(name, name)], places: [name],
                    further: [.init(text: name, links: [.init(name, "/photo/b")])], hasPicture: true,
                    hasThumbnail: true, isFilm: false, canBeRestored: true, download: "/photo/a/file")
            ),
            .offer(
                .init(
                    photos: ["a"], vacation: "1", summary: name,
                    tiers: [
                        .init(value: "bulk", label: name, price: name, dollars: "0.1", wait: name, isChosen: true)
                    ], remarks: [name])),
            .list(
                .init(
                    rows: [
                        .init(
                            title: name, state: name, facts: [name], progress: .init(1, of: 2),
                            links: [.init(name, "/x")],
                            picture: "/thumbnail/a")
                    ], whenEmpty: name,
                    search: .init(address: "/projects", text: name, label: name, filters: [], isFiltered: true),
                    next: "/projects?from=60")),
            .share(
                .init(
                    id: "s", state: name, facts: [.init(name, name)], link: "/s/s/",
                    code: .init(side: 9, path: "M1 1h1v1h-1z"), reach: name, canBeEnded: true,
                    progress: .init(1, of: 2))),
            .shareForm(
                .init(
                    vacation: "1", photos: [.init(id: "a", name: name, isChosen: true)], sharedBy: name, days: 30,
                    isFull: true, remarks: [name], others: [.init(name, "/shares/s")],
                    update: .init(share: "s", text: name),
                    price: .init(dollars: "0.1", text: name))),
            .text(.init(lines: "\(name)\n\(name)", button: .init(name, "/doctor"), remark: name)),
            .message(.init(text: name, link: .init(name, "/"))), .password(.init(problem: name)),
        ]
        return try [stream([item(name)])]
            + places.map {
                PageMarkup(try SitePage(title: name, place: .photos, formToken: "t", content: $0).html())
            }
    }

    @Test func `what people write changes no page but its words`() throws {
        for (page, plain) in zip(try all(Self.hostile), try all("plain")) {
            #expect(page.skeleton == plain.skeleton)
            #expect(page.unbalanced == [])
        }
    }

    @Test func `no page has a script or a style of its own, or leads elsewhere`() throws {
        for page in try all("plain") {
            #expect(page.raw.values.allSatisfy { $0.isEmpty })
            for tag in page.tags {
                #expect(!tag.attributeNames.contains { $0.hasPrefix("on") || $0 == "style" }, "\(tag)")
                for name in ["href", "src", "action"] {
                    guard let link = tag.attributes[name] else { continue }
                    #expect(
                        link.hasPrefix("/") && !link.hasPrefix("//") || link.hasPrefix("#") || link == "data:,",
                        "\(link)")
                }
            }
        }
    }

    @Test func `photos of one day stand together, and each has a name for those who do not see it`() throws {
        let page = try stream([item("a.jpg"), item("b.jpg"), item("c.jpg", day: "2024-06-14"), item("d.jpg", id: nil)])
        #expect(page.all("section").map { $0.attributes["data-day"] } == ["2024-06-15", "2024-06-14", "2024-06-15"])
        let links = page.all("a").filter { $0.attributes["href"]?.hasPrefix("/photo/") == true }
        #expect(links.count == 3)
        #expect(links.first?.attributes["aria-label"] == "a.jpg, 15 June 2024, archived")
        #expect(page.all("img").count == 3)
    }

    @Test func `a page of nobody who is signed in offers no way out, and each other one does`() throws {
        let out = { (page: PageMarkup) in page.all("form").filter { $0.attributes["action"] == "/logout" }.count }
        #expect(try all("plain").allSatisfy { out($0) == 1 })
        let page = SitePage(title: "t", place: nil, formToken: "", content: .password(.init()))
        #expect(out(PageMarkup(try page.html())) == 0)
    }

    @Test func `an order brings back the prices that were shown`() throws {
        let page = try #require(try all("plain").first { !$0.all("table").isEmpty })
        let hidden = page.all("input").filter { $0.attributes["type"] == "hidden" }
        #expect(hidden.contains { $0.attributes["name"] == "price-bulk" && $0.attributes["value"] == "0.1" })
        #expect(hidden.contains { $0.attributes["name"] == "vacation" && $0.attributes["value"] == "1" })
    }

    @Test func `who may ask for nothing is offered nothing`() throws {
        let boxes = { (page: PageMarkup) in page.all("input").count { $0.attributes["type"] == "checkbox" } }
        #expect(boxes(try stream([item("a.jpg")])) == 1)
        #expect(boxes(try stream([item("a.jpg")], takesOrders: false)) == 0)
    }
}
