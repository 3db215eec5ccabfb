import Foundation
import SyncCore
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct LedgerConnectionTests {
    private let now = Date(timeIntervalSince1970: 2_000)

    @Test func `two connections see each other's work, and no photo is claimed twice`() throws {
        let state = try StateFolder()
        let path = state.ledger
        _ = try Ledger(at: path).fill(200)
        let ledgers = try [Ledger(at: path), Ledger(at: path)]
        let claimed = Lock<[Int64]>([])
        let failures = Lock<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { [now] index in
            do {
                while case let claims = try ledgers[index % 2].claim(limit: 3, at: now), !claims.isEmpty {
                    claimed.withLock { $0 += claims.map(\.photoID) }
                    for claim in claims {
                        try ledgers[index % 2].commit(claim, outcome: .skipped("no photo"), at: now)
                    }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock(\.self) == [])
        #expect(claimed.withLock { $0.sorted() } == Array(1...200))
        for ledger in ledgers {
            #expect(try ledger.overview().totals[.skipped].files == 200)
            #expect(try ledger.check() == [])
        }
    }

    @Test(arguments: ["removed", "replaced", "moved with its folder"])
    func `nothing is written any more to a ledger that nobody would find, and nothing told of it`(how: String) throws {
        let state = try StateFolder()
        let ledger = try Ledger(at: state.path.appending("state/ledger.sqlite"))
        _ = try ledger.fill(3)
        let files = FileManager.default
        switch how {
        case "removed": try files.removeItem(atPath: ledger.path.string)
        case "replaced":
            try files.moveItem(atPath: ledger.path.string, toPath: state.path.string + "/aside")
            #expect(files.createFile(atPath: ledger.path.string, contents: nil))
        default:
            try files.moveItem(atPath: state.path.string + "/state", toPath: state.path.string + "/aside")
        }
        let error = #expect(throws: LedgerError.self) { try ledger.claim(limit: 3, at: now) }
        #expect(error?.code == .moved && error?.mayPass == false)
        #expect(error?.message.contains("start again") == true)
        #expect(#expect(throws: LedgerError.self) { try ledger.overview() }?.code == .moved)
        // Not even while it closes.
        _ = try? ledger.close()
        #expect(!files.fileExists(atPath: ledger.path.string) || how == "replaced")
    }

    /// SQLite does not wait for it: a file becomes one with a write-ahead log at once, or not.
    @Test func `who opens a new ledger waits for another process that writes to the file`() throws {
        let state = try StateFolder()
        let path = state.ledger
        let endWriting = try state.beginWriting()
        let opened = Observed<Result<Ledger, LedgerError>?>(nil)
        Thread.detachNewThread {
            let result = Result { () throws(LedgerError) -> Ledger in try Ledger(at: path) }
            opened.change { $0 = result }
        }
        // Each try makes the file private first: where it is so for the second time, one try was in vain. A task that
        // waits comes back too late beside other tests: nobody waits longer than five seconds for a ledger.
        for _ in 1...2 {
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path.string)
            while try state.mode(of: path) != 0o600, opened.value == nil { sched_yield() }
        }
        try endWriting()
        while opened.value == nil { sched_yield() }
        let ledger = try #require(opened.value).get()
        #expect(try ledger.check() == [])
        try ledger.close()
    }

    @Test(arguments: [Ledger.Connections.pool, .single])
    func `a reader does not wait for a writer, and sees none of its unfinished work`(
        connections: Ledger.Connections
    ) throws {
        let state = try StateFolder()
        let (writer, reader) = try (
            Ledger(at: state.ledger), Ledger(at: state.ledger, connections: connections)
        )
        var seen: [Int] = []
        let folder = try writer.fill(2) {
            seen.append(try reader.overview().totals[.pending].files)
        }
        // Asked twice for each file: while the ledger reads, and inside its transaction.
        #expect(seen == [0, 0, 0, 0])
        #expect(try reader.knownFileCount(folder) == 2)
    }

    @Test func `who looks in vain for a photo does not wait for a writer`() throws {
        let state = try StateFolder()
        let (writer, agent) = try (Ledger(at: state.ledger), Ledger(at: state.ledger))
        var found: [NextClaim] = []
        _ = try writer.fill(2) { found.append(try agent.claimNext(isExpected: false, at: now)) }
        #expect(found == [NextClaim](repeating: .nothing(until: nil), count: 4))
    }

    @Test(arguments: [Ledger.Connections.pool, .single])
    func `a process that dies leaves what it committed, and its uploads go on`(
        connections: Ledger.Connections
    ) throws {
        let (state, survivor) = try (StateFolder(), StateFolder())
        let ledger = try Ledger(at: state.ledger)
        let folder = try ledger.fill(5)
        let claims = try ledger.claim(limit: 3, at: now)
        try ledger.commit(claims[0], outcome: .skipped("no photo"), at: now)
        try state.copyAsAfterCrash(to: survivor)

        let after = try Ledger(at: survivor.ledger, connections: connections)
        #expect(try after.check() == [])
        #expect(try after.knownFileCount(folder) == 5)
        #expect(try after.recoverInterrupted(at: now) == 2)
        #expect(try after.claim(limit: 9, at: now).map(\.attempts) == [1, 1, 2, 2])
    }

    @Test func `a process that dies in a transaction leaves nothing of it`() throws {
        let (state, survivor) = try (StateFolder(), StateFolder())
        let ledger = try Ledger(at: state.ledger)
        _ = try ledger.fill(3)
        var asked = 0
        _ = try ledger.fill(2, directory: "other") {
            asked += 1
            if asked == 4 { try state.copyAsAfterCrash(to: survivor) }
        }
        let after = try Ledger(at: survivor.ledger)
        #expect(try after.check() == [])
        #expect(try after.overview().totals[.pending].files == 3)
        #expect(try ledger.overview().totals[.pending].files == 5)
    }

    @Test func `closing folds the log into the file while others have it open`() throws {
        let state = try StateFolder()
        let (ledger, other) = try (Ledger(at: state.ledger), Ledger(at: state.ledger))
        _ = try ledger.fill(100)
        let log = FilePath(state.ledger.string + "-wal")
        #expect(try #require(try state.size(of: log)) > 0)
        try ledger.close()
        #expect(try state.size(of: log) == 0)
        #expect(try other.overview().totals[.pending].files == 100)
    }

    @Test func `two processes that want the same objects back ask for each once`() throws {
        let state = try StateFolder()
        let ledgers = try [Ledger(at: state.ledger), Ledger(at: state.ledger)]
        let items = try (0..<200).map {
            RestoreJobDraft.Item(
                key: try ObjectKey("users/ana/photos/\($0).dat"), size: 1, storageClass: .deepArchive, tier: .bulk)
        }
        let claimed = Lock<[ObjectKey]>([])
        let failures = Lock<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { [now] index in
            do {
                let ledger = ledgers[index % 2]
                let draft = RestoreJobDraft(
                    requestedBy: "ana", tier: .bulk, days: 1, items: Array(items[(index * 40)...].prefix(80)))
                _ = try ledger.addRestoreJob(draft, at: now)
                while case let taken = try ledger.claimPlannedItems(of: nil, limit: 7, by: "one", at: now),
                    !taken.isEmpty
                {
                    claimed.withLock { $0 += taken.map(\.key) }
                    try ledger.note(RestoreOutcome(state: .retrieving), of: taken.map(\.id), at: now)
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock(\.self) == [])
        #expect(claimed.withLock { $0.sorted() } == items.map(\.key).sorted())
        #expect(try ledgers[0].overview().restores.inProgress == 200)
        #expect(try ledgers[1].check() == [])
    }
}
