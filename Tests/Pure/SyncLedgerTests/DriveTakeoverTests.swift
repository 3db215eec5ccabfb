import FoundationEssentials
import GRDB
import SyncCore
import SystemPackage
import Testing

@testable import SyncLedger

/// A drive takes the place of another one on which more photos are than one transaction changes.
@Suite struct DriveTakeoverTests {
    private static let first = DriveIdentity(.disk, uuid: "1111")
    private static let second = DriveIdentity(.disk, uuid: "2222")
    private static let many = 10_000..<15_000
    private static let photos = many.count + 3

    private let world: World
    private var folder: FolderID { world.folders[0].id }

    init() throws {
        world = try World()
        try meet(10_000..<10_001, in: "2025", firstInode: 100)
        try meet(Self.many, in: "2026", firstInode: 1_000)
        try meet(10_000..<10_002, in: "2027", firstInode: 100_000)
        try world.ledger.noteDrives([FilePath(): Self.first], of: folder)
    }

    private func meet(_ numbers: Range<Int>, in directory: FilePath, firstInode: UInt64) throws {
        var files: [ScannedFile] = []
        for number in numbers {
            let stamp = FileStamp(
                device: 1, inode: firstInode + UInt64(files.count), size: 1, modified: 1, changed: 1, born: 1)
            files.append(ScannedFile(name: try #require(FilePath.Component("\(number).jpg")), stamp: stamp))
        }
        _ = try world.ledger.reconcile(
            folder, directory: directory, files: files,
            drive: { .found(Self.first, at: FilePath(), isExpected: true) }, settled: { _ in true },
            stillThere: { _ in false }, at: world.now)
    }

    private func takeOver() throws -> Int {
        let takeover = DriveTakeover(of: Self.first, by: Self.second, at: FilePath(), except: [])
        return try world.ledger.noteDrives([FilePath(): Self.second], [takeover], of: folder)
    }

    private func count(of drive: DriveIdentity) throws -> Int {
        try world.ledger.database.read { db in
            try db.total(
                "SELECT count(*) FROM photos JOIN drives ON drives.id = photos.drive WHERE identity = ?", [drive.text])
        }
    }

    @Test func `all photos are counted as those of the new one`() throws {
        #expect(try takeOver() == Self.photos)
        #expect(try count(of: Self.first) == 0)
        #expect(try count(of: Self.second) == Self.photos)
        #expect(try world.ledger.drives(of: folder) == [FilePath(): Self.second])
        #expect(try takeOver() == 0)
    }

    @Test func `what ends between two pieces is gone on with, and the place is noted last`() throws {
        try world.ledger.database.write { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER obstacle BEFORE UPDATE OF drive ON photos WHEN NEW.name = CAST('14999.jpg' AS BLOB)
                    BEGIN SELECT RAISE(ABORT, 'it ends here'); END
                    """)
        }
        #expect(throws: LedgerError.self) { try takeOver() }
        let done = try count(of: Self.second)
        #expect(done > 0 && done < Self.many.count)
        #expect(try world.ledger.drives(of: folder) == [FilePath(): Self.first])
        try world.ledger.database.write { try $0.execute(sql: "DROP TRIGGER obstacle") }
        #expect(try takeOver() == Self.photos - done)
        #expect(try count(of: Self.first) == 0)
        #expect(try world.ledger.drives(of: folder) == [FilePath(): Self.second])
    }
}
