import FoundationEssentials
import SyncCore
import SyncTestSupport
import Testing

@testable import SyncPhotos

/// Films as ffmpeg makes them (`Tests/Disk/PhotoFixtures/films`), and boxes of our own.
@Suite struct FilmFactsTests {
    @Test(arguments: [
        ("place.mp4", 64, 48, nil), ("apple.mov", 64, 48, "2024-06-15T14:21:07+09:00"),
        ("portrait.mp4", 48, 64, nil),
    ])
    func `a film tells its size as it is seen, how long it lasts, and when it was taken`(
        name: String, width: Int, height: Int, taken: String?
    ) throws {
        let copy = try Workbench().copy(of: try Fixture.bytes("films/\(name)"), named: name)
        #expect(copy.content == .unchanged)
        #expect([copy.width, copy.height] == [width, height])
        #expect(copy.duration == .milliseconds(1_200))
        #expect(copy.takenAt?.description == taken)
        #expect(copy.note == nil)
    }

    private static func mvhd(_ created: Int64, scale: Int, units: [UInt8]) -> [UInt8] {
        let long = (0..<8).reversed().map { UInt8(truncatingIfNeeded: created >> (8 * $0)) }
        return PlacedFile.box(
            "mvhd", [1, 0, 0, 0] + long + long + PlacedFile.big(scale) + units + [UInt8](repeating: 0, count: 80))
    }

    private static func movie(_ boxes: [UInt8]) -> [UInt8] {
        PlacedFile.box("ftyp", Array("isom\0\0\0\0".utf8)) + PlacedFile.box("moov", boxes)
    }

    private func facts(_ film: [UInt8]) throws -> FilmFacts { try BoxFile(MetadataBytes(film)).film() }

    @Test func `the time of the header is UTC and tells no day of the place, so that it does not count`() throws {
        // 2024-06-15T05:21:07Z in seconds since 1904.
        let film = Self.movie(Self.mvhd(3_801_273_667, scale: 600, units: [0, 0, 0, 0, 0, 0, 2, 88]))
        #expect(try facts(film).takenAt == nil)
        #expect(
            try BoxFile(MetadataBytes(film)).clues().captureTime(at: Date(timeIntervalSince1970: 1_800_000_000)) == nil)
    }

    @Test func `the day that a program notes counts`() throws {
        let day = Array("2023-05-01T10:00:00+02:00".utf8)
        let note = PlacedFile.big(12 + day.count) + [0xA9] + Array("day".utf8) + [0, UInt8(day.count), 0, 0] + day
        let header = Self.mvhd(3_801_273_667, scale: 600, units: [UInt8](repeating: 0xFF, count: 8))
        let facts = try facts(Self.movie(header + PlacedFile.box("udta", note)))
        #expect(facts.takenAt?.description == "2023-05-01T10:00:00+02:00")
        #expect(facts.duration == nil)
    }

    @Test func `of a film in fragments the length is told beside the header`() throws {
        let header = Self.mvhd(0, scale: 1_000, units: [UInt8](repeating: 0, count: 8))
        let length = PlacedFile.box("mvex", PlacedFile.box("mehd", [0, 0, 0, 0] + PlacedFile.big(2_500)))
        #expect(try facts(Self.movie(header + length)).duration == .milliseconds(2_500))
    }

    @Test func `a film that was cut off is stored, and named`() throws {
        let film = try Fixture.bytes("films/portrait.mp4")
        let copy = try Workbench().copy(of: Array(film.prefix(3_000)), named: "a.mp4")
        #expect(copy.content == .unchanged)
        #expect(copy.note?.contains("it was cut off") == true)
        let unended = try Workbench().copy(
            of: PlacedFile.box("ftyp", Array("isom\0\0\0\0".utf8)) + PlacedFile.box("mdat", [1, 2, 3]), named: "b.mp4")
        #expect(unended.note?.contains("it has no index") == true)
    }

    @Test(arguments: ["place.mp4", "apple.mov", "portrait.mp4"])
    func `cut off anywhere or damaged, a film tells less and harms nothing`(name: String) throws {
        let film = try Fixture.bytes("films/\(name)")
        for length in stride(from: 0, to: film.count, by: 23) { _ = try facts(Array(film.prefix(length))) }
        var dice = Dice("SYNC_AGENT_NOISE_SEED")
        for _ in 0..<300 {
            var noisy = film
            for _ in 0..<8 { noisy[8 + dice.below(film.count - 8)] = UInt8(dice.below(256)) }
            #expect(throws: Never.self, "seed \(dice.seed)") {
                let duration = try facts(noisy).duration ?? .seconds(1)
                #expect(duration > .zero && duration < .seconds(100_000_000), "seed \(dice.seed)")
            }
        }
    }

    @Test func `an AVI file tells both in its first header`() throws {
        func little(_ numbers: Int...) -> [UInt8] { numbers.flatMap(PlacedFile.little) }
        let header = little(40_000, 0, 0, 0, 50, 0, 1, 0, 320, 240, 0, 0, 0, 0)
        var list = Array("hdrlavih".utf8)
        list += little(header.count) + header
        var film = Array("RIFF".utf8)
        film += little(list.count + 12) + Array("AVI LIST".utf8) + little(list.count) + list
        let copy = try Workbench().copy(of: film, named: "a.avi")
        #expect([copy.width, copy.height] == [320, 240])
        #expect(copy.duration == .seconds(2))
    }
}
