import FoundationEssentials
import SyncCore
import SyncSystem
import SyncTestSupport
import SyncZip
import SystemPackage
import Testing

@Suite struct ZipFileTests {
    private let tree: TemporaryTree
    private var path: FilePath { tree.path("photos.zip") }

    init() throws {
        tree = try TemporaryTree()
    }

    @Test(arguments: [
        "photo.jpg", "a photo.jpg", "Zürich/Zu\u{308}rich.jpg", "孫/🏖.jpg", "a/b/c/d.jpg", "...", ".hidden", "-rf",
        "*.jpg",
        String(repeating: "é", count: 127),
    ])
    func `A name is kept byte for byte`(name: String) throws {
        let zip = try ZipFile(at: path)
        try zip.add(name, bytes: [])
        try zip.finish()
        let names = try ZipReader(path).entries.map { Array($0.name.utf8) }
        #expect(names == [Array(name.utf8)])
    }

    @Test func `Files come back as they went in, with their times`() throws {
        let small = [UInt8].noise(1_000)
        let large = [UInt8].noise(2_500_000)
        try tree.write(large, to: "large.jpg")
        let zip = try ZipFile(at: path)
        try zip.add("2024/small.jpg", bytes: small, modified: 1_718_452_801)
        try zip.add(
            ZipEntry(name: "large.jpg", size: 2_500_000, modified: Date(timeIntervalSince1970: 1_000_000_000.9)),
            from: tree.path("large.jpg"))
        try zip.add("old.jpg", bytes: [], modified: -86_400)
        try zip.finish()

        #expect(
            try ZipReader(path).entries == [
                .init(name: "2024/small.jpg", size: 1_000, modified: 1_718_452_801, isStored: true),
                .init(name: "large.jpg", size: 2_500_000, modified: 1_000_000_000, isStored: true),
                .init(name: "old.jpg", size: 0, modified: -86_400, isStored: true),
            ])
        #expect(try ZipReader.bytes(of: "2024/small.jpg", in: path) == small)
        #expect(try ZipReader.bytes(of: "large.jpg", in: path) == large)
        #expect(try tree.files() == ["large.jpg", "photos.zip"])
    }

    @Test func `An archive without files is one`() throws {
        try ZipFile(at: path).finish()
        #expect(try ZipReader(path).entries == [])
    }

    @Test func `More files than 16 bits can count are all there`() throws {
        let zip = try ZipFile(at: path)
        for index in 0..<66_000 { try zip.add("photos/\(index).jpg", bytes: [UInt8(truncatingIfNeeded: index)]) }
        try zip.finish()
        let entries = try ZipReader(path).entries
        #expect(entries.count == 66_000)
        #expect(entries.last?.name == "photos/65999.jpg")
    }

    @Test func `Bytes may come in pieces and from another thread`() async throws {
        let bytes = [UInt8].noise(700_000)
        let zip = try ZipFile(at: path)
        let pool = BlockingPool(name: "zip-test", threads: 2)
        try zip.begin(ZipEntry(name: "photo.jpg", size: 700_000, modified: Date(timeIntervalSince1970: 0)))
        for start in stride(from: 0, to: bytes.count, by: 9_999) {
            let piece = Array(bytes[start..<min(start + 9_999, bytes.count)])
            try await pool.run { try piece.withUnsafeBytes { try zip.append($0) } }
        }
        try zip.end()
        try zip.finish()
        #expect(try ZipReader.bytes(of: "photo.jpg", in: path) == bytes)
    }

    @Test func `A file that is not there, or not what was announced, is left out and the rest goes on`() throws {
        try tree.write("12345", to: "five.jpg")
        try tree.makeFolder("folder")
        let zip = try ZipFile(at: path)
        for (file, size) in [("missing.jpg", 5), ("five.jpg", 4), ("five.jpg", 6), ("folder", 4_096)]
            as [(String, Int64)]
        {
            let entry = try ZipEntry(name: "photo.jpg", size: size, modified: Date(timeIntervalSince1970: 0))
            let error = #expect(throws: ZipError.self) { try zip.add(entry, from: tree.path(file)) }
            #expect(error?.code == .badSource)
            #expect(error?.name == tree.path(file).string)
        }
        try zip.add(
            ZipEntry(name: "photo.jpg", size: 5, modified: Date(timeIntervalSince1970: 0)), from: tree.path("five.jpg"))
        try zip.finish()
        #expect(try ZipReader(path).entries.map(\.size) == [5])
    }

    @Test func `A file that is refused is closed once`() async throws {
        try tree.write("12345", to: "five.jpg")
        let zip = try ZipFile(at: path)
        let entry = try ZipEntry(name: "photo.jpg", size: 4, modified: Date(timeIntervalSince1970: 0))
        var refused = 0
        let foreign = try await ForeignDescriptors.closed(times: 5_000) {
            do { try zip.add(entry, from: tree.path("five.jpg")) } catch is ZipError { refused += 1 }
        }
        #expect(refused == 5_000 && foreign == 0)
    }

    @Test func `A name that is there already is refused, in any normal form, and the rest goes on`() throws {
        let zip = try ZipFile(at: path)
        try zip.add("Zürich.jpg", bytes: [1])
        for name in ["Zürich.jpg", "Zu\u{308}rich.jpg"] {
            let error = #expect(throws: ZipError.self) { try zip.add(name, bytes: [2]) }
            #expect(error?.code == .badName)
            #expect(error?.isAboutOneEntry == true)
        }
        try zip.add("Bern.jpg", bytes: [3])
        try zip.finish()
        #expect(try ZipReader(path).entries.map(\.name) == ["Zürich.jpg", "Bern.jpg"])
    }
}

extension ZipFile {
    /// Adds a file from memory.
    func add(_ name: String, bytes: [UInt8], modified: TimeInterval = 0) throws {
        try begin(
            ZipEntry(name: name, size: Int64(bytes.count), modified: Date(timeIntervalSince1970: modified)))
        try bytes.withUnsafeBytes { try append($0) }
        try end()
    }
}
