import FoundationEssentials
import SyncCore
import SyncDigest
import SyncPages
import SyncTestSupport
import Testing

@Suite struct SharePageTests {
    @Test func `the policy allows the one style sheet and the one script of the page, by their hashes`() throws {
        let markup = PageMarkup(try SharePage.sample().html())
        let policy = try #require(
            markup.all("meta").compactMap { $0.attributes["content"] }.first { $0.contains("src") })
        func hash(_ name: String) -> String {
            let digest = SHA256Digest(of: Array((markup.raw[name] ?? "").utf8))
            return "'sha256-\(Data(digest.bytes).base64EncodedString())'"
        }
        #expect(
            policy == """
                default-src 'none'; img-src 'self'; media-src 'self'; style-src \(hash("style")); script-src \(hash("script")); \
                connect-src 'self'; base-uri 'none'; form-action 'none'
                """)
        #expect(markup.all("style").count == 1)
        #expect(markup.all("script").map(\.attributes) == [[:]])
    }

    @Test func `a page of another version is told apart by what it allows`() throws {
        let head = Array(try SharePage.sample().html().utf8.prefix(4_096))
        #expect(SharePage.isOfThisVersion(head))
        let mark = try #require(head.firstRange(of: Array("script-src".utf8))).upperBound
        var other = head
        other[mark + 20] ^= 1
        #expect(!SharePage.isOfThisVersion(other))
        #expect(!SharePage.isOfThisVersion([]))
    }

    @Test func `who shows a picture beside a link is told one, and friends when links end before the share`() throws {
        var page = SharePage.sample()
        let plain = PageMarkup(try page.html())
        let images = { (markup: PageMarkup) in
            markup.all("meta").filter { $0.attributes["property"] == "og:image" }.compactMap {
                $0.attributes["content"]
            }
        }
        #expect(images(plain).isEmpty && !plain.text.contains("The links on this page work until"))
        page.previewLink = "https://photos.example.net/s/1/thumbnails/0.jpg?a=b&c=d"
        page.linksEndAt = page.expiresAt?.addingTimeInterval(-3_600)
        let markup = PageMarkup(try page.html())
        #expect(images(markup) == [page.previewLink])
        #expect(markup.text.contains("The links on this page work until"))
        #expect(markup.unbalanced.isEmpty)
        page.linksEndAt = page.expiresAt
        #expect(try !PageMarkup(page.html()).text.contains("The links on this page work until"))
        page.previewLink = "javascript:alert(1)"
        #expect(throws: PageError.self) { try page.html() }
    }

    @Test(arguments: [0, 1, 50, 500])
    func `every photo is a link that needs no script, around a picture with a text and a size`(count: Int) throws {
        let page = SharePage.sample(photos: count)
        let markup = PageMarkup(try page.html())
        #expect(markup.unbalanced.isEmpty)
        let links = markup.all("a").filter { $0.attributes["data-name"] != nil }
        #expect(links.compactMap { $0.attributes["href"] } == page.photos.map(\.link))
        let images = markup.all("img").filter { $0.attributes["src"] != nil }
        #expect(images.compactMap { $0.attributes["src"] } == page.photos.map(\.thumbnailLink))
        for image in images {
            #expect(image.attributes["alt"]?.hasPrefix("Photo ") == true)
            #expect(image.attributes["loading"] == "lazy")
            #expect(image.attributes["width"] == "320")
            #expect(image.attributes["height"] == "240")
        }
        #expect(markup.text.contains(count == 1 ? "1 photo " : "\(count) photos "))
        #expect(markup.text.contains("There are no photos in this share.") == (count == 0))
        let ids = markup.tags.compactMap { $0.attributes["id"] }
        #expect(Set(ids).count == ids.count)
    }

    @Test func `nothing comes from another host, and nothing runs that the policy would have to allow by a hole`()
        throws
    {
        let html = try SharePage.sample().html()
        let markup = PageMarkup(html)
        #expect(!html.contains("http:") && !html.contains("https:") && !html.contains("//cdn"))
        #expect(markup.raw["style"]?.contains("url(") == false)
        #expect(markup.raw["style"]?.contains("@import") == false)
        for sink in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("] {
            #expect(markup.raw["script"]?.contains(sink) == false, "\(sink)")
        }
        let names = Set(markup.tags.flatMap(\.attributeNames))
        #expect(names.filter { $0.hasPrefix("on") || $0 == "style" || $0 == "srcdoc" }.isEmpty)
    }

    @Test func `a page on signed links leads nowhere else, and each is there unharmed`() throws {
        let start = "https://store.example:9000/bucket/shares/1"
        let query = "?X-Amz-Expires=604800&X-Amz-Signature=0a%2Fb"
        let page = SharePage.sample(photos: 2).with { page in
            page.manifestLink = "\(start)/vacation.json\(query)"
            for index in page.photos.indices {
                page.photos[index].link = "\(start)/x_\(index).jpg\(query)"
                page.photos[index].thumbnailLink = "\(start)/thumbnails/\(index).jpg\(query)"
            }
        }
        let markup = PageMarkup(try page.html())
        #expect(markup.all("a").contains { $0.attributes["href"] == page.photos[1].link })
        #expect(markup.all("img").contains { $0.attributes["src"] == page.photos[1].thumbnailLink })
        let manifest = markup.all("link").first { $0.attributes["rel"] == "alternate" }
        #expect(manifest?.attributes["href"] == page.manifestLink)
        #expect(manifest?.attributes["type"] == "application/vnd.sync-agent.share+json")
    }

    /// The page without its script, which has all words of all pages.
    private func shown(_ page: SharePage) throws -> String {
        let html = try page.html()
        return html.replacing(try #require(PageMarkup(html).raw["script"]), with: "")
    }

    @Test func `a page on a disk has no end, no manifest and no line for a mirror, and its pictures may be files`()
        throws
    {
        let page = SharePage.sample().with {
            $0.expiresAt = nil
            $0.manifestLink = nil
            $0.mirrorReference = nil
        }
        let text = try shown(page)
        for word in [
            "data-ends", "rel=\"alternate\"", "sync-agent mirror", "This share", "id=\"copy\"", "id=\"fetch\"",
        ] {
            #expect(!text.contains(word), "\(word)")
        }
        #expect(text.contains("img-src &#39;self&#39; file:; media-src &#39;self&#39; file:;"))
        #expect(text.contains("connect-src &#39;none&#39;"))
        #expect(text.contains("href=\"x_0.jpg\"") && text.contains("shared by <bdi>Ana</bdi>"))
        // And one in a store has all of them.
        let shared = try shown(.sample())
        for word in [
            "data-ends", "rel=\"alternate\"", "sync-agent mirror", "This share ends", "id=\"copy\"", "id=\"fetch\"",
        ] {
            #expect(shared.contains(word), "\(word)")
        }
        #expect(!shared.contains("file:"))
    }

    @Test func `links to two origins are refused, for the policy would block one of them`() {
        let page = SharePage.sample().with {
            $0.photos[0].link = "https://a.example/x?secret"
            $0.photos[1].link = "https://b.example/x?secret"
        }
        let error = #expect(throws: PageError.self) { try page.html() }
        #expect(error?.code == .origin)
        #expect(error?.description.contains("secret") == false)
    }

    @Test func `what is known of the share stands in words, and in numbers for the script`() throws {
        let markup = PageMarkup(try SharePage.sample().html())
        for words in ["Paris France", "15–22 June 2024", "3 photos", "shared by Ana", "15 July 2024, 14:03 UTC"] {
            #expect(markup.text.contains(words), "\(words)")
        }
        let body = markup.all("body").first?.attributes
        #expect(body?["data-ends"] == "2024-07-15T14:03:00Z")
        #expect(body?["data-archive"] == "Paris_France_2024-06-15_2024-06-22.zip")
        #expect(
            markup.all("img").compactMap { $0.attributes["alt"] }.prefix(3)
                == ["Photo 1 of 3, 15 June 2024, 14:03", "Photo 2 of 3, 15 June 2024, 15:03", "Photo 3 of 3"])
        #expect(markup.all("meta").contains { $0.attributes["name"] == "robots" })
        #expect(markup.all("meta").contains { $0.attributes["content"] == "no-referrer" })
        #expect(markup.all("html").first?.attributes["lang"] == "en")
    }

    @Test(arguments: [
        ("2024-06-15", "2024-06-15", "15 June 2024"),
        ("2024-06-15", "2024-06-22", "15–22 June 2024"),
        ("2024-06-28", "2024-07-03", "28 June – 3 July 2024"),
        ("2023-12-30", "2024-01-02", "30 December 2023 – 2 January 2024"),
    ])
    func `what both days have in common is said once`(start: String, end: String, words: String) throws {
        let (first, last) = (try #require(CalendarDay(start)), try #require(CalendarDay(end)))
        let page = SharePage.sample().with { ($0.startDate, $0.endDate) = (first, last) }
        #expect(PageMarkup(try page.html()).text.contains("Paris France, \(words)"))
    }

    @Test(arguments: [
        (Int64(0), "0 bytes"), (999, "999 bytes"), (1_000, "1.0 kB"), (9_949, "9.9 kB"), (999_499, "999 kB"),
        (999_500, "1.0 MB"), (62_000_000, "62 MB"), (4_200_000_000, "4.2 GB"),
    ])
    func `the size of the archive is told before it is fetched`(size: Int64, words: String) throws {
        let page = SharePage.sample(photos: 1).with { $0.photos[0].size = size }
        #expect(PageMarkup(try page.html()).text.contains("Download all, \(words)"))
    }

    @Test func `photos that are too much for one archive are not offered as one`() throws {
        let page = SharePage.sample(photos: 2).with { $0.photos[0].size = 4_200_000_000 }
        #expect(!PageMarkup(try page.html()).text.contains("Download all"))
    }

    @Test func `films play without a script, and tell how long they are before anything of them is fetched`() throws {
        let page = SharePage.sample(photos: 2).with { page in
            page.films = [
                SharePage.Film(
                    orderIndex: 2, link: "x_2.mp4", posterLink: "thumbnails/2.jpg", width: 1_920, height: 1_080,
                    duration: .seconds(72), size: 34_000_000, takenAt: CaptureTime("2024-06-15T16:03:00"),
                    downloadName: "003_Paris.mp4"),
                SharePage.Film(
                    orderIndex: 3, link: "x_3.mov", posterLink: nil, width: 48, height: 64, duration: nil, size: 900,
                    takenAt: nil, downloadName: "<b>.mov"),
            ]
        }
        let markup = PageMarkup(try page.html())
        #expect(markup.unbalanced.isEmpty)
        let films = markup.all("video").map(\.attributes)
        #expect(films.map { $0["src"] } == ["x_2.mp4", "x_3.mov"])
        #expect(films.map { $0["poster"] } == ["thumbnails/2.jpg", nil])
        #expect(films.map { $0["preload"] } == ["none", "none"])
        #expect(films.allSatisfy { $0["controls"] != nil })
        #expect(
            films.map { $0["aria-label"] } == ["Film 1 of 2, 15 June 2024, 16:03, 1:12", "Film 2 of 2"])
        for words in ["2 photos, 2 films", "1:12, 34 MB", "900 bytes", "Download the photos, 800 kB"] {
            #expect(markup.text.contains(words), "\(words)")
        }
        let saved = markup.all("a").filter { $0.attributes["download"] != nil && $0.attributes["id"] == nil }
        #expect(saved.compactMap { $0.attributes["href"] } == ["x_2.mp4", "x_3.mov"])
        #expect(saved.first?.attributes["download"] == "003_Paris.mp4")
        #expect(!(saved.last?.attributes["download"]?.contains("<") ?? true))
    }

    @Test func `a share of films alone is not empty`() throws {
        let film = SharePage.Film(
            orderIndex: 0, link: "x_0.mp4", posterLink: nil, width: 4, height: 3, duration: .seconds(5), size: 7,
            takenAt: nil, downloadName: "1.mp4")
        let markup = PageMarkup(try SharePage.sample(photos: 0).with { $0.films = [film] }.html())
        #expect(!markup.text.contains("There are no photos"))
        #expect(markup.text.contains("1 film"))
    }

    @Test func `the same share gives the same bytes`() throws {
        #expect(try SharePage.sample(photos: 50).html() == SharePage.sample(photos: 50).html())
    }
}
