import SyncCore
import Testing

@Suite struct StorageCostTests {
    @Test func `a year of 10,000 photos of 3 MB costs what a calculation by hand says`() {
        let photos = StoredLoad(storageClass: .deepArchive, objects: 10_000, bytes: 31_457_280_000)
        let cost = StorageCost(of: [photos], restoreDays: 7, prices: .example)
        // 29.296875 GB of photos; overheads of 10,000 × 32 KiB there and 10,000 × 8 KiB in STANDARD.
        let month = (29.296875 + 0.30517578125) * 0.00099 + 0.0762939453125 * 0.023
        #expect(isSame(cost.monthlyUSD, month))
        #expect(Int((cost.monthlyUSD * 12 * 100).rounded()) == 37)
        #expect(isSame(cost.monthlyUSD + cost.savedMonthlyUSD, 29.296875 * 0.023))
        #expect(Int(((cost.monthlyUSD + cost.savedMonthlyUSD) * 12 * 100).rounded()) == 809)
        #expect(cost.fullRestore.map(\.tier) == [.bulk, .standard])
        #expect(cost.earlyDeletionUSD == 0)
    }

    @Test func `small objects make archiving a loss, and the sum says so`() {
        let previews = StoredLoad(storageClass: .deepArchive, objects: 1_000_000, bytes: 1_000_000 * 4_096)
        #expect(StorageCost(of: [previews], restoreDays: 7, prices: .example).savedMonthlyUSD < 0)
    }

    @Test func `what is below a class's smallest billable size is billed as that`() {
        let small = StoredLoad(storageClass: .glacierInstantRetrieval, objects: 8_192, bytes: 8_192)
        let cost = StorageCost(of: [small], restoreDays: 7, prices: .example)
        #expect(isSame(cost.monthlyUSD, 0.004))
        #expect(cost.fullRestore.isEmpty)
    }

    @Test func `deleting inside the minimum costs the rest of it, at most all of it`() {
        let half = StoredLoad(
            storageClass: .deepArchive, objects: 2, bytes: 2 << 30, youngObjects: 1, youngBytes: 1 << 30)
        let cost = StorageCost(of: [half], restoreDays: 7, prices: .example)
        let month = (1 + 32_768.0 / 1_073_741_824) * 0.00099 + 8_192.0 / 1_073_741_824 * 0.023
        #expect(isSame(cost.earlyDeletionUSD, month * 6))
    }

    @Test func `a class without a price is named, and neither costs nor saves`() {
        let own = StorageClass(rawValue: "CLOUDTIER")
        let cost = StorageCost(
            of: [
                StoredLoad(storageClass: own, objects: 1, bytes: 1 << 40),
                StoredLoad(storageClass: .standard, objects: 1, bytes: 1 << 30),
            ], restoreDays: 7, prices: .example)
        #expect(cost.unpriced == [own])
        #expect(isSame(cost.monthlyUSD, 0.023))
        #expect(isSame(cost.savedMonthlyUSD, 0))
        #expect(cost.classes.map(\.monthlyUSD).first == .some(nil))
    }
}
