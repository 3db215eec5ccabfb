import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// A job's hidden file that its disk does not let go.
@Suite struct KeptMarkTests {
    @Test func `it costs one commit, however often it is looked for, and goes when it can`() async throws {
        let (tree, state, time) = (try TemporaryTree(), try TemporaryTree(), ManualTime())
        let ledger = try Ledger(at: state.path("state/ledger.sqlite"))
        let folders = RestoreFolders(
            ledger: LedgerQueue(ledger), owner: ClaimOwner(name: "me"), pool: BlockingPool(name: "disk", threads: 1),
            time: time.source)
        let output = tree.path("out")
        let reservation = try await folders.reserve(output)
        let item = RestoreJobDraft.Item(
            key: try KeyLayout.ana.photo(PhotoID(ContentDigest(of: Array("1".utf8)).md5)), path: nil,
            destination: "1.jpg", size: 1, sha256: nil, storageClass: .deepArchive, tier: .bulk)
        let draft = RestoreJobDraft(requestedBy: "ana", tier: .bulk, days: 7, output: output, items: [item])
        let job = try #require(try ledger.addRestoreJob(draft, as: reservation, at: time.now).job)
        try ledger.stopSaving(job.id)
        // unlink(2) takes no folder away.
        let mark = output.appending(reservation.mark)
        try mark.unlink()
        try mark.makeFolder([.ownerReadWriteExecute])
        let log = "state/ledger.sqlite-wal"
        let before = try state.read(log)
        try await folders.leaveEnded()
        let after = try state.read(log)
        #expect(after != before, "that the job is over is on the disk before its file goes")
        for _ in 1...3 { try await folders.leaveEnded() }
        #expect(try state.read(log) == after)
        #expect(try ledger.endedRestoreMarks().map(\.job) == [job.id])
        try mark.removeFolder()
        try await folders.leaveEnded()
        #expect(try ledger.endedRestoreMarks() == [])
        try ledger.close()
    }
}
