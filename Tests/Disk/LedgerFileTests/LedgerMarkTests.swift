import FoundationEssentials
import Glibc
import SyncSystem
import SystemPackage
import Testing

@testable import SyncLedger

@Suite struct LedgerMarkTests {
    private let state: StateFolder
    private let ledger: LedgerQueue
    /// Long after all that is written here.
    private let later = Date().addingTimeInterval(3_600)

    init() throws {
        state = try StateFolder()
        ledger = LedgerQueue(try Ledger(at: state.ledger))
    }

    @Test func `while nobody writes, the mark stays, whoever reads`() async throws {
        let other = try Ledger(at: state.ledger)
        let mark = try #require(await ledger.mark(at: later))
        _ = try await ledger { try $0.overview() }
        _ = try other.overview()
        // A transaction that changes nothing.
        try other.expireRestores(at: later)
        #expect(await ledger.mark(at: later) == mark)
    }

    @Test func `a commit of another process makes another mark, and so does one that is folded into the file`()
        async throws
    {
        let other = try Ledger(at: state.ledger)
        let before = try #require(await ledger.mark(at: later))
        try other.noteSync(at: later)
        let committed = try #require(await ledger.mark(at: later))
        #expect(committed != before)
        try other.close()
        let folded = try #require(await ledger.mark(at: later))
        #expect(folded != committed)
    }

    /// SQLite has the log beside the file, not beside the link.
    @Test func `where a link leads to the ledger, a commit of another process makes another mark, too`() async throws {
        let link = state.ledger.removingLastComponent().appending("link.sqlite")
        #expect(symlink(state.ledger.string, link.string) == 0)
        let linked = LedgerQueue(try Ledger(at: link))
        let before = try #require(await linked.mark(at: later))
        try await ledger { try $0.noteSync(at: .now) }
        #expect(await linked.mark(at: later) != before)
    }

    @Test func `what was written a moment ago makes no mark, nor does what a clock that was set back has not seen yet`()
        async throws
    {
        try await ledger { try $0.noteSync(at: .now) }
        #expect(await ledger.mark(at: Date()) == nil)
        #expect(await ledger.mark(at: Date().addingTimeInterval(-3_600)) == nil)
        #expect(await ledger.mark(at: later) != nil)
    }

    @Test func `a ledger in memory, and one whose file is gone, have none`() async throws {
        let inMemory = LedgerQueue(try .inMemory())
        #expect(await inMemory.mark(at: later) == nil)
        try state.ledger.unlink()
        #expect(await ledger.mark(at: later) == nil)
    }
}
