import Foundation
import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncPhotos

/// Pictures of every kind, through the decoder that is built with the tests. The files show one picture; what they have
/// beside it is in the README of their folder.
@Suite struct PictureCopyTests {
    private let limits = PhotoLimits()
    private let half = ReducePolicy(maximumDimension: 50)

    /// A file, and what its reduced copy has dropped.
    struct Kind: Sendable, CustomTestStringConvertible {
        var file: String
        var dropped: [DroppedPart] = []
        var isGray = false
        var takenAt: String?

        init(_ file: String, _ dropped: [DroppedPart] = [], isGray: Bool = false, takenAt: String? = nil) {
            (self.file, self.dropped, self.isGray, self.takenAt) = (file, dropped, isGray, takenAt)
        }

        var testDescription: String { file }
        var bytes: [UInt8] { get throws { try Fixture.bytes("kinds/\(file)") } }
    }

    private static let date = "2024-06-15T14:21:07+02:00"

    static let kinds = [
        Kind("plain.heic", [.xmp], takenAt: date), Kind("tiles.heic", takenAt: date), Kind("mirrored.heic"),
        Kind("gain-map.heic", [.gainMap, .secondPicture]), Kind("deep.heic", [.depth]), Kind("full-chroma.heic"),
        Kind("gray.heic", isGray: true), Kind("levels.heic"), Kind("matrix.heic"), Kind("plain.avif", takenAt: date),
        Kind("wide.avif"),
        Kind("turned.png", takenAt: date), Kind("interlaced.png"), Kind("palette.png"),
        Kind("gray-16.png", [.depth], isGray: true), Kind("plain.webp"), Kind("turned.webp", takenAt: date),
        Kind("lossless.webp"), Kind("animated.webp", [.motion]), Kind("turned.tif", takenAt: date),
        Kind("gray-16.tif", [.depth], isGray: true), Kind("tiles.tif"), Kind("pages.tif", [.secondPicture]),
        Kind("lab.tif"), Kind("lab-tiles.tif", [.depth]),
        Kind("plain.gif"), Kind("animated.gif", [.motion]), Kind("plain.bmp"), Kind("runs.bmp"),
        Kind("preview.dng", [.raw], takenAt: "2024-06-15T14:21:07"),
    ]

    private func copy(of bytes: [UInt8], named name: String, policy: ReducePolicy) throws -> StoredCopy {
        try Workbench(pictures: Decoder.workers).copy(of: bytes, named: name, policy: policy)
    }

    @Test func `a picture that tells its place, and that no decoder is here for, names what is missing`() throws {
        let policy = ReducePolicy(maximumDimension: 50, stripLocation: true)
        let raw = try Fixture.bytes("kinds/preview.dng")
        let error = #expect(throws: PhotoError.self) {
            try Workbench(pictures: .none).copy(of: raw, named: "preview.dng", policy: policy)
        }
        #expect(error?.code == .tellsPlace)
        #expect(error?.message.contains("sync-agent-decoder") == true && error?.message.contains("retry") == true)
        #expect(try copy(of: raw, named: "preview.dng", policy: policy).type == MediaType.jpeg)
    }

    @Test(arguments: kinds) func `beyond the limit it becomes a reduced JPEG, upright and in its colours`(kind: Kind)
        throws
    {
        let copy = try copy(of: kind.bytes, named: kind.file, policy: half)
        #expect(copy.type == MediaType.jpeg)
        #expect([copy.width, copy.height] == [50, 34])
        #expect(copy.dropped == kind.dropped)
        #expect(copy.takenAt?.description == kind.takenAt)
        #expect(copy.note == nil)
        let bytes = try copy.reduced()
        let picture = try BaselinePicture(bytes)
        #expect(picture.width == 50 && picture.height == 34)
        #expect(picture.planes.count == (kind.isGray ? 1 : 3))
        for (x, y, colour, gray) in [
            (12, 10, (230, 90, 60), 118), (15, 25, (240, 230, 150), 226), (42, 15, (40, 120, 70), 99),
        ] {
            let expected = kind.isGray ? (Double(gray), 128, 128) : PlanarPicture.ycbcr(colour.0, colour.1, colour.2)
            for (plane, value) in zip(picture.planes, [expected.0, expected.1, expected.2]) {
                let isHalved = plane.width < picture.width
                let sample = Double(plane.sample(isHalved ? x / 2 : x, isHalved ? y / 2 : y))
                #expect(abs(sample - value) < 16, "\(sample) for \(value) at \(x), \(y)")
            }
        }
        guard let takenAt = kind.takenAt else { return }
        let exif = try #require(try JPEGSegments(bytes).exif)
        let summary = ExifBlock(bytes: exif).summary
        #expect((summary.taken ?? summary.changed)?.captured.description == takenAt)
        #expect((summary.orientation ?? 1) == 1)
    }

    @Test(arguments: kinds) func `within the limit it is stored as it is, once it was decoded`(kind: Kind) throws {
        let copy = try copy(of: kind.bytes, named: kind.file, policy: ReducePolicy(maximumDimension: 100))
        #expect(copy.content == .unchanged)
        #expect(copy.dropped == [])
        if kind.file == "preview.dng" {
            #expect(copy.note?.contains("68 × 100 pixels") == true)
        } else {
            #expect([copy.width, copy.height] == [100, 68])
            #expect(copy.note == nil)
        }
    }

    /// Of the other one, what is decoded stands in the first half.
    @Test(arguments: kinds.filter { $0.file != "preview.dng" })
    func `one that was cut off is an error with its reason`(kind: Kind) throws {
        let bytes = try kind.bytes
        for limit in [50, 100] {
            let error = #expect(throws: PhotoError.self) {
                try copy(
                    of: Array(bytes.prefix(bytes.count / 2)), named: kind.file,
                    policy: ReducePolicy(maximumDimension: limit))
            }
            #expect(error.map { [.truncated, .corrupt].contains($0.code) } == true, "\(error?.message ?? "none")")
            #expect(error?.isPermanent == true)
        }
    }

    /// The beginning of a film, as phones put it behind pictures.
    private static let film = Array("\0\0\0\u{18}ftypmp42".utf8) + [UInt8](repeating: 1, count: 300_000)

    @Test(arguments: kinds.filter { $0.file != "preview.dng" })
    func `what stands behind its end is told, but for filling`(kind: Kind) throws {
        let bytes = try kind.bytes
        for (behind, part) in [
            (Array("a letter".utf8), .trailer), (Self.film, .motion), (PlacedFile.box("mpvd", Self.film), .motion),
            ([0, 0xFF, 0x0A], nil),
        ]
            as [([UInt8], DroppedPart?)]
        {
            let copy = try copy(of: bytes + behind, named: kind.file, policy: half)
            #expect(copy.dropped == Set(kind.dropped + [part].compactMap(\.self)).inOrder)
        }
    }

    private static let otherSize = "its tiles have another size than the file tells"
    private static let unequal = "one of its tiles is turned, cut, or of another size than the others"
    /// Of `ipma`: five entries in place of six, of which that of the fourth tile has one number more, `irot`.
    private static let turned: [UInt8] = [
        5, 0, 1, 2, 0x81, 2, 0, 2, 2, 0x81, 2, 0, 3, 2, 0x81, 2, 0, 4, 3, 0x81, 2, 4, 0, 5, 2, 3, 0x84,
    ]

    /// tiles.heic has four tiles of 64 × 64 pixels. Where each one lies follows from the size that the file tells of them.
    @Test(
        arguments: [
            ("too wide", 474, [66], otherSize), ("too narrow", 474, [60], otherSize),
            ("too high", 478, [70], otherSize),
            ("the last one of another size", 543, [3], unequal), ("the last one turned", 523, turned, unequal),
            ("the first one of no size", 528, [1], unequal),
        ] as [(String, Int, [UInt8], String)])
    func `a picture whose tiles do not lie side by side is stored as it is`(
        kind: String, at: Int, value: [UInt8], reason: String
    ) throws {
        var bytes = try Fixture.bytes("kinds/tiles.heic")
        bytes.replaceSubrange(at..<at + value.count, with: value)
        let copy = try copy(of: bytes, named: "tiles.heic", policy: half)
        #expect(copy.content == .unchanged)
        #expect(copy.note == "stored as it is and not reduced: \(reason)")
    }

    /// Its grid tells 190 columns, and two tiles of 64 lie side by side.
    @Test func `a picture that its tiles do not cover is an error`() throws {
        var bytes = try Fixture.bytes("kinds/odd.heic")
        let grid = try #require(bytes.indices.first { bytes[$0...].starts(with: "idat".utf8) }) + 4
        #expect(bytes[grid + 5] == 99)
        bytes[grid + 5] = 190
        let error = #expect(throws: PhotoError.self) { try copy(of: bytes, named: "odd.heic", policy: half) }
        #expect(error?.code == .corrupt && error?.message.contains("do not cover") == true)
    }

    @Test(arguments: ["alpha.png", "alpha.webp", "alpha.avif"])
    func `what a picture lets through lies on white`(file: String) throws {
        let copy = try copy(of: Fixture.bytes("kinds/\(file)"), named: file, policy: half)
        let picture = try BaselinePicture(try copy.reduced())
        #expect(copy.dropped == [.alpha])
        #expect(picture.planes[0].sample(12, 10) > 245)
        #expect(abs(Int(picture.planes[0].sample(42, 15)) - 90) < 12)
    }

    @Test(arguments: ["lab.tif", "lab-tiles.tif"]) func `L*a*b* has the colours that the picture has in RGB`(
        file: String
    )
        throws
    {
        let policy = ReducePolicy(maximumDimension: 99, quality: 100)
        let pictures = try [file, "plain.bmp"].map { file in
            try BaselinePicture(copy(of: Fixture.bytes("kinds/\(file)"), named: file, policy: policy).reduced())
        }
        for (plane, other) in zip(pictures[0].planes, pictures[1].planes) {
            let sum = zip(plane.samples, other.samples).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            #expect(Double(sum) / Double(plane.samples.count) < 2)
        }
    }

    @Test(
        arguments: [
            ("hdr.avif", "an HDR picture (PQ), of which no SDR copy is made"),
            ("inks.tif", "inks (CMYK) instead of colours"),
            ("float.tif", "samples in floating point instead of whole numbers"),
        ])
    func `what the decoder does not know is stored as it is, with a reason in plain words`(file: String, reason: String)
        throws
    {
        let copy = try copy(of: Fixture.bytes("kinds/\(file)"), named: file, policy: half)
        #expect(copy.content == .unchanged)
        #expect(copy.note == "stored as it is and not reduced: \(reason)")
    }

    @Test(arguments: [(65_501, 1), (1, 70_000), (2_000_000, 1)] as [(UInt32, UInt32)])
    func `what has a side that no JPEG of ours has is stored as it is, with its size`(width: UInt32, height: UInt32)
        throws
    {
        let copy = try copy(of: png(width: width, height: height), named: "long.png", policy: half)
        #expect(copy.content == .unchanged)
        #expect(
            copy.note
                == "stored as it is and not reduced: the picture has \(width) × \(height) pixels; a side can have 65500"
        )
    }

    /// The beginning of a PNG of one bit.
    private func png(width: UInt32, height: UInt32) -> [UInt8] {
        func number(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian, Array.init) }
        func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
            let sum = (Array(name.utf8) + body).reduce(~UInt32(0)) { sum, byte in
                (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
            }
            return number(UInt32(body.count)) + Array(name.utf8) + body + number(~sum)
        }
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", number(width) + number(height) + [1, 0, 0, 0, 0]) + chunk("IDAT", [0x78, 0x9C])
    }

    /// Inks of 40 × 40 pixels, in a TIFF whose directory comes first.
    private func inks(bytes: Int) -> [UInt8] {
        func number(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.littleEndian, Array.init) }
        func short(_ value: UInt16) -> [UInt8] { withUnsafeBytes(of: value.littleEndian, Array.init) }
        let tags: [(UInt16, UInt16, UInt32)] = [
            (256, 3, 40), (257, 3, 40), (258, 3, 8), (262, 3, 5), (273, 4, 200), (277, 3, 4), (278, 3, 40),
            (279, 4, 6_400),
        ]
        let directory = tags.flatMap { short($0.0) + short($0.1) + number(1) + number($0.2) }
        let head = [0x49, 0x49, 0x2A, 0] + number(8) + short(UInt16(tags.count)) + directory + number(0)
        return head + [UInt8](repeating: 0, count: 200 - head.count) + [UInt8](repeating: 0x7F, count: bytes)
    }

    @Test func `what the decoder does not know is an error where its file ends too early`() throws {
        #expect(try copy(of: inks(bytes: 6_400), named: "inks.tif", policy: half).content == .unchanged)
        let error = #expect(throws: PhotoError.self) { try copy(of: inks(bytes: 100), named: "inks.tif", policy: half) }
        #expect(error?.code == .truncated)
    }

    /// Nothing names a photo in memory, so that a raw file is a TIFF there. What the sensor saw must not be lost for that.
    @Test func `of a raw file in memory it is told that there are more pictures in it`() throws {
        let copy = try PhotoFileReducer(pictures: Decoder.workers).reduce(
            Fixture.bytes("kinds/preview.dng"), policy: half)
        #expect(copy.dropped.contains(.secondPicture))
    }

    @Test(arguments: kinds) func `without a decoder it is stored as it is, with a note`(kind: Kind) throws {
        let copy = try Workbench().copy(of: kind.bytes, named: kind.file, policy: half)
        #expect(copy.content == .unchanged && copy.width == nil)
        #expect(copy.note?.contains("sync-agent-decoder") == true)
    }

    @Test func `a photo in memory gives the copy that its file gives`() throws {
        let bytes = try Fixture.bytes("kinds/plain.heic")
        let reducer = PhotoFileReducer(pictures: Decoder.workers)
        let copy = try reducer.reduce(bytes, policy: half)
        #expect(copy == (try self.copy(of: bytes, named: "plain.heic", policy: half)))
        #expect(try reducer.reduce(bytes, policy: ReducePolicy()).content == .unchanged)
        #expect(throws: PhotoError.self) { try reducer.reduce(Array(bytes.prefix(2_000)), policy: half) }
    }

    @Test func `the profile of a picture comes along`() throws {
        let bytes = try copy(of: Fixture.bytes("kinds/wide.avif"), named: "wide.avif", policy: half).reduced()
        let profile = try JPEGSegments(bytes).contents(of: 0xE2, startingWith: "ICC_PROFILE\0")
        #expect(profile.count == 1)
        #expect(profile.first?.dropFirst(2 + 36).starts(with: "acsp".utf8) == true)
    }

    @Test(arguments: kinds) func `strip_location holds for reduced copies`(kind: Kind) throws {
        var policy = half
        policy.stripLocation = true
        let copy = try copy(of: kind.bytes, named: kind.file, policy: policy)
        let bytes = try copy.reduced()
        let exif = try JPEGSegments(bytes).exif.map(ExifBlock.init(bytes:))
        #expect(exif?.partsThatTellPlaces.isEmpty ?? true)
        #expect([copy.width, copy.height] == [50, 34])
    }

    // MARK: Sharing

    @Test(arguments: kinds) func `it is shared as a JPEG that tells nothing else`(kind: Kind) throws {
        let maker = SharedPhotoMaker(pictures: Decoder.workers)
        let tree = try TemporaryTree()
        let path = try tree.write(kind.bytes, to: kind.file)
        let reduced = try maker.sharedCopy(of: .file(path), size: .reduced(half))
        #expect(reduced.type == .jpeg && [reduced.width, reduced.height] == [50, 34])
        #expect(reduced.takenAt?.description == kind.takenAt)
        let full = try maker.sharedCopy(of: .file(path), size: .full(limits))
        #expect(full.type == .jpeg && [full.width, full.height] == [100, 68])
        let thumbnail = try maker.thumbnail(of: .file(path), side: 20)
        #expect([thumbnail.width, thumbnail.height] == [20, 14])
        #expect(try JPEGSegments(thumbnail.reduced()).exif == nil)
    }

    @Test func `it is shared from its file as from its stored copy`() throws {
        let bytes = try Fixture.bytes("kinds/plain.heic")
        let stored = try copy(of: bytes, named: "plain.heic", policy: half).reduced()
        let maker = SharedPhotoMaker(pictures: Decoder.workers)
        let fromFile = try maker.sharedCopy(of: .bytes(bytes), size: .reduced(half))
        let fromStore = try maker.sharedCopy(of: .bytes(stored), size: .reduced(half))
        #expect(fromFile.digest == fromStore.digest)
    }

    @Test func `without a decoder it is not shared`() throws {
        let bytes = try Fixture.bytes("kinds/plain.heic")
        let error = #expect(throws: PhotoError.self) {
            try SharedPhotoMaker().sharedCopy(of: .bytes(bytes), size: .reduced(half))
        }
        #expect(error?.code == .unsupported)
    }
}

/// The decoder that is built beside the tests.
enum Decoder {
    /// New ones each time, which end with whoever has them: one that ended by itself would be a zombie for as long as the
    /// tests run, and Swift Testing, which waits for any child, would wait for no other (`processExitsWith`).
    static var workers: PictureWorkers {
        let executable = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return PictureWorkers(besides: FilePath(executable ?? "/"))
    }
}
