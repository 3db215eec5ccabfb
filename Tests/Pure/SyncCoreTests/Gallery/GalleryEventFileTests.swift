import FoundationEssentials
import SyncCore
import SystemPackage
import Testing

@Suite struct GalleryEventFileTests {
    private func file(_ text: String, profile: String? = nil) -> GalleryEventFile? {
        GalleryEventFile(Array(text.utf8), profile: profile)
    }

    private static func event(_ members: String) -> String {
        #"{"id":"e1","profileId":"p1","eventType":"taskResponse","createdAt":1760948130"# + members + "}"
    }

    @Test(arguments: ["030/12345", "+49 (0) 30/5550004", "+49 (0) 30\\/5550004"])
    func `a profile and a user may be telephone numbers with a slash`(id: String) throws {
        let text =
            #"[{"id":"e","profileId":"\#(id)","userId":"\#(id)","eventType":"taskResponse","createdAt":1700000000}]"#
        let file = try #require(self.file(text))
        #expect(file.malformed == [])
        let plain = id.replacing("\\", with: "")
        #expect(file.events.map(\.profileID) == [plain] && file.events.map(\.userID) == [plain])
    }

    @Test func `an event is read without its text`() throws {
        let text = #"""
            [{"id": "e1", "userId": "u1", "profileId": "+1 (778) 814-3739", "eventType": "taskResponse",
              "createdAt": "2025-10-20T08:15:30Z", "taskTitle": "Pills", "text": "took them", "photoData": "TWFu"}]
            """#
        let event = try #require(file(text)?.events.first)
        #expect(event.id == "e1")
        #expect(event.userID == "u1")
        #expect(event.profileID == "+1 (778) 814-3739")
        #expect(event.type == .taskResponse)
        #expect(event.createdAt == Date(timeIntervalSince1970: 1_760_948_130))
        #expect(!event.isBare)
        guard case .inline(let range) = event.photo else {
            Issue.record("no photo")
            return
        }
        #expect(Base64Text(Array(text.utf8)[range]).decoded() == Array("Man".utf8))
    }

    @Test(
        arguments: [
            ("", "none"), (#","photoData":null"#, "none"), (#","photoData":"<null>""#, "none"),
            (#","photoData":"""#, "none"), (#","photoData":" \n""#, "none"), (#","photoData":"TWFu""#, "TWFu"),
            (#","photoData":"data:image/jpeg;base64,TWFu""#, "TWFu"),
            (#","photoData":"data:image\/jpeg;charset=x;BASE64,TWFu""#, "TWFu"),
            (#","photoData":"TW\nFu""#, #"TW\nFu"#), (#","photoData":"IMG 1.JPG""#, "beside IMG 1.JPG"),
            (#","photoData":"caf\u00e9.heic""#, "beside café.heic"),
        ])
    func `a photo is told from no photo, and a file beside from base64`(member: String, expected: String) throws {
        let text = Self.event(member)
        let event = try #require(file(text)?.events.first)
        switch event.photo {
        case .none: #expect(expected == "none")
        case .inline(let range): #expect(String(decoding: Array(text.utf8)[range], as: UTF8.self) == expected)
        case .beside(let name): #expect("beside \(name.string)" == expected)
        }
    }

    @Test(
        arguments: [
            (#"{"id":"e1","profileId":"p","eventType":"t"}"#, "createdAt is missing"),
            (#"{"id":"e1","profileId":"p","createdAt":1760948130}"#, "eventType is missing"),
            (
                #"{"id":"e1","createdAt":1760948130,"eventType":"t"}"#,
                "profileId is missing, and its folder has no profile"
            ),
            (#"{"id":null,"createdAt":1760948130}"#, "id is missing"), (#"{"id":"","createdAt":1}"#, "id is empty"),
            (#"{"id":"a/b","createdAt":1}"#, #"id: a name may not contain "/""#),
            (#"{"id":"..","createdAt":1}"#, #"id: "." and ".." are not allowed"#),
            (#"{"id":[1],"createdAt":1}"#, "id is neither a text nor a whole number"),
            (#"{"id":1.5,"createdAt":1}"#, "id is neither a text nor a whole number"),
            (#"{"id":"a","id":"b","createdAt":1}"#, "id is there twice"),
            (
                #"{"id":"e","profileId":"p","eventType":"t","createdAt":"dear diary"}"#,
                "createdAt is no moment from 2000 to 2099"
            ),
            (
                #"{"id":"e","profileId":"p","eventType":"t","createdAt":{"_seconds":1}}"#,
                "createdAt is no moment from 2000 to 2099"
            ),
            (
                #"{"id":"e","profileId":"p","eventType":"dear diary","createdAt":1}"#,
                "eventType is no name of 1 to 64 letters and digits"
            ),
            (
                #"{"id":"e1","profileId":"gr/../x","eventType":"t","createdAt":1760948130}"#,
                "profileId: a name may not contain \"/\""
            ),
            (event(#","photoData":7"#), "photoData is no text"),
            (
                event(#","photoData":"dear diary""#),
                "photoData is neither base64 nor the name of a photo beside the file"
            ),
            (event(#","photoData":"../x.jpg""#), "photoData is neither base64 nor the name of a photo beside the file"),
            (event(#","photoData":"data:image/jpeg,x""#), "photoData is a data URL without base64"),
            (event(#","photoData":"data:;base64,TW=u""#), "photoData is a data URL without base64"),
        ])
    func `an event that cannot be read is named with its reason, and nothing of it is quoted`(
        text: String, reason: String
    ) throws {
        let found = try #require(file("[\(text)]"))
        #expect(found.events.isEmpty)
        #expect(found.malformed.map(\.index) == [0])
        #expect(found.malformed.map(\.reason) == [reason])
    }

    @Test func `bad events between good ones are named, and the good ones are read`() throws {
        let good = Self.event("")
        let found = try #require(file(#"[\#(good),42,\#(good),{"text":"hello"},\#(good)]"#))
        #expect(found.events.map(\.index) == [0, 2, 4])
        #expect(found.malformed.map(\.description) == ["#2 is no object", "#4 id is missing"])
    }

    @Test func `a damaged tail is named, and what comes before is read`() throws {
        let found = try #require(file("[\(Self.event("")),{\"id\":\"e2\",\"createdAt\":17"))
        #expect(found.events.count == 1)
        #expect(found.malformed.map(\.description) == ["#2 is damaged at byte 105: the file ends"])
    }

    private static let photo = "/9j/4AAQSkZJRgABAQ" + String(repeating: "kq8Zx3Vb", count: 40)

    @Test(arguments: [
        (#"{"id":"e2","createdAt":17"#, false),
        (#"{"id":"e2","photoData":"/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcG"#, true),
        (#"{"id":"e2",,"photoData":"/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcG"}]"#, true),
        (#"{"id":"e2","photoData":"\"#, false),
        (#"{"id":"e2","title":"the 10" one","photoData":"\#(Self.photo)"}]"#, true),
        (#"{"id":"e2","photoData":\#(Self.photo)"}]"#, true),
        (#"{"id":"e2","title":"the 10" one","photoData":"short"}]"#, false),
        (#"{"id":"e2","photoData":"/9j/4AAQ"#, true), (#"{"id":"e2","photoData":"\/9j\/4AAQ"#, true),
        (#"{"id":"e2","title":"the 10" one","photoData":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQ"}]"#, true),
        (#"{"id":"e2","photoData":"AAAAIGZ0eXBoZWlj"#, true), (#"{"id":"e2","photoData":"UklGRiIA"#, true),
        (#"{"id":"e2","photoData":"_9j_4AAQ"#, true), (#"{"id":"e2","note":"photo=/9j/4AAQ"#, true),
        (#"{"id":"e2","file":"a/9j/b","other":"xiVBORw0K""#, false),
    ])
    func `a damaged tail tells whether a photo is in it, which is stored nowhere`(tail: String, holdsPhoto: Bool) throws
    {
        let found = try #require(file("[\(Self.event("")),\(tail)"))
        #expect(found.malformed.map(\.holdsPhoto) == [holdsPhoto])
    }

    @Test func `one event that is cut off is still known as one`() throws {
        let found = try #require(file(#"{"id":"e1","createdAt":1760948130,"photoData":"TWFuTW"#))
        #expect(found.events.isEmpty)
        #expect(found.malformed.count == 1)
    }

    @Test(
        arguments: ["[]", "{}", "7", #"{"id":1}"#, #"{"createdAt":1}"#, #"[{"name":"x"},{"id":"y"}]"#, #"{"a":"#, ""])
    func `other JSON is no file of events`(text: String) {
        #expect(file(text) == nil)
    }

    @Test func `numbers are ids, unknown types are kept, and the folder has a profile`() throws {
        let text = #"{"id":12345,"userId":7,"eventType":"moodChanged","createdAt":"1760948130250"}"#
        let event = try #require(file(text, profile: "grandma")?.events.first)
        #expect(event.id == "12345")
        #expect(event.userID == "7")
        #expect(event.profileID == "grandma")
        #expect(event.type.rawValue == "moodChanged")
        #expect(!event.type.isKnown)
        #expect(event.isBare)
    }
}
