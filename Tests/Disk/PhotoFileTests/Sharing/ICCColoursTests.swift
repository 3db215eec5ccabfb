import Testing

@testable import SyncPhotos

/// Shared profiles have colours, and no words.
@Suite struct ICCColoursTests {
    @Test func `no text, name, date or signature of a profile is shared, and its colours are as they were`() throws {
        let profile = TellingPicture.profile
        let colours = try #require(ICCColours(profile)).profile
        #expect(profile.firstRange(of: Array(TellingPicture.secret.utf8)) != nil)
        #expect(colours.firstRange(of: Array(TellingPicture.secret.utf8)) == nil)
        #expect(colours.big(at: 0) == colours.count)
        #expect(colours[8..<24] == profile[8..<24])
        #expect(names(colours) == ["desc", "cprt", "wtpt", "rXYZ", "rTRC"])
        #expect(colours.firstRange(of: Array("XYZ \0\0\0\0".utf8) + [0, 0, 0xF6, 0xD6]) != nil)
    }

    @Test func `what is shared once is shared as it is the next time`() throws {
        let once = try #require(ICCColours(TellingPicture.profile)).profile
        #expect(ICCColours(once)?.profile == once)
    }

    @Test func `the profile of a camera keeps its colours`() throws {
        let file = try JPEGSegments(try Fixture.bytes("camera-profile.jpg"))
        let chunk = try #require(file.contents(of: 0xE2, startingWith: "ICC_PROFILE\0").first)
        let profile = Array(chunk.dropFirst(2))
        let colours = try #require(ICCColours(profile)).profile
        let kept: Set<String> = ["wtpt", "rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC"]
        #expect(kept.isSubset(of: names(colours)))
        #expect(colours.count <= profile.count)
    }

    @Test func `flipped bits end in a profile or in none`() {
        for index in TellingPicture.profile.indices {
            for value in [0, 0x7F, 0xFF] as [UInt8] {
                var profile = TellingPicture.profile
                profile[index] = value
                _ = ICCColours(profile)
            }
        }
    }

    private func names(_ profile: [UInt8]) -> [String] {
        (0..<(profile.big(at: 128) ?? 0)).compactMap { profile.text(at: 132 + 12 * $0) }
    }
}
