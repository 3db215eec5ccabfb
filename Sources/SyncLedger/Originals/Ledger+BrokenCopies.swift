package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// A copy that is gone or damaged, and whose original is whole.
package struct BrokenCopy: Hashable, Sendable {
    package let copy: ObjectRecord
    package let original: ObjectRecord
    /// A photo whose file is gone, and of which it is the copy; `nil` where it is that of an earlier content alone.
    package let path: FilePath?
    /// Whether the original can be read without a restore, as far as is known.
    package var isReadable: Bool

    /// What is wrong, and what becomes of it, in words that follow the copy's name.
    package var words: String { "is \(copy.problem?.isDamage == true ? "damaged" : "gone from the store"); \(advice)" }

    /// Who makes the copy anew, or what has to be done before.
    package var advice: String {
        if isReadable {
            return "its original is whole, and the copy is made anew from it by sync-agent sync, or the agent"
        }
        let command = path.map { "restore --original \($0.text.escapingControls)" } ?? "restore \(original.key)"
        return "its original is whole, and archived: sync-agent \(command) brings it back, and the copy is made then"
    }
}

/// Copies that can be made anew of what is kept beside them.
extension Ledger {
    /// The keys of copies that are gone or damaged, that no file here brings back, and whose original is whole, in order.
    package func copiesToMakeAnew() throws(LedgerError) -> [ObjectKey] {
        try read("list copies to be made anew") { try $0.copiesToMakeAnew() }
    }

    /// - Returns: `nil` where the copy is whole or not known, or its original is none of both.
    package func brokenCopy(_ key: ObjectKey, at now: Date) throws(LedgerError) -> BrokenCopy? {
        try read("look up a broken copy") { db in
            guard let copy = try db.row(LedgerQuery.object, [key.rawValue], as: ObjectRecord.self),
                copy.problem != nil, let original = try db.original(of: key)
            else { return nil }
            let place = try db.row(LedgerQuery.missingPhotoOfObject, [key.rawValue], as: PhotoPlace.self)
            return BrokenCopy(
                copy: copy, original: original, path: place?.absolute, isReadable: original.isReadable(at: now))
        }
    }

    /// Notes a copy that was made anew, and stored: on the disk when this returns.
    /// - Returns: `false` when its photo was forgotten meanwhile: it is deleted, too.
    package func noteMadeAnew(_ object: ObjectRecord, at time: Date) throws(LedgerError) -> Bool {
        try write("note a copy that was made anew", isDurable: true) { db in
            guard try db.objectID(object.key) != nil else {
                try db.beginDeletion(
                    ObjectDeletion(key: object.key, size: object.size, storageClass: object.storageClass), at: time)
                return false
            }
            _ = try db.store(object)
            return true
        }
    }
}

extension Database {
    func copiesToMakeAnew() throws -> [ObjectKey] {
        guard try isAnythingBroken() else { return [] }
        let keys = try texts(LedgerQuery.copiesToMakeAnew).map { try ObjectKey($0) }
        if keys.isEmpty { return [] }
        let others = try leftToOthers()
        return keys.filter { others[$0] == nil }
    }
}

extension LedgerQuery {
    /// A file that waits to be read, or is to be stored again, brings its copy back itself.
    package static let copiesToMakeAnew = """
        SELECT key FROM objects INDEXED BY objects_broken
        WHERE problem IS NOT NULL AND key > '' AND EXISTS (
            SELECT 1 FROM objects AS original
            WHERE original.key = \(keyOfOriginal) AND original.problem IS NULL
        )
        AND NOT EXISTS (
            SELECT 1 FROM photos INDEXED BY photos_by_object
            CROSS JOIN folders ON folders.id = photos.folder_id
            WHERE photos.object_id = objects.id AND folders.active = 1
            AND photos.state IN ('pending', 'uploading', 'uploaded')
            AND (photos.md5 IS NULL OR photos.md5 IS objects.md5)
        )
        ORDER BY key
        """
    package static let missingPhotoOfObject = """
        SELECT \(PhotoPlace.columns) FROM objects
        CROSS JOIN photos INDEXED BY photos_by_object ON photos.object_id = objects.id
        \(PhotoPlace.joins)
        WHERE objects.key = ? AND photos.state = 'missing' LIMIT 1
        """
}
