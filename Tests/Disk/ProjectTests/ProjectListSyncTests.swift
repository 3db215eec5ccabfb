import Foundation
import SyncCore
import SyncEngine
import SyncSystem
import SyncTestSupport
import Testing

@Suite struct ProjectListSyncTests {
    @Test func `whoever looks while the first list is read waits for it, and sees no folder without one`() throws {
        let bench = try ProjectBench()
        try bench.list((0..<1_000).map { ProjectBench.record("p\($0)") })
        let seen = Lock<[Bool]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { [listSync = bench.listSync, folder = bench.folder] _ in
            let state = try? listSync.refresh(folder)
            seen.withLock { $0.append(state != nil) }
        }
        #expect(seen.withLock { $0 } == Array(repeating: true, count: 8))
    }
}
