package import FoundationEssentials
import GRDB
package import SyncCore

/// What is lost is forgotten without being asked for again: see ``forget(photos:objects:deleting:at:)``.
extension Ledger {
    /// Forgets photos of which nothing is left, and objects that are gone or damaged and nobody's any more. Whatever is
    /// on the disk or in the store stays known. A damaged original beside a whole copy is to be deleted then: forgotten
    /// alone, it would stay in the store for good, and be a photo of its own after a rebuild.
    /// - Parameters:
    ///   - photos: those of which something is left are left alone.
    ///   - objects: archived photos of events and earlier images of projects, likewise. So is what is held
    ///     (``holds(on:)``).
    ///   - ruins: those of the objects that nobody else needs: what is damaged of them is to be deleted, too.
    /// - Returns: how many were forgotten.
    package func forget(
        photos: [Int64], objects: [ObjectKey], deleting ruins: Set<ObjectKey> = [], at time: Date = Date()
    ) throws(LedgerError) -> Int {
        try write("forget what is lost", isDurable: true) { db in
            var count = 0
            for photo in photos {
                let object = try db.number(
                    "SELECT object_id FROM photos WHERE id = ? AND state IN ('missing', 'lost')", [photo])
                guard let object, let record = try db.record(ofObject: object), try db.loss(of: object) != nil else {
                    continue
                }
                count += try db.run("DELETE FROM photos WHERE id = ?", [photo])
                if try db.forgetUnused(object) > 0 { try db.noteForgottenRuin(record) }
            }
            for key in objects {
                guard let id = try db.number(LedgerQuery.brokenObject, [key.rawValue]),
                    try db.hold(on: id) == nil, let ruin = try db.record(ofObject: id)
                else { continue }
                let isGoing = try db.isToBeDeleted(ruin, unneeded: ruins)
                // The record of what was signed off stays: it tells that there was an event.
                try db.run("DELETE FROM project_versions WHERE key = ?", [key.rawValue])
                if try db.forgetUnused(id) == 0 { continue }
                count += 1
                try db.noteForgottenRuin(ruin)
                if isGoing {
                    try db.beginDeletion(
                        ObjectDeletion(key: key, size: ruin.size, storageClass: ruin.storageClass), at: time)
                }
            }
            return count
        }
    }

    /// What an open share or a restore needs of objects that are to be forgotten by their keys.
    package func holds(
        on objects: [ObjectKey]
    ) throws(LedgerError) -> [(key: ObjectKey, reference: StoredReference)] {
        try read("look up who needs what is damaged") { db in
            try objects.compactMap { key -> (key: ObjectKey, reference: StoredReference)? in
                guard let id = try db.objectID(key), let reference = try db.hold(on: id) else { return nil }
                return (key, reference)
            }
        }
    }

    /// What ``forget(photos:objects:deleting:at:)`` puts on the list of deletions of objects that are forgotten by their keys.
    /// - Parameter unneeded: those of them that nobody else needs.
    package func ruins(of objects: [ObjectKey], unneeded: Set<ObjectKey>) throws(LedgerError) -> [ForgottenObject] {
        try read("look up what is damaged") { db in
            try objects.compactMap { key -> ForgottenObject? in
                guard let id = try db.number(LedgerQuery.brokenObject, [key.rawValue]),
                    let ruin = try db.record(ofObject: id), try db.isToBeDeleted(ruin, unneeded: unneeded)
                else { return nil }
                return ForgottenObject(
                    record: ruin, photos: [], references: [], since: try db.classSince(of: id, ruin))
            }
        }
    }
}

extension Database {
    /// An object that is gone or damaged, and that no photo and no event is of.
    @discardableResult
    func forgetUnused(_ object: Int64) throws -> Int {
        try run("UPDATE events SET object_id = NULL WHERE object_id = ? AND photo_state <> 'stored'", [object])
        return try run(
            """
            DELETE FROM objects WHERE id = ?1 AND problem IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM photos WHERE object_id = ?1)
            AND NOT EXISTS (SELECT 1 FROM events WHERE object_id = ?1)
            """, [object])
    }

    fileprivate func isToBeDeleted(_ ruin: ObjectRecord, unneeded: Set<ObjectKey>) throws -> Bool {
        try ruin.isInStore && (unneeded.contains(ruin.key) || hasWholeCopy(ruin.key))
    }

    /// What is damaged is so until it is proved to be gone, or is stored anew: it may turn out that others need it, and
    /// that it stays in the store. No rebuild is to take it for whole.
    func noteForgottenRuin(_ record: ObjectRecord) throws {
        guard let problem = record.problem, problem.isDamage else { return }
        try run("INSERT OR REPLACE INTO forgotten_ruins VALUES (?, ?)", [record.key.rawValue, problem.text])
    }

    /// It is gone from the store, or something whole is in its place.
    func endForgottenRuin(_ key: ObjectKey) throws {
        try run("DELETE FROM forgotten_ruins WHERE key = ?", [key.rawValue])
    }

    /// There is rarely any.
    func hasForgottenRuins() throws -> Bool { try number("SELECT 1 FROM forgotten_ruins LIMIT 1") != nil }

    /// What was wrong with an object when it was forgotten.
    func forgottenRuin(_ key: ObjectKey) throws -> ObjectFault? {
        let texts = try texts("SELECT problem FROM forgotten_ruins WHERE key = ?", [key.rawValue])
        return texts.first.map { ObjectFault(text: $0) }
    }
}
