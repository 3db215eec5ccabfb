import FoundationEssentials
import GRDB
package import SyncCore

/// What is known of profiles besides their telephone numbers, by ids as they stand in keys.
package struct ProfileNotes: Hashable, Sendable {
    /// All that are known, and have no number here.
    package var ids: [String] = []
    /// Of some of them.
    package var names: [ByteString: String] = [:]
    /// Whose all is that was of a profile. No merge leads to another one.
    package var merges: [ByteString: String] = [:]

    package init() {}
}

extension Ledger {
    package func profileNotes() throws(LedgerError) -> ProfileNotes {
        try read("list names of profiles") { db in
            var notes = ProfileNotes()
            for row in try db.rawRows("SELECT uuid, name FROM profile_ids ORDER BY uuid") {
                notes.ids.append(row[0])
                notes.names[(row[0] as String).inBytes] = row[1]
            }
            for row in try db.rawRows("SELECT profile, into_profile FROM profile_merges") {
                notes.merges[(row[0] as String).inBytes] = row[1]
            }
            return notes
        }
    }

    /// How many events were signed off under these ids.
    package func signedOff(under ids: [String]) throws(LedgerError) -> Int {
        try read("count what was signed off") { db in
            try ids.reduce(0) { try $0 + db.total("SELECT COUNT(*) FROM retention_records WHERE profile = ?", [$1]) }
        }
    }

    /// Gives a profile another name.
    package func renameProfile(_ id: String, to name: String) throws(LedgerError) {
        try write("rename a profile", isDurable: true) { db in
            if try db.run("UPDATE profiles SET name = ? WHERE uuid = ?", [name, id]) > 0 { return }
            try db.run(
                """
                INSERT INTO profile_ids (uuid, name, needs_number) VALUES (?, ?, 0)
                ON CONFLICT DO UPDATE SET name = excluded.name
                """, [id, name])
        }
    }

    /// Notes a merge that is to come, for the catalogue. Another one that was to come is not, any more.
    package func announceMerge(of id: String, into other: String) throws(LedgerError) {
        try write("announce a merge", isDurable: true) { db in
            try db.run("DELETE FROM merge_announcements")
            try db.run("INSERT INTO merge_announcements VALUES (?, ?)", [id, other])
        }
    }

    /// No merge is to come.
    /// - Returns: whether one was.
    package func withdrawMerge() throws(LedgerError) -> Bool {
        try write("withdraw a merge", isDurable: true) { try $0.run("DELETE FROM merge_announcements") > 0 }
    }

    /// Photos of events that were signed off under these ids.
    package func photosSignedOff(under ids: [String]) throws(LedgerError) -> [RetentionRecord] {
        try read("list what was signed off") { db in
            try ids.flatMap { id -> [RetentionRecord] in
                try db.rows(
                    "SELECT \(RetentionRecord.columns) FROM retention_records WHERE profile = ? AND key IS NOT NULL",
                    [id])
            }
        }
    }

    /// Notes for good that all of one profile is another one's: from now on nothing is archived under the first. What is
    /// archived keeps its keys until they are changed one by one.
    /// - Parameters:
    ///   - id: of which nothing was merged elsewhere.
    ///   - other: as no merge leads on from it.
    package func mergeProfile(_ id: String, into other: String) throws(LedgerError) {
        try write("merge profiles", isDurable: true) { db in
            guard try db.noteMerge(of: id, into: other) else { throw UnknownName() }
            try db.run("DELETE FROM merge_announcements")
            try db.run("UPDATE retention_records SET profile = ? WHERE profile = ? AND key IS NULL", [other, id])
            if try db.number("SELECT 1 FROM profiles WHERE uuid = ?", [other]) != nil {
                try db.run("UPDATE events SET profile_uuid = ? WHERE profile_uuid = ?", [other, id])
            }
        }
    }

    /// Forgets profiles with their numbers, names and merges, as long as no event is mapped to one and none was signed off
    /// under one.
    /// - Returns: `false`, with nothing forgotten, where something stands under one.
    package func removeProfiles(_ ids: [String]) throws(LedgerError) -> Bool {
        try write("remove a profile", isDurable: true) { db in
            for id in ids {
                let use = """
                    SELECT 1 WHERE EXISTS (SELECT 1 FROM events WHERE profile_uuid = ?1)
                    OR EXISTS (SELECT 1 FROM events WHERE profile = ?1)
                    OR EXISTS (SELECT 1 FROM retention_records WHERE profile = ?1)
                    """
                if try db.number(use, [id]) != nil { return false }
            }
            for id in ids {
                try db.run("DELETE FROM profiles WHERE uuid = ?", [id])
                try db.run("DELETE FROM profile_ids WHERE uuid = ?", [id])
                try db.run("DELETE FROM profile_merges WHERE profile = ?1 OR into_profile = ?1", [id])
                try db.run("DELETE FROM merge_announcements WHERE profile = ?1 OR into_profile = ?1", [id])
            }
            return true
        }
    }
}

extension Database {
    /// Bytes of a name, as `profiles add` takes it.
    private static let longestName = 200

    /// - Returns: `false`, with nothing noted, where one is merged already, or would be merged into itself.
    fileprivate func noteMerge(of id: String, into other: String) throws -> Bool {
        let end = try mergedProfile(other)
        guard end.inBytes != id.inBytes, try mergedProfile(id).inBytes == id.inBytes else { return false }
        try run("UPDATE profile_merges SET into_profile = ? WHERE into_profile = ?", [end, id])
        try run("INSERT INTO profile_merges VALUES (?, ?)", [id, end])
        return true
    }

    /// Notes profiles as a catalogue has them. What is known already stays; what is no id, and no name, is left out.
    func note(_ profiles: [CatalogProfile]) throws {
        for profile in profiles {
            guard let id = CatalogProfile.keyName(profile.profile) else { continue }
            let name = profile.name.flatMap { (1...Self.longestName).contains($0.utf8.count) ? $0 : nil }
            let needsNumber = UUID(uuidString: id) != nil && profile.number != false
            if needsNumber || name != nil {
                try run(
                    """
                    INSERT INTO profile_ids (uuid, name, needs_number)
                        SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM profiles WHERE uuid = ?1)
                    ON CONFLICT DO UPDATE SET name = ifnull(name, excluded.name)
                    """, [id, name, needsNumber])
                try run("UPDATE profiles SET name = ? WHERE uuid = ? AND name IS NULL", [name, id])
            }
            if let other = profile.into.flatMap(CatalogProfile.keyName) { _ = try noteMerge(of: id, into: other) }
        }
    }
}
