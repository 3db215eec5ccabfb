import SyncCore
import SyncTestSupport
import Testing

@testable import SyncPhotos

/// With `strip_location` nothing that is stored of an image tells where it was taken, or nothing is stored.
@Suite struct PlaceCutTests {
    private static let policy = ReducePolicy(stripLocation: true)

    struct Kind: CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        var dropped: Set<DroppedPart> = []
        /// Whether it has an EXIF block, of which the rest stays.
        var hasExif = true
        var testDescription: String { name }
    }

    private static let kinds = [
        Kind(name: "a.png", bytes: PlacedFile.png(), dropped: [.position, .xmp, .comment, .applicationData, .trailer]),
        Kind(name: "a.webp", bytes: PlacedFile.webp(), dropped: [.position, .xmp, .applicationData, .trailer]),
        Kind(name: "a.gif", bytes: PlacedFile.gif(), dropped: [.xmp, .comment, .trailer], hasExif: false),
        Kind(name: "a.tif", bytes: PlacedFile.tiff(), dropped: [.position, .xmp, .comment, .iptc]),
        Kind(name: "a.heic", bytes: PlacedFile.heic(), dropped: [.position, .xmp, .comment, .motion]),
    ]

    @Test(arguments: kinds)
    func `the place goes out of every image that can be cut, and its picture stays byte for byte`(kind: Kind) throws {
        #expect(kind.bytes.firstRange(of: PlacedFile.placeBytes) != nil)
        let copy = try Workbench().copy(of: kind.bytes, named: kind.name, policy: Self.policy)
        let stored = try copy.reduced()
        #expect(stored.firstRange(of: PlacedFile.placeBytes) == nil)
        #expect(stored.firstRange(of: PlacedFile.picture) != nil)
        #expect(Set(copy.dropped).isSuperset(of: kind.dropped))
        if kind.hasExif {
            #expect(stored.firstRange(of: Array(PlacedFile.maker.utf8)) != nil)
            #expect(stored.firstRange(of: Array("2024:06:15 12:30:45".utf8)) != nil)
        }
    }

    @Test(arguments: kinds)
    func `a cut image is cut no further, and is stored as it is`(kind: Kind) throws {
        let bench = Workbench()
        let once = try bench.copy(of: kind.bytes, named: kind.name, policy: Self.policy).reduced()
        #expect(try bench.copy(of: once, named: kind.name, policy: Self.policy).content == .unchanged)
    }

    @Test(arguments: kinds)
    func `a photo in an event is cut as a file is`(kind: Kind) throws {
        let copy = try PhotoFileReducer().reduce(kind.bytes, policy: Self.policy)
        #expect(try copy.reduced() == Workbench().copy(of: kind.bytes, named: kind.name, policy: Self.policy).reduced())
    }

    @Test(arguments: kinds)
    func `without the setting, images are stored as they are`(kind: Kind) throws {
        #expect(try Workbench().copy(of: kind.bytes, named: kind.name).content == .unchanged)
    }

    private static let refused: [(String, [UInt8])] = [
        ("a.dng", PlacedFile.tiff()), ("a.nef", PlacedFile.tiff()),
        ("a.cr2", Array("II*\0\u{10}\0\0\0CR\u{2}\0".utf8)), ("a.jxl", [0xFF, 0x0A, 0, 0]),
        ("a.psd", Array("8BPS\0\u{1}".utf8)), ("a.crw", Array("II\u{1A}\0\0\0HEAPCCDR".utf8)),
        ("a.avi", Array("RIFF\0\0\0\0AVI LIST".utf8)), ("a.mkv", [0x1A, 0x45, 0xDF, 0xA3] + Array("matroska".utf8)),
        ("damaged.png", Array(PlacedFile.png().dropLast(60))), ("critical.png", PlacedFile.png([("PLAC", [1])])),
        ("cut.webp", Array(PlacedFile.webp().dropLast(40))), ("cut.gif", Array(PlacedFile.gif().dropLast(30))),
        ("private.tif", PlacedFile.tiff((0xC612, .bytes([1, 4, 0, 0])))), ("jpeg.tif", PlacedFile.tiff(compression: 7)),
        ("empty.tif", TIFFDirectory([0x010E: .text("OSAKA")]).block),
        ("big.tif", Array("II+\0\u{8}\0\0\0".utf8)), ("jpeg.heic", PlacedFile.heic(item: "jpeg")),
        ("property.heic", PlacedFile.heic(property: "plac")), ("box.heic", PlacedFile.heic(last: "plac")),
        ("sequence.heic", PlacedFile.heic(last: "moov")), ("cut.heic", Array(PlacedFile.heic().dropLast(300))),
        (
            "trailer.bmp",
            Array("BM".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0]
                + [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 24, 0] + [UInt8](repeating: 0, count: 28) + PlacedFile.xmp.utf8
        ),
    ]

    @Test(arguments: refused)
    func `what cannot be freed of its place, or is not understood, is refused with a remedy`(
        name: String, bytes: [UInt8]
    ) throws {
        let error = #expect(throws: PhotoError.self) {
            _ = try Workbench().copy(of: bytes, named: name, policy: Self.policy)
        }
        #expect(error?.code == .tellsPlace)
        #expect(error?.isPermanent == true)
        #expect(error?.message.contains("photos.strip_location: false") == true)
        #expect(try Workbench().copy(of: bytes, named: name).content == .unchanged)
    }

    /// BITMAPV5HEADER, as ImageMagick writes it, of one pixel.
    private static func bitmap(profile: [UInt8] = []) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: 124)
        header.replaceSubrange(0..<16, with: [124, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 24, 0])
        header.replaceSubrange(56..<60, with: Array((profile.isEmpty ? "BGRs" : "DEBM").utf8))
        if !profile.isEmpty { header.replaceSubrange(112..<120, with: [128, 0, 0, 0, UInt8(profile.count), 0, 0, 0]) }
        return Array("BM".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 138, 0, 0, 0] + header + [1, 2, 3, 0] + profile
    }

    @Test func `the longest header of a BMP is taken as long as it has no profile`() throws {
        #expect(try BMPCheck.cut(Self.bitmap()).bytes == Self.bitmap())
        #expect(throws: PhotoError.self) { try BMPCheck.cut(Self.bitmap(profile: [1, 2, 3, 4])) }
    }

    @Test(arguments: kinds)
    func `flipped bits end in a copy or an error`(kind: Kind) throws {
        let bench = Workbench()
        for index in stride(from: 16, to: kind.bytes.count, by: 3) {
            var bytes = kind.bytes
            bytes[index] ^= UInt8(1 << (index % 8))
            _ = try? bench.copy(of: bytes, named: kind.name, policy: Self.policy)
            bytes[index] = 0xFF
            _ = try? bench.copy(of: bytes, named: kind.name, policy: Self.policy)
        }
    }
}
