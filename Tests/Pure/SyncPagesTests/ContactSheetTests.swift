import FoundationEssentials
import SyncCore
import SyncDigest
import SyncPages
import SyncTestSupport
import Testing

@Suite struct ContactSheetTests {
    static let picture = "data:image/jpeg;base64,/9j/4AAQSkZJRg=="

    static func sheet(_ title: String, _ name: String, badge: String?, image: String = picture) -> ContactSheet {
        ContactSheet(
            title: title,
            photos: [
                ContactSheet.Photo(
                    image: image, width: 320, height: 240, name: name, takenAt: SharePage.afternoon, profile: name,
                    size: 4_200_000, storageClass: name, badge: badge),
                ContactSheet.Photo(
                    image: "thumbnails/1.jpg", width: 240, height: 320, name: "b.jpg", takenAt: nil, profile: nil,
                    size: 900, storageClass: "STANDARD", badge: nil),
            ])
    }

    @Test func `the policy allows its style sheet and no script at all`() throws {
        let markup = PageMarkup(try Self.sheet("Project", "a.jpg", badge: nil).html())
        let style = SHA256Digest(of: Array((markup.raw["style"] ?? "").utf8))
        #expect(
            markup.all("meta")[1].attributes["content"] == """
                default-src 'none'; img-src data: 'self'; \
                style-src 'sha256-\(Data(style.bytes).base64EncodedString())'; base-uri 'none'; form-action 'none'
                """)
        #expect(markup.all("script").isEmpty)
        #expect(markup.all("style").count == 1)
    }

    @Test func `each photo has its picture and what is known of it`() throws {
        let markup = PageMarkup(try Self.sheet("Project", "a.jpg", badge: "restored").html())
        #expect(markup.unbalanced.isEmpty)
        #expect(markup.all("img").map { $0.attributes["src"] } == [Self.picture, "thumbnails/1.jpg"])
        #expect(
            markup.all("img").map { $0.attributes["alt"] } == ["Photo 1 of 2, 15 June 2024, 14:03", "Photo 2 of 2"])
        #expect(markup.all("img").map { $0.attributes["height"] } == ["240", "320"])
        for words in ["Project", "2 photos, 4.2 MB", "15 June 2024, 14:03", "STANDARD", "restored", "900 bytes"] {
            #expect(markup.text.contains(words), "\(words)")
        }
    }

    @Test func `a sheet without photos says so`() throws {
        let html = try ContactSheet(title: "Project", photos: []).html()
        #expect(PageMarkup(html).text.contains("There are no photos on this sheet."))
    }

    @Test(arguments: [
        "data:image/svg+xml;base64,PHN2Zz4=", "data:text/html;base64,PGI+", "data:image/jpeg,x",
        "data:image/jpeg;base64,AA\"AA", "javascript:alert(1)", "//a.example/x.jpg", "",
    ])
    func `a picture that could carry a script is refused`(image: String) {
        let error = #expect(throws: PageError.self) {
            try Self.sheet("Project", "a.jpg", badge: nil, image: image).html()
        }
        #expect(error?.code == .link)
    }
}
