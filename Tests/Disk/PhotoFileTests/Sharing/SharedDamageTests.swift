import SyncCore
import SyncPhotos
import Testing

/// A damaged photo is refused, or its copy is whole and tells nothing.
@Suite struct SharedDamageTests {
    private static let sizes: [SharedSize] = [
        .full(PhotoLimits()), .reduced(ReducePolicy(quality: 99)), .reduced(ReducePolicy(maximumDimension: 50)),
    ]
    private let maker = SharedPhotoMaker()

    /// The code of the error, or `nil` for a copy, which must be silent and whole.
    private func outcome(_ bytes: [UInt8], _ size: SharedSize) throws -> PhotoError.Code? {
        do {
            let output = try maker.sharedCopy(of: .bytes(bytes), size: size).reduced()
            #expect(output.firstRange(of: Array(TellingPicture.secret.utf8)) == nil)
            #expect(output.suffix(2) == [0xFF, 0xD9])
            return nil
        } catch let error as PhotoError {
            return error.code
        }
    }

    @Test(
        arguments: ["sampling-2x2", "coding-progressive"],
        sizes)
    func `a file that was cut off is truncated, wherever it was cut`(name: String, size: SharedSize) throws {
        let picture = try Fixture.bytes(name + ".jpg")
        let bytes = try TellingPicture.file(picture, hasTrailer: false)
        for length in stride(from: 4, to: bytes.count - 2, by: 83) {
            #expect(try outcome(Array(bytes.prefix(length)), size) == .truncated)
        }
    }

    @Test(arguments: sizes)
    func `a scan that ends early, or goes on too long, is corrupt`(size: SharedSize) throws {
        for change in [-200, 100] {
            var file = try JPEGSegments(try Fixture.bytes("sampling-2x2.jpg"))
            let scan = try #require(file.segments.lastIndex { $0.marker == 0xDA })
            let entropy = file.segments[scan].entropy
            file.segments[scan].entropy = change < 0 ? entropy.dropLast(-change) : entropy + entropy.suffix(change)
            #expect(try outcome(file.bytes, size) == .corrupt)
        }
    }

    @Test(arguments: sizes)
    func `a segment of any wrong length ends in an error or in a silent copy`(size: SharedSize) throws {
        let bytes = try TellingPicture.file(try Fixture.bytes("coding-progressive.jpg"))
        var whole = bytes
        whole.removeSubrange(TellingPicture.gap..<TellingPicture.gap + TellingPicture.secret.utf8.count)
        var at = 2
        var copies = 0
        for segment in try JPEGSegments(whole).segments {
            if at == TellingPicture.gap { at += TellingPicture.secret.utf8.count }
            for length in [0, 1, 2, 3, segment.body.count + 1, segment.body.count + 9, 600, 65_535] {
                var damaged = bytes
                damaged[at + 2] = UInt8(length >> 8)
                damaged[at + 3] = UInt8(length & 0xFF)
                copies += try outcome(damaged, size) == nil ? 1 : 0
            }
            at += 4 + segment.body.count + segment.entropy.count
        }
        #expect(copies > 0)
    }

    @Test(arguments: sizes)
    func `flipped bits end in an error or in a silent copy`(size: SharedSize) throws {
        let bytes = try TellingPicture.file(try Fixture.bytes("coding-progressive.jpg"))
        var copies = 0
        for index in stride(from: 0, to: bytes.count, by: 19) {
            var damaged = bytes
            damaged[index] ^= UInt8(1 << (index % 8))
            copies += try outcome(damaged, size) == nil ? 1 : 0
        }
        #expect(copies > 0)
    }
}
