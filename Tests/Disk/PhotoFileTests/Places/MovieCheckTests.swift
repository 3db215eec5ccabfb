import SyncCore
import Testing

@testable import SyncPhotos

/// With `strip_location` a film is stored when it can be shown to tell no place.
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
            ("tells where it was taken (©xyz)", PlacedFile.mp4(notes: note("xyz"))),
            ("tells where it was taken (loci)", PlacedFile.mp4(notes: PlacedFile.box("loci", [0]))),
            (
                "tells where it was taken (com.apple.quicktime.location.ISO6709)",
                PlacedFile.mp4(notes: keys("com.apple.quicktime.location.ISO6709"))
            ),
            ("an entry that may tell a position (XMP_)", PlacedFile.mp4(notes: PlacedFile.box("XMP_", [0]))),
            ("a track of data", PlacedFile.mp4(handler: "meta")), ("a track of data", PlacedFile.mp4(handler: "text")),
            ("an entry that may tell a position (uuid)", PlacedFile.mp4(track: PlacedFile.box("uuid", [0]))),
            ("data that belong to no track", PlacedFile.mp4(excess: 40)),
            ("something in its padding", PlacedFile.mp4() + PlacedFile.box("free", PlacedFile.placeBytes)),
            ("an entry that may tell a position (moof)", PlacedFile.mp4() + PlacedFile.box("moof", [0])),
            ("damaged or of an unknown kind", PlacedFile.mp4() + [0, 0, 1]),
            ("damaged or of an unknown kind", Array(PlacedFile.mp4().prefix(30))),
        ] as [(String, [UInt8])])
    func `a film that tells its place, or may, is refused`(words: String, film: [UInt8]) throws {
        let error = #expect(throws: PhotoError.self) {
            _ = try Workbench().copy(of: film, named: "a.mp4", policy: Self.policy)
        }
        #expect(error?.code == .tellsPlace)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
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
