import SyncCore
import Testing

@Suite struct RestoreEstimateTests {
    /// 10,000 photos of 3 MiB: 29.296875 GB.
    private static let photos = 10_000
    private static let bytes: Int64 = 10_000 * 3 * 1_048_576

    /// Written out by hand, nothing of it computed by the program.
    struct Row: Sendable {
        var storageClass: StorageClass
        var tier: RestoreTier
        var retrieval: Double
        var requests: Double
        var hours: Double
        /// In whole cents, as a person would say it.
        var retrievalCents: Int
    }

    @Test(
        arguments: [
            Row(
                storageClass: .deepArchive, tier: .bulk, retrieval: 29.296875 * 0.0025, requests: 10 * 0.025,
                hours: 48, retrievalCents: 32),
            Row(
                storageClass: .deepArchive, tier: .standard, retrieval: 29.296875 * 0.02, requests: 10 * 0.1,
                hours: 12, retrievalCents: 159),
            Row(
                storageClass: .glacier, tier: .bulk, retrieval: 29.296875 * 0, requests: 10 * 0,
                hours: 12, retrievalCents: 0),
            Row(
                storageClass: .glacier, tier: .standard, retrieval: 29.296875 * 0.01, requests: 10 * 0.05,
                hours: 5, retrievalCents: 79),
            Row(
                storageClass: .glacier, tier: .expedited, retrieval: 29.296875 * 0.03, requests: 10 * 10.0,
                hours: 5.0 / 60, retrievalCents: 10_088),
        ])
    func `10,000 photos of 3 MB cost what a calculation by hand says`(row: Row) {
        let load = RestoreLoad(
            storageClass: row.storageClass, tier: row.tier, objects: Self.photos, bytes: Self.bytes)
        let estimate = RestoreEstimate(of: [load], days: 7, prices: .example)
        #expect(isSame(estimate.retrievalUSD, row.retrieval))
        #expect(isSame(estimate.requestsUSD, row.requests))
        #expect(Int(((estimate.retrievalUSD + estimate.requestsUSD) * 100).rounded()) == row.retrievalCents)
        // The copy in STANDARD for 7 of 30 days, 0.16; the way home, 2.64.
        #expect(isSame(estimate.temporaryCopyUSD, 29.296875 * 0.023 * 7 / 30))
        #expect(Int((estimate.temporaryCopyUSD * 100).rounded()) == 16)
        #expect(isSame(estimate.egressUSD, 29.296875 * 0.09))
        #expect(Int((estimate.egressUSD * 100).rounded()) == 264)
        #expect(
            isSame(
                estimate.totalUSD,
                row.retrieval + row.requests + 29.296875 * 0.023 * 7 / 30 + 29.296875 * 0.09))
        #expect(estimate.hours == row.hours)
        #expect(estimate.objects == 10_000 && estimate.bytes == 31_457_280_000)
        #expect(estimate.unpriced.isEmpty && estimate.egressMayBeFree)
    }

    @Test func `several classes add up, and the slowest tells the hours`() {
        let deep = RestoreLoad(storageClass: .deepArchive, tier: .standard, objects: 1_000, bytes: 1 << 30)
        let glacier = RestoreLoad(storageClass: .glacier, tier: .expedited, objects: 2_000, bytes: 2 << 30)
        let estimate = RestoreEstimate(of: [glacier, deep], days: 30, prices: .example)
        #expect(isSame(estimate.retrievalUSD, 1 * 0.02 + 2 * 0.03))
        #expect(isSame(estimate.requestsUSD, 1 * 0.1 + 2 * 10))
        #expect(isSame(estimate.temporaryCopyUSD, 3 * 0.023))
        #expect(estimate.hours == 12)
    }

    @Test func `a class or tier without a price is named and left out of the sums`() {
        let loads = [
            RestoreLoad(storageClass: StorageClass(rawValue: "CLOUDTIER"), tier: .bulk, objects: 5, bytes: 1 << 30),
            RestoreLoad(storageClass: .deepArchive, tier: .expedited, objects: 5, bytes: 1 << 30),
        ]
        let estimate = RestoreEstimate(of: loads, days: 7, prices: .example)
        #expect(estimate.unpriced == [StorageClass(rawValue: "CLOUDTIER"), .deepArchive])
        #expect(estimate.totalUSD == 0 && estimate.objects == 10 && estimate.hours == nil)
    }

    @Test func `what moves back for good has no temporary copy, and what only stays longer no retrieval`() {
        var prices = PriceTable.example
        prices.classes[.intelligentTiering] = ClassPrices(
            perGBMonth: 0.023, putPer1000: 0.01, retrieval: [.bulk: RetrievalPrices(perGB: 0, per1000Requests: 0)])
        let moved = RestoreLoad(storageClass: .intelligentTiering, tier: .bulk, objects: 1, bytes: 1 << 30)
        #expect(RestoreEstimate(of: [moved], days: 30, prices: prices).temporaryCopyUSD == 0)

        let longer = RestoreLoad(
            storageClass: .deepArchive, tier: .bulk, objects: 1_000, bytes: 1 << 30, isRetrieved: false)
        let estimate = RestoreEstimate(of: [longer], days: 30, prices: prices)
        #expect(estimate.retrievalUSD == 0 && estimate.hours == 0)
        #expect(isSame(estimate.requestsUSD, 0.025) && isSame(estimate.temporaryCopyUSD, 0.023))
    }

    @Test func `egress beyond a month's free gigabytes is not called free`() {
        let hundred = RestoreLoad(storageClass: .glacier, tier: .bulk, objects: 1, bytes: 100 << 30)
        var more = hundred
        more.bytes += 1
        #expect(RestoreEstimate(of: [hundred], days: 1, prices: .example).egressMayBeFree)
        #expect(!RestoreEstimate(of: [more], days: 1, prices: .example).egressMayBeFree)
    }
}
