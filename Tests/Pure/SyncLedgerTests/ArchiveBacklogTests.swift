import FoundationEssentials
import GRDB
import SyncCore
import Testing

@testable import SyncLedger

@Suite struct ArchiveBacklogTests {
    private let day = 86_400.0
    private let archive: Archive

    init() throws {
        archive = try Archive([])
        archive.world.now = Date(timeIntervalSince1970: 1_000 * day + 5)
    }

    private func backlog(
        in storageClass: StorageClass = .standard, minimumBytes: Int64 = 100, afterDays days: Int = 180
    ) throws -> ArchiveBacklog {
        try archive.ledger.archiveBacklog(
            in: storageClass, below: ["users/ana/photos/", "gallery-archive/ana/"], minimumBytes: minimumBytes,
            afterDays: days,
            at: archive.now)
    }

    private func put(_ name: String, size: Int64 = 100, in storageClass: StorageClass = .standard, age: Double) throws {
        try archive.put(name, size: size, in: storageClass, storedAt: archive.now - age * day)
    }

    @Test func `old objects are due, small ones stay, and neither is told of the archived and of other places`() throws
    {
        try put("users/ana/photos/old.dat", age: 200)
        try put("gallery-archive/ana/p/2026/01/old.jpg", age: 200)
        try put("users/ana/photos/young.dat", age: 100)
        try put("users/ana/photos/small.dat", size: 99, age: 200)
        try put("users/ana/photos/archived.dat", in: .deepArchive, age: 200)
        try put("users/ana/projects/old.jpg", age: 200)
        try put("users/bob/photos/old.dat", age: 200)
        #expect(try backlog() == ArchiveBacklog(due: 2, tooSmall: 1))
    }

    @Test func `each class is counted by itself`() throws {
        try put("users/ana/photos/old.dat", age: 200)
        try put("users/ana/photos/cool.dat", in: .glacierInstantRetrieval, age: 200)
        try put("users/ana/photos/cool too.dat", in: .glacierInstantRetrieval, age: 200)
        #expect(try backlog(in: .glacierInstantRetrieval) == ArchiveBacklog(due: 2))
        #expect(try backlog() == ArchiveBacklog(due: 1))
    }

    @Test(arguments: [(180.0, 0), (181.0, 1)])
    func `an object is due when it surely is, whatever hour it came at`(age: Double, due: Int) throws {
        try put("users/ana/photos/a.dat", age: age)
        #expect(try backlog().due == due)
    }

    @Test func `what is due is told also while nothing can be noted, as on a full disk`() throws {
        try put("users/ana/photos/old.dat", age: 200)
        try put("gallery-archive/ana/p/2026/01/old.jpg", age: 200)
        try put("users/ana/photos/young.dat", age: 100)
        try put("users/ana/photos/small.dat", size: 99, age: 200)
        try put("users/ana/photos/archived.dat", in: .deepArchive, age: 200)
        try archive.ledger.database.write { db in
            try db.execute(
                sql: "CREATE TRIGGER obstacle BEFORE UPDATE ON agent BEGIN SELECT RAISE(ABORT, 'no room'); END")
        }
        #expect(try backlog() == ArchiveBacklog(due: 2, tooSmall: 1))
        try archive.ledger.database.write { try $0.execute(sql: "DROP TRIGGER obstacle") }
        #expect(try backlog() == ArchiveBacklog(due: 2, tooSmall: 1))
    }

    @Test func `with no days to wait, what has just come is due`() throws {
        try put("users/ana/photos/a.dat", age: 0)
        #expect(try backlog(afterDays: 0).due == 1)
    }

    @Test func `another smallest size is counted from all objects, and kept from then on`() throws {
        try put("users/ana/photos/a.dat", size: 500, age: 200)
        #expect(try backlog(minimumBytes: 501) == ArchiveBacklog(tooSmall: 1))
        let key = try archive.put("users/ana/photos/b.dat", size: 500, storedAt: archive.now - 200 * day)
        #expect(try backlog(minimumBytes: 501) == ArchiveBacklog(tooSmall: 2))
        // Another machine has stored another copy of the same photo.
        var grown = try #require(try archive.ledger.object(key))
        grown.size = 501
        try archive.ledger.noteProof(grown, isRead: true, at: archive.now)
        #expect(try backlog(minimumBytes: 501) == ArchiveBacklog(due: 1, tooSmall: 1))
        #expect(try backlog(minimumBytes: 0) == ArchiveBacklog(due: 2))
        try archive.ledger.setStorageClass(.deepArchive, of: key, at: archive.now)
        #expect(try backlog(minimumBytes: 0) == ArchiveBacklog(due: 1))
        #expect(try archive.ledger.check() == [])
    }
}
