import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage
import Testing

@Suite struct TierReportTests {
    private let day = 86_400.0

    private func report(_ archive: Archive) throws -> [TierShare] {
        try archive.ledger.tierReport(at: archive.now) { $0.isArchive ? 180 : 0 }
    }

    @Test(arguments: [
        ("users/ana/photos/a.dat", "users/ana/photos/"), ("users/zoë 𝄞/originals/a/b.dat", "users/zoë 𝄞/originals/"),
        ("users/ana/x", "users/"), ("gallery-archive/ana/grandma/2026/01/e.jpg", "gallery-archive/ana/"),
        ("gallery-archive/ana", "gallery-archive/"), ("shares/1/vacation.json", "shares/"), ("top", ""),
    ])
    func `objects are summed up by what a rule would be made for`(key: String, prefix: String) throws {
        let archive = try Archive([key])
        #expect(try report(archive).map(\.prefix) == [prefix])
    }

    @Test func `an object is young by the time that it is in its class`() throws {
        let archive = try Archive([])
        archive.world.now = Date(timeIntervalSince1970: 1_000 * day + 5)
        let (key, old) = (try ObjectKey("users/ana/photos/moved.dat"), archive.now - 400 * day)
        try archive.put(key.rawValue, size: 30, storedAt: old)
        try archive.put("users/ana/photos/old.dat", size: 50, in: .deepArchive, storedAt: old)
        try archive.put("users/ana/photos/young.dat", size: 70, in: .deepArchive, storedAt: archive.now - 170 * day)
        #expect(try report(archive).map(\.youngBytes) == [70, 0])
        #expect(try report(archive).map(\.bytes) == [120, 30])

        let info = ObjectInfo(key: key, size: 30, storageClass: .deepArchive)
        #expect(try archive.ledger.mergeReport([info], tellsRestores: true, at: archive.now).changed == 1)
        archive.world.now += 180 * day
        let shares = try report(archive)
        #expect(shares.map(\.storageClass) == [.deepArchive])
        #expect(shares.map(\.objects) == [3])
        #expect(shares.map(\.bytes) == [150])
        #expect(shares.map(\.youngObjects) == [1])
        #expect(shares.map(\.youngBytes) == [30])
        archive.world.now += day
        #expect(try report(archive).map(\.youngObjects) == [0])

        try archive.ledger.setStorageClass(.glacier, of: key, at: archive.now)
        #expect(try report(archive).map(\.youngBytes) == [0, 30])
        #expect(try archive.ledger.check() == [])
    }
}
