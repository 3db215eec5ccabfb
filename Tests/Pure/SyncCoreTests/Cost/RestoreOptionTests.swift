import SyncCore
import Testing

@Suite struct RestoreOptionTests {
    private static func load(_ storageClass: StorageClass, objects: Int = 1_000, bytes: Int64 = 1 << 30) -> ClassLoad {
        ClassLoad(storageClass: storageClass, objects: objects, bytes: bytes)
    }

    @Test(
        arguments: [
            ([.deepArchive], [.bulk, .standard]), ([.glacier], [.bulk, .standard, .expedited]),
            ([.glacier, .deepArchive], [.bulk, .standard]), ([], []),
        ] as [([StorageClass], [RestoreTier])])
    func `the options are the tiers that every class has`(classes: [StorageClass], expected: [RestoreTier]) {
        let options = RestoreOption.all(for: classes.map { Self.load($0) }, days: 7, prices: .example)
        #expect(options.map(\.tier) == expected)
    }

    @Test func `a class of which there is nothing takes no tier away`() {
        let loads = [Self.load(.glacier), Self.load(.deepArchive, objects: 0, bytes: 0)]
        #expect(RestoreOption.all(for: loads, days: 7, prices: .example).map(\.tier).last == .expedited)
    }

    private func hints(_ tier: RestoreTier, _ loads: [ClassLoad], days: Int = 7) -> [WaitingHint] {
        let options = RestoreOption.all(for: loads, days: days, prices: .example)
        guard let chosen = options.first(where: { $0.tier == tier }) else { return [] }
        return WaitingHint.hints(for: chosen.estimate, tier: tier, among: options)
    }

    @Test func `waiting is suggested where it saves, the cheapest first, with hours and dollars`() throws {
        let found = hints(.expedited, [Self.load(.glacier)])
        #expect(found.map(\.tier) == [.bulk, .standard])
        #expect(found.map(\.hours) == [12, 5])
        // Expedited 10.03, standard 0.06, bulk nothing, besides copy and egress.
        #expect(isSame(found.first?.savedUSD, 10.03))
        #expect(isSame(found.last?.savedUSD, 9.97))
        #expect(isSame(found.first?.totalUSD, 0.023 * 7 / 30 + 0.09))
    }

    @Test func `a saving below a cent, or below a tenth of the whole, is not worth a line`() {
        #expect(hints(.standard, [Self.load(.deepArchive, objects: 10, bytes: 1 << 20)]).isEmpty)
        // One object of 100 GB: standard costs 1.75 more than bulk, of 11.54 with copy and egress.
        let large = Self.load(.deepArchive, objects: 1, bytes: 100 << 30)
        #expect(hints(.standard, [large]).map(\.tier) == [.bulk])
        #expect(hints(.standard, [large], days: 300).isEmpty)
        #expect(hints(.bulk, [large]).isEmpty)
    }

    @Test func `where a price is missing, nothing is compared`() {
        var prices = PriceTable.example
        prices.classes[.glacier]?.retrieval[.bulk] = nil
        let options = RestoreOption.all(for: [Self.load(.glacier)], days: 7, prices: prices)
        let expedited = options.first { $0.tier == .expedited }
        #expect(
            expedited.map { WaitingHint.hints(for: $0.estimate, tier: .expedited, among: options).map(\.tier) }
                == [.standard])
        let bulk = options.first { $0.tier == .bulk }
        #expect(bulk.map { WaitingHint.hints(for: $0.estimate, tier: .expedited, among: options) } == [])
    }
}
