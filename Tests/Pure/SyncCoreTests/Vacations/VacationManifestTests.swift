import FoundationEssentials
import SyncCore
import Testing

@Suite struct VacationManifestTests {
    private func photo(_ number: UInt8, name: String) throws -> VacationManifest.Photo {
        let md5 = try #require(MD5Digest(bytes: [UInt8](repeating: number, count: 16)))
        return VacationManifest.Photo(
            key: try KeyLayout(user: "ana").photo(PhotoID(md5)), md5: md5,
            sha256: SHA256Digest(bytes: [UInt8](repeating: number, count: 32)), name: name,
            takenAt: number == 1 ? CaptureTime("2024-06-15T07:30:00.25+09:00") : nil, width: 2_048, height: nil,
            size: 1_000)
    }

    private func manifest(_ photos: [VacationManifest.Photo], sharedBy: String? = nil) throws -> VacationManifest {
        let details = VacationDetails(
            location: "Zürich \"<&>\"", startDate: try #require(CalendarDay("2024-06-15")),
            endDate: try #require(CalendarDay("2024-06-22")), sharedBy: sharedBy)
        return VacationManifest(cacheKey: details.cacheKey(photoCount: photos.count), details: details, photos: photos)
    }

    @Test func `it comes back as it was, and its bytes are always the same`() throws {
        let manifest = try manifest([photo(1, name: "day 1/a.jpg"), photo(2, name: "b.jpg")])
        let bytes = try manifest.encoded()
        let back = try VacationManifest(parsing: bytes)
        #expect(back.isEquivalent(to: manifest))
        #expect(back.photos.map(\.name) == ["day 1/a.jpg", "b.jpg"])
        #expect(back.photos.map(\.height) == [nil, nil])
        #expect(try back.encoded() == bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        for field in ["\"sharedBy\" : null", "\"photoCount\" : 2", "\"version\" : 1", "2024-06-15T07:30:00+09:00"] {
            #expect(text.contains(field))
        }
    }

    @Test func `other names of the same photos make no other vacation, and other photos do`() throws {
        let one = try manifest([photo(1, name: "a.jpg"), photo(2, name: "b.jpg")])
        #expect(one.isEquivalent(to: try manifest([photo(2, name: "x.jpg"), photo(1, name: "y.jpg")])))
        #expect(!one.isEquivalent(to: try manifest([photo(1, name: "a.jpg"), photo(3, name: "b.jpg")])))
        #expect(!one.isEquivalent(to: try manifest([photo(1, name: "a.jpg"), photo(1, name: "b.jpg")])))
        #expect(
            !one.isEquivalent(to: try manifest([photo(1, name: "a.jpg"), photo(2, name: "b.jpg")], sharedBy: "Bo")))
    }

    @Test(arguments: [
        ("", VacationManifest.Damage.unreadable), ("{}", .unreadable), (#"{"version": 1}"#, .unreadable),
        (#"{"version": "1"}"#, .unreadable), (#"{"version": 2, "what": []}"#, .newer(version: 2)),
    ])
    func `what is no manifest of ours is told`(text: String, damage: VacationManifest.Damage) throws {
        #expect(throws: damage) { try VacationManifest(parsing: Array(text.utf8)) }
    }
}
