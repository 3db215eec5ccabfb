import SyncCore
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// Entries that are never stored: what is known of them where a look cannot see them, and how often they are looked at.
@Suite struct LeftOutLookTests {
    private let bench: Bench
    private var folder: FolderRecord { bench.folders[0] }
    private var scan: FolderScan { FolderScan(ledger: bench.ledger, scanner: bench.disk, settle: .seconds(2)) }

    init() throws { bench = try Bench() }

    /// A folder with a photo and a link in it.
    @discardableResult
    private func makeFolder(_ name: String) -> FilePath {
        let directory = Bench.gallery.appending(name)
        bench.disk.write("photo in \(name)", to: directory.appending("a.jpg"))
        bench.disk.makeLink(directory.appending("link.jpg"))
        return directory
    }

    private func leftOut() throws -> [String] {
        try bench.ledger.leftOut(naming: 99).items.map { $0.path.relative(to: Bench.gallery).string }
    }

    @Test func `what is in a folder that cannot be read stays known`() throws {
        let (_, rome) = (makeFolder("Oslo"), makeFolder("Rome"))
        try bench.scan()
        bench.disk.setUnreadable(rome)
        try bench.scan()
        #expect(try leftOut() == ["Oslo/link.jpg", "Rome/link.jpg"])
    }

    @Test func `what is on a drive that is taken out stays known`() async throws {
        let (rome, card) = (makeFolder("Rome"), makeFolder("SD"))
        bench.disk.setDrive(card, isMounted: true)
        try await bench.pass()
        bench.disk.setDrive(card, isMounted: false)
        #expect(try bench.scan()[0].problems.map(\.path) == [card])
        #expect(try leftOut() == ["Rome/link.jpg", "SD/link.jpg"])
        try scan.noteOthers(in: [(folder, rome)], reviewing: [folder], at: bench.time.now)
        #expect(try leftOut() == ["Rome/link.jpg", "SD/link.jpg"])
    }

    @Test func `what is in a folder that is empty as a whole stays known`() async throws {
        makeFolder("Rome")
        try await bench.pass()
        bench.disk.setMounted(false)
        #expect(try bench.scan()[0].problems.map(\.path) == [Bench.gallery])
        #expect(try leftOut() == ["Rome/link.jpg"])
    }

    @Test func `what is known is looked at once for many directories`() throws {
        let directories = (1...20).map { makeFolder("\($0)") }
        try bench.scan()
        let before = bench.disk.thereChecks
        try scan.noteOthers(
            in: directories.map { (folder, $0) }, reviewing: directories.map { _ in folder }, at: bench.time.now)
        #expect(bench.disk.thereChecks - before == directories.count)
        #expect(try leftOut().count == directories.count)
    }

    @Test func `a look at one directory changes nothing about those below it, and those with a like name`() throws {
        let paths: [FilePath] = ["a/x.part", "a/b/y.part", "a-b/z.part", "a"]
        let items = paths.map { LeftOutSummary.Item(path: $0, reason: "hidden") }
        try bench.ledger.noteLeftOutEntries(items, of: folder.id, in: .below(""))
        try bench.ledger.noteLeftOutEntries([], of: folder.id, in: .directory("a"))
        #expect(try Set(leftOut()) == ["a", "a/b/y.part", "a-b/z.part"])
        try bench.ledger.noteLeftOutEntries([], of: folder.id, in: .directory(""))
        #expect(try Set(leftOut()) == ["a/b/y.part", "a-b/z.part"])
        try bench.ledger.noteLeftOutEntries([], of: folder.id, in: .below("a"))
        #expect(try leftOut() == ["a-b/z.part"])
    }
}
