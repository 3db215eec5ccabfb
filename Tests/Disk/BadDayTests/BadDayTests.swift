import Foundation
import SyncCore
import SyncEngine
import SyncLedger
import SyncS3
import SyncSystem
import SyncTestSupport
import Testing

/// Everything at once, for thousands of requests.
@Suite struct BadDayTests {
    private static let photos = 2_000
    /// Passes that a bad day may take; the queue's own retries are within one.
    private static let passes = 3

    /// `SYNC_AGENT_BAD_DAY_SEED` makes another day.
    private static let seed =
        ProcessInfo.processInfo.environment["SYNC_AGENT_BAD_DAY_SEED"].flatMap { UInt64($0) } ?? 20_121_221

    @Test func `On a bad day each photo is stored once, byte for byte`() async throws {
        try await SyncBench.run(photos: Self.photos) { bench in
            bench.server.play(.badDay(seed: Self.seed))
            bench.server.setClock(ahead: .seconds(1_200))
            var refusals: [StoreError] = []
            for _ in 0..<Self.passes where try bench.states() != [.uploaded: Self.photos] {
                do {
                    try await bench.pass()
                } catch let error as StoreError {
                    refusals.append(error)
                }
                try bench.ledger.makeAllDue(at: bench.time.source.now())
            }
            let answers = bench.answers()
            let summary = bench.summary.withLock { $0 }
            let counts = answers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
            print(
                "SYNC_AGENT_BAD_DAY_SEED=\(Self.seed): \(counts); postponed \(summary.postponed), slept \(bench.time.slept)"
            )

            #expect(try bench.wrongPhotos() == [])
            #expect(bench.server.keys.count == Self.photos)
            #expect(try bench.states() == [.uploaded: Self.photos], "\(refusals)")
            #expect(summary.uploaded + summary.alreadyStored == Self.photos)
            #expect(summary.failed == 0)
            #expect(abs(bench.store.knowledge.clockOffset - 1_200) < 60)
            // The day was as bad as it was meant to be.
            for kind in ["putObject 503", "putObject 400", "putObject cut"] {
                #expect(answers[kind, default: 0] > 0, "no \(kind)")
            }
            #expect(bench.server.requests.count { $0.code == "RequestTimeTooSkewed" } == 1)
            #expect(bench.server.openUploads.isEmpty)
        }
    }
}
