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

    @Test func `values that lie on each other make no profile of many times its size`() {
        #expect(ICCColours(overlapping(bytes: 4_096, tags: 30)) == nil)
    }

    @Test func `a profile that would take more segments than can be counted is left out, and ends no process`() {
        let profile = overlapping(bytes: 450_000, tags: Self.tables.count)
        let starts = Array(stride(from: 0, to: profile.count, by: 65_519))
        let chunks = starts.enumerated().map { index, start in
            Array("ICC_PROFILE\0".utf8) + [UInt8(index + 1), UInt8(starts.count)]
                + profile[start..<min(start + 65_519, profile.count)]
        }
        #expect(ICCProfile(chunks: chunks, coloursOnly: true) == nil)
        #expect(ICCProfile(chunks: chunks, coloursOnly: false)?.bodies == chunks)
    }

    private static let tables = [
        "rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC", "kTRC", "wtpt", "bkpt", "lumi", "chad", "chrm", "A2B0", "A2B1",
        "A2B2", "A2B3", "B2A0", "B2A1", "B2A2", "B2A3", "D2B0", "D2B1", "D2B2", "D2B3", "B2D0", "B2D1", "B2D2", "B2D3",
        "gamt", "pre0", "pre1", "pre2", "rig0", "rig2", "clro", "cicp", "meas", "view", "tech",
    ]

    /// Each of its tags is nearly all of it.
    private func overlapping(bytes: Int, tags: Int) -> [UInt8] {
        let data = 132 + 12 * tags
        var profile = [UInt8](repeating: 0, count: bytes)
        profile.replaceSubrange(0..<4, with: bytes.bigEndianBytes)
        profile.replaceSubrange(36..<40, with: Array("acsp".utf8))
        profile.replaceSubrange(128..<132, with: tags.bigEndianBytes)
        for (index, name) in Self.tables.prefix(tags).enumerated() {
            let (entry, start) = (132 + 12 * index, data + 4 * index)
            let place = start.bigEndianBytes + (bytes - start).bigEndianBytes
            profile.replaceSubrange(entry..<entry + 12, with: Array(name.utf8) + place)
            profile.replaceSubrange(start..<start + 4, with: Array("mft2".utf8))
        }
        return profile
    }

    private func names(_ profile: [UInt8]) -> [String] {
        (0..<(profile.big(at: 128) ?? 0)).compactMap { profile.text(at: 132 + 12 * $0) }
    }
}
