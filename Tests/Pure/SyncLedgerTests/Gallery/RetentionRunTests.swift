import FoundationEssentials
import SyncLedger
import Testing

@Suite struct RetentionRunTests {
    private let now = Date(timeIntervalSince1970: 1_780_000_000)

    @Test func `runs are listed with the latest first, and what was kept is counted`() throws {
        let ledger = try Ledger.inMemory()
        let runs = [
            RetentionRun(scheduledAt: now, finishedAt: now + 5, archived: 3, deleted: 4),
            RetentionRun(finishedAt: now + 9, deleted: 1, skipped: 2, failed: 3),
        ]
        for run in runs { try ledger.noteRetentionRun(run) }
        #expect(try ledger.retentionRuns(limit: 9) == runs.reversed())
        #expect(runs.map(\.isWhole) == [true, false])
        #expect(try ledger.counts().retentionFailures == 5)
    }

    @Test func `a run that waited for the store is one run with what it was before`() throws {
        let ledger = try Ledger.inMemory()
        try ledger.noteRetentionRun(
            RetentionRun(scheduledAt: now, finishedAt: now + 5, archived: 3, deleted: 4, failed: 1, waiting: 7))
        #expect(try ledger.counts().retentionFailures == 0)
        try ledger.noteRetentionRun(
            RetentionRun(scheduledAt: now, finishedAt: now + 65, archived: 6, deleted: 7, failed: 1))
        #expect(
            try ledger.retentionRuns(limit: 9) == [
                RetentionRun(scheduledAt: now, finishedAt: now + 65, archived: 9, deleted: 11, failed: 1)
            ])
        #expect(try ledger.counts().retentionFailures == 1)
    }

    @Test func `a run that goes on is the latest, and while it waits for the store it tells of nothing kept`() throws {
        let ledger = try Ledger.inMemory()
        #expect(try ledger.lastTellingRetentionRun() == nil)
        let first = RetentionRun(finishedAt: now, skipped: 1)
        try ledger.noteRetentionRun(first)
        try ledger.noteRetentionRun(RetentionRun(scheduledAt: now, finishedAt: now + 5, waiting: 7))
        #expect(try ledger.lastTellingRetentionRun() == first)
        let byHand = RetentionRun(finishedAt: now + 9)
        try ledger.noteRetentionRun(byHand)
        #expect(try ledger.lastTellingRetentionRun() == byHand)
        let end = RetentionRun(scheduledAt: now, finishedAt: now + 65, failed: 2)
        for _ in 0..<2 {
            try ledger.noteRetentionRun(end)
            #expect(try ledger.retentionRuns(limit: 9) == [end, byHand, first])
            #expect(try ledger.lastTellingRetentionRun() == end)
        }
        let next = RetentionRun(scheduledAt: now + 86_400, finishedAt: now + 86_405)
        try ledger.noteRetentionRun(next)
        #expect(try ledger.retentionRuns(limit: 9) == [next, end, byHand, first])
    }

    @Test func `more than a year of runs is kept, and no more`() throws {
        let ledger = try Ledger.inMemory()
        for day in 0..<410 {
            let time = now + Double(day) * 86_400
            try ledger.noteRetentionRun(RetentionRun(scheduledAt: time, finishedAt: time))
        }
        let runs = try ledger.retentionRuns(limit: .max)
        #expect(runs.count == 400)
        #expect(runs.last?.finishedAt == now + 10 * 86_400)
    }
}
