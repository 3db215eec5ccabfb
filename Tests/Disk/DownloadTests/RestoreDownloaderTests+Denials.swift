import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import Testing

/// Copies that the store denies, where it gives others.
extension RestoreDownloaderTests {
    private func downloader(_ store: any ReadableStore) -> RestoreDownloader {
        RestoreDownloader(
            store: store, ledger: LedgerQueue(ledger), owner: owner, pool: BlockingPool(name: "disk", threads: 3),
            time: time.source)
    }

    @Test func `copies that the store denied come last in the next round, so that the others are saved`() async throws {
        let job = try await restore((1...40).map { "\($0).jpg" }, output: output)
        let store = FaultyStore.denying(first: 25, .get, of: memory)
        let error = await #expect(throws: StoreError.self) { _ = try await downloader(store).run() }
        #expect(error?.code == .accessDenied && store.count(.get) < 25)
        let result = try await downloader(store).run()
        #expect(result.saved == 15 && result.problems.count == 25)
        #expect(try saved(job) == 15)
        #expect(try await delivery.run().saved == 25)
        #expect(try ledger.denials(of: .restores) == [:])
    }

    @Test func `what is denied counts on from one job to the next`() async throws {
        for job in 0..<3 { try await restore((0..<10).map { "\(job)-\($0).jpg" }, output: tree.path("out \(job)")) }
        store.add(StoreFault(.get, .failBefore(.accessDenied)))
        await #expect(throws: StoreError.self) { _ = try await delivery.run() }
        #expect((20...23).contains(store.count(.get)))
    }
}
