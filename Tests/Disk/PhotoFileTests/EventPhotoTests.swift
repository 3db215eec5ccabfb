import Glibc
import SyncCore
import SyncDigest
import SyncPhotos
import SyncTestSupport
import SystemPackage
import Testing

/// Photos that are no files, and parts of files.
@Suite struct EventPhotoTests {
    private let reducer = PhotoFileReducer()

    @Test(arguments: ["camera-iphone.jpg", "orientation-6.jpg", "coding-progressive.jpg", "size-1x1.jpg"])
    func `a photo in memory becomes the same copy as in a file`(name: String) throws {
        let bytes = try Fixture.bytes(name)
        for policy in [ReducePolicy(), ReducePolicy(maximumDimension: 64, stripLocation: true)] {
            #expect(try reducer.reduce(bytes, policy: policy) == Workbench().copy(of: bytes, policy: policy))
        }
    }

    @Test func `a photo in memory that encoding anew would not make smaller stays as it was given`() throws {
        let bytes = try Fixture.bytes("coding-arithmetic.jpg")
        let copy = try reducer.reduce(bytes, policy: ReducePolicy(quality: 99))
        #expect(copy.content == .unchanged)
        #expect(copy.digest == ContentDigest(of: bytes))
        #expect(copy.width == 200 && copy.height == 136)
    }

    @Test func `other pictures are not touched`() throws {
        let png = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [UInt8](repeating: 7, count: 100)
        let copy = try reducer.reduce(png, policy: ReducePolicy())
        #expect(copy.content == .unchanged)
        #expect(copy.type.name == "image/png")
        #expect(copy.digest == ContentDigest(of: png))
    }

    @Test(arguments: ["dear diary", "", "%PDF-1.7", "<html>dear diary</html>"])
    func `what is no picture is refused, and nothing of it is said`(text: String) throws {
        let error = #expect(throws: PhotoError.self) {
            _ = try reducer.reduce(Array(text.utf8), policy: ReducePolicy())
        }
        #expect(error == PhotoError(.notAPhoto, "its photo is no picture"))
    }

    @Test(arguments: [9, 300, 600])
    func `a JPEG that is cut off is refused`(missing: Int) throws {
        let bytes = try Fixture.bytes("size-16x16.jpg")
        let error = #expect(throws: PhotoError.self) {
            _ = try reducer.reduce(Array(bytes.dropLast(min(missing, bytes.count - 20))), policy: ReducePolicy())
        }
        #expect(error?.isPermanent == true)
    }

    @Test func `the limits hold for photos in memory too`() throws {
        let bytes = try Fixture.bytes("size-16x16.jpg")
        let policy = ReducePolicy(limits: PhotoLimits(pixels: 100))
        let error = #expect(throws: PhotoError.self) { _ = try reducer.reduce(bytes, policy: policy) }
        #expect(error?.code == .overLimit)
    }

    @Test(arguments: [0..<0, 0..<1, 3..<700, 699_990..<700_000, 0..<700_000])
    func `any part of a file can be read`(range: Range<Int>) throws {
        let tree = try TemporaryTree()
        let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let path = try tree.write(bytes, to: "a.json")
        let stamp = try reducer.examine(path).stamp
        #expect(try reducer.read(path, range, stamp: stamp) == Array(bytes[range]))
    }

    @Test(arguments: ["content", "inode", "cut"])
    func `no part is read of a file that is another one by now`(what: String) throws {
        let tree = try TemporaryTree()
        let path = try tree.write(Array("[1, 2, 3]".utf8), to: "a.json")
        let stamp = try reducer.examine(path).stamp
        switch what {
        case "content": try tree.write(Array("[1, 2, 3, 4]".utf8), to: "a.json")
        case "cut": try tree.write(Array("[1]".utf8), to: "a.json")
        default:
            try tree.write(Array("[1, 2, 3]".utf8), to: "b.json")
            #expect(rename(tree.path("b.json").string, path.string) == 0)
        }
        let error = #expect(throws: PhotoError.self) { _ = try reducer.read(path, 0..<9, stamp: stamp) }
        #expect(error?.code == .changed)
    }

    @Test func `a file that is gone is missing, and a link is not followed`() throws {
        let tree = try TemporaryTree()
        let path = try tree.write(Array("[]".utf8), to: "a.json")
        let stamp = try reducer.examine(path).stamp
        #expect(symlink("a.json", tree.path("link.json").string) == 0)
        let link = #expect(throws: PhotoError.self) {
            _ = try reducer.read(tree.path("link.json"), 0..<2, stamp: stamp)
        }
        #expect(link?.code == .notAFile)
        let gone = #expect(throws: PhotoError.self) { _ = try reducer.read(tree.path("b.json"), 0..<2, stamp: stamp) }
        #expect(gone?.code == .missing)
    }
}
