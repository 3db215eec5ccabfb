package import FoundationEssentials
import GRDB
package import SyncCore
import SystemPackage

/// How the catalogue in the store stands beside the ledger.
package struct CatalogStatus: Hashable, Sendable {
    /// A segment that is in the store, as far as is known here.
    package struct Segment: Hashable, Sendable, Codable {
        package var from: Int
        package var to: Int
        package var lines: Int
        /// Of its bytes in the store.
        package var size: Int64
        /// Of its bytes, in hexadecimal digits; `nil` where an earlier version wrote it, and nobody has read it since.
        package var sha256: String?
        /// As the store told it last; `nil` where it did not.
        package var etag: String?
        /// Why it counts as gone; `nil` as long as the store has it as it was written, as far as is known.
        package var problem: String?

        package init(
            from: Int, to: Int, lines: Int, size: Int64, sha256: String? = nil, etag: String? = nil,
            problem: String? = nil
        ) {
            self.from = from
            self.to = to
            self.lines = lines
            self.size = size
            self.sha256 = sha256
            self.etag = etag
            self.problem = problem
        }
    }

    /// A write that was begun: the segment, and what it will be known by. The store may have it.
    package struct Begun: Hashable, Sendable, Codable {
        package var segment: Segment
        /// Of its bytes, in hexadecimal digits.
        package var sha256: String
        package var stateDigest: String

        package init(segment: Segment, sha256: String, stateDigest: String) {
            self.segment = segment
            self.sha256 = sha256
            self.stateDigest = stateDigest
        }
    }

    /// This machine's id: random, and never changed.
    package var machine: String
    /// The number of the next write.
    package var next: Int
    /// The oldest first. Without one, the next write is a full one.
    package var segments: [Segment]
    /// Places that are another thing now than the store's catalogue says. They are not counted before the first write.
    package var unwritten: Int
    /// Whether changes are counted: from the first write on.
    package var isTracking: Bool
    package var writtenAt: Date?
    /// Why the last write did not come to its end.
    package var problem: String?
    /// Of vacations, shares, restores and profiles as they were written last.
    package var stateDigest: String?
    /// Machines whose photos were taken over, and up to which write of theirs.
    package var replaces: [String: Int]
    /// `nil` when no write is under way, and none was interrupted.
    package var begun: Begun?
    /// A rebuild that has not come to its end: the id of the machine whose place it takes, or an empty one.
    package var rebuildOf: String?
}

extension Ledger {
    package func catalogStatus() throws(LedgerError) -> CatalogStatus {
        try read("read how the catalogue stands") { try $0.catalogStatus() }
    }

    /// Begins a write: what has changed until now belongs to it, what changes from now on to the next one. What was begun
    /// before it is not to be met any more: the changes of this one would be taken for its.
    /// - Parameter skipsNumber: leaves out a number that somebody else may have given.
    package func beginCatalogWrite(skipsNumber: Bool = false) throws(LedgerError) -> CatalogStatus {
        try write("begin a write of the catalogue") { db in
            try db.run(
                """
                UPDATE agent SET catalog_tracking = 1,
                    catalog_next = catalog_next + (catalog_begun IS NOT NULL) + ?, catalog_begun = NULL
                """, [skipsNumber])
            try db.run("UPDATE catalog_changes SET segment = 0 WHERE segment IS NULL")
            return try db.catalogStatus()
        }
    }

    /// Notes what is on its way to the store, so that whoever finds it there knows it again. What was begun before it, and did
    /// not come there, is one of this ledger's, however late it comes.
    package func noteCatalogWrite(_ begun: CatalogStatus.Begun) throws(LedgerError) {
        try write("note a write of the catalogue", isDurable: true) { db in
            let text = String(decoding: try JSONEncoder().encode(begun), as: UTF8.self)
            try db.run(
                "UPDATE agent SET catalog_begun = ?, catalog_next = MAX(catalog_next, ?)", [text, begun.segment.to])
        }
    }

    /// The store has another thing in the place of what was begun, as long as nothing else was begun since.
    package func dropCatalogWrite(_ begun: CatalogStatus.Begun) throws(LedgerError) {
        try write("note a write of the catalogue") { db in
            guard try db.catalogStatus().begun == begun else { return }
            try db.run("UPDATE agent SET catalog_begun = NULL")
        }
    }

    /// The store has a segment, proven, of what was begun. Those that it stands for may go from there.
    /// - Parameter etag: as the store told it.
    /// - Returns: `false` when another write was begun since, or this one is noted already: nothing was noted.
    @discardableResult
    package func commitCatalogWrite(
        _ begun: CatalogStatus.Begun, etag: String? = nil, at time: Date
    ) throws(LedgerError) -> Bool {
        try write("note a write of the catalogue") { db in
            guard try db.catalogStatus().begun == begun else { return false }
            let segment = begun.segment
            if segment.from == 1 {
                try db.run("DELETE FROM catalog_changes WHERE segment IS NOT NULL")
            } else {
                try db.run(
                    "UPDATE catalog_changes SET segment = ? WHERE segment = 0 OR segment >= ?",
                    [segment.to, segment.from])
            }
            try db.run("DELETE FROM catalog_segments WHERE last >= ?", [segment.from])
            let sha256: String? = begun.sha256.isEmpty ? nil : begun.sha256
            try db.run(
                "INSERT INTO catalog_segments (last, first, lines, size, sha256, etag) VALUES (?, ?, ?, ?, ?, ?)",
                [segment.to, segment.from, segment.lines, segment.size, sha256, etag])
            // One that was found damaged while this was written, and that it does not stand for, is so still.
            try db.run(
                """
                UPDATE agent SET catalog_next = MAX(catalog_next, ?), catalog_state = ?, catalog_written_at = ?,
                    catalog_begun = NULL, catalog_problem = (
                        SELECT problem FROM catalog_segments WHERE problem IS NOT NULL ORDER BY last LIMIT 1)
                """, [segment.to + 1, begun.stateDigest, time.milliseconds])
            return true
        }
    }

    /// What the store has is another thing than was noted here: the next write is a full one.
    /// - Parameters:
    ///   - number: the lowest that it may have.
    ///   - keepsProblem: whether what is known to be wrong stays known until that write is noted.
    package func restartCatalog(from number: Int, keepsProblem: Bool = false) throws(LedgerError) {
        try write("begin the catalogue anew") { db in
            try db.run("DELETE FROM catalog_segments")
            try db.run(
                """
                UPDATE agent SET catalog_next = MAX(catalog_next, ?1),
                    catalog_problem = CASE WHEN ?2 THEN catalog_problem END
                """, [number, keepsProblem])
        }
    }

    /// No catalogue is kept, and nothing is counted for it.
    package func endCatalog() throws(LedgerError) {
        try write("end the catalogue") { db in
            try db.run("DELETE FROM catalog_segments")
            try db.run("DELETE FROM catalog_changes")
            try db.run(
                """
                UPDATE agent SET catalog_tracking = 0, catalog_state = NULL, catalog_written_at = NULL,
                    catalog_problem = NULL, catalog_next = catalog_next + (catalog_begun IS NOT NULL),
                    catalog_begun = NULL
                """)
        }
    }

    package func noteCatalogProblem(_ problem: String) throws(LedgerError) {
        try write("note that the catalogue was not written", "UPDATE agent SET catalog_problem = ?", [problem])
    }

    /// The store has lost a segment, or has other bytes in its place: the next write is a full one.
    /// - Returns: whether it is known as one that the store has; else nothing was noted.
    package func noteCatalogLoss(_ problem: String, of segment: CatalogSegment) throws(LedgerError) -> Bool {
        try write("note that the catalogue is not whole") { db in
            let found = try db.run(
                """
                UPDATE catalog_segments SET problem = ?1
                WHERE first = ?3 AND last = ?4 AND (SELECT machine_id FROM agent) = ?2
                """, [problem, segment.machine, segment.from, segment.to])
            if found == 0 { return false }
            try db.run("UPDATE agent SET catalog_problem = ?", [problem])
            return true
        }
    }

    /// The store has a segment as it was written, and tells it by this mark.
    package func noteCatalogProof(of segment: CatalogSegment, sha256: String?, etag: String?) throws(LedgerError) {
        try write(
            "note that a part of the catalogue was looked at",
            """
            UPDATE catalog_segments SET sha256 = COALESCE(?1, sha256), etag = COALESCE(?2, etag)
            WHERE first = ?4 AND last = ?5 AND (SELECT machine_id FROM agent) = ?3
            """, [sha256, etag, segment.machine, segment.from, segment.to])
    }

    /// Notes a rebuild before anything is read, so that whoever comes after one that was killed knows of it.
    /// - Parameter machine: whose place it takes; empty for none.
    package func beginRebuild(of machine: String) throws(LedgerError) {
        try write("note a rebuild", isDurable: true) { try $0.run("UPDATE agent SET rebuild_of = ?", [machine]) }
    }

    package func endRebuild() throws(LedgerError) {
        try write("note the end of a rebuild") { try $0.run("UPDATE agent SET rebuild_of = NULL") }
    }

    /// This machine has taken over the photos of others.
    /// - Parameter machines: and up to which write of theirs.
    package func noteTakenOver(_ machines: [String: Int]) throws(LedgerError) {
        if machines.isEmpty { return }
        try write("note machines that were taken over") { db in
            let known = try db.catalogStatus().replaces.merging(machines) { max($0, $1) }
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let text = String(decoding: try encoder.encode(known), as: UTF8.self)
            try db.run("UPDATE agent SET catalog_replaces = ?", [text])
        }
    }
}

extension Database {
    func catalogStatus() throws -> CatalogStatus {
        let row = try rawRow(
            """
            SELECT machine_id, catalog_next, catalog_tracking, catalog_written_at, catalog_problem, catalog_state,
                catalog_replaces, (SELECT COUNT(*) FROM catalog_changes WHERE segment IS NULL OR segment = 0),
                catalog_begun, rebuild_of
            FROM agent
            """)
        guard let row, let machine = row[0] as String? else { throw UnknownName() }
        let segments = try rawRows(
            "SELECT first, last, lines, size, sha256, etag, problem FROM catalog_segments ORDER BY last"
        ).map {
            CatalogStatus.Segment(
                from: $0[0], to: $0[1], lines: $0[2], size: $0[3], sha256: $0[4], etag: $0[5], problem: $0[6])
        }
        let replaces = (row[6] as String?).flatMap {
            try? JSONDecoder().decode([String: Int].self, from: Data($0.utf8))
        }
        return CatalogStatus(
            machine: machine, next: row[1], segments: segments, unwritten: row[7], isTracking: row[2],
            writtenAt: row.time(3), problem: row[4], stateDigest: row[5], replaces: replaces ?? [:],
            begun: (row[8] as String?).flatMap {
                try? JSONDecoder().decode(CatalogStatus.Begun.self, from: Data($0.utf8))
            }, rebuildOf: row[9])
    }
}

extension Ledger {
    /// What the other machines were told last: a digest of it, and when; `nil` when they were told nothing yet.
    package func writtenMachineNote() throws(LedgerError) -> (digest: String, at: Date)? {
        try read("read what other machines were told") { db in
            let row = try db.rawRow("SELECT machine_note, machine_note_at FROM agent")
            guard let row, let digest = row[0] as String?, let time = row[1] as Int64? else { return nil }
            return (digest, Date(milliseconds: time))
        }
    }

    package func noteMachineNote(_ digest: String, at time: Date) throws(LedgerError) {
        try write(
            "note what other machines were told",
            "UPDATE agent SET machine_note = ?, machine_note_at = ?", [digest, time.milliseconds])
    }

    /// The store does not have what the other machines were told last: they are told anew.
    /// - Parameter digest: of that. Where they were told another thing since, nothing is noted.
    /// - Returns: whether that was not known yet.
    package func forgetMachineNote(_ digest: String) throws(LedgerError) -> Bool {
        try write("note that other machines are to be told") {
            try $0.run("UPDATE agent SET machine_note = '' WHERE machine_note = ? AND machine_note <> ''", [digest]) > 0
        }
    }
}
