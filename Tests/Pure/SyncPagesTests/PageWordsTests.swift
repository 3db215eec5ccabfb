import FoundationEssentials
import SyncCore
import SyncTestSupport
import Testing

@testable import SyncPages

@Suite struct PageWordsTests {
    private static let tags = PageLanguage.allCases.map(\.tag)
    private static let table = (try? PageWords.table.get()) ?? [:]

    /// All forms of a key, by language.
    private static func sentences(_ key: String) -> [String: [String]] {
        (table[key] ?? [:]).mapValues {
            switch $0 {
            case .plain(let text): [text]
            case .forms(let forms): Array(forms.values)
            }
        }
    }

    private static func places(_ sentence: String) -> Set<String> {
        Set(sentence.matches(of: /\{(\w+)\}/).map { String($0.1) })
    }

    private static let script = [
        PackageResources.share_language_js, PackageResources.share_js, PackageResources.share_guests_js,
    ].map(source).joined()

    private static func source(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test(arguments: table.keys.sorted())
    func `a sentence is there in each language, with the same places for values`(key: String) throws {
        let sentences = Self.sentences(key)
        #expect(sentences.keys.sorted() == Self.tags.sorted())
        let places = Self.places(try #require(sentences["en"]?.first))
        for (tag, texts) in sentences {
            for text in texts {
                #expect(Self.places(text) == places, "\(tag): \(text)")
                #expect(!text.isEmpty && text.replacing("\u{A0}", with: " ") == PageText.line(text), "\(tag): \(text)")
                // It stands in a script as it is.
                #expect(!text.contains("<") && text.count { "{}".contains($0) } == 2 * places.count)
            }
        }
    }

    @Test func `forms are those of the language, and what is counted has them in each`() throws {
        for (key, sentences) in Self.table {
            let formed = sentences.filter { if case .forms = $0.value { true } else { false } }.keys
            #expect(formed.isEmpty || formed.count == Self.tags.count, "\(key)")
            for (tag, sentence) in sentences {
                guard case .forms(let forms) = sentence else { continue }
                #expect(forms.keys.sorted() == (tag == "zh-Hans" ? ["other"] : ["one", "other"]), "\(key), \(tag)")
            }
        }
    }

    @Test func `the template has no words of its own`() throws {
        let template = Self.source(PackageResources.share_mustache)
        let markup = PageMarkup(template.replacing(/\{\{[^}]*\}\}\}?/, with: ""))
        #expect(!markup.text.contains { $0.isLetter }, "\(markup.text)")
        let told = ["alt", "aria-label", "title", "placeholder", "label"]
        for tag in markup.tags {
            for name in told { #expect(tag.attributes[name, default: ""].isEmpty, "\(tag.name) \(name)") }
        }
    }

    @Test func `no word is missing, and none is left over`() {
        let template = Self.source(PackageResources.share_mustache)
        let used =
            template.matches(of: /words\.(\w+)/).map { String($0.1) }
            + template.matches(of: /data-(?:word|label|title)="(\w+)"/).map { String($0.1) }
            + Self.script.matches(of: /WORDS\.(\w+)/).map { String($0.1) }
            + Self.script.matches(of: /(?:text|say)\([^")]*"(\w+)"/).map { String($0.1) }
            + Self.script.matches(of: /say\(byId\([^)]*\), (?:\w+ \? "(\w+)" : )?"(\w+)"/).flatMap {
                [$0.1, $0.2].compactMap { $0.map(String.init) }
            }
            + [
                "language", "downloadAll", "downloadPhotos", "withoutScript", "guestsUnfit", "guestsFull",
                "guestsFailed",
            ]
        #expect(Set(used).subtracting(Self.table.keys).subtracting(["fetch", "copy"]).sorted() == [])
        #expect(Set(Self.table.keys).subtracting(used).sorted() == [])
    }

    @Test func `the script has no sentence of its own`() {
        let code = Self.script.split(separator: "\n").filter { !$0.contains(/^\s*(\/\/|\/\*)/) }.joined(separator: "\n")
        #expect(code.matches(of: /["`][A-Z][a-z]+[ .]/).map { String($0.0) } == [])
        #expect(code.matches(of: /(?:textContent|title|alt) = ["`]/).map { String($0.0) } == [])
    }

    @Test(arguments: PageLanguage.allCases)
    func `a page without its script is in one language, whole`(language: PageLanguage) throws {
        let words = try PageWords(language)
        for page in Self.pages.map({ page in page.with { $0.language = language } }) {
            let html = try page.html()
            #expect(try html == page.html())
            let markup = PageMarkup(html)
            #expect(markup.all("html").first?.attributes["lang"] == language.tag)
            #expect(markup.unbalanced.isEmpty)
            #expect(!markup.text.contains("{") && !markup.text.contains("}"))
            for tag in markup.tags {
                if let key = tag.attributes["data-label"] { #expect(tag.attributes["aria-label"] == words.text(key)) }
                if let key = tag.attributes["data-title"] { #expect(tag.attributes["title"] == words.text(key)) }
                guard let key = tag.attributes["data-word"] else { continue }
                let sentence = words.text(key, ["moment": "|", "name": "|", "size": "|"])
                for part in sentence.split(separator: "|") { #expect(markup.text.contains(part), "\(key)") }
            }
            let alts = markup.all("img").compactMap { $0.attributes["alt"] }.filter { !$0.isEmpty }
            #expect(alts.count == page.photos.count)
            for (index, alt) in alts.enumerated() {
                #expect(alt.hasPrefix(words.text("photo", count: page.photos.count, ["n": "\(index + 1)"])))
            }
        }
    }

    /// With all that there may be, with films alone, with nothing, and on a disk.
    private static var pages: [SharePage] {
        let film = SharePage.Film(
            orderIndex: 9, link: "x_9.mp4", posterLink: nil, width: 4, height: 3, duration: .seconds(5), size: 7_000,
            takenAt: CaptureTime("2024-06-15T16:03:00"), downloadName: "1.mp4")
        return [
            .sample().with {
                $0.films = [film]
                $0.linksEndAt = SharePage.afternoon
            },
            .sample().with { $0.sharedBy = nil }, .sample(photos: 0, location: "").with { $0.films = [film] },
            .sample(photos: 0), .sample().with { $0.expiresAt = nil },
        ]
    }

    @Test(arguments: [
        (PageLanguage.de, "Paris, 15.–22. Juni 2024", "3 Fotos, geteilt von Ana", "Alle Fotos laden, 1,2 MB"),
        (.es, "Paris, 15–22 de junio de 2024", "3 fotos, compartido por Ana", "Descargar todas, 1,2 MB"),
        (.fr, "Paris, 15–22 juin 2024", "3 photos, partagé par Ana", "Tout télécharger, 1,2 Mo"),
        (.zh, "Paris，2024年6月15日至22日", "3 张照片，Ana 分享", "下载全部照片，1.2 MB"),
    ])
    func `what messengers show, and the button, are in the language of the page`(
        language: PageLanguage, title: String, description: String, button: String
    ) throws {
        let page = SharePage.sample(location: "Paris").with { $0.language = language }
        let markup = PageMarkup(try page.html())
        let metas = markup.all("meta").map(\.attributes)
        #expect(metas.first { $0["property"] == "og:title" }?["content"] == title)
        #expect(metas.first { $0["property"] == "og:description" }?["content"] == description)
        #expect(markup.text.contains(title) && markup.text.contains(button))
    }

    @Test(arguments: [
        (PageLanguage.en, [0, 1, 2], ["0 photos", "1 photo", "2 photos"]),
        (.de, [0, 1, 2], ["0 Fotos", "1 Foto", "2 Fotos"]), (.es, [0, 1, 2], ["0 fotos", "1 foto", "2 fotos"]),
        (.fr, [0, 1, 2], ["0 photo", "1 photo", "2 photos"]), (.zh, [0, 1, 2], ["0 张照片", "1 张照片", "2 张照片"]),
    ])
    func `one and many are told apart as the language does`(language: PageLanguage, counts: [Int], texts: [String])
        throws
    {
        let words = try PageWords(language)
        #expect(counts.map { words.text("photoCount", count: $0) } == texts)
    }

    @Test func `a value is never read as a place for another one`() throws {
        let words = try PageWords(.en)
        #expect(words.joined("{b}", "{a}{") == "{b}, {a}{")
        let page = SharePage.sample(location: "{moment}").with { $0.sharedBy = "{name} {" }
        let markup = PageMarkup(try page.html())
        #expect(markup.text.contains("{moment}, 15–22 June 2024") && markup.text.contains("shared by {name} {"))
    }
}

@Suite struct PageDatesTests {
    @Test(arguments: [
        (PageLanguage.en, "1–5 June 2024", "28 June – 3 July 2024", "30 December 2023 – 2 January 2024"),
        (.de, "1.–5. Juni 2024", "28. Juni – 3. Juli 2024", "30. Dezember 2023 – 2. Januar 2024"),
        (
            .es, "1–5 de junio de 2024", "28 de junio – 3 de julio de 2024",
            "30 de diciembre de 2023 – 2 de enero de 2024"
        ),
        (.fr, "1er–5 juin 2024", "28 juin – 3 juillet 2024", "30 décembre 2023 – 2 janvier 2024"),
        (.zh, "2024年6月1日至5日", "2024年6月28日至7月3日", "2023年12月30日至2024年1月2日"),
    ])
    func `days are told as the language does, and what two have in common once`(
        language: PageLanguage, month: String, year: String, years: String
    ) throws {
        func range(_ start: String, _ end: String) throws -> String {
            PageDates.range(try #require(CalendarDay(start)), try #require(CalendarDay(end)), language)
        }
        #expect(try range("2024-06-01", "2024-06-05") == month)
        #expect(try range("2024-06-28", "2024-07-03") == year)
        #expect(try range("2023-12-30", "2024-01-02") == years)
        #expect(try range("2024-06-05", "2024-06-05") == PageDates.day(#require(CalendarDay("2024-06-05")), language))
    }

    @Test(arguments: [
        (PageLanguage.en, "15 June 2024, 14:03"), (.de, "15. Juni 2024, 14:03"), (.es, "15 de junio de 2024, 14:03"),
        (.fr, "15 juin 2024, 14:03"), (.zh, "2024年6月15日 14:03"),
    ])
    func `moments have their day and the clock`(language: PageLanguage, text: String) {
        #expect(PageDates.moment(SharePage.afternoon, language) == text)
        #expect(PageDates.moment(CaptureTime(SharePage.afternoon, offset: 0), language) == text)
    }

    @Test(arguments: [
        (PageLanguage.en, ["0 bytes", "4.2 kB", "62 MB"]), (.de, ["0 Byte", "4,2 kB", "62 MB"]),
        (.es, ["0 bytes", "4,2 kB", "62 MB"]), (.fr, ["0 octets", "4,2 ko", "62 Mo"]),
        (.zh, ["0 字节", "4.2 kB", "62 MB"]),
    ])
    func `sizes have the units and the mark of the language`(language: PageLanguage, texts: [String]) {
        #expect([0, 4_200, 62_000_000].map { PageText.size($0, language) } == texts)
    }
}
