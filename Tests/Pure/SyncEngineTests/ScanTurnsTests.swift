import SyncCore
import SyncLedger
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct ScanTurnsTests {
    private let folders: [FolderRecord]

    init() throws {
        folders = try Ledger.inMemory().register(
            (1...7).map { WatchedFolder(kind: .gallery, path: FilePath("/pictures/card\($0)")) })
    }

    @Test func `a folder does not wait until three large ones are through`() {
        var turns = ScanTurns()
        for lane in 0..<3 {
            #expect(turns.isFree(at: .zero) { _ in false })
            turns.begin(folders[lane], lane, at: .zero)
        }
        #expect(!turns.isFree(at: DiskWatchdog.turn - .seconds(1)) { _ in false })
        for lane in 3..<6 {
            #expect(turns.isFree(at: DiskWatchdog.turn) { _ in false })
            turns.begin(folders[lane], lane, at: DiskWatchdog.turn)
        }
        // As many again, and no more, however long all of them take.
        #expect(!turns.isFree(at: DiskWatchdog.turn * 9) { _ in false })
        turns.end(4)
        #expect(turns.isFree(at: DiskWatchdog.turn * 9) { _ in false })
    }

    @Test func `one of which nothing comes takes nobody's turn`() {
        var turns = ScanTurns()
        for lane in 0..<3 { turns.begin(folders[lane], lane, at: .zero) }
        #expect(!turns.isFree(at: .zero) { _ in false })
        #expect(turns.isFree(at: .zero) { $0 == folders[1] })
    }
}
