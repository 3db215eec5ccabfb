import SyncLedger
import Testing

@Suite struct LedgerQueryTests {
    @Test(arguments: LedgerQuery.all)
    func `no query walks a table that grows with the photos, or sorts one`(query: String) throws {
        let steps = try Ledger.inMemory().plan(of: query)
        #expect(!steps.isEmpty)
        for table in ["photos", "objects", "directories", "attempts"] {
            #expect(!steps.contains { $0.hasPrefix("SCAN \(table)") }, "\(steps)")
        }
        #expect(!steps.contains { $0.contains("TEMP B-TREE") }, "\(steps)")
    }

    @Test(arguments: [
        (LedgerQuery.fresh, "photos_queue"), (LedgerQuery.due, "photos_queue"), (LedgerQuery.nextTry, "photos_queue"),
        (LedgerQuery.oldestFailed, "photos_unsynced"), (LedgerQuery.oldestUploading, "photos_unsynced"),
        (LedgerQuery.oldestPending, "photos_unsynced"), (LedgerQuery.inHand, "photos_unsynced"),
        (LedgerQuery.rowsOfStamp, "photos_by_inode"), (LedgerQuery.rowsOfDirectory, "(directory_id=?)"),
    ])
    func `each query uses its index`(query: String, index: String) throws {
        let steps = try Ledger.inMemory().plan(of: query)
        #expect(steps.contains { $0.hasPrefix("SEARCH photos") && $0.contains(index) }, "\(steps)")
    }
}
