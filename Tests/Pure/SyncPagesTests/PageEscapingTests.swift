import FoundationEssentials
import SyncPages
import SyncTestSupport
import Testing

/// Nothing that people, cameras or stores write becomes part of a page but as text.
@Suite struct PageEscapingTests {
    static let hostile = [
        #"<script>alert(1)</script> & "Zürich""#,
        #""><img src=x onerror=alert(1)>"#,
        "' onmouseover='alert(1)",
        // One character with the mark that follows: an escape by characters misses both quotes.
        "\"\u{301} autofocus onfocus=alert(1) x=\"\u{301}",
        "<\u{301}script>alert(1)<\u{20E3}/script>",
        "</title><script>alert(1)</script>", "</style><script>alert(1)</script>", "</script><script>alert(1)</script>",
        "<!--", "--><svg onload=alert(1)>", "]]>", "{{policy}}{{{script}}}", "{{> page}}", "&lt;script&gt;", "&#60;",
        "`onload=alert(1)`", "\\u003cscript\\u003e", "${alert(1)}", "javascript:alert(1)",
    ]

    @Test(arguments: hostile)
    func `a hostile text changes no tag and no attribute of the page`(text: String) throws {
        let harmless = PageMarkup(try SharePage.sample().html())
        let page = SharePage.sample(location: text).with { page in
            page.sharedBy = text
            page.mirrorReference = text
            for index in page.photos.indices { page.photos[index].downloadName = text }
        }
        let markup = PageMarkup(try page.html())
        #expect(markup.skeleton == harmless.skeleton)
        #expect(markup.unbalanced.isEmpty)
        #expect(markup.raw == harmless.raw)
        #expect(markup.text.contains("\(text), 15–22 June 2024"))
        #expect(markup.text.contains("shared by \(text)"))
        #expect(
            markup.all("meta").contains { $0.attributes["content"] == "\(text), 15–22 June 2024" })
        #expect(markup.all("meta")[1].attributes == harmless.all("meta")[1].attributes)
    }

    @Test(arguments: hostile)
    func `a hostile text changes no tag and no attribute of a contact sheet`(text: String) throws {
        let harmless = PageMarkup(try ContactSheetTests.sheet("Project", "a.jpg", badge: "new").html())
        let markup = PageMarkup(try ContactSheetTests.sheet(text, text, badge: text).html())
        #expect(markup.skeleton == harmless.skeleton)
        #expect(markup.unbalanced.isEmpty)
        #expect(markup.all("meta")[1].attributes == harmless.all("meta")[1].attributes)
    }

    @Test(arguments: [
        "", " ", "javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\nscript:alert(1)", " javascript:alert(1)",
        "\u{1}javascript:alert(1)", "vbscript:x", "data:text/html,x", "data:image/svg+xml;base64,PHN2Zz4=",
        "data:image/jpeg;base64,AAAA", "file:///etc/passwd", "ftp://a.example/x", "//a.example/x", #"\\a.example\x"#,
        #"/\a.example"#, "https:a.example", "https:/a.example", "https:///x", "https://", "https://?x",
        "https://user:word@a.example/x", "a b", "a\"b", "a'b<c", "a>b", "a`b", "a{b}", "%zz", "%4", "x%", "ü.jpg",
        "x\u{0}y", "x\u{7F}", "a\u{301}",
    ])
    func `a link that may lead or run elsewhere is refused`(link: String) {
        let sample = SharePage.sample()
        for page in [
            sample.with { $0.manifestLink = link }, sample.with { $0.photos[1].link = link },
            sample.with { $0.photos[1].thumbnailLink = link },
        ] {
            let error = #expect(throws: PageError.self) { try page.html() }
            #expect(error?.code == .link)
        }
    }

    @Test(arguments: [
        "x_0.jpg", "thumbnails/0.jpg", "/shares/1/x", "../x", "?a=b", "#x", "a:80/b", "https://a.example",
        "HTTPS://A.example/x",
        "http://127.0.0.1:9000/b/x?X-Amz-Signature=ab%2F&b='(1)'", "https://[::1]:9000/x", "x_0.jpg?at=12:30",
    ])
    func `links are taken as they are`(link: String) throws {
        let page = SharePage.sample().with { $0.photos[1].link = link }
        guard link != "a:80/b" else {
            // To a browser this is the scheme "a".
            #expect(throws: PageError.self) { try page.html() }
            return
        }
        #expect(PageMarkup(try page.html()).all("a").contains { $0.attributes["href"] == link })
    }

    @Test func `a refused link is told without its signature`() {
        let page = SharePage.sample().with { $0.manifestLink = "ftp://a.example/x?X-Amz-Signature=5ec4e7" }
        let error = #expect(throws: PageError.self) { try page.html() }
        #expect(error?.description.contains("ftp://a.example/x") == true)
        #expect(error?.description.contains("5ec4e7") == false)
    }

    @Test(arguments: [
        ("6f1c0b2e-9f3a", "Paris", "sync-agent mirror 6f1c0b2e-9f3a ~/Pictures/Paris_2024-06-15"),
        (
            "https://a.example/i.html?a=1&b=2", "P",
            "sync-agent mirror 'https://a.example/i.html?a=1&b=2' ~/Pictures/P_2024-06-15"
        ),
        ("a'b; rm -rf ~", "P", #"sync-agent mirror 'a'\''b; rm -rf ~' ~/Pictures/P_2024-06-15"#),
        ("$(reboot)", "P", "sync-agent mirror '$(reboot)' ~/Pictures/P_2024-06-15"),
        ("-x", "P", "sync-agent mirror '-x' ~/Pictures/P_2024-06-15"),
        ("1", "; rm -rf ~ #", "sync-agent mirror 1 ~/Pictures/rm_-rf_2024-06-15"),
        ("1", "../../.ssh/x $(id) `id` \"'", "sync-agent mirror 1 ~/Pictures/ssh_x_id_id_2024-06-15"),
        ("1", "Zürich & 東京", "sync-agent mirror 1 ~/Pictures/Zürich_東京_2024-06-15"),
    ])
    func `the line to copy does nothing but mirror`(reference: String, location: String, line: String) throws {
        let page = SharePage.sample(location: location).with { $0.mirrorReference = reference }
        #expect(PageMarkup(try page.html()).text.contains(line))
    }

    @Test(arguments: ["", "a\nb", "a\rb", "a\u{0}", "a\u{1B}[2J", "a\u{202E}b", " a", "a\u{2028}b"])
    func `what would not stay in one line is not offered to be copied`(reference: String) {
        let error = #expect(throws: PageError.self) {
            try SharePage.sample().with { $0.mirrorReference = reference }.html()
        }
        #expect(error?.code == .reference)
    }

    @Test(arguments: [
        ("001_2024-06-15_Paris.jpg", "001_2024-06-15_Paris.jpg"), ("../../etc/passwd", "etc_passwd"),
        (#"C:\x.jpg"#, "C_x.jpg"), (".bashrc", "bashrc"), ("a\u{0}b\n.jpg", "a_b_.jpg"), ("", "photo"),
        ("...", "photo"),
        ("日本 (1).jpg", "日本_1_.jpg"), ("a\u{202E}gpj.exe", "a_gpj.exe"),
        (String(repeating: "x", count: 300), String(repeating: "x", count: 100)),
    ])
    func `a name in the archive is no path and not hidden`(name: String, plain: String) throws {
        let page = SharePage.sample(photos: 1).with { $0.photos[0].downloadName = name }
        #expect(PageMarkup(try page.html()).all("a").contains { $0.attributes["data-name"] == plain })
    }

    @Test func `equal names are told apart, whatever their case`() throws {
        let page = SharePage.sample().with {
            $0.photos[0].downloadName = "a.jpg"
            $0.photos[1].downloadName = "A.jpg"
            $0.photos[2].downloadName = "a.jpg"
        }
        let names = PageMarkup(try page.html()).all("a").compactMap { $0.attributes["data-name"] }
        #expect(names == ["a.jpg", "2_A.jpg", "3_a.jpg"])
    }

    @Test(arguments: [
        ("a\u{202E}b\u{2066}c", "abc"), ("a\n\t b", "a b"), ("a\u{0}b", "a b"), ("  a  ", "a"),
        ("\u{1F468}\u{200D}\u{1F33E}", "\u{1F468}\u{200D}\u{1F33E}"),
        ("", "Photos"), (String(repeating: "x", count: 500), String(repeating: "x", count: 159) + "…"),
    ])
    func `a name is shown in one line that turns nothing around it`(location: String, shown: String) throws {
        #expect(PageMarkup(try SharePage.sample(location: location).html()).text.contains("\n\(shown)\n15–22 June"))
    }
}
