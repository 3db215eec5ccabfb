import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine
@testable import SyncLedger

@Suite struct ShareReviewTests {
    @Test func `photos whose drive is not mounted are away, and those that were removed are not`() async throws {
        let bench = try ShareBench()
        let drive = ShareBench.folder.appending("SD")
        bench.disk.setDrive(drive, isMounted: true)
        for name in ["a.jpg", "SD/b.jpg", "c.jpg"] { try await bench.add(name) }
        let share = try await bench.share()
        let folder = try #require(try bench.ledger.watchedFolder(above: ShareBench.folder))
        try bench.ledger.noteMounts(folder.id, mounted: ["Paris/SD"], at: bench.time.now)
        let review = ShareReview(
            ledger: bench.queue, place: .disk(bench.disk, bench.disk, BlockingPool(name: "review", threads: 1)))
        #expect(try await review.difference(of: share) == ShareReview.Difference())
        bench.disk.setDrive(drive, isMounted: false)
        bench.disk.remove(ShareBench.folder.appending("c.jpg"))
        let reason = "no drive is mounted at \(drive)"
        #expect(try await review.difference(of: share) == ShareReview.Difference(removed: 1, away: 1, whyAway: reason))
    }
}
