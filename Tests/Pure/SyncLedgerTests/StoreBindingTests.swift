import SyncCore
import SyncLedger
import SystemPackage
import Testing

@Suite struct StoreBindingTests {
    private let world: World

    init() throws { world = try World() }

    @Test func `a ledger without objects goes with any store`() throws {
        #expect(try world.ledger.bind(to: "s3://one") == "s3://one")
        #expect(try world.ledger.bind(to: "s3://two") == "s3://two")
    }

    @Test func `a ledger with objects stays with its store`() throws {
        #expect(try world.ledger.bind(to: "s3://one") == "s3://one")
        world.write(World.gallery.path.appending("a.jpg"))
        try world.scan()
        try world.storeAll()
        #expect(try world.ledger.bind(to: "s3://two") == "s3://one")
        #expect(try world.ledger.bind(to: "s3://one") == "s3://one")
    }

    @Test func `the first embedded store that is noted stays the one until the place is another`() throws {
        #expect(try !world.ledger.knowsStore())
        #expect(try world.ledger.bind(to: "/one") == "/one")
        #expect(try world.ledger.storeID() == nil)
        #expect(try world.ledger.bindStoreID("first") == "first")
        #expect(try world.ledger.bindStoreID("second") == "first")
        #expect(try world.ledger.bind(to: "/one") == "/one")
        #expect(try world.ledger.storeID() == "first")
        #expect(try world.ledger.knowsStore())
        #expect(try world.ledger.bind(to: "/two") == "/two")
        #expect(try world.ledger.storeID() == nil)
        #expect(try world.ledger.bindStoreID("second") == "second")
    }
}
