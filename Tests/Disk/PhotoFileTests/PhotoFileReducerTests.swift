import Glibc
import SyncCore
import SyncDigest
import SyncPhotos
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct PhotoFileReducerTests {
    private let reducer = PhotoFileReducer()

    @Test func `an examination tells stamp, type and both digests`() throws {
        let tree = try TemporaryTree()
        let bytes = try Fixture.bytes("camera-profile.jpg")
        let path = try tree.write(bytes, to: "a.jpg")
        let examination = try reducer.examine(path)
        #expect(examination.stamp == (try tree.stamp("a.jpg")))
        #expect(examination.type == .jpeg)
        #expect(examination.digest == ContentDigest(of: bytes))
    }

    @Test func `a photo within the limit goes up unchanged when encoding anew would not make it smaller`() throws {
        let bytes = try Fixture.bytes("coding-arithmetic.jpg")
        let larger = try Workbench().copy(of: bytes, policy: ReducePolicy(quality: 99))
        #expect(larger.content == .unchanged)
        #expect(larger.digest == ContentDigest(of: bytes))
        #expect(larger.width == 200 && larger.height == 136)
        let smaller = try Workbench().copy(of: bytes, policy: ReducePolicy(quality: 50))
        #expect(try smaller.reduced().count < bytes.count)
        #expect(smaller.digest == ContentDigest(of: try smaller.reduced()))
    }

    @Test(arguments: ["camera-canon.jpg", "coding-rgb.jpg"])
    func `a stored copy that comes back is not encoded again`(name: String) throws {
        let policy = ReducePolicy(maximumDimension: 150)
        let stored = try Workbench().copy(of: try Fixture.bytes(name), policy: policy).reduced()
        #expect(try Workbench().copy(of: stored, policy: policy).content == .unchanged)
    }

    @Test(arguments: [40, 60, 70, 75, 80, 85, 90, 95])
    func `encoding anew must save a tenth`(quality: Int) throws {
        let bytes = try Fixture.bytes("sampling-2x2.jpg")
        let policy = ReducePolicy(quality: quality)
        let anew = try Workbench().encoded(bytes, policy: policy).bytes
        let copy = try Workbench().copy(of: bytes, policy: policy)
        #expect((copy.content == .unchanged) == (anew.count * 10 >= bytes.count * 9))
    }

    @Test func `a damaged photo does not go up unchanged either`() throws {
        let bytes = try Fixture.bytes("coding-arithmetic.jpg").dropLast(40)
        #expect(throws: PhotoError.self) {
            _ = try Workbench().copy(of: Array(bytes), policy: ReducePolicy(quality: 99))
        }
    }

    @Test func `other images go up unchanged`() throws {
        let bytes = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [UInt8](repeating: 7, count: 500)
        let copy = try Workbench().copy(of: bytes, named: "drawing.jpg")
        #expect(copy.content == .unchanged)
        #expect(copy.type == MediaType(.image, "image/png"))
        #expect(copy.digest == ContentDigest(of: bytes))
    }

    @Test(
        arguments: [
            ("disk.jpg", [UInt8](repeating: 0, count: 8), PhotoError.Code.notAPhoto), ("disk.img", [0], .notStored),
            ("photo.jpg", [0xFF, 0xD8, 0xFF, 0xE0], .overLimit), ("vacation.json", Array("{}".utf8), .overLimit),
        ])
    func `a file that is not wanted, or is too large, is refused before it is read to its end`(
        name: String, head: [UInt8], code: PhotoError.Code
    ) throws {
        let tree = try TemporaryTree()
        let path = try tree.write(head, to: name)
        #expect(truncate(path.string, 1 << 40) == 0)
        let error = #expect(throws: PhotoError.self) { _ = try reducer.examine(path) }
        #expect(error?.code == code)
    }

    private static let heads: [(String, [UInt8])] = [
        ("a.mp4", [0, 0, 0, 0x18] + Array("ftypisom".utf8)), ("a.dng", Array("II*\0".utf8)),
        ("a.png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
        ("a.heic", [0, 0, 0, 0x18] + Array("ftypheic".utf8)),
        ("a.jpg", [0xFF, 0xD8, 0xFF, 0xE0]), ("a.json", Array("[".utf8)),
    ]

    @Test(
        arguments: heads)
    func `a file of which almost nothing was ever written is refused before it is read, whatever its type`(
        name: String, head: [UInt8]
    ) throws {
        let tree = try TemporaryTree()
        let path = try tree.write(head, to: name)
        #expect(truncate(path.string, 64 << 20) == 0)
        let error = #expect(throws: PhotoError.self) { _ = try reducer.examine(path) }
        #expect(error?.code == .truncated)
        #expect(error?.message.contains("were ever written") == true)
    }

    @Test func `a file with some holes is read, and its digest is that of all of its bytes`() throws {
        let tree = try TemporaryTree()
        let (head, size) = (Array("II*\0".utf8) + [UInt8](repeating: 7, count: 4 << 20), 17 << 20)
        let path = try tree.write(head, to: "a.tif")
        #expect(truncate(path.string, off_t(size)) == 0)
        let bytes = head + [UInt8](repeating: 0, count: size - head.count)
        #expect(try reducer.examine(path).digest == ContentDigest(of: bytes))
    }

    @Test func `a film that no store takes is refused before it is read`() throws {
        let tree = try TemporaryTree()
        let path = try tree.write(Self.heads[0].1, to: "a.mp4")
        // File systems have limits of their own.
        guard truncate(path.string, 6 << 40) == 0 else { return }
        let error = #expect(throws: PhotoError.self) { _ = try reducer.examine(path) }
        #expect(error?.code == .overLimit)
    }

    @Test(arguments: ["content", "time", "inode"])
    func `a file that is not the examined one any more has changed`(what: String) throws {
        let tree = try TemporaryTree()
        let bytes = try Fixture.bytes("size-16x16.jpg")
        let path = try tree.write(bytes, to: "a.jpg")
        let examined = try reducer.examine(path)
        switch what {
        case "content": try tree.write(bytes + [0], to: "a.jpg")
        case "time": try tree.age("a.jpg", bySeconds: 5)
        default:
            try tree.write(bytes, to: "b.jpg")
            #expect(rename(tree.path("b.jpg").string, path.string) == 0)
        }
        let error = #expect(throws: PhotoError.self) {
            _ = try reducer.reduce(path, examined: examined, policy: ReducePolicy())
        }
        #expect(error?.code == .changed)
        #expect(error?.isPermanent == false)
    }

    @Test func `a path that the system does not take is told as such, with what helps`() throws {
        let path = FilePath("/" + String(repeating: "folder/", count: 600) + "a.jpg")
        let error = #expect(throws: PhotoError.self) { _ = try reducer.examine(path) }
        #expect(error?.code == .unreadable && error?.message.contains("path is too long (4095 bytes") == true)
        #expect(error?.message.contains("shorter names") == true && error?.message.contains("drive") == false)
    }

    @Test(
        arguments: [
            ("nothing", PhotoError.Code.missing), ("link", .notAFile), ("pipe", .notAFile), ("folder", .notAFile),
        ])
    func `what is no readable file has a reason`(kind: String, code: PhotoError.Code) throws {
        let tree = try TemporaryTree()
        let path = tree.path("a.jpg")
        switch kind {
        case "link":
            try tree.write(try Fixture.bytes("size-8x8.jpg"), to: "b.jpg")
            #expect(symlink("b.jpg", path.string) == 0)
        case "pipe": #expect(mkfifo(path.string, 0o600) == 0)
        case "folder": try tree.makeFolder("a.jpg")
        default: break
        }
        let error = #expect(throws: PhotoError.self) { _ = try reducer.examine(path) }
        #expect(error?.code == code)
    }

    @Test(
        arguments: [
            ("empty.jpg", "", PhotoError.Code.truncated, "the file is empty"),
            ("note.jpeg", "Milk, eggs\n", .notAPhoto, "the name says photo, but the file is text"),
            ("page.png", "<!DOCTYPE html><html>", .notAPhoto, "the name says photo, but the file is an HTML page"),
            ("scan.HEIC", "%PDF-1.7\n", .notAPhoto, "the name says photo, but the file is a PDF document"),
            ("holes.jpg", "\0\0\0\0\0\0\0\0", .notAPhoto, "the name says photo, but the file is all zeros"),
            (
                "odd.jpg", "\u{1}\0\u{3}", .notAPhoto,
                "the name says photo, but the file is unknown (it begins with 01 00 03)"
            ),
        ])
    func `a name that says photo must be one`(name: String, content: String, code: PhotoError.Code, message: String)
        throws
    {
        let error = #expect(throws: PhotoError.self) {
            _ = try Workbench().examination(of: Array(content.utf8), named: name)
        }
        #expect(error == PhotoError(code, message))
    }

    @Test(
        arguments: [
            ("projects.json", "{}", MediaType.json), ("broken.json", "oops", .unknown),
        ])
    func `a name that promises JSON may be anything`(name: String, content: String, type: MediaType) throws {
        #expect(try Workbench().examination(of: Array(content.utf8), named: name).type == type)
    }

    @Test func `descriptors are closed, also after errors`() throws {
        let tree = try TemporaryTree()
        let good = try tree.write(try Fixture.bytes("size-16x16.jpg"), to: "good.jpg")
        let bad = try tree.write(Array(try Fixture.bytes("size-16x16.jpg").dropLast(9)), to: "bad.jpg")
        // Each is opened twice below: more than the limit in all, were they left open.
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
        for _ in 0..<min(limit.rlim_cur, 1_100) {
            for path in [good, bad] {
                let examined = try reducer.examine(path)
                _ = try? reducer.reduce(path, examined: examined, policy: ReducePolicy())
            }
        }
    }
}
