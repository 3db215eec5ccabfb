import SyncCore
import Testing

@Suite struct ShareReferenceTests {
    private static let id = "7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10"

    @Test(arguments: [
        id, id.uppercased(), "  \(id)\n", "\u{FEFF}\(id)\u{200B} ", "vacationphotos://share/\(id)",
        "VacationPhotos://Share/\(id)/", "vacationphotos://share/\(id)?from=ana",
    ])
    func `An id is found in every form`(text: String) throws {
        #expect(try ShareReference(text) == .id(#require(ShareID(Self.id))))
    }

    @Test(arguments: [
        ("https://example.org/x/shares/\(id)/index.html?X-Amz-Signature=abc", id),
        ("https://example.org/shares/\(id)", id), ("http://127.0.0.1:8000/shares/\(id)/vacation.json", id),
        ("https://example.org/shares/no-id/index.html", nil), ("https://example.org/other/\(id)/index.html", nil),
        ("https://example.org/trip.html", nil),
    ])
    func `A link may tell the share`(text: String, id: String?) throws {
        let reference = try ShareReference(text)
        #expect(reference == .link(try #require(WebLink(text))))
        #expect(reference.shareID?.description == id)
    }

    @Test(arguments: [
        ("https://example.org/b/shares/\(id)/index.html", false), ("https://example.org/shares/\(id)", false),
        ("https://example.org/shares/users/ana/shares/\(id)/", false), ("https://example.org/trip.html", false),
        ("https://example.org/shares", false), ("https://example.org/shares/\(id)/index.htm", false),
        ("https://example.org/shares/\(id.dropLast())/index.html", true), ("https://example.org/shares/7d0c6e", true),
        ("https://example.org/shares/\(id.uppercased())/index.html", true),
        ("https://example.org/shares/\(id.replacing("-", with: "–"))/index.html?X-Amz-Signature=abc", true),
    ])
    func `A link with something else in the place of its id is told`(text: String, isWrong: Bool) throws {
        #expect(try ShareReference(text).hasWrongID == isWrong)
    }

    @Test func `What nobody sees at the end of a link is no part of it`() throws {
        let text = "https://example.org/shares/\(Self.id)/index.html"
        #expect(try ShareReference(text + "\u{200B}\u{2060}\n") == ShareReference(text))
    }

    @Test(arguments: [
        "", "paris", "vacationphotos://share/", "vacationphotos://share/../../etc", "vacationphotos://other/\(id)",
        "file:///tmp/\(id)", "/tmp/share", "s3://bucket/shares/\(id)", "\(id)x", "https://ana:secret@example.org/",
    ])
    func `Anything else is refused with what is accepted`(text: String) {
        let error = #expect(throws: ShareReference.Invalid.self) { try ShareReference(text) }
        #expect(error?.description.contains("vacationphotos://share/ID") == true)
    }

    @Test(arguments: [
        ("http://user:pw@example.org/a", "http://***@example.org/a"),
        ("https://user:p/w?x#y@example.org/a?X-Amz-Signature=abc", "https://***@example.org/a?…"),
        ("user:pw@example.org/shares", "***@example.org/shares"),
        ("https://example.org/a#b", "https://example.org/a#…"), ("#b?c", "#…"), ("?c#b", "?…"),
        ("two words http://a:b@c", "two words http://***@c"), ("paris", "paris"), ("", ""), ("@", "***@"),
    ])
    func `An address is told without what may be a secret`(text: String, shown: String) {
        #expect(WebLink.withoutSecrets(text) == shown)
    }

    @Test(arguments: ["http://user:hunter2@example.org/shares/x", "https://u:hunter2@h/\(id)", "u:hunter2@h"])
    func `A password in a link is refused, and not repeated`(text: String) {
        let error = #expect(throws: ShareReference.Invalid.self) { try ShareReference(text) }
        #expect(error?.description.contains("hunter2") == false)
        #expect(error?.description.contains("without user and password") == true)
    }

    @Test(arguments: [
        ("http://nas:9000/", true), ("http://192.168.1.4/", true), ("https://nas/", false),
        ("http://localhost:1/", false), ("http://127.0.0.1/", false), ("http://[::1]/", false),
        ("http://127.0.0.1.evil.example/", true), ("http://localhost.evil.example/", true),
    ])
    func `A link is plain where others on the way can read along`(text: String, isPlain: Bool) throws {
        #expect(try #require(WebLink(text)).isPlain == isPlain)
    }

    @Test func `A hostile text is told on one line`() {
        let error = #expect(throws: ShareReference.Invalid.self) {
            try ShareReference("\u{1B}[2J\n" + String(repeating: "x", count: 10_000))
        }
        #expect((error?.description.count ?? .max) < 400)
        #expect(error?.description.contains("\u{1B}") == false)
    }
}
