import SyncCore
import SystemPackage
import Testing

@Suite struct MirrorNameTests {
    private func names(_ changes: [String: Any], isOther: Bool = false) throws -> [String] {
        let share = try ShareManifestRules(asked: nil).check(Array(ManifestText.text(changes).utf8), foundAt: nil)
        let names = MirrorName(share)
        return share.photos.map { names.name(of: $0, isOther: isOther).string }
    }

    @Test(arguments: [
        ("Paris, France", "Paris_France"), ("Zürich", "Zürich"), ("東京", "東京"), ("../../etc/passwd", "etc_passwd"),
        ("/abs/olute", "abs_olute"), (".", ""), ("..", ""), ("", ""), ("CON\u{0}\n.jpg", "CON_jpg"),
        ("~root $(rm -rf /) `x`", "root_rm_rf_x"), ("-rf", "rf"),
        (
            "<script>alert(1)</script> & \"Zürich\"",
            "script_alert_1_script_Zürich"
        ), ("🏝️", ""), ("\u{202E}gpj.exe", "gpj_exe"),
    ])
    func `Only letters, marks and digits of the place get into a name`(location: String, place: String) throws {
        let expected = place.isEmpty ? "001_2024-06-15.jpg" : "001_2024-06-15_\(place).jpg"
        #expect(try names(["locationName": location])[0] == expected)
    }

    @Test func `A long place is cut between two characters`() throws {
        let name = try names(["locationName": String(repeating: "ü", count: 200)])[0]
        #expect(name == "001_2024-06-15_" + String(repeating: "ü", count: 30) + ".jpg")
    }

    @Test func `The number has the place in the share, and the day the photo`() throws {
        #expect(
            try names(["photo.orderIndex": 999_999, "photo.takenAt": "2024-06-17T23:59:59Z"]) == [
                "1000000_2024-06-17_Paris_France.jpg", "002_2024-06-15_Paris_France.jpg",
            ])
    }

    @Test(arguments: [
        ("video/mp4", "006_2024-06-16_Paris_France.mp4"), ("video/quicktime", "006_2024-06-16_Paris_France.mov"),
    ])
    func `A film has the name of its container, and no photo's name is admitted for it`(
        type: String, expected: String
    ) throws {
        let text = ManifestText.text(["films": [ManifestText.film(["mediaType": type])]])
        let share = try ShareManifestRules(asked: nil).check(Array(text.utf8), foundAt: nil)
        let film = try #require(share.photos.last)
        let name = MirrorName(share).name(of: film)
        #expect(name.string == expected)
        #expect(MirrorName.admits(name, of: film))
        #expect(!MirrorName.admits("006_2024-06-16_Paris_France.jpg", of: film))
    }

    @Test func `Another photo in the same place gets a name of its own`() throws {
        #expect(try names([:], isOther: true)[0] == "001_2024-06-15_Paris_France_abababab.jpg")
    }
}
