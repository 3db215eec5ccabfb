import SyncCore
import SyncDigest
import Testing

@testable import SyncPhotos

/// With `strip_location` a film is stored as it is when it can be shown to tell no place, and else without what may.
@Suite struct MovieCheckTests {
    private static let policy = ReducePolicy(stripLocation: true)

    /// A box whose type begins with ©, one byte of Mac Roman.
    private static func note(_ type: String) -> [UInt8] {
        PlacedFile.big(12) + [0xA9] + Array(type.utf8) + [1, 2, 3, 4]
    }

    private static let meta = PlacedFile.box("hdlr", [UInt8](repeating: 0, count: 24))

    private static func keys(_ name: String) -> [UInt8] {
        let key = PlacedFile.big(name.utf8.count + 8) + Array("mdta".utf8) + Array(name.utf8)
        return PlacedFile.box("meta", meta + PlacedFile.box("keys", [0, 0, 0, 0] + PlacedFile.big(1) + key))
    }

    @Test(
        arguments: [
            PlacedFile.mp4(), PlacedFile.mp4(notes: note("too") + note("day")),
            PlacedFile.mp4(notes: keys("com.android.version")), PlacedFile.mp4(notes: note("swr") + [0, 0, 0, 0]),
            PlacedFile.mp4(handler: "soun"),
        ])
    func `a film that tells nothing is stored as it is`(film: [UInt8]) throws {
        #expect(try Workbench().copy(of: film, named: "a.mp4", policy: Self.policy).content == .unchanged)
    }

    @Test(
        arguments: [
            PlacedFile.mp4(notes: note("too") + note("xyz") + note("day")),
            PlacedFile.mp4(notes: note("xyz") + [0, 0, 0, 0]),
            PlacedFile.mp4(notes: PlacedFile.box("loci", PlacedFile.placeBytes)),
            PlacedFile.mp4(notes: keys("com.apple.quicktime.location.ISO6709")),
            // A number that stands for no key.
            PlacedFile.mp4(
                notes: PlacedFile.box(
                    "meta", meta + PlacedFile.box("ilst", PlacedFile.box("\0\0\0\u{1}", PlacedFile.placeBytes)))),
            PlacedFile.mp4(notes: PlacedFile.box("XMP_", PlacedFile.placeBytes)),
            PlacedFile.mp4(track: PlacedFile.box("uuid", PlacedFile.placeBytes)),
            PlacedFile.mp4(excess: 40), PlacedFile.mp4(way: PlacedFile.placeBytes),
            PlacedFile.mp4(excess: 3, way: PlacedFile.placeBytes),
            PlacedFile.mp4() + PlacedFile.box("free", PlacedFile.placeBytes),
            PlacedFile.mp4() + PlacedFile.box("uuid", PlacedFile.placeBytes),
        ])
    func `what may tell a place is taken out, and nothing else moves`(film: [UInt8]) throws {
        let bench = Workbench()
        let copy = try bench.copy(of: film, named: "a.mp4", policy: Self.policy)
        let bytes = try copy.patched(film)
        #expect(copy.digest == ContentDigest(of: bytes))
        #expect(copy.dropped == [.position])
        #expect(bytes.count == film.count)
        #expect(bytes[36..<236].elementsEqual(PlacedFile.picture))
        for secret in [PlacedFile.placeBytes, [0xA9] + Array("xyz".utf8), Array("location".utf8)] {
            #expect(bytes.firstRange(of: secret) == nil, "\(secret)")
        }
        #expect(bytes.firstRange(of: [UInt8](repeating: 7, count: 3)) == nil)
        #expect(try bench.copy(of: bytes, named: "b.mp4", policy: Self.policy).content == .unchanged)
    }

    @Test(arguments: [("text", [DroppedPart.tracks, .position]), ("meta", [.position])])
    func `captions that go are told beside the position`(handler: String, dropped: [DroppedPart]) throws {
        let film = PlacedFile.mp4(way: PlacedFile.placeBytes, other: handler)
        #expect(try Workbench().copy(of: film, named: "a.mp4", policy: Self.policy).dropped == dropped)
    }

    @Test func `what is known to tell nothing is still there`() throws {
        let film = PlacedFile.mp4(notes: Self.note("mod") + Self.note("xyz") + Self.note("day"))
        let bytes = try Workbench().copy(of: film, named: "a.mp4", policy: Self.policy).patched(film)
        for name in ["mod", "day"] { #expect(bytes.firstRange(of: Self.note(name)) != nil) }
    }

    @Test(
        arguments: [
            // Plain sound, whose samples are longer than they say.
            ("tables do not tell where it lies", PlacedFile.mp4(handler: "soun", each: 1)),
            ("a track of data", PlacedFile.mp4(handler: "meta")), ("a track of data", PlacedFile.mp4(handler: "text")),
            ("an entry that may tell a position (moof)", PlacedFile.mp4() + PlacedFile.box("moof", [0])),
            ("damaged or of an unknown kind", PlacedFile.mp4() + [0, 0, 1]),
            ("damaged or of an unknown kind", Array(PlacedFile.mp4().prefix(30))),
        ] as [(String, [UInt8])])
    func `a film that may tell its place where nothing can be taken out is refused`(words: String, film: [UInt8]) throws
    {
        let error = #expect(throws: PhotoError.self) {
            _ = try Workbench().copy(of: film, named: "a.mp4", policy: Self.policy)
        }
        #expect(error?.code == .tellsPlace)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test func `boxes without measure are refused`() throws {
        let boxes = [UInt8](Array(repeating: PlacedFile.box("skip", []), count: 70_000).joined())
        let film = PlacedFile.mp4(notes: boxes)
        let error = #expect(throws: PhotoError.self) {
            _ = try Workbench().copy(of: film, named: "a.mp4", policy: Self.policy)
        }
        #expect(error?.message.contains("damaged or of an unknown kind") == true)
    }

    @Test func `boxes in boxes without an end are refused, and do not fill the stack`() throws {
        var boxes: [UInt8] = []
        for _ in 0..<5_000 { boxes = PlacedFile.box("trak", boxes) }
        let film = PlacedFile.box("ftyp", Array("isom\0\0\0\0".utf8)) + PlacedFile.box("moov", boxes)
        let error = #expect(throws: PhotoError.self) {
            _ = try Workbench().copy(of: film, named: "a.mp4", policy: Self.policy)
        }
        #expect(error?.code == .tellsPlace)
    }
}
