import FoundationEssentials
import Glibc
import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncZip

@Suite struct ZipFailureTests {
    private static let part = ".photos.zip.sync-agent-part"

    private let tree: TemporaryTree
    private var path: FilePath { tree.path("photos.zip") }

    init() throws {
        tree = try TemporaryTree()
    }

    @Test func `Until it is finished, nothing has the name`() throws {
        let zip = try ZipFile(at: path)
        try zip.add("photo.jpg", bytes: .noise(1_000_000))
        #expect(try tree.files() == [Self.part])
        try zip.finish()
        #expect(try tree.files() == ["photos.zip"])
        zip.cancel()
        #expect(try tree.files() == ["photos.zip"])
    }

    @Test func `An archive that is let go of, or given up, leaves nothing`() throws {
        do {
            let zip = try ZipFile(at: path)
            try zip.add("photo.jpg", bytes: .noise(1_000_000))
        }
        #expect(try tree.files() == [])

        let zip = try ZipFile(at: path)
        zip.cancel()
        #expect(try tree.files() == [])
        #expect(throws: ZipError.self) { try zip.finish() }
        #expect(try tree.files() == [])
    }

    @Test func `What a killed process left is begun anew`() throws {
        try tree.write(.noise(3_000_000), to: Self.part)
        let zip = try ZipFile(at: path)
        try zip.add("photo.jpg", bytes: [1, 2, 3])
        try zip.finish()
        #expect(try ZipReader(path).entries.map(\.size) == [3])
        #expect(try tree.read("photos.zip").count < 1_000)
        #expect(try tree.files() == ["photos.zip"])
    }

    @Test func `Another name of a file that is the person's is not written to`() throws {
        try tree.write("the archive of last year", to: "last.zip")
        #expect(link(tree.path("last.zip").string, tree.path(Self.part).string) == 0)
        try ZipFile(at: path).finish()
        #expect(unlink(path.string) == 0)
        #expect(symlink("last.zip", tree.path(Self.part).string) == 0)
        try ZipFile(at: path).finish()
        #expect(try tree.read("last.zip") == Array("the archive of last year".utf8))
        #expect(try tree.files() == ["last.zip", "photos.zip"])
    }

    @Test(arguments: ["a file", "a folder", "a link to nothing"])
    func `Something that has the name is left as it is`(what: String) throws {
        switch what {
        case "a file": try tree.write("mine", to: "photos.zip")
        case "a folder": try tree.makeFolder("photos.zip")
        default: #expect(symlink("nowhere", path.string) == 0)
        }
        let before = try FileManager.default.subpathsOfDirectory(atPath: tree.root.string)
        let error = #expect(throws: ZipError.self) { _ = try ZipFile(at: path) }
        #expect(error?.code == .nameTaken)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: tree.root.string) == before)
    }

    @Test(arguments: [false, true])
    func `A name that is taken meanwhile is left as it is`(hasLinks: Bool) throws {
        let zip = try zipFile(hasLinks: hasLinks)
        try tree.write("mine", to: "photos.zip")
        let error = #expect(throws: ZipError.self) { try zip.finish() }
        #expect(error?.code == .nameTaken)
        #expect(try tree.read("photos.zip") == Array("mine".utf8))
        #expect(try tree.files() == ["photos.zip"])
    }

    @Test func `A disk without hard links gets the archive too`() throws {
        let zip = try zipFile(hasLinks: false)
        try zip.add("photo.jpg", bytes: [1, 2, 3])
        try zip.finish()
        #expect(try ZipReader(path).entries.map(\.name) == ["photo.jpg"])
        #expect(try tree.files() == ["photos.zip"])
    }

    @Test func `One writer at a time has a path`() throws {
        do {
            let first = try ZipFile(at: path)
            let error = #expect(throws: ZipError.self) { _ = try ZipFile(at: path) }
            #expect(error?.code == .inUse)
            try first.add("photo.jpg", bytes: [1])
        }
        try ZipFile(at: path).finish()
        #expect(try ZipReader(path).entries == [])
    }

    @Test(arguments: [0, 4, 6])
    func `A file that gets fewer or more bytes than announced loses the archive`(count: Int) throws {
        let zip = try ZipFile(at: path)
        try zip.begin(ZipEntry(name: "photo.jpg", size: 5, modified: Date(timeIntervalSince1970: 0)))
        let error = try #require(throws: ZipError.self) {
            try [UInt8].noise(count).withUnsafeBytes { try zip.append($0) }
            try zip.end()
        }
        #expect(error.code == .wrongSize)
        #expect(!error.isAboutOneEntry)
        #expect(try tree.files() == [])
        #expect(throws: error) { try zip.add("next.jpg", bytes: [1]) }
        #expect(throws: error) { try zip.finish() }
        #expect(try tree.files() == [])
    }

    @Test func `A full disk is told by its errno`() throws {
        let full = try FileDescriptor.open("/dev/full", .writeOnly)
        defer { try? full.close() }
        var stream = try ZipStream(to: full)
        try stream.begin(ZipEntry(name: "photo.jpg", size: 600_000, modified: Date(timeIntervalSince1970: 0)))
        var reason: Errno?
        do throws(Errno) { try stream.append([UInt8].noise(600_000)) } catch { reason = error }
        #expect(reason == .noSpace)
    }

    @Test func `A disk that is full at the end is told as well`() throws {
        let full = try FileDescriptor.open("/dev/full", .writeOnly)
        defer { try? full.close() }
        var stream = try ZipStream(to: full)
        try stream.begin(ZipEntry(name: "photo.jpg", size: 3, modified: Date(timeIntervalSince1970: 0)))
        try stream.append([1, 2, 3])
        var reason: Errno?
        do throws(Errno) { try stream.finish() } catch { reason = error }
        #expect(reason == .noSpace)
    }

    @Test(
        arguments: [
            (.noSpace, .noSpace, "free some space"), (.diskQuotaExceeded, .noSpace, "quota"),
            (.fileTooLarge, .tooLarge, "4 GiB"), (.noSuchFileOrDirectory, .folderMissing, "make it"),
            (.permissionDenied, .notAllowed, "owner or mode"), (.readOnlyFileSystem, .notAllowed, "read-only"),
            (.fileExists, .nameTaken, "name another file"), (.ioError, .ioFailed, "dmesg"),
            (.tooManyOpenFiles, .ioFailed, "too many files are open; raise the limit"),
        ] as [(Errno, ZipError.Code, String)])
    func `A message says what to do`(errno: Errno, code: ZipError.Code, text: String) {
        let error = ZipError(errno, path)
        #expect(error.code == code)
        #expect("\(error)".contains(text))
        #expect("\(error)".hasPrefix(path.string))
    }

    @Test func `A folder that is not there is told before anything is written`() throws {
        let error = #expect(throws: ZipError.self) { _ = try ZipFile(at: tree.path("no/photos.zip")) }
        #expect(error?.code == .folderMissing)
    }

    private func zipFile(hasLinks: Bool) throws -> ZipFile {
        hasLinks
            ? try ZipFile(at: path)
            : try ZipFile(at: path) { (_, _) throws(Errno) in throw .notPermitted }
    }
}

extension ZipStream {
    fileprivate mutating func append(_ bytes: [UInt8]) throws(Errno) {
        let span = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { span.deallocate() }
        span.copyBytes(from: bytes)
        try append(UnsafeRawBufferPointer(span))
    }
}
