import SyncCore
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// What is noted of a store, for `status`.
@Suite struct StoreStateTests {
    @Test func `a store that took a photo before its refusal was noted is noted as one that takes photos`()
        async throws
    {
        let bench = try Bench()
        for index in 1...4 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
        try bench.scan()
        let claims = try bench.ledger.claim(limit: 4, at: bench.time.now)
        let pipeline = try bench.makePipeline()
        let refusal = StoreError(.noSpace, operation: "put", key: "photo", message: "its disk is full")
        let verdicts = claims.prefix(3).map { pipeline.gate.judge($0, refusal) }
        guard case .closed(let closing) = verdicts[2] else {
            Issue.record("the gate is open")
            return
        }
        try await pipeline.tell(closing, .untilStopped)
        #expect(try bench.ledger.overview().store?.error != nil)
        #expect(pipeline.gate.noteAccepted(claims[3].photoID))
        try await pipeline.tell(closing, .untilStopped)
        #expect(try bench.ledger.overview().store?.error == nil)
    }
}
