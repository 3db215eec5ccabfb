import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// What a rebuild makes of objects that may not be what was stored.
@Suite struct UnclearRebuildTests {
    private let bench: CatalogBench

    init() throws {
        bench = try CatalogBench(hasDigests: false, listedDigests: .marks)
    }

    /// Other bytes come into the place of the photo "sunset".
    /// - Parameter told: of which bytes it is said that they were stored.
    private func replace(with text: String, sayingThatItIs told: String) async throws {
        let photo = ContentDigest(of: Array("sunset".utf8))
        let attributes = ObjectAttributes(
            contentType: "image/jpeg",
            metadata: [
                MetadataName.md5: "\(photo.md5)",
                MetadataName.sha256: "\(ContentDigest(of: Array(told.utf8)).sha256)",
            ])
        _ = try await bench.memory.put(
            ObjectBody(Array(text.utf8)), at: bench.photoKey("sunset"), attributes: attributes, condition: .overwrite)
    }

    /// The laptop has stored the photo, something else has come in its place, and its disk is gone.
    private func rebuilt(_ text: String, sayingThatItIs told: String) async throws -> CatalogMachine {
        let before = try bench.machine("laptop")
        try await before.see(["a.jpg": "sunset"])
        try await before.write()
        try await replace(with: text, sayingThatItIs: told)
        let machine = try bench.machine("laptop")
        let summary = try await machine.rebuild()
        #expect(summary.photos == 1 && summary.lost == 0 && summary.unclear == 1, "\(summary)")
        #expect(try machine.ledger.unclearObjects() == 1)
        #expect(try machine.ledger.check() == [])
        return machine
    }

    @Test func `what is cut is unclear, and known as it was stored, until a look finds it damaged`() async throws {
        let key = try bench.photoKey("sunset")
        let machine = try await rebuilt("sun", sayingThatItIs: "sunset")
        let known = try #require(try machine.ledger.object(key))
        #expect(known.size == 6 && known.sha256 == ContentDigest(of: Array("sunset".utf8)).sha256)
        // A second rebuild knows no more.
        #expect(try await machine.rebuild().unclear == 1)
        try await machine.refresh()
        #expect(try machine.ledger.object(key)?.problem?.isDamage == true)
        #expect(try machine.ledger.overview().lost == 1)
        #expect(try machine.ledger.unclearObjects() == 0)
        #expect(try machine.ledger.check() == [])
    }

    @Test func `another copy of the photo is one as soon as it is read`() async throws {
        let key = try bench.photoKey("sunset")
        let machine = try await rebuilt("a smaller sunset", sayingThatItIs: "a smaller sunset")
        try await machine.refresh()
        let known = try #require(try machine.ledger.object(key))
        #expect(known.problem == nil && known.size == 16)
        #expect(try machine.ledger.overview().lost == 0)
        #expect(try machine.ledger.unclearObjects() == 0)
    }

    @Test func `what is cut and archived is damaged by its size`() async throws {
        let key = try bench.photoKey("sunset")
        let machine = try await rebuilt("sun", sayingThatItIs: "sunset")
        bench.memory.setClass(.deepArchive, of: key)
        try await machine.refresh()
        #expect(try machine.ledger.object(key)?.problem?.isDamage == true)
    }

    @Test func `what a ledger knows, and the store lists otherwise, is unclear until it is read`() async throws {
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "sunset"])
        try await machine.write()
        try await replace(with: "sun", sayingThatItIs: "sunset")
        #expect(try await machine.rebuild().unclear == 1)
        try await machine.refresh()
        #expect(try machine.ledger.unclearObjects() == 0)
        #expect(try machine.known() == ["/pictures/Gallery/a.jpg pending"])
    }

    @Test(arguments: [true, false])
    func `what a ledger calls stored, and the store does not list, is stored again, or lost where its file is gone`(
        isHere: Bool
    ) async throws {
        let key = try bench.photoKey("sunset")
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "sunset", "b.jpg": "another"])
        try await machine.write()
        bench.memory.lose(key)
        if !isHere { machine.disk.remove("/pictures/Gallery/a.jpg") }
        let summary = try await machine.rebuild()
        #expect(summary.lost == (isHere ? 0 : 1), "\(summary)")
        #expect(try machine.ledger.object(key)?.problem == .missing)
        #expect(
            try machine.known() == [
                "/pictures/Gallery/a.jpg \(isHere ? "pending" : "lost")", "/pictures/Gallery/b.jpg uploaded",
            ])
        #expect(try machine.ledger.check() == [])
    }

    @Test func `what the listing leaves out, and cannot be asked for, is told and unclear`() async throws {
        let key = try bench.photoKey("sunset")
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "sunset"])
        try await machine.write()
        bench.memory.lose(key)
        bench.store.add(StoreFault(.head, key: key.rawValue, .failBefore(.accessDenied)))
        let summary = try await machine.rebuild()
        #expect(summary.lost == 0 && summary.unclear == 1 && summary.problems.count == 1, "\(summary)")
        #expect(try machine.known() == ["/pictures/Gallery/a.jpg uploaded"])
    }

    @Test func `a project's image that is cut is unclear until it is read`() async throws {
        let key = try bench.keys.projectFile("a.jpg")
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "sunset"], at: key)
        try await machine.write()
        let attributes = ObjectAttributes(
            contentType: "image/jpeg", metadata: [MetadataName.md5: "\(ContentDigest(of: Array("sunset".utf8)).md5)"])
        _ = try await bench.memory.put(
            ObjectBody(Array("sun".utf8)), at: key, attributes: attributes, condition: .overwrite)
        #expect(try await machine.rebuild().unclear == 1)
        #expect(try machine.ledger.unclearObjects() == 1)
        try await machine.refresh()
        #expect(try machine.ledger.object(key)?.problem?.isDamage == true)
        #expect(try machine.ledger.unclearObjects() == 0)
    }

    @Test(
        arguments: [
            ("a.jpg", "sunset", true), ("a.jpg", "another", false), ("a.jpg", nil, false),
            ("a/versions/20260501T101500Z-9e107d9d.jpg", nil, true),
        ] as [(String, String?, Bool)])
    func `a version is never replaced, and an image not by a copy of the same file`(
        name: String, told: String?, isUnclear: Bool
    ) throws {
        let ledger = try Ledger.inMemory()
        let key = try ObjectKey("users/ana/projects/\(name)")
        var info = ObjectInfo(key: key, size: 6)
        info.metadata = [MetadataName.md5: "\(ContentDigest(of: Array("sunset".utf8)).md5)"]
        try ledger.noteListed([info], keys: bench.keys, tellsRestores: true, at: bench.time.now)
        info = ObjectInfo(key: key, size: 3)
        if let told { info.metadata = [MetadataName.md5: "\(ContentDigest(of: Array(told.utf8)).md5)"] }
        try ledger.noteListed([info], keys: bench.keys, tellsRestores: true, at: bench.time.now)
        #expect(try ledger.namedUnclearObjects() == (isUnclear ? 1 : 0))
    }

    @Test(arguments: [true, false])
    func `of a store that was copied without its times, only what is cut is unclear`(isCut: Bool) async throws {
        let copied = try CatalogBench(hasDigests: false, listedDigests: .none)
        let before = try copied.machine("laptop")
        try await before.see(["a.jpg": "sunset", "b.jpg": "another"])
        try await before.write()
        if isCut {
            _ = try await copied.memory.put(
                ObjectBody(Array("sun".utf8)), at: copied.photoKey("sunset"),
                attributes: ObjectAttributes(contentType: "image/jpeg"), condition: .overwrite)
        }
        let machine = try copied.machine("laptop")
        let summary = try await machine.rebuild(over: TellingStore(base: copied.store))
        #expect(summary.photos == 2 && summary.unclear == (isCut ? 1 : 0), "\(summary)")
        // What is cut counts as that alone.
        #expect(summary.toBeRead == (isCut ? 1 : 2), "\(summary)")
        // Nobody calls them safe before they are read.
        #expect(try machine.ledger.unclearObjects() == 2)
        try await machine.refresh()
        #expect(try machine.ledger.unclearObjects() == 0)
        #expect(try machine.ledger.overview().lost == (isCut ? 1 : 0))
    }

    @Test(arguments: [true, false])
    func `where whole objects are listed with a digest, one without it is to be read`(isTold: Bool) throws {
        let ledger = try Ledger.inMemory()
        let key = try bench.photoKey("sunset")
        try ledger.noteListed(
            [ObjectInfo(key: key, size: 3)], keys: bench.keys, tellsRestores: true, tellsDigests: isTold,
            at: bench.time.now)
        #expect(try ledger.unclearObjects() == (isTold ? 1 : 0))
        #expect(try ledger.namedUnclearObjects() == 0)
        try ledger.noteClassesRefreshed(at: bench.time.now)
        #expect(try ledger.unclearObjects() == 0)
        #expect(try ledger.check() == [])
    }
}
