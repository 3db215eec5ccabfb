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

/// What was known to be gone or damaged of other machines before a rebuild.
package struct LeftBehind: Sendable {
    /// What is damaged, and may be found again, with what was stored there. It stays known until the listing tells of it.
    package var damaged: [ObjectKey: ObjectRecord] = [:]
    /// What nobody is left to name.
    package var unowned: [ObjectRecord] = []

    package init() {}

    /// Whether the store tells of damage otherwise than when that was found, or read last: something else may be there.
    package func isChanged(_ listed: ObjectInfo) -> Bool {
        guard let known = damaged[listed.key] else { return false }
        let told = ObjectRecord(listed)
        return told.etag != known.etag || told.size != known.size
            || told.storedAt.milliseconds != known.storedAt.milliseconds
    }
}

extension Ledger {
    /// Notes damage, or that it is still there.
    package func noteOtherDamage(_ damage: [OtherDamage]) throws(LedgerError) {
        if damage.isEmpty { return }
        try write(
            "note damage of other machines",
            """
            INSERT INTO other_damage VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
                machine = excluded.machine, path = excluded.path, problem = excluded.problem,
                seen_at = excluded.seen_at
            """,
            each: damage.map {
                [
                    $0.key.rawValue, $0.machine, $0.path?.blob, $0.problem.text, $0.foundAt.milliseconds,
                    $0.seenAt.milliseconds,
                ]
            })
    }

    package func forgetOtherDamage(_ keys: [ObjectKey]) throws(LedgerError) {
        if keys.isEmpty { return }
        try write(
            "forget damage of other machines", "DELETE FROM other_damage WHERE key = ?",
            each: keys.map { [$0.rawValue] })
    }

    /// What is this machine's own by now is told as such.
    /// - Returns: of how many of those nothing is wrong any more.
    @discardableResult
    package func forgetOwnDamage() throws(LedgerError) -> Int {
        try write("forget damage of other machines") { db in
            try db.run(
                """
                DELETE FROM other_damage WHERE EXISTS (
                    SELECT 1 FROM objects WHERE objects.key = other_damage.key AND objects.problem IS NOT NULL
                    AND NOT \(LedgerQuery.isLeftToOthers))
                """)
            return try db.run("DELETE FROM other_damage WHERE \(Self.isOwn)")
        }
    }

    /// What is known of it, in the order of keys, but for what is this machine's own by now.
    package func otherDamage(limit: Int) throws(LedgerError) -> [OtherDamage] {
        try read("list damage of other machines") { db in
            // There is rarely any, and the statement that asks whose it is takes SQLite long to prepare.
            guard try db.number("SELECT 1 FROM other_damage LIMIT 1") != nil else { return [] }
            return try db.rows("SELECT * FROM other_damage WHERE NOT \(Self.isOwn) ORDER BY key LIMIT ?", [limit])
        }
    }

    private static let isOwn =
        "EXISTS (SELECT 1 FROM objects WHERE objects.key = other_damage.key AND NOT \(LedgerQuery.isLeftToOthers))"
}

extension Ledger {
    /// Objects that are gone or damaged by what is known here, which is what other machines' catalogues named at a rebuild.
    /// They may have replaced or deleted them since: by their present catalogues somebody tells whether that is a loss.
    package func leftToOthers() throws(LedgerError) -> Set<ObjectKey> {
        try read("list what is left to other machines") { Set(try $0.leftToOthers().keys) }
    }

    /// What is left to machines of which nothing is in the store that could tell more is lost.
    /// - Parameter machines: the ids of all others.
    package func lose(leftToAllBut machines: Set<String>) throws(LedgerError) {
        try write("note what is lost") { db in
            for object in try db.leftToOthers().values {
                guard try machines.isDisjoint(with: db.owners(of: object)), let fault = try db.loss(of: object) else {
                    continue
                }
                try db.run(
                    "UPDATE photos SET state = 'lost', error = ? WHERE object_id = ? AND state = 'missing'",
                    [fault.othersLossWords, object])
            }
        }
    }

    /// Of files of projects folders that the store does not have, those that machines alone need which tell themselves what
    /// has become of them are left to these: they may have deleted them since they have written their catalogues last.
    package func leaveFiles(to machines: Set<String>) throws(LedgerError) {
        try write("leave files to other machines") { db in
            let gone = try db.rawRows(
                """
                SELECT id, key FROM objects INDEXED BY objects_broken
                WHERE problem IS NOT NULL AND problem = ? AND key > ''
                    AND \(LedgerQuery.isNeededByOthersAlone("'missing', 'lost'"))
                """, [ObjectFault.missing.text])
            for row in gone {
                let object: Int64 = row[0]
                if try ObjectKey(row[1] as String).isNamedByFile { try db.leave(object, to: machines) }
            }
        }
    }

    /// What counts as lost of other machines, and no catalogue in the table of other places (``beginOtherPlaces()``) names
    /// any more, is left to its machines: they have deleted it since the rebuild that took it up, or have stored its photo
    /// under another key.
    /// - Parameter machines: those whose catalogues are in that table, whole.
    package func leaveUnnamed(to machines: Set<String>) throws(LedgerError) {
        try write("leave to other machines what they name no more") { db in
            let unnamed = try db.numbers(
                """
                SELECT id FROM main.objects INDEXED BY objects_broken
                WHERE problem IS NOT NULL AND key > ''
                    AND EXISTS (SELECT 1 FROM photos WHERE photos.object_id = objects.id AND photos.state = 'lost')
                    AND NOT EXISTS (SELECT 1 FROM temp.other_places AS places WHERE places.key = objects.key)
                    AND \(LedgerQuery.isNeededByOthersAlone("'missing', 'lost'"))
                """)
            for object in unnamed { try db.leave(object, to: machines) }
        }
    }

    /// Forgets, before a rebuild, what is left to machines, or lost of theirs: it takes up what the store has and
    /// their catalogues name now. Of a machine that is none of them nobody names it again, and it stays a loss. The objects
    /// that are damaged stay, of no photo: whenever the rebuild is ended, the next one finds them so.
    package func forgetLeft(to machines: Set<String>) throws(LedgerError) -> LeftBehind {
        try write("forget what is left to other machines") { db in
            let broken = try db.numbers(
                """
                SELECT id FROM objects INDEXED BY objects_broken
                WHERE problem IS NOT NULL AND key > '' AND \(LedgerQuery.isNeededByOthersAlone("'missing', 'lost'"))
                """)
            let recovered = try db.numbers(
                """
                SELECT id FROM objects INDEXED BY objects_broken WHERE problem IS NOT NULL AND key > '' AND EXISTS (
                    SELECT 1 FROM photos JOIN folders ON folders.id = photos.folder_id
                    WHERE photos.object_id = objects.id AND photos.state = 'lost' AND folders.machine = ?
                )
                """, [FolderOwner.recoveredName])
            // With a copy go the photos by which it is known whose its original is.
            let owned = try broken.filter { try !machines.isDisjoint(with: db.owners(of: $0)) }
            var left = LeftBehind()
            left.unowned = try (Set(broken).subtracting(owned).sorted() + recovered).compactMap {
                try db.record(ofObject: $0)
            }
            for object in owned {
                try db.run("DELETE FROM photos WHERE object_id = ?", [object])
                guard let record = try db.record(ofObject: object), record.problem?.isDamage == true else {
                    try db.forgetUnused(object)
                    continue
                }
                left.damaged[record.key] = record
            }
            // Those of a rebuild that was ended before it had their names again.
            let kept: [ObjectRecord] = try db.rows(
                """
                SELECT \(ObjectRecord.columns) FROM objects INDEXED BY objects_broken
                WHERE \(LedgerQuery.isNobodysRuin)
                """)
            for record in kept where record.problem?.isDamage == true { left.damaged[record.key] = record }
            return left
        }
    }

    /// Forgets what is gone or damaged, and of which neither the store nor anything here tells any more.
    package func forgetUnlisted(_ keys: Set<ObjectKey>) throws(LedgerError) {
        if keys.isEmpty { return }
        try write("forget what is no longer in the store") { db in
            for key in keys {
                if let object = try db.objectID(key) { try db.forgetUnused(object) }
            }
        }
    }

    /// Notes of what was damaged, and was read since it was listed, as what it was listed: nothing else is to be read of it
    /// as long as the store tells nothing else.
    package func noteRead(asListed objects: [ObjectInfo]) throws(LedgerError) {
        try write(
            "note what was read",
            "UPDATE objects SET etag = ?, stored_at = ? WHERE key = ? AND verified_at IS NOT NULL",
            each: objects.map { listed -> StatementArguments in
                let told = ObjectRecord(listed)
                return [told.etag, told.storedAt.milliseconds, told.key.rawValue]
            })
    }
}

extension LedgerQuery {
    /// Whether the photos of a folder are this machine's, or nobody's.
    static let isNoOthers = "(folders.machine IS NULL OR folders.machine = '\(FolderOwner.recoveredName)')"

    /// Of an object: whether it is gone or damaged, and only photos of other machines need it, or its copy, of which none is
    /// known to be lost.
    static let isLeftToOthers = isNeededByOthersAlone("'missing'")

    /// Of an object that is gone or damaged: whether nobody but photos of other machines needs it, which are in these states.
    static func isNeededByOthersAlone(_ states: String) -> String {
        """
        (objects.problem IS NOT NULL AND EXISTS (\(photosNeeding)) AND NOT EXISTS (
            SELECT 1 FROM photos JOIN folders ON folders.id = photos.folder_id
            WHERE photos.id IN (\(photosNeeding)) AND (photos.state NOT IN (\(states)) OR \(isNoOthers))
        )
        AND NOT EXISTS (SELECT 1 FROM events WHERE events.object_id = objects.id)
        AND NOT \(isBesidePhotos))
        """
    }

    /// Of an object: whether it is gone or damaged, and nothing that is known needs it, or its copy.
    fileprivate static let isNobodysRuin = """
        objects.problem IS NOT NULL AND objects.key > '' AND NOT EXISTS (\(photosNeeding))
        AND NOT EXISTS (SELECT 1 FROM events WHERE events.object_id = objects.id)
        AND NOT \(isBesidePhotos)
        """

    /// Also of its earlier versions.
    fileprivate static let photosNeeding = """
        SELECT kept.id FROM photos AS kept WHERE kept.object_id IN (\(objectAndCopy))
        UNION ALL
        SELECT earlier.photo_id FROM photo_versions AS earlier WHERE earlier.object_id IN (\(objectAndCopy))
        """

    static let objectAndCopy = """
        SELECT named.id FROM objects AS named WHERE named.key IN (objects.key, \(keyOfCopy))
        """
}

extension Database {
    /// By their keys.
    func leftToOthers() throws -> [ObjectKey: Int64] {
        try rawRows(
            """
            SELECT key, id FROM objects INDEXED BY objects_broken
            WHERE problem IS NOT NULL AND key > '' AND \(LedgerQuery.isLeftToOthers)
            """
        ).reduce(into: [:]) { objects, row in
            objects[try ObjectKey(row[0] as String)] = row[1] as Int64
        }
    }

    /// The machines with photos that need an object.
    func owners(of object: Int64) throws -> [String] {
        try texts(
            """
            SELECT folders.machine FROM objects JOIN photos ON photos.id IN (\(LedgerQuery.photosNeeding))
            JOIN folders ON folders.id = photos.folder_id WHERE objects.id = ?
            """, [object])
    }

    /// What is gone or damaged of these machines alone is no loss here: they tell what has become of it.
    fileprivate func leave(_ object: Int64, to machines: Set<String>) throws {
        guard try machines.isSuperset(of: owners(of: object)) else { return }
        try run("UPDATE photos SET state = 'missing', error = NULL WHERE object_id = ? AND state = 'lost'", [object])
    }

    func isLeftToOthers(_ object: Int64) throws -> Bool {
        try number("SELECT 1 FROM objects WHERE id = ? AND \(LedgerQuery.isLeftToOthers)", [object]) != nil
    }

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
