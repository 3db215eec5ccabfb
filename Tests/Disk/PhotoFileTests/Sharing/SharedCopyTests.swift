import Foundation
import SyncCore
import SyncDigest
import SyncTestSupport
import Testing

@testable import SyncPhotos

/// Copies for others: the picture as it was, and nothing that it tells.
@Suite struct SharedCopyTests {
    private let maker = SharedPhotoMaker()

    private func shared(_ bytes: [UInt8], _ size: SharedSize) throws -> (copy: StoredCopy, bytes: [UInt8]) {
        let copy = try maker.sharedCopy(of: .bytes(bytes), size: size)
        return (copy, try copy.reduced())
    }

    @Test(
        arguments: ["sampling-2x2.jpg", "coding-progressive.jpg", "coding-gray.jpg"],
        [.full(PhotoLimits()), .reduced(ReducePolicy(quality: 99)), .reduced(ReducePolicy(maximumDimension: 100))]
            as [SharedSize])
    func `no secret of any segment is in any copy, and the times, the colours and the picture are`(
        name: String, size: SharedSize
    ) throws {
        let (copy, output) = try shared(try TellingPicture.file(try Fixture.bytes(name)), size)
        #expect(output.firstRange(of: Array(TellingPicture.secret.utf8)) == nil)
        #expect(output.suffix(2) == [0xFF, 0xD9])

        let file = try JPEGSegments(output)
        #expect(file.bytes == output)
        let colours = try #require(ICCColours(TellingPicture.profile)).profile
        #expect(file.contents(of: 0xE2, startingWith: "").map { Array($0.dropFirst(14)) } == [colours])
        let allowed: Set<UInt8> = [0xE0, 0xE1, 0xE2, 0xEE, 0xC0, 0xC2, 0xC4, 0xDB, 0xDA]
        #expect(file.segments.allSatisfy { allowed.contains($0.marker) })

        let exif = ExifEntries(try #require(file.exif))
        #expect(Set(exif.image.keys) == [0x0132, 0x8769])
        #expect(Set(exif.exif.keys) == [0x9000, 0x9003, 0x9011, 0x9291, 0xA001, 0xA002, 0xA003, 0xA005])
        #expect(exif.exif[0xA001] == 0xFFFF)
        #expect(exif.exif[0xA002] == copy.width && exif.exif[0xA003] == copy.height)
        #expect(file.exif?.firstRange(of: Array("2024:06:15 12:30:45\0".utf8)) != nil)
        #expect(file.exif?.firstRange(of: Array("R03\0".utf8)) != nil)
        #expect(copy.takenAt?.instant?.timeIntervalSince1970 == 1_718_447_445.25)
        #expect(copy.digest == ContentDigest(of: output))
        #expect(copy.type == .jpeg)
    }

    @Test(arguments: 1...8)
    func `a full copy has the picture's data byte for byte, and its orientation`(orientation: Int) throws {
        let bytes = try Fixture.bytes("orientation-\(orientation).jpg")
        let (copy, output) = try shared(bytes, .full(PhotoLimits()))
        #expect(copy.width == 201 && copy.height == 137)
        let (before, after) = (try JPEGSegments(bytes), try JPEGSegments(output))
        #expect(picture(before) == picture(after))
        let orientationTag = after.exif.map { ExifEntries($0).image[0x0112] ?? 1 } ?? 1
        #expect(orientationTag == orientation)
    }

    @Test(
        arguments: [
            "coding-arithmetic-progressive.jpg", "coding-multiscan.jpg", "coding-restart-blocks.jpg", "coding-cmyk.jpg",
            "coding-ycck.jpg", "coding-rgb.jpg", "size-1x1.jpg", "size-65500x1.jpg",
        ])
    func `whatever way it is coded in, a full copy holds the same data`(name: String) throws {
        let bytes = try Fixture.bytes(name)
        let output = try shared(bytes, .full(PhotoLimits())).bytes
        #expect(picture(try JPEGSegments(output)) == picture(try JPEGSegments(bytes)))
    }

    @Test(arguments: ["sampling-2x2.jpg", "coding-cmyk.jpg"])
    func `a photo that tells nothing comes out as it is`(name: String) throws {
        let bytes = try Fixture.bytes(name)
        #expect(try shared(bytes, .full(PhotoLimits())).bytes == bytes)
    }

    @Test func `a file that is read in pieces is cut at its markers, wherever a piece ends`() throws {
        let tree = try TemporaryTree()
        let picture = try Fixture.bytes("size-16x16.jpg")
        // Comments that leave so many bytes of the picture in the first piece of 256 KiB.
        for rest in stride(from: 2, through: picture.count, by: 3) {
            let lengths = [65_000, 65_000, 65_000, 65_000, 2_126 - rest + 2]
            let comments = lengths.flatMap { length in
                [0xFF, 0xFE, UInt8(length >> 8), UInt8(length & 0xFF)] + [UInt8](repeating: 0xFF, count: length - 2)
            }
            let file = try tree.write(picture[..<2] + comments + picture[2...], to: "a.jpg")
            let copy = try maker.sharedCopy(of: .file(file), size: .full(PhotoLimits()))
            #expect(try copy.reduced() == picture)
        }
    }

    @Test(arguments: 1...8)
    func `a reduced copy has the pixels of the stored copy`(orientation: Int) throws {
        let bytes = try Fixture.bytes("orientation-\(orientation).jpg")
        let policy = ReducePolicy(maximumDimension: 75)
        let stored = try Workbench().copy(of: bytes, policy: policy)
        let (copy, output) = try shared(bytes, .reduced(policy))
        #expect(copy.width == 75 && copy.height == 51)
        #expect(picture(try JPEGSegments(output)) == picture(try JPEGSegments(try stored.reduced())))
        #expect(try JPEGSegments(output).exif.flatMap { ExifEntries($0).image[0x0112] } == nil)
    }

    @Test(
        arguments: ["canon", "iphone", "nikon", "offset", "profile"].map { "camera-\($0).jpg" })
    func `the file and its stored copy give the same shared copy`(name: String) throws {
        let tree = try TemporaryTree()
        let bytes = try Fixture.bytes(name)
        let policy = ReducePolicy(maximumDimension: 64)
        let stored = try Workbench().copy(of: bytes, policy: policy)
        let file = try tree.write(bytes, to: "a.jpg")
        let copy = try maker.sharedCopy(of: .file(file), size: .reduced(policy))
        #expect(try shared(bytes, .reduced(policy)).copy == copy)
        #expect(try shared(try stored.reduced(), .reduced(policy)).copy == copy)
        #expect(copy.takenAt == stored.takenAt)
    }

    @Test(
        arguments: [
            ("sampling-2x2.jpg", 100, 80), ("sampling-1x1.jpg", 2_048, 80), ("coding-arithmetic.jpg", 2_048, 99),
        ])
    func `without metadata the shared copy is the stored copy`(name: String, limit: Int, quality: Int) throws {
        let bytes = try Fixture.bytes(name)
        let policy = ReducePolicy(maximumDimension: limit, quality: quality)
        let stored = try Workbench().copy(of: bytes, policy: policy)
        #expect(try shared(bytes, .reduced(policy)).copy.digest == stored.digest)
        let storedBytes = stored.content == .unchanged ? bytes : try stored.reduced()
        #expect(try shared(storedBytes, .reduced(policy)).bytes == storedBytes)
    }

    @Test func `a photo within the limit that would hardly shrink keeps its data; its secrets go all the same`() throws
    {
        let bytes = try TellingPicture.file(try Fixture.bytes("sampling-2x2.jpg"), orientation: 6)
        let (copy, output) = try shared(bytes, .reduced(ReducePolicy(quality: 99)))
        #expect(picture(try JPEGSegments(output)) == picture(try JPEGSegments(try Fixture.bytes("sampling-2x2.jpg"))))
        #expect(copy.width == 136 && copy.height == 200)
        #expect(try JPEGSegments(output).exif.flatMap { ExifEntries($0).image[0x0112] } == 6)
    }

    @Test(arguments: [true, false])
    func `a profile that is none or not whole goes; of one in chunks the colours stay`(isWhole: Bool) throws {
        var file = try JPEGSegments(try Fixture.bytes("sampling-2x2.jpg"))
        let half = TellingPicture.profile.count / 2
        let parts = [TellingPicture.profile[..<half], TellingPicture.profile[half...]]
        for (index, part) in parts.enumerated().reversed() where isWhole || index == 0 {
            let body = Array("ICC_PROFILE\0".utf8) + [UInt8(index + 1), 2] + part
            file.segments.insert(JPEGSegments.Segment(marker: 0xE2, body: body), at: 1)
        }
        let output = try shared(file.bytes, .full(PhotoLimits())).bytes
        #expect(try JPEGSegments(output).contents(of: 0xE2, startingWith: "").count == (isWhole ? 1 : 0))
    }

    @Test(
        arguments: [
            ("", PhotoError.Code.truncated, "the file is empty"),
            (
                "\u{FF}", .notAPhoto,
                "only photos can be shared; this file is application/octet-stream, and may tell the place"
            ),
        ])
    func `what is no photo is not shared`(content: String, code: PhotoError.Code, message: String) {
        let error = #expect(throws: PhotoError.self) { _ = try shared(Array(content.utf8), .full(PhotoLimits())) }
        #expect(error == PhotoError(code, message))
    }

    @Test(arguments: ["bytes", "pixels"])
    func `limits are met before anything is decoded`(kind: String) throws {
        let bytes = try Fixture.bytes("sampling-2x2.jpg")
        let limits =
            kind == "bytes" ? PhotoLimits(fileSize: Int64(bytes.count) - 1) : PhotoLimits(pixels: 200 * 136 - 1)
        let tree = try TemporaryTree()
        let path = try tree.write(bytes, to: "a.jpg")
        for size in [.full(limits), .reduced(ReducePolicy(limits: limits))] as [SharedSize] {
            for source in [.bytes(bytes), .file(path)] as [PhotoSource] {
                let error = #expect(throws: PhotoError.self) { _ = try maker.sharedCopy(of: source, size: size) }
                #expect(error?.code == .overLimit)
            }
        }
    }

    /// Tables, frame and scans: what the picture is made of.
    private func picture(_ file: JPEGSegments) -> [[UInt8]] {
        file.segments.filter { !(0xE0...0xEF).contains($0.marker) && $0.marker != 0xFE }
            .map { [$0.marker] + $0.body + $0.entropy }
    }
}
