import SyncCore
import Testing

@testable import SyncCLI
@testable import SyncEngine

/// What a move to another store says when shares did not end in the old one.
@Suite struct RemovalObstacleTests {
    private func shares() throws -> (ShareID, ShareID) {
        (
            try #require(ShareID("5f0c2a8e-7d0b-4c1e-9a57-0d6f3f1f2b11")),
            try #require(ShareID("5f0c2a8e-7d0b-4c1e-9a57-0d6f3f1f2b12"))
        )
    }

    private func removal(leaving id: ShareID) -> StoreCopy.Removal {
        var result = StoreCopy.Removal()
        let error = StoreError(.accessDenied, operation: "delete", message: "it is denied")
        result.left.note(ObjectProblem(key: ShareKeys(id).manifest, error: error))
        return result
    }

    @Test func `what only stays in the old store keeps no move from its end`() throws {
        #expect(try removal(leaving: shares().0).obstacle?.lines == nil)
    }

    @Test func `what guests have sent and is not kept here does, and all is told with the gravest reason`() throws {
        let (id, other) = try shares()
        var removal = self.removal(leaving: id)
        let away = StoreError(.unreachable, operation: "get", message: "no answer")
        removal.failures = [
            StoreCopy.Removal.Failure(share: id, error: ShareError.inOtherHands(id)),
            StoreCopy.Removal.Failure(share: other, error: away),
        ]
        let obstacle = try #require(removal.obstacle)
        #expect(
            obstacle.lines == [
                "still there: \(ShareKeys(id).manifest.rawValue): it is denied",
                "share \(id): in other hands: another process works on it", "share \(other): get: no answer",
            ])
        #expect(obstacle.failure.status == .storeUnreachable)
        #expect(obstacle.failure.description.hasPrefix("2 shares did not end in the old store"))
    }

    @Test func `after a move nothing waits for what is left in the old store, and all of it is told`() throws {
        let (id, other) = try shares()
        var removal = self.removal(leaving: id)
        removal.failures = [StoreCopy.Removal.Failure(share: other, error: ShareError.inOtherHands(other))]
        var report = MoveReport(from: "old", to: "new", dryRun: false)
        report.switched = true
        report.note(lastCheck: removal)
        #expect(report.left.map(\.key) == [id, other].map { ShareKeys($0).manifest.rawValue })
        #expect(report.left.last?.reason.contains("in other hands") == true)
        #expect(report.counts.left == 2 && report.status == .partlyDone)
    }
}
