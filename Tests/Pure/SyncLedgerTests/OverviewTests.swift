import FoundationEssentials
import SyncCore
import SystemPackage
import Testing

@testable import SyncLedger

@Suite struct OverviewTests {
    @Test func `an empty ledger has an empty overview`() throws {
        let overview = try Ledger.inMemory().overview()
        #expect(overview.folders.isEmpty)
        #expect(overview.totals == PhotoTallies())
        #expect(overview.oldestUnsynced == nil)
        #expect(overview.lastSyncAt == nil)
        #expect(overview.store == nil)
    }

    @Test func `every state is counted, in its folder and in all`() throws {
        let world = try World()
        for (index, state) in PhotoState.allCases.enumerated() {
            let path = FilePath("/pictures/trips/rome/\(index).jpg")
            try state.prepare(path, in: world)
            if state == .pending {
                // Taken out of the way of the others.
                let claims = try world.ledger.claim(limit: 1, at: world.now)
                for claim in claims {
                    try world.ledger.commit(claim, outcome: .postponed("away", until: .distantFuture), at: world.now)
                }
            }
            if state == .missing { world.remove(path) }
        }
        let overview = try world.ledger.overview()
        for state in PhotoState.allCases {
            #expect(overview.totals[state] == Tally(files: 1, bytes: 1_000), "\(state)")
            #expect(overview.folders.map(\.tallies[state].files) == [0, 1, 0])
        }
        #expect(overview.totals.onDisk.files == 5)
        #expect(try world.ledger.knownFileCount(world.folders[1].id) == 5)
        // What was stored of the lost one is known, and counts no more.
        #expect(overview.bytesStored == 1_000)
        #expect(overview.brokenTiers.map(\.bytes) == [500])
    }

    @Test func `the photo that waits longest is named with its reason`() throws {
        let world = try World()
        world.write("/pictures/trips/old.jpg")
        try world.scan()
        let since = world.now
        world.now += 10
        world.write("/pictures/gallery/new.jpg")
        try world.scan()
        var oldest = try world.ledger.overview().oldestUnsynced
        #expect(oldest?.path == "/pictures/trips/old.jpg")
        #expect(oldest?.since == since)
        #expect(oldest?.why == "it waits for its turn")

        let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        #expect(try world.ledger.overview().oldestUnsynced?.why == "it is being read or uploaded")
        try world.ledger.commit(claim, outcome: .failed("the file is cut off", nil), at: world.now)
        oldest = try world.ledger.overview().oldestUnsynced
        #expect(oldest?.state == .failed)
        #expect(oldest?.why == "the file is cut off")
        #expect(try world.ledger.failedPhotos(limit: 5).map(\.path) == ["/pictures/trips/old.jpg"])
        #expect(try world.ledger.failedPhotos(limit: 0).isEmpty)

        try world.register([World.gallery])
        #expect(try world.ledger.overview().oldestUnsynced?.path == "/pictures/gallery/new.jpg")
        try world.storeAll()
        #expect(try world.ledger.overview().oldestUnsynced == nil)
    }

    @Test func `syncs and the store's answers are noted`() throws {
        let world = try World()
        let later = world.now + 5
        try world.ledger.noteSync(at: world.now)
        try world.ledger.noteStore(error: "unreachable", at: world.now)
        #expect(try world.ledger.overview().lastSyncAt == world.now)
        #expect(
            try world.ledger.overview().store
                == Overview.StoreNote(error: "unreachable", at: world.now, since: world.now))
        try world.ledger.noteStore(error: nil, at: later)
        #expect(try world.ledger.overview().store == Overview.StoreNote(error: nil, at: later))
    }

    @Test func `an outage lasts from its first failure to the next good answer`() throws {
        let world = try World()
        let since = {
            world.now += 60
            return try world.ledger.overview().store?.since
        }
        let first = world.now
        try world.ledger.noteStore(error: "unreachable", at: world.now)
        #expect(try since() == first)
        try world.ledger.noteStore(error: "timed out", at: world.now)
        #expect(try since() == first)
        try world.ledger.noteStore(error: nil, at: world.now)
        #expect(try since() == nil)
        let second = world.now
        try world.ledger.noteStore(error: "unreachable", at: world.now)
        #expect(try since() == second)
    }

    @Test(arguments: [true, false])
    func `a good answer ends an outage while photos wait, and a refusal only where none does`(isRefusal: Bool) throws {
        let world = try World()
        world.write("/pictures/trips/a.jpg")
        try world.scan()
        try world.ledger.noteStore(error: "no", isRefusal: isRefusal, at: world.now)
        #expect(try world.ledger.isStoreRefusing() == isRefusal)
        #expect(try world.ledger.noteStoreAnswer(at: world.now) == !isRefusal)
        #expect(try (world.ledger.overview().store?.error == nil) == !isRefusal)
        try world.storeAll()
        #expect(try world.ledger.noteStoreAnswer(at: world.now))
        let store = try #require(try world.ledger.overview().store)
        #expect(try store.error == nil && store.since == nil && !world.ledger.isStoreRefusing())
    }
}
