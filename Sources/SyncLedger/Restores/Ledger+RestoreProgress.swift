package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

extension Ledger {
    /// For how long nobody else is given what was claimed, where nobody knows whether who claimed it is still there.
    /// Whoever is slower shares the work with another, and the store answers that it is "already retrieving".
    package static let restoreClaimSeconds = 30.0

    /// Takes planned items to be asked of the store, the oldest first. An item is given to one caller, until it is noted,
    /// released, or ``restoreClaimSeconds`` have passed.
    /// - Parameters:
    ///   - job: only its items; `nil` for those of every job.
    ///   - owner: who has them in hand then.
    /// - Returns: at most `limit`; none when nothing is planned, or others have it in hand.
    package func claimPlannedItems(
        of job: RestoreJobID?, limit: Int, by owner: String, at time: Date
    ) throws(LedgerError) -> [RestoreItem] {
        let operation = "claim restores"
        let jobs = (job?.rawValue ?? 0)...(job?.rawValue ?? .max)
        let lapsed = (time - Self.restoreClaimSeconds).milliseconds
        let arguments: StatementArguments = [jobs.lowerBound, jobs.upperBound, lapsed, time.milliseconds]
        let isIdle = try read(operation) { db in
            try db.row(LedgerQuery.claimableItems, arguments + [1], as: RestoreItem.self) == nil
        }
        if isIdle { return [] }
        return try write(operation) { db in
            let items = try db.rows(LedgerQuery.claimableItems, arguments + [limit], as: RestoreItem.self)
            for item in items {
                try db.run(
                    "UPDATE restore_items SET claimed_at = ?, claimed_by = ? WHERE id = ?",
                    [time.milliseconds, owner, item.id])
            }
            return items
        }
    }

    /// Gives back an item that was claimed and not asked for.
    package func releaseClaim(of item: Int64) throws(LedgerError) {
        try write(
            "release a restore",
            "UPDATE restore_items SET claimed_at = NULL, claimed_by = NULL WHERE id = ? AND state = 'planned'", [item])
    }

    /// Gives back what those had in hand who are no more.
    /// - Parameter hasEnded: asked of everybody who has something in hand.
    package func releaseRestoreClaims(of hasEnded: (String) -> Bool) throws(LedgerError) {
        let operation = "release restores of processes that ended"
        let ended = try read(operation) { db in try db.texts(LedgerQuery.restoreClaimOwners) }.filter(hasEnded)
        guard !ended.isEmpty else { return }
        try write(operation) { db in try db.releaseRestoreClaims(of: ended) }
    }

    /// Notes what became of items, or how far they are, and of their objects with them. What is over stays so: an answer
    /// that comes too late opens nothing again, and a copy that can be read stays known as readable while it is asked for
    /// anew.
    package func note(_ outcome: RestoreOutcome, of items: [Int64], at time: Date) throws(LedgerError) {
        try write("note how restores stand") { db in
            for item in items { try db.settle(outcome, of: item, at: time) }
        }
    }

    /// Takes an item in hand that is about to get its name in its job's output. It is saved from then on, also when the saving
    /// of the job is stopped meanwhile: whoever stops it waits for what is in hand.
    /// - Parameter owner: who has it in hand then, until it is noted as saved or put down.
    /// - Returns: `false`, with nothing noted, when no more of the job is to be saved.
    package func beginSaving(_ item: Int64, by owner: String) throws(LedgerError) -> Bool {
        try write(
            "begin to save a restore",
            """
            UPDATE restore_items AS items SET claimed_by = ?1
            WHERE items.id = ?2 AND items.state <> 'planned'
            AND (items.claimed_by = ?1 OR \(LedgerQuery.isSavingJob))
            """, [owner, item]) > 0
    }

    /// Puts items down that were taken in hand and not saved.
    package func endSaving(of items: [Int64], by owner: String) throws(LedgerError) {
        try write(
            "put down restores that were not saved",
            "UPDATE restore_items SET claimed_by = NULL WHERE id = ? AND claimed_by = ? AND state <> 'planned'",
            each: items.map { [$0, owner] })
    }

    /// Notes that an item was saved in its job's output.
    /// - Returns: `false`, with nothing noted, when it was not in hand, and the saving of its job was stopped meanwhile.
    @discardableResult
    package func noteSaved(_ item: Int64, at time: Date) throws(LedgerError) -> Bool {
        try write(
            "note that a restore was saved",
            """
            UPDATE restore_items AS items SET saved_at = ?1, claimed_by = NULL, given_up = 0
            WHERE items.id = ?2 AND (items.claimed_by IS NOT NULL OR \(LedgerQuery.isSavingJob))
            """, [time.milliseconds, item]) > 0
    }

    /// Notes that nothing comes of an item that can be read: its object is gone, or not what was asked for. One that was
    /// saved stays saved.
    /// - Parameter reason: in plain words, with the next step.
    package func noteRuined(_ item: Int64, _ reason: String) throws(LedgerError) {
        try write(
            "note that a restore has failed",
            """
            UPDATE restore_items SET state = 'failed', note = ?, claimed_by = NULL
            WHERE id = ? AND state = 'restored' AND saved_at IS NULL
            """, [reason, item])
    }

    /// Forgets, for good, where a job's photos were to be saved: its file goes right after. What was saved stays, and what is
    /// readable stays readable. What is given up is known by that from now on (``RestoreItem/isGivenUp``), and so is the folder
    /// (``RestoreJob/stoppedOutput``).
    /// - Parameter hasEnded: asked of everybody who has something in hand: nothing more comes of those who are no more.
    /// - Returns: the folder, and what would still have been saved there, with what others have in hand
    ///   (``RestoreItem/isBeingSaved``), which they save all the same; `nil` of a job that saves nothing.
    @discardableResult
    package func stopSaving(
        _ id: RestoreJobID, releasing hasEnded: (String) -> Bool = { _ in false }
    ) throws(LedgerError) -> (output: FilePath, left: [RestoreItem])? {
        try write("end the saving of a restore", isDurable: true) { db in
            let job = try db.row(LedgerQuery.job, [id.rawValue], as: RestoreJob.self)
            guard let output = job?.output else { return nil }
            try db.releaseRestoreClaims(of: db.texts(LedgerQuery.restoreClaimOwners).filter(hasEnded))
            let items = try db.rows(LedgerQuery.itemsOfJob, [id.rawValue, 0, Int.max], as: RestoreItem.self)
            // Whoever asks later is told of it, also when this one is killed before it has.
            for item in items where item.isLeftToSave {
                try db.run("UPDATE restore_items SET given_up = 1 WHERE id = ?", [item.id])
            }
            // Its file may be there, though somebody was killed before that was noted.
            try db.run(
                """
                UPDATE restore_jobs SET marked_in = IIF(mark IS NULL, NULL, COALESCE(marked_in, output)),
                    stopped_in = output, output = NULL
                WHERE id = ?
                """, [id.rawValue])
            return (output: output, left: items.filter(\.isLeftToSave))
        }
    }

    /// Notes that the readable copy of an object got another end, of which people are to be told anew.
    /// - Parameter end: `nil` when it has none.
    package func noteExtended(_ key: ObjectKey, until end: Date?) throws(LedgerError) {
        try write("note another end of a restore") { db in
            try db.run(
                "UPDATE restore_items SET expires_at = ? WHERE key = ? AND state = 'restored'",
                [end?.milliseconds, key.rawValue])
            try db.run(
                """
                UPDATE restore_jobs SET expiry_announced = 0
                WHERE id IN (SELECT job_id FROM restore_items WHERE key = ? AND state = 'restored')
                """, [key.rawValue])
        }
    }

    /// Notes which readable copies have ended by now, and which have not: an end that is to come was noted as over by a
    /// clock that was ahead and has been set back. What the ledger says of restores is right only after it: rows do not
    /// know the time. It costs a transaction only when there is such a one.
    /// - Returns: how many objects are no longer readable.
    @discardableResult
    package func expireRestores(at time: Date) throws(LedgerError) -> Int {
        let operation = "note which restores have ended"
        let now = time.milliseconds
        let isIdle = try read(operation) { db in
            try [LedgerQuery.endedItem, LedgerQuery.endedObject, LedgerQuery.itemEndedEarly].allSatisfy { query in
                try db.number(query, [now]) == nil
            }
        }
        if isIdle { return 0 }
        return try write(operation) { db in
            try db.takeBackEnds(after: now)
            try db.run("UPDATE restore_items SET state = 'expired' WHERE state = 'restored' AND expires_at <= ?", [now])
            return try db.run(
                """
                UPDATE objects SET restore_state = 'none', restored_until = NULL
                WHERE restore_state = 'restored' AND restored_until <= ?
                """, [now])
        }
    }

    /// When ``expireRestores(at:)`` has something to note by the clock alone; `nil` where no copy ends.
    package func nextRestoreEnd() throws(LedgerError) -> Date? {
        try read("look when the next restore ends") { db in
            try [LedgerQuery.nextItemEnd, LedgerQuery.nextObjectEnd].compactMap { try db.number($0) }.min()
                .map(Date.init(milliseconds:))
        }
    }
}

extension Database {
    /// Copies that are noted as over and end later can be read: by their items, of which each keeps its end.
    /// - Parameter now: milliseconds.
    fileprivate func takeBackEnds(after now: Int64) throws {
        try run(
            """
            UPDATE objects SET restore_state = 'restored', restored_until = ended.until
            FROM (
                SELECT key, MAX(expires_at) AS until FROM restore_items
                WHERE state = 'expired' AND expires_at > ? GROUP BY key
            ) AS ended
            WHERE objects.key = ended.key AND objects.restore_state = 'none'
                AND objects.storage_class IN ('GLACIER', 'DEEP_ARCHIVE')
            """, [now])
        try run("UPDATE restore_items SET state = 'restored' WHERE state = 'expired' AND expires_at > ?", [now])
    }

    /// Gives back what these have in hand.
    fileprivate func releaseRestoreClaims(of owners: [String]) throws {
        for owner in owners {
            try run("UPDATE restore_items SET claimed_at = NULL, claimed_by = NULL WHERE claimed_by = ?", [owner])
        }
    }

    func settle(_ outcome: RestoreOutcome, of item: Int64, at time: Date) throws {
        if try note(outcome, of: item, at: time) { try noteObject(of: item, outcome.state, at: time) }
    }

    /// - Returns: whether it was not too late for it.
    fileprivate func note(_ outcome: RestoreOutcome, of item: Int64, at time: Date) throws -> Bool {
        try run(
            """
            UPDATE restore_items SET state = ?1, claimed_at = NULL,
                claimed_by = IIF(state = 'restored', claimed_by, NULL), attempts = attempts + (state = 'planned'),
                requested_at = IIF(
                    state = 'planned' AND ?1 IN ('retrieving', 'restored') OR ?1 = 'retrieving' AND tier <> COALESCE(?5, tier),
                    ?2, requested_at),
                ready_at = IIF(?1 = 'restored', COALESCE(?3, ready_at, ?2), ready_at),
                expires_at =
                    IIF(?1 = 'expired', MIN(COALESCE(?4, expires_at, ?2), ?2), COALESCE(?4, expires_at)),
                tier = COALESCE(?5, tier), note = COALESCE(?6, note)
            WHERE id = ?7 AND (
                state IN ('planned', 'retrieving') OR state = 'restored' AND ?1 IN ('restored', 'expired')
            )
            """,
            [
                outcome.state.rawValue, time.milliseconds, outcome.readyAt?.milliseconds,
                outcome.expiresAt?.milliseconds, outcome.tier?.rawValue, outcome.note, item,
            ]) > 0
    }

    fileprivate func noteObject(of item: Int64, _ state: RestoreItemState, at time: Date) throws {
        let ofItem = "key = (SELECT key FROM restore_items WHERE id = ?1)"
        switch state {
        case .planned:
            break
        case .retrieving:
            try run(
                """
                UPDATE objects SET restore_state = 'inProgress', restored_until = NULL WHERE \(ofItem)
                AND (restore_state = 'none' OR restore_state = 'restored' AND restored_until <= ?2)
                """, [item, time.milliseconds])
        case .restored:
            // Elsewhere there is no copy that ends: what was never archived, or has moved back for good, is just readable.
            let isArchived = "storage_class IN ('GLACIER', 'DEEP_ARCHIVE')"
            try run(
                """
                UPDATE objects SET restore_state = IIF(\(isArchived), 'restored', 'none'), restored_until =
                    IIF(\(isArchived), (SELECT expires_at FROM restore_items WHERE id = ?1), NULL)
                WHERE \(ofItem)
                """, [item])
        case .failed:
            try run(
                "UPDATE objects SET restore_state = 'none' WHERE \(ofItem) AND restore_state = 'inProgress'", [item])
        case .expired:
            try run(
                """
                UPDATE objects SET restore_state = 'none', restored_until = NULL
                WHERE \(ofItem) AND restore_state = 'restored'
                """, [item])
        }
    }
}

extension LedgerQuery {
    package static let job = "SELECT \(RestoreJob.columns) FROM restore_jobs WHERE id = ?"
    package static let newestJobs =
        "SELECT \(RestoreJob.columns) FROM restore_jobs WHERE id < ? ORDER BY id DESC LIMIT ?"
    /// Its cost is that of the job's items.
    package static let progressOfJob = """
        SELECT SUM(state = 'planned'), SUM(state = 'retrieving'), SUM(state = 'restored'), SUM(state = 'failed'),
            SUM(state = 'expired'), COUNT(saved_at), SUM(size),
            MIN(CASE WHEN state = 'restored' THEN expires_at END), MAX(ready_at),
            SUM(state = 'restored' AND storage_class IN ('GLACIER', 'DEEP_ARCHIVE')),
            SUM(state = 'restored' AND saved_at IS NULL), SUM(state = 'expired' AND saved_at IS NULL),
            MIN(CASE WHEN state = 'restored' AND saved_at IS NULL THEN expires_at END)
        FROM restore_items WHERE job_id = ?
        """
    package static let itemsOfJob = "\(items) WHERE items.job_id = ? AND items.id > ? ORDER BY items.id LIMIT ?"
    package static let openItemOfKey = "\(items) WHERE items.key = ? AND items.state IN ('planned', 'retrieving')"
    package static let retrievingItemsOfJob =
        "\(items) WHERE items.job_id = ? AND items.state = 'retrieving' ORDER BY items.id"
    /// The first two arguments are a range of jobs, the others a moment before which a claim has lapsed, and now: a claim
    /// from the future is one from before the clock was set back.
    package static let claimableItems = """
        \(RestoreItem.selection) FROM restore_items AS items INDEXED BY restore_items_planned
        JOIN restore_jobs AS jobs ON jobs.id = items.job_id
        WHERE items.state = 'planned' AND items.job_id >= ? AND items.job_id <= ?
        AND (items.claimed_at IS NULL OR items.claimed_at <= ? OR items.claimed_at > ?)
        ORDER BY items.job_id, items.id LIMIT ?
        """
    package static let restoreClaimOwners =
        "SELECT DISTINCT claimed_by FROM restore_items INDEXED BY restore_items_claimed WHERE claimed_by IS NOT NULL"
    package static let restoreTallies = "SELECT state, items FROM restore_tallies WHERE items > 0"
    /// Behind an item of a job, by both: a job that reserved its number early may have later items than the next one.
    package static let unsavedItems = """
        \(RestoreItem.selection) FROM restore_jobs AS jobs
        CROSS JOIN restore_items AS items INDEXED BY restore_items_unsaved ON items.job_id = jobs.id
        WHERE jobs.id >= ?1 AND jobs.output IS NOT NULL AND items.state = 'restored' AND items.saved_at IS NULL
        AND items.id > IIF(jobs.id = ?1, ?2, 0)
        ORDER BY jobs.id, items.id LIMIT ?3
        """
    /// Of `jobs`.
    static let savesMore = """
        jobs.output IS NOT NULL AND EXISTS (
            SELECT 1 FROM restore_items AS items INDEXED BY restore_items_by_job WHERE items.job_id = jobs.id
            AND (items.state IN ('planned', 'retrieving') OR items.state = 'restored' AND items.saved_at IS NULL))
        """
    package static let endedItem = "SELECT id FROM restore_items WHERE state = 'restored' AND expires_at <= ? LIMIT 1"
    /// Noted as over by a clock that was ahead.
    package static let itemEndedEarly =
        "SELECT id FROM restore_items WHERE state = 'expired' AND expires_at > ? LIMIT 1"
    package static let endedObject =
        "SELECT id FROM objects WHERE restore_state = 'restored' AND restored_until <= ? LIMIT 1"
    package static let nextItemEnd = """
        SELECT expires_at FROM restore_items WHERE state = 'restored' AND expires_at > 0 ORDER BY expires_at LIMIT 1
        """
    package static let nextObjectEnd = """
        SELECT restored_until FROM objects WHERE restore_state = 'restored' AND restored_until > 0
        ORDER BY restored_until LIMIT 1
        """
    private static let items =
        "\(RestoreItem.selection) FROM restore_items AS items JOIN restore_jobs AS jobs ON jobs.id = items.job_id"
}
