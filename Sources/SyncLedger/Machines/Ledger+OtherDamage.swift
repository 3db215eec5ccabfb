package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// An object of a machine that is silent, which is gone or damaged.
package struct OtherDamage: Hashable, Sendable {
    package var key: ObjectKey
    /// What people call the machine; `nil` where no catalogue names the object.
    package var machine: String?
    /// Of a photo of it, there.
    package var path: FilePath?
    package var problem: ObjectFault
    package var foundAt: Date
    /// When it was looked at last.
    package var seenAt: Date

    package init(key: ObjectKey, machine: String?, path: FilePath?, problem: ObjectFault, foundAt: Date, seenAt: Date) {
        self.key = key
        self.machine = machine
        self.path = path
        self.problem = problem
        self.foundAt = foundAt
        self.seenAt = seenAt
    }
}

extension Ledger {
    /// Notes damage, or that it is still there.
    package func noteOtherDamage(_ damage: [OtherDamage]) throws(LedgerError) {
        if damage.isEmpty { return }
        try write("note damage of other machines") { db in
            for one in damage {
                try db.run(
                    """
                    INSERT INTO other_damage VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
                        machine = excluded.machine, path = excluded.path, problem = excluded.problem,
                        seen_at = excluded.seen_at
                    """,
                    [
                        one.key.rawValue, one.machine, one.path?.blob, one.problem.text, one.foundAt.milliseconds,
                        one.seenAt.milliseconds,
                    ])
            }
        }
    }

    package func forgetOtherDamage(_ keys: [ObjectKey]) throws(LedgerError) {
        if keys.isEmpty { return }
        try write("forget damage of other machines") { db in
            for key in keys { try db.run("DELETE FROM other_damage WHERE key = ?", [key.rawValue]) }
        }
    }

    /// What is this machine's own by now is told as such.
    /// - Returns: of how many of those nothing is wrong any more.
    @discardableResult
    package func forgetOwnDamage() throws(LedgerError) -> Int {
        try write("forget damage of other machines") { db in
            try db.run(
                """
                DELETE FROM other_damage WHERE EXISTS (
                    SELECT 1 FROM objects WHERE objects.key = other_damage.key AND objects.problem IS NOT NULL)
                """)
            return try db.run("DELETE FROM other_damage WHERE \(Self.isOwn)")
        }
    }

    /// What is known of it, in the order of keys, but for what is this machine's own by now.
    package func otherDamage(limit: Int) throws(LedgerError) -> [OtherDamage] {
        try read("list damage of other machines") {
            try $0.rows("SELECT * FROM other_damage WHERE NOT \(Self.isOwn) ORDER BY key LIMIT ?", [limit])
        }
    }

    private static let isOwn = "EXISTS (SELECT 1 FROM objects WHERE objects.key = other_damage.key)"
}

extension Database {
    /// What is known to be wrong of other machines' objects.
    func otherFaults() throws -> [ObjectKey: ObjectFault] {
        try rawRows("SELECT key, problem FROM other_damage").reduce(into: [:]) { faults, row in
            faults[try ObjectKey(row[0] as String)] = ObjectFault(text: row[1])
        }
    }
}

extension OtherDamage: FetchableRecord {
    init(row: Row) throws {
        self.init(
            key: try ObjectKey(row[0] as String), machine: row[1], path: row.path(2),
            problem: ObjectFault(text: row[3]), foundAt: Date(milliseconds: row[4]),
            seenAt: Date(milliseconds: row[5]))
    }
}
