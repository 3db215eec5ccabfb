package import FoundationEssentials
import GRDB
package import SyncCore

/// Somebody whose events are kept, known by a telephone number.
package struct ProfileRecord: Hashable, Sendable {
    /// As it is in keys: lower case.
    package let uuid: String
    package let phone: PhoneNumber
    package let name: String?
    package let createdAt: Date
}

/// A profile as events give it, and how many do.
package struct ProfileUse: Hashable, Sendable {
    package let profile: String
    /// Of the profile that it was mapped to.
    package let uuid: String?
    package let events: Int
}

extension Ledger {
    /// Adds a profile, unless its number is known.
    /// - Parameter name: `nil` for the one that the id has, if any.
    /// - Returns: the profile with that number: the one that was there before, if any.
    package func addProfile(
        uuid: String, phone: PhoneNumber, name: String?, at time: Date
    ) throws(LedgerError) -> ProfileRecord {
        try write("add a profile", isDurable: true) { db in
            try db.run(
                """
                INSERT INTO profiles VALUES (?1, ?2, ifnull(?3, (SELECT name FROM profile_ids WHERE uuid = ?1)), ?4)
                ON CONFLICT (phone) DO NOTHING
                """, [uuid, phone.e164, name, time.milliseconds])
            try db.run("DELETE FROM profile_ids WHERE uuid IN (SELECT uuid FROM profiles)")
            return try db.profile(phone).known()
        }
    }

    /// All profiles, the oldest first.
    package func profiles() throws(LedgerError) -> [ProfileRecord] {
        try read("list profiles") { db in
            try db.rows("SELECT uuid, phone, name, created_at FROM profiles ORDER BY created_at, uuid")
        }
    }

    /// Ids that the store's catalogue has told, and of which nobody has given the number here: it is in no catalogue.
    package func profilesWithoutNumber() throws(LedgerError) -> [String] {
        try read("list profiles without a number") { db in
            try db.texts("SELECT uuid FROM profile_ids WHERE needs_number = 1 ORDER BY uuid")
        }
    }

    package func profile(_ phone: PhoneNumber) throws(LedgerError) -> ProfileRecord? {
        try read("look up a profile") { try $0.profile(phone) }
    }

    /// What pseudonyms are made with. It never leaves this machine, and never changes.
    package func pseudonymKey() throws(LedgerError) -> [UInt8] {
        try read("read the key of pseudonyms") { db in
            try Array(Data.fetchOne(db, sql: "SELECT key FROM pseudonym_key").known())
        }
    }

    /// Every spelling of a profile that events give, in the order of the texts. It walks the index of all events.
    package func profileUses() throws(LedgerError) -> [ProfileUse] {
        try read("list the profiles of events") { db in
            try db.rows("SELECT profile, profile_uuid, COUNT(*) FROM events GROUP BY profile, profile_uuid")
        }
    }

    /// Maps the events that give a profile in one spelling to a profile.
    /// - Returns: how many were not mapped to it before.
    package func mapProfile(_ spelling: String, to profile: ProfileRecord) throws(LedgerError) -> Int {
        try write(
            "map events to a profile",
            "UPDATE events SET profile_uuid = ?1 WHERE profile = ?2 AND profile_uuid IS NOT ?1",
            [profile.uuid, spelling])
    }
}

extension ProfileRecord: FetchableRecord {
    init(row: Row) {
        self.init(uuid: row[0], phone: PhoneNumber(e164: row[1]), name: row[2], createdAt: Date(milliseconds: row[3]))
    }
}

extension ProfileUse: FetchableRecord {
    init(row: Row) {
        self.init(profile: row[0], uuid: row[1], events: row[2])
    }
}

extension Database {
    fileprivate func profile(_ phone: PhoneNumber) throws -> ProfileRecord? {
        try row("SELECT uuid, phone, name, created_at FROM profiles WHERE phone = ?", [phone.e164])
    }
}
