import SyncLedger
import SystemPackage
import Testing

@Suite struct LedgerErrorTests {
    @Test(
        arguments: [
            (13, LedgerError.Code.noSpace), (4_874, .noSpace), (8, .readOnly), (1_544, .readOnly), (14, .unreadable),
            (3, .unreadable), (11, .damaged), (26, .damaged), (5, .busy), (517, .busy), (6, .busy), (10, .failed),
            (778, .failed), (7, .failed), (21, .failed), (1, .failed), (787, .failed),
        ] as [(Int32, LedgerError.Code)])
    func `each of SQLite's codes has a meaning`(sqlite: Int32, code: LedgerError.Code) {
        let error = LedgerError(sqlite: sqlite, words: "some words", operation: "commit", path: "/state/ledger.sqlite")
        #expect(error.code == code)
        #expect(error.description.hasPrefix("ledger /state/ledger.sqlite: cannot commit: "))
        #expect(error.description.hasSuffix("(SQLite \(sqlite): some words)"))
    }

    @Test func `a ledger in memory outlives its close`() throws {
        let ledger = try Ledger.inMemory()
        try ledger.close()
        #expect(try ledger.overview().folders.isEmpty)
    }
}
