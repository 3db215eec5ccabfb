package import FoundationEssentials
import GRDB
package import SyncCore
import SystemPackage

extension Ledger {
    /// Gives back what an agent that died had in hand. To be called once, by the one agent, before it claims anything.
    /// The attempts count, also where the file has changed since, and the photos queue behind those that wait already: one
    /// that kills the agent each time does not keep the others from their turn. What was being written anew stays held. One
    /// that a library had when the agent ended for the second time is set aside as failed.
    /// - Returns: how many there were.
    @discardableResult
    package func recoverInterrupted(at time: Date) throws(LedgerError) -> Int {
        try write("recover interrupted uploads") { db in
            try db.deleteInterruptedOriginals(at: time)
            let rows = try db.numbers("SELECT id FROM folders").flatMap { folder in
                try db.rows(LedgerQuery.inHand, [folder], as: PhotoRow.self)
            }
            for row in rows {
                try db.run(
                    """
                    UPDATE attempts SET finished_at = ?, outcome = 'interrupted'
                    WHERE photo_id = ? AND finished_at IS NULL
                    """, [time.milliseconds, row.id])
                if row.isGone {
                    try PhotoTable(db).settleVanished(row.id, hasObject: row.objectID != nil, at: time)
                } else if try db.suspect(row) {
                    if row.supposition?.isOpen == true {
                        try db.disproveCopy(of: row, Self.copySetAside)
                    } else {
                        try db.run(
                            "UPDATE photos SET state = 'failed', next_try_at = 0, error = ? WHERE id = ?",
                            [Self.setAside, row.id])
                    }
                } else {
                    try db.run(
                        """
                        UPDATE photos SET state = 'pending', attempts = IIF(\(PhotoRow.held), 0, MAX(attempts, 1)),
                            next_try_at = IIF(\(PhotoRow.held), next_try_at, ?)
                        WHERE id = ?
                        """, [max(time.milliseconds, 1), row.id])
                }
            }
            return rows.count
        }
    }

    /// Takes the photos that have been due the longest, and notes an attempt at each: they are claimed in the write that finds
    /// them.
    /// - Parameters:
    ///   - vacation: takes only its photos, in no particular order; `nil` for all that is due.
    ///   - bytes: leaves files that are larger.
    ///   - group: how many at most.
    ///   - isExpected: whether there is likely to be one. Who looks in vain now and then only reads: to write, one may
    ///     have to wait for another process, and to fail.
    ///   - silent: folders whose files cannot be read now, and are left in the queue; but of a vacation, all are taken.
    package func claimNext(
        of vacation: VacationID? = nil, upTo bytes: Int64 = .max, _ group: ClaimGroup = .ofOne, isExpected: Bool = true,
        leavingOut silent: Set<FolderID> = [], at time: Date
    ) throws(LedgerError) -> NextClaim {
        if !isExpected {
            let next = try nextTry(of: vacation, upTo: bytes, leavingOut: silent, at: time)
            guard let next, next <= time else { return .nothing(until: next) }
        }
        return try write("claim photos") { db in
            let due = try db.dueNow(of: vacation, limit: group.files, upTo: bytes, leavingOut: silent, at: time)
            let claims = try db.claim(group.prefix(of: due), at: time)
            if !claims.isEmpty { return .photos(claims) }
            return .nothing(until: try db.nextTry(of: vacation, upTo: bytes, leavingOut: silent, at: time))
        }
    }

    /// As ``claimNext(of:upTo:_:isExpected:at:)``: at most `limit` of any size, none when nothing is due.
    package func claim(limit: Int, upTo bytes: Int64 = .max, at time: Date) throws(LedgerError) -> [Claim] {
        try write("claim photos") { db in
            try db.claim(db.dueNow(of: nil, limit: limit, upTo: bytes, leavingOut: [], at: time)[...], at: time)
        }
    }

    /// When the queue has something to do next: a moment that has passed (``Foundation/Date/distantPast`` for a photo
    /// that was never tried) when something is due now, `nil` when nothing is pending.
    /// - Parameters:
    ///   - vacation: looks at its photos only; `nil` for all.
    ///   - bytes: larger files do not count.
    ///   - silent: folders of which none counts, but for a vacation.
    ///   - time: now. What is to be tried later than any photo ever is was noted by a clock that was wrong: it is due.
    package func nextTry(
        of vacation: VacationID? = nil, upTo bytes: Int64 = .max, leavingOut silent: Set<FolderID> = [], at time: Date
    ) throws(LedgerError) -> Date? {
        try read("look at the queue") { try $0.nextTry(of: vacation, upTo: bytes, leavingOut: silent, at: time) }
    }
}

/// A photo whose turn has come, and since when.
struct Due: FetchableRecord {
    var id: Int64
    var since: Int64
    /// Bytes of the file.
    var size: Int64

    init(row: Row) {
        id = row[0]
        since = row[1]
        size = row[2]
    }
}

extension Database {
    /// Photos never tried are due whatever the clock says: one that was set back must not hold them up.
    fileprivate func dueNow(
        of vacation: VacationID?, limit: Int, upTo bytes: Int64, leavingOut silent: Set<FolderID>, at time: Date
    ) throws -> [Due] {
        if let vacation {
            return try rows(
                LedgerQuery.dueOfVacation, [vacation.rawValue, time.milliseconds, time.latestTry, bytes, limit],
                as: Due.self)
        }
        let due = try activeFolders().filter { !silent.contains($0.id) }.flatMap { folder in
            try rows(LedgerQuery.fresh, [folder.id.rawValue, bytes, limit], as: Due.self)
                + rows(LedgerQuery.due, [folder.id.rawValue, time.milliseconds, bytes, limit], as: Due.self)
                + rows(LedgerQuery.astray, [folder.id.rawValue, time.latestTry, bytes, limit], as: Due.self)
        }
        return Array(due.sorted { ($0.since, $0.id) < ($1.since, $1.id) }.prefix(limit))
    }

    fileprivate func nextTry(
        of vacation: VacationID?, upTo bytes: Int64, leavingOut silent: Set<FolderID>, at time: Date
    ) throws -> Date? {
        var times: [Int64] = []
        if let vacation {
            let arguments: StatementArguments = [vacation.rawValue, time.latestTry, bytes]
            if let next = try number(LedgerQuery.nextTryOfVacation, arguments) { times.append(next) }
        } else {
            for folder in try activeFolders() where !silent.contains(folder.id) {
                if let next = try number(LedgerQuery.nextTry, [folder.id.rawValue, bytes]) { times.append(next) }
                let isAny = try number(LedgerQuery.astray, [folder.id.rawValue, time.latestTry, bytes, 1]) != nil
                if isAny { times.append(0) }
            }
        }
        return times.min().map { $0 == 0 ? .distantPast : Date(milliseconds: $0) }
    }

    fileprivate func claim(_ due: ArraySlice<Due>, at time: Date) throws -> [Claim] {
        var claiming = try Claiming(db: self, time: time)
        return try due.compactMap { try claiming.claim($0) }
    }
}

/// The claims of one transaction. What they have in common is looked up once: small files come by folders.
private struct Claiming {
    /// How many attempts at a photo are remembered: the last ones.
    private static let keptAttempts = 10

    let db: Database
    let time: Date
    private let hasSuspects: Bool
    private var places: [DirectoryID: DirectoryPlace] = [:]

    init(db: Database, time: Date) throws {
        self.db = db
        self.time = time
        hasSuspects = try db.number("SELECT 1 FROM suspects LIMIT 1") != nil
    }

    /// - Returns: `nil` when the photo is no longer known.
    mutating func claim(_ due: Due) throws -> Claim? {
        guard let taken = try db.rawRow(LedgerQuery.take, [due.id]) else { return nil }
        let photo = try PhotoRow(row: taken)
        guard let place = try place(photo.directoryID) else { return nil }
        try db.run("INSERT INTO attempts (photo_id, started_at) VALUES (?, ?)", [due.id, time.milliseconds])
        let attemptID = db.lastInsertedRowID
        try db.run(
            """
            DELETE FROM attempts WHERE photo_id = ?1 AND id <= (
                SELECT id FROM attempts WHERE photo_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2
            )
            """, [due.id, Self.keptAttempts])
        return Claim(
            photoID: due.id, attemptID: attemptID, generation: photo.generation, folder: place.folder,
            relativePath: place.path.pushing(FilePath(blob: Data(photo.name))), stamp: photo.stamp,
            attempts: taken[PhotoRow.columnCount], isSuspect: try hasSuspects && db.isSuspect(photo),
            hasObject: photo.objectID != nil, mustBeCopy: photo.supposition?.isOpen == true)
    }

    private mutating func place(_ directory: DirectoryID) throws -> DirectoryPlace? {
        if let known = places[directory] { return known }
        let place = try db.row(LedgerQuery.placeOfDirectory, [directory.rawValue], as: DirectoryPlace.self)
        places[directory] = place
        return place
    }
}

extension LedgerQuery {
    package static let dueOfVacation = """
        SELECT photos.id, photos.next_try_at, photos.size FROM directories INDEXED BY directories_by_vacation
        CROSS JOIN photos ON photos.directory_id = directories.id
        WHERE directories.vacation_id = ? AND photos.state = 'pending'
        AND (photos.next_try_at <= ? OR photos.next_try_at > ?) AND photos.size <= ?
        LIMIT ?
        """
    /// What is to be tried later than any photo ever is, is due.
    package static let nextTryOfVacation = """
        SELECT MIN(IIF(photos.next_try_at > ?2, 0, photos.next_try_at))
        FROM directories INDEXED BY directories_by_vacation
        CROSS JOIN photos ON photos.directory_id = directories.id
        WHERE directories.vacation_id = ?1 AND photos.state = 'pending' AND photos.size <= ?3
        """
}

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
        let outcome = try withoutDeleted(
            claim.mustBeCopy ? ending.outcome.ofSupposedCopy : ending.outcome, of: claim, at: time)
        var object: Int64?
        var storedAt = time
        if case .uploaded(_, let record) = outcome {
            if claim.folder.kind == .projects { try unstoreOthers(than: claim.photoID, replacedBy: record) }
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
            // It was queued anew when the change was seen; where the file was not whole then, for later.
            try run(
                """
                UPDATE photos SET state = 'pending', attempts = 0, next_try_at = IIF(\(PhotoRow.held), next_try_at, 0),
                    error = NULL
                WHERE id = ?
                """, [row.id])
        } else if case .skipped(let reason, _) = outcome, try isOvertaken(reason, of: claim, at: time) {
            try settle(row, as: .released, at: time)
        } else {
            try settle(row, as: outcome, at: time)
            // What is no copy tells nothing of the photo.
            let tellsOfPhoto = if case .otherPhoto = outcome { false } else { outcome.isFinal }
            if tellsOfPhoto { try setEventNote(ending.note, of: row.id) }
            if case .failed = outcome { try freeDuplicates(ofBroken: claim, at: time) }
        }
        guard claim.isSuspect else { return }
        // A thread that was given up cannot take back its note that it decodes.
        if outcome.isFinal { try clearSuspicion(of: row.id) } else { try endDecoding(of: row.id) }
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
            try proveCopy(of: row)
        case .failed(let message, let digest):
            try settle(row, as: .failed, digest: digest, error: message)
        case .skipped(let message, let leftOut):
            try PhotoTable(self).skip(row.id, SkipReason(message, leftOut))
        // Where its own drive came meanwhile, it is tried there.
        case .otherPhoto(let message) where row.supposition?.isOpen == true: try disproveCopy(of: row, message)
        case .copyGone where row.supposition?.isOpen == true: try withdrawCopy(of: row)
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
        case .otherPhoto, .copyGone, .released:
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
