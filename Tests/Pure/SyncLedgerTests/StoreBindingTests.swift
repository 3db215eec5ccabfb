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

    @Test func `names that look the same are two`() throws {
        let places = ["s3://one for user ren\u{E9}", "s3://one for user rene\u{301}"]
        for place in places + places {
            #expect(Array(try world.ledger.bind(to: place).utf8) == Array(place.utf8))
        }
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
