import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// What becomes of a ledger that cannot be read.
struct DamagedLedgerTests {
    @Test func `a rebuild that cannot tell whose place to take leaves it where it is`() async throws {
        let home = try AgentHome(in: .disk)
        try home.photo(0).create(SamplePhoto.taken(0))
        _ = try await home.pass()
        let ledger = home.tree.path("state/sync-agent/ledger.sqlite").string
        let damaged = Data(repeating: 0x55, count: 100_000)
        try damaged.write(to: URL(filePath: ledger))
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: ledger + suffix) }
        let refused = try await home.run("rebuild", "--machine", "nobody")
        #expect(refused.code == 66 && refused.complaint.contains("nobody"), "\(refused.complaint)")
        #expect(try Data(contentsOf: URL(filePath: ledger)) == damaged)
        #expect(!FileManager.default.fileExists(atPath: ledger + ".damaged"))
    }
}
