import SyncCore
import Testing

@Suite struct WebLinkTests {
    @Test(arguments: [
        ("https://example.org", "https://example.org/"),
        ("HTTPS://Example.ORG:443/a/b?x=1#top", "https://example.org/a/b?x=1"),
        ("http://127.0.0.1:8080/shares/a.html", "http://127.0.0.1:8080/shares/a.html"),
        ("http://[::1]:80/x", "http://[::1]/x"),
        ("https://example.org?x=a+b%2F", "https://example.org/?x=a+b%2F"),
        ("https://example.org/Zürich/{1}", "https://example.org/Z%C3%BCrich/%7B1%7D"),
    ])
    func `A link is read in one spelling`(text: String, spelled: String) {
        #expect(WebLink(text)?.description == spelled)
    }

    @Test(arguments: [
        "", "example.org/a", "file:///etc/passwd", "javascript:alert(1)", "ftp://example.org/", "https://",
        "https:///a", "https://ana@example.org/", "https://ana:secret@example.org/", "https://example.org:0/",
        "https://example.org:70000/", "https://example.org:8a/", "https://example.org\\@evil.example/",
        "https://example.org /", "https://exa\nmple.org/", "https://ex%61mple.org/", "https://münchen.example/",
        "https://[::1/", "https://[::1]x/", "http://[]/", "https://example.org:/", "https://example.org/\u{0}",
        "https://example.org/" + String(repeating: "a", count: 9_000),
    ])
    func `What is no plain address of the web is refused`(text: String) {
        #expect(WebLink(text) == nil)
    }

    @Test(arguments: [
        ("vacation.json", "https://example.org/a/b/vacation.json"),
        ("./x/../vacation.json", "https://example.org/a/b/vacation.json"),
        ("../../../../etc/passwd", "https://example.org/etc/passwd"),
        ("/c?d=1", "https://example.org/c?d=1"), ("?v=2", "https://example.org/a/b/index.html?v=2"),
        ("#top", "https://example.org/a/b/index.html?v=1"), ("", "https://example.org/a/b/index.html?v=1"),
        ("//other.example/x", "https://other.example/x"), ("http://example.org/x", "http://example.org/x"),
        (".", "https://example.org/a/b/"),
    ])
    func `A reference leads where a browser would go`(reference: String, target: String) throws {
        let page = try #require(WebLink("https://example.org/a/b/index.html?v=1"))
        #expect(page.resolving(reference)?.description == target)
    }

    @Test(arguments: [
        "javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "mailto:a@b", "\\\\other.example\\x", "a b",
        "//user@other.example/",
    ])
    func `A reference to anything else leads nowhere`(reference: String) throws {
        let page = try #require(WebLink("https://example.org/a/index.html"))
        #expect(page.resolving(reference) == nil)
    }

    @Test(arguments: [
        ("https://example.org/a", "https://example.org/b", true),
        ("http://example.org/a", "https://example.org/a", true),
        ("https://example.org/a", "http://example.org/a", false),
        ("http://example.org:8080/", "https://example.org/", false),
        ("http://example.org/", "http://example.org:8080/", false),
        ("https://example.org/", "https://sub.example.org/", false),
        ("http://localhost:80/", "http://127.0.0.1/", false),
        ("http://example.org/", "http://example.org./", false),
    ])
    func `Only the same origin is gone to, or the same host by TLS`(from: String, to: String, isAdmitted: Bool) throws {
        let link = try #require(WebLink(from))
        let other = try #require(WebLink(to))
        #expect(link.admits(other) == isAdmitted)
    }
}
