import SyncCore
import SyncDigest
import SyncTestSupport
import Testing

@testable import SyncPhotos

/// The cut over films as ffmpeg makes them.
@Suite struct FilmCutTests {
    private static let place = Array("34.6937".utf8)

    private func cut(_ film: [UInt8], _ rules: FilmRules) throws -> [UInt8] {
        let patches = try FilmCut.make(FilmBytes(film), rules)
        var bytes = film
        bytes.withUnsafeMutableBytes { patches.apply(to: $0, at: 0) }
        return bytes
    }

    /// The data of pictures and sound.
    private func data(_ film: [UInt8]) throws -> ArraySlice<UInt8> {
        let box = try #require(try FilmBytes(film).boxes().first { $0.type == "mdat" })
        return film[box.body]
    }

    @Test(arguments: ["place.mp4", "apple.mov", "keys.mov"])
    func `a film of a camera loses its place, and keeps pictures, sound and times`(name: String) throws {
        let film = try Fixture.bytes("films/\(name)")
        #expect(film.firstRange(of: Self.place) != nil)
        let copy = try Workbench().copy(of: film, named: name, policy: ReducePolicy(stripLocation: true))
        let bytes = try copy.patched(film)
        #expect(bytes.firstRange(of: Self.place) == nil)
        #expect(bytes.firstRange(of: Array("ISO6709".utf8)) == nil)
        #expect(try data(bytes) == data(film))
        let (before, after) = try (
            BoxFile(MetadataBytes(film)).film(), BoxFile(MetadataBytes(bytes)).film()
        )
        #expect(before == after)
        #expect(copy.duration == .milliseconds(1_200))
    }

    @Test(arguments: ["place.mp4", "apple.mov", "portrait.mp4", "keys.mov"])
    func `for others, nothing of camera, program or maker is left`(name: String) throws {
        let film = try Fixture.bytes("films/\(name)")
        let bytes = try cut(film, .shared)
        let secrets = ["34.6937", "Acme", "Apple", "iPhone", "ISO6709", "Lavc libx264", "Lavf", "FFMP", "Handler"]
        // The encoder of the pictures signs within their data, which stay as they are.
        let index = bytes.count - (try data(bytes).count)
        let told = bytes.prefix(try data(bytes).startIndex) + bytes.suffix(from: try data(bytes).endIndex)
        #expect(told.count == index)
        for secret in secrets { #expect(told.firstRange(of: Array(secret.utf8)) == nil, "\(secret)") }
        #expect(try data(bytes) == data(film))
        #expect(try BoxFile(MetadataBytes(bytes)).film() == BoxFile(MetadataBytes(film)).film())
        #expect(try FilmCut.make(FilmBytes(bytes), .shared) == FilmCut.make(FilmBytes(bytes), .shared))
        #expect(try cut(bytes, .shared) == bytes)
    }

    @Test func `the name of an encoder goes whatever resolution is told, and so does what no player needs`() throws {
        var film = try Fixture.bytes("films/place.mp4")
        let name = Array("Lavc libx264".utf8)
        // The resolutions lie in front of the name, behind size and vendor.
        let start = try #require(film.firstRange(of: Array("avc1".utf8))).upperBound
        let there = start + 42..<start + 74
        #expect(film[there].firstRange(of: name) != nil)
        for place in start + 28..<start + 36 { film[place] = 0 }
        let part = try #require(film.firstRange(of: Array("pasp".utf8)))
        film.replaceSubrange(part, with: Array("uuid".utf8))
        let bytes = try cut(film, .shared)
        #expect(bytes[there].allSatisfy { $0 == 0 })
        #expect(
            bytes[part].elementsEqual("free".utf8)
                && bytes[part.upperBound..<part.upperBound + 8].allSatisfy { $0 == 0 })
        try MovieCheck.require(FilmBytes(bytes), .shared)
        for place in [there.lowerBound, part.upperBound] {
            var told = bytes
            told[place] = 7
            #expect(throws: PhotoError.self) { try MovieCheck.require(FilmBytes(told), .shared) }
        }
        // The rest is as it was for one's own store.
        #expect(try cut(film, .stored)[there] == film[there])
    }

    /// Where a box of the sound's entry begins: its name.
    private func soundPart(_ name: String, of film: [UInt8]) throws -> Range<Int> {
        let track = try #require(film.firstRange(of: Array("soun".utf8))).upperBound
        return try #require(film[track...].firstRange(of: Array(name.utf8)))
    }

    @Test(
        arguments: [("apple.mov", "chan"), ("apple.mov", "frma"), ("portrait.mp4", "btrt")],
        ["name", "udta", "\u{A9}xyz", "zzzz"])
    func `words in an entry for sound go, and for others what no player needs`(
        place: (film: String, part: String), name: String
    ) throws {
        var film = try Fixture.bytes("films/\(place.film)")
        let part = try soundPart(place.part, of: film)
        film.replaceSubrange(part, with: name.unicodeScalars.map { UInt8($0.value) })
        let body = part.upperBound..<part.upperBound + Int(film[part.lowerBound - 1]) - 8
        for (place, byte) in zip(body, "34.6".utf8) { film[place] = byte }
        for rules in [FilmRules.stored, .shared] {
            let bytes = try cut(film, rules)
            if name == "zzzz", !rules.blanksNames {
                #expect(bytes[part.lowerBound..<body.upperBound] == film[part.lowerBound..<body.upperBound])
                continue
            }
            #expect(bytes[part].elementsEqual("free".utf8))
            #expect(bytes[body].allSatisfy { $0 == 0 })
            var told = bytes
            told.replaceSubrange(part.lowerBound..<body.upperBound, with: film[part.lowerBound..<body.upperBound])
            #expect(throws: PhotoError.self) { try MovieCheck.require(FilmBytes(told), rules) }
        }
    }

    @Test func `the name of a tape goes out of time codes`() throws {
        let tape = PlacedFile.box("name", [0, 5, 0, 0] + Array("Kyoto".utf8))
        let entry = PlacedFile.box("tmcd", [UInt8](repeating: 0, count: 26) + tape)
        let film = PlacedFile.mp4(way: [0, 0, 0, 0], other: "tmcd", entries: entry)
        for rules in [FilmRules.stored, .shared] {
            let bytes = try cut(film, rules)
            #expect(bytes.firstRange(of: Array("Kyoto".utf8)) == nil)
            #expect(bytes.firstRange(of: Array("tmcd".utf8)) != nil)
            #expect(throws: PhotoError.self) { try MovieCheck.require(FilmBytes(film), rules) }
        }
    }

    @Test func `a film whose tables do not fit its data is not cut`() throws {
        let film = try Fixture.bytes("films/portrait.mp4")
        let start = try #require(film.firstRange(of: Array("stco".utf8))).upperBound + 8
        var moved = film
        for place in 0..<4 { moved[start + place] = 0xF0 }
        let error = #expect(throws: PhotoError.self) { _ = try FilmCut.make(FilmBytes(moved), .stored) }
        #expect(error?.code == .tellsPlace)
    }

    @Test func `whatever is done to a film, its cut passes the check or there is none`() throws {
        var dice = Dice("SYNC_AGENT_NOISE_SEED")
        for name in ["place.mp4", "apple.mov"] {
            let film = try Fixture.bytes("films/\(name)")
            for _ in 0..<300 {
                var noisy = film
                for _ in 0..<4 { noisy[8 + dice.below(film.count - 8)] = UInt8(dice.below(256)) }
                guard let bytes = try? cut(noisy, .shared) else { continue }
                #expect(bytes.count == film.count, "seed \(dice.seed)")
                #expect(throws: Never.self, "seed \(dice.seed)") {
                    try MovieCheck.require(FilmBytes(bytes), .shared)
                }
            }
        }
    }
}
