package import FoundationEssentials
import GRDB
package import SyncCore

extension Ledger {
    /// Ends the work on a claimed photo.
    ///
    /// When the file changed meanwhile, the photo is pending again, whatever the outcome; when it vanished, it is
    /// missing, or forgotten when nothing of it is stored. What was stored is known in any case. A claim that is no
    /// longer held (``recoverInterrupted(at:)`` has given it back) changes nothing else.
    /// - Parameters:
    ///   - note: what a file of gallery events holds; `nil` for other files.
    ///   - sent: what went to the store for it.
    ///   - refusal: what the store had against it, when it is to be tried again.
    package func commit(
        _ claim: Claim, outcome: Outcome, note: EventFileNote? = nil, sent: SentCount = SentCount(),
        refusal: StoreError.Code? = nil, at time: Date
    ) throws(LedgerError) {
        try write("commit the outcome of an upload") { db in
            try db.count(sent)
            if case .failed = outcome { try db.count(.errors, Self.photoReason) }
            if let refusal { try db.count(.errors, refusal.rawValue) }
            let outcome = try db.withoutDeleted(outcome, of: claim, at: time)
            var object: Int64?
            var storedAt = time
            if case .uploaded(_, let record) = outcome {
                object = try db.store(record)
                storedAt = record.storedAt
            }
            let isHeld =
                try db.run(
                    "UPDATE attempts SET finished_at = ?, outcome = ?, error = ? WHERE id = ? AND finished_at IS NULL",
                    [time.milliseconds, outcome.name, outcome.message, claim.attemptID]) > 0
            guard isHeld, let row = try db.row(LedgerQuery.rowOfPhoto, [claim.photoID], as: PhotoRow.self) else {
                return
            }
            if let object {
                // A photo that was read again, and found to be what is stored of it, keeps its time.
                try db.run(
                    """
                    UPDATE photos SET object_generation = ?,
                        uploaded_at = CASE WHEN object_id = ? AND uploaded_at >= ? THEN uploaded_at ELSE ? END,
                        object_id = ?
                    WHERE id = ?
                    """,
                    [claim.generation, object, storedAt.milliseconds, time.milliseconds, object, row.id])
            }
            if row.isGone || (outcome == .vanished && row.generation == claim.generation) {
                try PhotoTable(db).settleVanished(row.id, hasObject: (object ?? row.objectID) != nil, at: time)
                try DirectoryTable(db).removeIfEmpty(row.directoryID)
            } else if row.generation != claim.generation {
                // It was queued anew when the change was seen.
                try db.run(
                    "UPDATE photos SET state = 'pending', attempts = 0, next_try_at = 0, error = NULL WHERE id = ?",
                    [row.id])
            } else if case .skipped(let reason, _) = outcome, try db.isOvertaken(reason, of: claim, at: time) {
                try db.settle(row, as: .released, at: time)
            } else {
                try db.settle(row, as: outcome, at: time)
                if outcome.isFinal { try db.setEventNote(note, of: row.id) }
                if case .failed = outcome { try db.freeDuplicates(ofBroken: claim, at: time) }
            }
            if claim.isSuspect, outcome.isFinal { try db.clearSuspicion(of: row.id) }
        }
    }
}

extension Database {
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
            try settle(row, as: .skipped, digest: nil, error: message)
            let isFiltered = leftOut == .filtered
            try run(
                "UPDATE photos SET left_out = ?, is_filtered = ? WHERE id = ?",
                [isFiltered ? nil : leftOut?.rawValue, isFiltered, row.id])
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
