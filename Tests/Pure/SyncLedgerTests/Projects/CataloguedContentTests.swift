import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage
import Testing

/// What a catalogue tells of files whose keys are made of their names, in a store that has another content there by now.
@Suite struct CataloguedContentTests {
    private let world: World
    private let keys: KeyLayout

    init() throws {
        world = try World([World.projects])
        keys = try KeyLayout(user: "ana")
    }

    /// Stands for that of a text.
    private func digest(_ text: String) throws -> ContentDigest {
        let number = text.utf8.reduce(7 as UInt64) { $0 &* 1_000_003 &+ UInt64($1) }
        return try World.digest(
            of: FileStamp(device: 1, inode: number, size: Int64(text.utf8.count), modified: 7))
    }

    /// The key of a version of a file with this text.
    private func version(of text: String) throws -> String {
        let mark = "\(try digest(text).md5)".prefix(8)
        return "a/versions/20260501T101500Z-\(mark).jpg"
    }

    /// - Parameters:
    ///   - name: of its file.
    ///   - text: of its bytes.
    ///   - file: of the file that it is the copy of; `nil`: nobody tells that.
    private func list(_ name: String, _ text: String, of file: String?, tellsSHA256: Bool = true) throws {
        let bytes = try digest(text)
        let metadata = try file.map { [MetadataName.md5: "\(try digest($0).md5)"] } ?? [:]
        let info = ObjectInfo(
            key: try keys.projectFile(name), size: Int64(text.utf8.count), sha256: tellsSHA256 ? bytes.sha256 : nil,
            metadata: metadata)
        try world.ledger.noteListed([info], keys: keys, tellsRestores: true, at: world.now)
    }

    /// The catalogue tells of `a.jpg`, a file with this text whose stored copy has another one.
    private func catalogue(_ text: String, stored copy: String) throws -> Set<CatalogPlace> {
        let (file, bytes) = (try digest(text), try digest(copy))
        let place = try world.ledger.folderForCatalog(.projects, at: World.projects.path, of: .thisMachine)
        let photo = CatalogPhoto(
            place: CatalogPlace(folder: 1, path: "a.jpg"),
            file: CatalogPhoto.File(size: Int64(text.utf8.count), modified: 7), md5: file.md5,
            key: try keys.projectFile("a.jpg"), sha256: bytes.sha256, size: Int64(copy.utf8.count),
            contentType: "image/jpeg")
        return try world.ledger.noteCatalog([photo], in: [1: place], at: world.now)
    }

    private var status: PhotoStatus? {
        get throws { try world.status(World.projects.path.appending("a.jpg")) }
    }

    @Test(
        arguments: [
            // By size alone, by the store's digest, and by what was written beside it.
            ("another", nil, false), ("hers", nil, true), ("hers", "her file", false), ("another", "her file", true),
        ] as [(String, String?, Bool)])
    func `what another file has under the key is no copy`(text: String, file: String?, tellsSHA256: Bool) throws {
        try list("a.jpg", text, of: file, tellsSHA256: tellsSHA256)
        #expect(try catalogue("my file", stored: "mine") == [CatalogPlace(folder: 1, path: "a.jpg")])
        #expect(try status == nil)
        // Nothing of it is noted as what the store has.
        let md5 = try file.map { try digest($0).md5 }
        #expect(try world.ledger.object(keys.projectFile("a.jpg"))?.md5 == md5)
        #expect(try world.ledger.check() == [])
    }

    @Test(arguments: [true, false])
    func `the version with the own content is the copy`(isUnderKey: Bool) throws {
        if isUnderKey { try list("a.jpg", "another", of: "her file") }
        try list(version(of: "her file"), "mine", of: nil, tellsSHA256: false)
        try list(version(of: "my file"), "mine", of: nil, tellsSHA256: false)
        #expect(try catalogue("my file", stored: "mine").isEmpty)
        let found = try #require(try status)
        let (key, sha256) = (try keys.projectFile(version(of: "my file")), try digest("mine").sha256)
        #expect(found.state == .missing && found.key == key && found.object?.sha256 == sha256)
        #expect(try world.ledger.check() == [])
    }

    @Test func `a copy in other bytes, of the same file, is one`() throws {
        try list("a.jpg", "mine, by other settings", of: "my file")
        #expect(try catalogue("my file", stored: "mine").isEmpty)
        let found = try #require(try status)
        let sha256 = try digest("mine, by other settings").sha256
        #expect(found.state == .missing && found.object?.sha256 == sha256)
    }

    @Test func `a place that a catalogue alone told is none any more once its key is another file's`() throws {
        try list("a.jpg", "mine", of: nil)
        #expect(try catalogue("my file", stored: "mine").isEmpty)
        #expect(try status != nil)
        #expect(try catalogue("my file of before", stored: "mine before").count == 1)
        #expect(try status == nil)
        #expect(try world.ledger.check() == [])
    }

    /// As an earlier rebuild has left it, which asked for no object by itself.
    @Test(arguments: [false, true], [false, true])
    func `what a catalogue alone has told of an object does not speak against what the store tells of it`(
        isTold: Bool, tellsSHA256: Bool
    ) throws {
        try list("a.jpg", "hers", of: nil, tellsSHA256: false)
        if isTold { #expect(try catalogue("my file", stored: "mine").isEmpty) }
        try list("a.jpg", "hers", of: "her file", tellsSHA256: tellsSHA256)
        #expect(try catalogue("my file", stored: "mine") == [CatalogPlace(folder: 1, path: "a.jpg")])
        #expect(try status == nil)
        let object = try #require(try world.ledger.object(keys.projectFile("a.jpg")))
        let (md5, sha256) = (try digest("her file").md5, try tellsSHA256 ? digest("hers").sha256 : nil)
        #expect(object.md5 == md5 && object.sha256 == sha256)
        #expect(try world.ledger.check() == [])
    }

    @Test(arguments: [false, true])
    func `a file that was met, and is gone, is not what another one is stored as either`(hasVersion: Bool) throws {
        try list("a.jpg", "hers", of: nil, tellsSHA256: false)
        #expect(try catalogue("my file", stored: "mine").isEmpty)
        let folder = try #require(try status).folder.id
        let stamp = FileStamp(device: 1, inode: 2, size: 7, modified: 7, changed: 7, born: 7)
        for files in [[ScannedFile(name: "a.jpg", stamp: stamp)], []] {
            _ = try world.ledger.reconcile(
                folder, directory: "", files: files, settled: { _ in true }, stillThere: { _ in false }, at: world.now)
        }
        #expect(try status?.state == .missing)
        try list("a.jpg", "hers", of: "her file")
        if hasVersion { try list(version(of: "my file"), "mine", of: nil, tellsSHA256: false) }
        #expect(try catalogue("my file", stored: "mine").isEmpty == hasVersion)
        let key = try hasVersion ? keys.projectFile(version(of: "my file")) : nil
        #expect(try status?.key == key)
    }

    @Test func `equal bytes that were stored as those of another file are the copy, and the file is read`() throws {
        try list("a.jpg", "mine", of: "her file")
        #expect(try catalogue("my file", stored: "mine").isEmpty)
        let found = try #require(try status)
        let key = try keys.projectFile("a.jpg")
        #expect(found.state == .missing && found.key == key)
        let seen = try world.ledger.reconcile(
            found.folder.id, directory: "",
            files: [
                ScannedFile(
                    name: "a.jpg", stamp: FileStamp(device: 1, inode: 2, size: 7, modified: 7, changed: 7, born: 7))
            ], settled: { _ in true }, stillThere: { _ in false }, at: world.now)
        #expect(seen.returned == 0)
        #expect(try status?.state == .pending)
    }
}
