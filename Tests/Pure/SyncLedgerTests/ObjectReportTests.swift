import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage
import Testing

@Suite struct ObjectReportTests {
    static let until = Date(timeIntervalSince1970: 1_000_500.123_4)

    @Test(
        arguments: [
            (.none, .standard, .none, true, .none), (.none, .deepArchive, .inProgress, true, .inProgress),
            (.inProgress, .deepArchive, .restored(until: until), true, .restored(until: until)),
            (.inProgress, .deepArchive, .none, true, .none), (.inProgress, .deepArchive, .none, false, .inProgress),
            (.restored(until: nil), .standard, .none, false, .none),
            (.none, .deepArchive, .inProgress, false, .inProgress),
            (.inProgress, .deepArchive, .restored(until: Date(timeIntervalSince1970: 9)), true, .none),
        ] as [(RestoreState, StorageClass, RestoreState, Bool, RestoreState)])
    func `an object becomes what the store says, and a second look finds nothing new`(
        before: RestoreState, storageClass: StorageClass, told: RestoreState, tellsRestores: Bool, after: RestoreState
    ) throws {
        let archive = try Archive([])
        let key = try archive.put("users/ana/photos/a.dat", in: .deepArchive, restore: before)
        let info = ObjectInfo(key: key, size: 1_234, storageClass: storageClass, restore: told)
        let merge = {
            try archive.ledger.mergeReport([info], tellsRestores: tellsRestores, at: archive.now)
        }
        // Another size alone is no news: it is another object, which has to be asked for.
        let isNews = storageClass != .deepArchive || before != after
        #expect(try merge() == (isNews ? 1 : 0, 0))
        let object = try #require(try archive.ledger.object(key))
        #expect(object.size == 1_000)
        #expect(object.storageClass == storageClass)
        #expect(object.restore.isAsKept(after))
        #expect(try merge() == (0, 0))
        #expect(try archive.ledger.check() == [])
    }

    @Test func `objects of others are counted, and do not become ours`() throws {
        let archive = try Archive(["b", "d"])
        let page = try ["a", "b", "c", "d"].map {
            ObjectInfo(key: try ObjectKey($0), size: 1_000, storageClass: $0 == "d" ? .glacier : .deepArchive)
        }
        #expect(try archive.ledger.mergeReport(page, tellsRestores: true, at: archive.now) == (1, 2))
        #expect(try archive.ledger.overview().tiers.map(\.storageClass) == [.deepArchive, .glacier])
        #expect(try archive.ledger.object(ObjectKey("a")) == nil)
    }

    @Test func `what happened since the listing was asked for is left as it is`() throws {
        let archive = try Archive()
        let key = archive.keys[0]
        _ = try archive.ask()
        let listed = archive.now
        archive.world.now += 1
        try archive.move(1, to: .retrieving)
        let late = try archive.put("users/ana/photos/late.dat")
        let page = [
            ObjectInfo(key: key, size: 1_000, storageClass: .deepArchive),
            ObjectInfo(key: late, size: 7, storageClass: .deepArchive),
        ]
        #expect(try archive.ledger.mergeReport(page, tellsRestores: true, at: listed) == (0, 0))
        #expect(try archive.restore() == .inProgress)
        #expect(try archive.ledger.object(late)?.storageClass == .standard)
        #expect(try archive.ledger.mergeReport(page, tellsRestores: true, at: archive.now + 1) == (2, 0))
        #expect(try archive.restore() == RestoreState.none)
    }

    @Test func `a copy in place changes the class alone`() throws {
        let archive = try Archive([])
        let key = try archive.put("a", in: .glacier, restore: .restored(until: nil))
        var expected = try #require(try archive.ledger.object(key))
        expected.storageClass = .standard
        expected.restore = .none
        try archive.ledger.setStorageClass(.standard, of: key, at: archive.now + 5)
        #expect(try archive.ledger.object(key) == expected)
        #expect(try archive.ledger.check() == [])
    }

    @Test func `the last refresh is known`() throws {
        let ledger = try Ledger.inMemory()
        #expect(try ledger.classesRefreshedAt() == nil)
        let time = Date(timeIntervalSince1970: 1_234.567)
        try ledger.noteClassesRefreshed(at: time)
        #expect(try ledger.classesRefreshedAt() == time)
    }
}

extension RestoreState {
    /// Times are kept in milliseconds.
    fileprivate func isAsKept(_ other: RestoreState) -> Bool {
        guard case .restored(let mine?) = self, case .restored(let others?) = other else { return self == other }
        return abs(mine.timeIntervalSince(others)) <= 0.000_6
    }
}
