package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// A photo that somebody who has the link has added to a share. Nobody but its owner sees it.
package struct GuestPhoto: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        /// It is kept on this machine, and the owner has not decided.
        case waiting
        /// It is a file of the vacation.
        case accepted
        case refused
    }

    package let share: ShareID
    /// Among those of its share, from 0.
    package let slot: Int
    package let sha256: SHA256Digest
    /// Bytes.
    package let size: Int64
    package let contentType: String
    package let receivedAt: Date
    package let state: State
    /// Where the accepted one is, or was put.
    package let path: FilePath?
    /// Why nobody was asked whether to refuse it, in plain words.
    package let reason: String?

    package init(
        share: ShareID, slot: Int, sha256: SHA256Digest, size: Int64, contentType: String, receivedAt: Date,
        state: State = .waiting, path: FilePath? = nil, reason: String? = nil
    ) {
        self.share = share
        self.slot = slot
        self.sha256 = sha256
        self.size = size
        self.contentType = contentType
        self.receivedAt = receivedAt
        self.state = state
        self.path = path
        self.reason = reason
    }
}

/// What a guest has sent, as the store has it. Several may be one photo.
package struct GuestObject: Hashable, Sendable {
    package let key: ObjectKey
    /// What tells it from those that were at its key before, or will be.
    package let mark: String

    package init(key: ObjectKey, mark: String) {
        self.key = key
        self.mark = mark
    }
}

extension Ledger {
    /// Those of one share, by their slots.
    package func guestPhotos(of share: ShareID) throws(LedgerError) -> [GuestPhoto] {
        try read("list the photos of guests") { db in
            try db.rows(
                "SELECT \(GuestPhoto.columns) FROM guest_photos WHERE share = ? ORDER BY slot", [share.description])
        }
    }

    /// Those that nobody has decided on, of all shares, those of over ones too.
    package func waitingGuestPhotos() throws(LedgerError) -> [GuestPhoto] {
        try read("list the photos of guests") { db in
            try db.rows(
                "SELECT \(GuestPhoto.columns) FROM guest_photos WHERE state = 'waiting' ORDER BY share, slot", [])
        }
    }

    /// The objects of a share that were looked at, the last one of each key, and the slots of the photos that they are.
    package func guestObjects(of share: ShareID) throws(LedgerError) -> [GuestObject: Int] {
        try read("list what guests have sent") { db in
            var slots: [GuestObject: Int] = [:]
            let sql = "SELECT key, mark, slot FROM guest_objects WHERE share = ?"
            for row in try db.rawRows(sql, [share.description]) {
                let object = GuestObject(key: try ObjectKey(row[0] as String), mark: row[1])
                slots[object] = row[2] as Int
            }
            return slots
        }
    }

    /// Notes one that has come, once it is kept.
    /// - Parameter object: what it was read from; `nil` where that is not known.
    /// - Returns: `false` when its slot has one already: what is noted stays.
    package func addGuestPhoto(_ photo: GuestPhoto, from object: GuestObject? = nil) throws(LedgerError) -> Bool {
        try write("note a guest's photo", isDurable: true) { db in
            let isDecided = photo.state != .waiting
            let added = try db.run(
                """
                INSERT INTO guest_photos (share, slot, sha256, size, content_type, received_at, state, decided_at, reason)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """,
                [
                    photo.share.description, photo.slot, photo.sha256.blob, photo.size, photo.contentType,
                    photo.receivedAt.milliseconds, photo.state.rawValue,
                    isDecided ? photo.receivedAt.milliseconds : nil, photo.reason,
                ])
            guard added > 0 else { return false }
            if let object { try db.noteGuestObject(object, of: photo.share, photo.slot) }
            return true
        }
    }

    /// Notes which photo an object is.
    package func noteGuestObject(_ object: GuestObject, of share: ShareID, _ slot: Int) throws(LedgerError) {
        try write("note where a guest's photo is") { db in try db.noteGuestObject(object, of: share, slot) }
    }

    /// Notes why what guests have sent could not be taken in; `nil`: it was. Of a share of another machine, of which no row
    /// of `shares` tells, it is noted with its removal once nothing else of it was left: until then
    /// ``noteShareRemoval(_:problem:at:)`` alone tells what keeps this machine from removing it, of its guests or not.
    package func noteGuestProblem(_ problem: String?, of share: ShareID) throws(LedgerError) {
        try write("note how guests' photos come in") { db in
            try db.run(
                "UPDATE shares SET guests_problem = ?1 WHERE id = ?2 AND guests_problem IS NOT ?1",
                [problem, share.description])
            try db.run(
                """
                UPDATE share_removals SET problem = ?1
                WHERE share = ?2 AND gone_at IS NOT NULL AND problem IS NOT ?1
                    AND NOT EXISTS (SELECT 1 FROM shares WHERE id = ?2)
                """, [problem, share.description])
        }
    }

    /// Why what guests have sent cannot be taken in, by shares; none where it can. A share of another machine that cannot be
    /// removed from here keeps it back, too: it comes last.
    package func guestProblems() throws(LedgerError) -> [(share: ShareID, location: String, problem: String)] {
        try read("list what keeps guests' photos from coming in") { db in
            try db.rawRows(
                """
                SELECT id, location, guests_problem, 0 AS is_other, number AS place FROM shares
                WHERE guests_problem IS NOT NULL
                UNION ALL
                SELECT share, location, problem, 1, begun_at FROM share_removals WHERE problem IS NOT NULL
                ORDER BY is_other, place
                """
            ).compactMap { row in ShareID(row[0] as String).map { ($0, row[1], row[2]) } }
        }
    }

    /// Notes what the owner has decided.
    /// - Parameter path: where the accepted one is now.
    /// - Returns: `false` when it was decided before.
    package func decideGuestPhoto(
        _ slot: Int, of share: ShareID, _ state: GuestPhoto.State, path: FilePath? = nil, at time: Date
    ) throws(LedgerError) -> Bool {
        try write(
            "decide on a guest's photo", isDurable: true,
            """
            UPDATE guest_photos SET state = ?, decided_at = ?, path = ?
            WHERE share = ? AND slot = ? AND state = 'waiting'
            """, [state.rawValue, time.milliseconds, path?.blob, share.description, slot]) > 0
    }
}

extension Database {
    fileprivate func noteGuestObject(_ object: GuestObject, of share: ShareID, _ slot: Int) throws {
        try run(
            """
            INSERT INTO guest_objects (share, key, mark, slot) VALUES (?, ?, ?, ?)
            ON CONFLICT (share, key) DO UPDATE SET mark = excluded.mark, slot = excluded.slot
            """, [share.description, object.key.rawValue, object.mark, slot])
    }
}

extension GuestPhoto: FetchableRecord {
    static let columns = "share, slot, sha256, size, content_type, received_at, state, path, reason"

    init(row: Row) throws {
        self.init(
            share: try ShareID(row[0] as String).known(), slot: row[1], sha256: try SHA256Digest(blob: row[2]).known(),
            size: row[3], contentType: row[4], receivedAt: Date(milliseconds: row[5]),
            state: try State(rawValue: row[6]).known(), path: row.path(7), reason: row[8])
    }
}
