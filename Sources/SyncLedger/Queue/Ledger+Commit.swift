package import FoundationEssentials
import GRDB
package import SyncCore

extension Ledger {
    /// As ``commit(_:)``, of one photo.
    package func commit(
        _ claim: Claim, outcome: Outcome, note: EventFileNote? = nil, sent: SentCount = SentCount(),
        refusal: StoreError.Code? = nil, at time: Date
    ) throws(LedgerError) {
        try commit([ClaimEnding(claim, outcome, note: note, sent: sent, refusal: refusal, at: time)])
    }

    /// Ends the work on claimed photos, in one transaction.
    ///
    /// When a file changed meanwhile, its photo is pending again, whatever the outcome; when it vanished, it is
    /// missing, or forgotten when nothing of it is stored. What was stored is known in any case. A claim that is no
    /// longer held (``recoverInterrupted(at:)`` has given it back) changes nothing else.
    package func commit(_ endings: [ClaimEnding]) throws(LedgerError) {
        try write("commit the outcome of uploads") { db in
            for ending in endings { try db.commit(ending) }
        }
    }
}

extension Database {
    fileprivate func commit(_ ending: ClaimEnding) throws {
        let (claim, time) = (ending.claim, ending.time)
        try count(ending.sent)
        if case .failed = ending.outcome { try count(.errors, Ledger.photoReason) }
        if let refusal = ending.refusal { try count(.errors, refusal.rawValue) }
        let outcome = try withoutDeleted(ending.outcome, of: claim, at: time)
        var object: Int64?
        var storedAt = time
        if case .uploaded(_, let record) = outcome {
            object = try store(record)
            storedAt = record.storedAt
        }
        let isHeld =
            try run(
                "UPDATE attempts SET finished_at = ?, outcome = ?, error = ? WHERE id = ? AND finished_at IS NULL",
                [time.milliseconds, outcome.name, outcome.message, claim.attemptID]) > 0
        guard isHeld, let row = try self.row(LedgerQuery.rowOfPhoto, [claim.photoID], as: PhotoRow.self) else {
            return
        }
        if let object {
            // A photo that was read again, and found to be what is stored of it, keeps its time.
            try run(
                """
                UPDATE photos SET object_generation = ?,
                    uploaded_at = CASE WHEN object_id = ? AND uploaded_at >= ? THEN uploaded_at ELSE ? END,
                    object_id = ?
                WHERE id = ?
                """,
                [claim.generation, object, storedAt.milliseconds, time.milliseconds, object, row.id])
        }
        if row.isGone || (outcome == .vanished && row.generation == claim.generation) {
            try PhotoTable(self).settleVanished(row.id, hasObject: (object ?? row.objectID) != nil, at: time)
            try DirectoryTable(self).removeIfEmpty(row.directoryID)
        } else if row.generation != claim.generation {
            // It was queued anew when the change was seen.
            try run(
                "UPDATE photos SET state = 'pending', attempts = 0, next_try_at = 0, error = NULL WHERE id = ?",
                [row.id])
        } else if case .skipped(let reason, _) = outcome, try isOvertaken(reason, of: claim, at: time) {
            try settle(row, as: .released, at: time)
        } else {
            try settle(row, as: outcome, at: time)
            if outcome.isFinal { try setEventNote(ending.note, of: row.id) }
            if case .failed = outcome { try freeDuplicates(ofBroken: claim, at: time) }
        }
        if claim.isSuspect, outcome.isFinal { try clearSuspicion(of: row.id) }
    }

    /// Whether its project is judged otherwise by now than when the file was left out: a record has come, or the image
    /// that it was a duplicate of has turned out to be broken. Whoever noted that found the file in hand.
    fileprivate func isOvertaken(_ reason: String, of claim: Claim, at time: Date) throws -> Bool {
        guard ProjectVerdict.isReason(reason), let id = ProjectFileName(below: claim.relativePath).id,
            let project = try row(LedgerQuery.project, [claim.folder.path.blob, id], as: KnownProject.self)
        else { return false }
        return project.verdict(at: time).reason != reason
    }

    fileprivate func settle(_ row: PhotoRow, as outcome: Outcome, at time: Date) throws {
        switch outcome {
        case .uploaded(let digest, _):
            try settle(row, as: .uploaded, digest: digest, error: nil)
        case .failed(let message, let digest):
            try settle(row, as: .failed, digest: digest, error: message)
        case .skipped(let message, let leftOut):
            try PhotoTable(self).skip(row.id, SkipReason(message, leftOut))
        case .postponed(let message, let until):
            try run(
                "UPDATE photos SET state = 'pending', next_try_at = ?, error = ? WHERE id = ?",
                [min(max(until.milliseconds, 1), time.latestTry), message, row.id])
        case .waits(let message, let until):
            try run(
                """
                UPDATE photos SET state = 'pending', attempts = MAX(attempts - 1, 0), next_try_at = ?, error = ?
                WHERE id = ?
                """, [min(max(until.milliseconds, 1), time.latestTry), message, row.id])
        case .released:
            try run("UPDATE photos SET state = 'pending', attempts = MAX(attempts - 1, 0) WHERE id = ?", [row.id])
        case .vanished:
            break
        }
    }

    private func settle(_ row: PhotoRow, as state: PhotoState, digest: ContentDigest?, error: String?) throws {
        try run(
            "UPDATE photos SET state = ?, md5 = ?, sha256 = ?, next_try_at = 0, error = ? WHERE id = ?",
            [state.rawValue, digest?.md5.blob, digest?.sha256.blob, error, row.id])
    }
}
