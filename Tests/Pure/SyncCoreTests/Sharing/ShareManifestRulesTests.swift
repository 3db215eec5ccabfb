import Foundation
import SyncCore
import SyncTestSupport
import Testing

@Suite struct ShareManifestRulesTests {
    private static let link = WebLink("https://example.org/shares/x/vacation.json")

    private static func check(_ text: String, asked: String? = ManifestText.id) throws(ShareRefusal) -> CheckedShare {
        try ShareManifestRules(asked: asked.flatMap { ShareID($0) }).check(Array(text.utf8), foundAt: link)
    }

    @Test func `A manifest as the sharer writes it is taken`() throws {
        let written = ShareManifest(
            shareId: try #require(ShareID(ManifestText.id)), locationName: "Paris",
            startDate: try #require(CalendarDay("2024-06-15")), endDate: try #require(CalendarDay("2024-06-22")),
            sharedBy: nil, expiresAt: Date(timeIntervalSince1970: 1_800_000_000),
            updatedAt: Date(timeIntervalSince1970: 1_790_000_000),
            photos: [
                ShareManifest.Photo(
                    orderIndex: 7, width: 10, height: 20, size: 30, sha256: ManifestText.sha256, takenAt: nil,
                    url: "https://example.org/shares/x/a.jpg?sig=1")
            ], manifestURL: "vacation.json?sig=2")
        let share = try ShareManifestRules(asked: nil).check(written.encoded(), foundAt: Self.link)
        #expect(share.id.description == ManifestText.id)
        #expect(share.photos.map(\.orderIndex) == [7])
        #expect(share.photos[0].link?.description == "https://example.org/shares/x/a.jpg?sig=1")
        #expect(share.manifestLink?.description == "https://example.org/shares/x/vacation.json?sig=2")
        #expect(share.manifest.photos[0].url == nil && share.manifest.manifestURL == nil)
    }

    @Test func `Films stand beside the photos, and are held to rules of their own`() throws {
        let film = ManifestText.film(["size": Int64(3) << 30, "url": "b.mp4?sig=3"])
        let share = try Self.check(ManifestText.text(["films": [film]]))
        #expect(share.photos.map(\.orderIndex) == [0, 1, 5])
        #expect(share.photos.map(\.film) == [nil, nil, .mp4])
        #expect(share.photos[2].link?.description == "https://example.org/shares/x/b.mp4?sig=3")
        #expect(share.manifest.films?[0].url == nil)
        #expect(share.manifest.films?[0].durationSeconds == 12.5)
        #expect(ShareKeys(share.id).object(of: share.photos[2]).rawValue.hasSuffix("_5.mp4"))
        #expect(ShareKeys(share.id).object(of: share.photos[0]).rawValue.hasSuffix("_0.jpg"))
    }

    @Test func `A manifest without films says nothing of them, as readers of before know it`() throws {
        let share = try Self.check(ManifestText.text())
        #expect(!String(decoding: try share.manifest.encoded(), as: UTF8.self).contains("films"))
        let both = try Self.check(ManifestText.text(["films": [ManifestText.film()]]))
        #expect(both.manifest.photoCount == 2 && both.manifest.version == 1)
    }

    @Test(
        arguments: [
            (["orderIndex": 1], "two of its photos"), (["size": Int64(17) << 30], "films[0].size"),
            (["size": 0], "films[0].size"), (["width": 0], "films[0] has a width"),
            (["sha256": "ab"], "films[0].sha256"), (["durationSeconds": -1], "films[0].durationSeconds"),
            (["durationSeconds": 1e12], "films[0].durationSeconds"),
            (["mediaType": "video/webm"], "films[0].mediaType"),
            (["mediaType": "../../x"], "films[0].mediaType"), (["url": "https://evil.example/a.mp4"], "another host"),
        ] as [([String: any Sendable], String)])
    func `A film that no honest sharer writes is refused`(changes: [String: any Sendable], words: String) throws {
        let error = #expect(throws: ShareRefusal.self) {
            _ = try Self.check(ManifestText.text(["films": [ManifestText.film(changes)]]))
        }
        #expect(error?.reason.contains(words) == true, "\(error?.reason ?? "")")
    }

    @Test func `Links count only for who came by a link`() throws {
        let text = ManifestText.text(["photo.url": "https://evil.example/a.jpg", "manifestURL": "file:///etc/passwd"])
        let share = try ShareManifestRules(asked: nil).check(Array(text.utf8), foundAt: nil)
        #expect(share.photos.allSatisfy { $0.link == nil } && share.manifestLink == nil)
    }

    static let hostile: [(String, String)] = [
        ("<html>", "no JSON"), ("", "no JSON"), ("[1]", "no JSON object"), ("null", "no JSON object"),
        ("{}", "version is missing"),
        (ManifestText.text(["version": 2]), "newer sync-agent (version 2); update"),
        (#"{"version": 99, "photos": "anything"}"#, "newer"),
        (ManifestText.text(["version": 0]), "version 0"),
        (ManifestText.text(["shareId": "../../etc"]), "no share id"),
        (ManifestText.text(["shareId": "00000000-0000-4000-8000-000000000000"]), "another share"),
        (String(repeating: "[", count: 100_000), "too deeply"),
        (#"{"version": 1, "a": "# + String(repeating: #"{"a":"#, count: 5_000), "too deeply"),
        (ManifestText.text(["photoCount": 3]), "speaks of 3 photos and names 2"),
        (ManifestText.text(["photoCount": -1]), "speaks of -1"),
        (ManifestText.text(["photoCount": 1_000_000_000]), "more than 10000"),
        (ManifestText.text(["photo.orderIndex": 1]), "two of its photos"),
        (ManifestText.text(["photo.orderIndex": -1]), "photos[0].orderIndex"),
        (ManifestText.text(["photo.orderIndex": 1_000_000]), "photos[0].orderIndex"),
        (ManifestText.text(["photo.orderIndex": "../../evil"]), "photos[0].orderIndex"),
        (ManifestText.text(["photo.size": 0]), "photos[0].size"),
        (ManifestText.text(["photo.size": -5]), "photos[0].size"),
        (ManifestText.text(["photo.size": 2 << 30]), "photos[0].size"),
        (ManifestText.text(["photo.size": Int64.max]), "photos[0].size"),
        (ManifestText.text().replacing("400000", with: "1e999"), "number or time"),
        (ManifestText.text().replacing("400000", with: "NaN"), "no JSON"),
        (ManifestText.text().replacing("400000", with: "99999999999999999999999"), "number or time"),
        (ManifestText.text(["photo.width": 0]), "width"), (ManifestText.text(["photo.height": 2_000_000]), "width"),
        (ManifestText.text(["photo.sha256": "../../etc/passwd"]), "photos[0].sha256"),
        (ManifestText.text(["photo.sha256": String(repeating: "a", count: 63)]), "photos[0].sha256"),
        (ManifestText.text(["photo.url": "http://127.0.0.1:9/a.jpg"]), "another host, http://127.0.0.1:9"),
        (ManifestText.text(["photo.url": "https://evil.example/a.jpg"]), "another host, https://evil.example"),
        (ManifestText.text(["photo.url": "https://example.org@evil.example/a.jpg"]), "no http(s) link"),
        (ManifestText.text(["photo.url": "//evil.example/a.jpg"]), "another host"),
        (ManifestText.text(["photo.url": "file:///etc/passwd"]), "no http(s) link"),
        (ManifestText.text(["photo.url": "http://example.org/a.jpg"]), "another host"),
        (ManifestText.text(["manifestURL": "javascript:alert(1)"]), "manifestURL"),
        (ManifestText.text(["startDate": "2024-06-23"]), "ends before"),
        (ManifestText.text(["startDate": "../../../x"]), "startDate"),
        (ManifestText.text(["startDate": "2023-02-29"]), "startDate"),
        (ManifestText.text(["expiresAt": "0001-01-01T00:00:00Z"]), "expiresAt"),
        (ManifestText.text(["expiresAt": "soon"]), "number or time"),
        (ManifestText.text(["locationName": String(repeating: "x", count: 501)]), "locationName"),
        (ManifestText.text(["locationName": "a" + String(repeating: "\u{301}", count: 5_000)]), "locationName"),
        (ManifestText.text(["sharedBy": String(repeating: "x", count: 501)]), "sharedBy"),
        (ManifestText.text(["photos": "many"]), "photos"),
        (String(repeating: " ", count: (4 << 20) + 1), "longer than 4 MiB"),
    ]

    @Test(arguments: hostile.map { (LongText($0), $1) })
    func `A manifest that no honest sharer writes is refused with the reason`(manifest: LongText, reason: String) {
        let error = #expect(throws: ShareRefusal.self) { try Self.check(manifest.text) }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
        #expect(error?.description.contains { $0.isNewline } == false)
    }

    @Test func `Too many photos and too many bytes are told`() {
        let many = ManifestText.text(photos: 10_001)
        #expect(throws: ShareRefusal("it has more than 10000 photos")) { try Self.check(many) }
        var large =
            (try? JSONSerialization.jsonObject(with: Data(ManifestText.text(photos: 101).utf8))) as? [String: Any]
        large?["photos"] = (0..<101).map { index in
            ManifestText.photo(index).merging(["size": 1 << 30]) { $1 }
        }
        let text = (try? JSONSerialization.data(withJSONObject: large ?? [:])).map {
            String(decoding: $0, as: UTF8.self)
        }
        #expect(throws: ShareRefusal("its photos have more than 100 GiB together")) { try Self.check(text ?? "") }
    }

    @Test func `Texts lose what moves the cursor or turns the direction of writing`() throws {
        let share = try Self.check(
            ManifestText.text([
                "locationName": " \u{202E}Par\u{1B}[2Jis\n\t\u{2066}Texas\u{2069} \u{200B}",
                "sharedBy": "A\u{0}na\r\nroot",
            ]))
        #expect(share.manifest.locationName == "Par [2Jis Texas")
        #expect(share.manifest.sharedBy == "A na root")
    }

    @Test func `A capture time that no camera had is not passed on`() throws {
        let share = try Self.check(ManifestText.text(["photo.takenAt": "0001-01-01T00:00:00Z"]))
        #expect(share.photos[0].takenAt == nil && share.manifest.photos[0].takenAt == nil)
        #expect(share.photos[1].takenAt != nil)
    }

    @Test func `Damaged bytes are refused or harmless`() {
        let whole = Array(ManifestText.text().utf8)
        for seed in 0..<2_000 {
            var bytes = whole
            let noise = [UInt8].noise(12, seed: UInt64(seed))
            for index in stride(from: 0, to: 12, by: 3) {
                let place = (Int(noise[index]) << 8 | Int(noise[index + 1])) % bytes.count
                switch noise[index + 2] % 3 {
                case 0: bytes[place] = noise[index]
                case 1: bytes.removeSubrange(place..<min(place + 7, bytes.count))
                default: bytes.insert(contentsOf: bytes[..<min(9, place)], at: place)
                }
            }
            guard let share = try? ShareManifestRules(asked: nil).check(bytes, foundAt: Self.link) else { continue }
            let isSound = share.photos.allSatisfy { (0...999_999).contains($0.orderIndex) && $0.size > 0 }
            #expect(isSound && share.photos.count == share.manifest.photoCount, "seed \(seed)")
        }
    }
}
