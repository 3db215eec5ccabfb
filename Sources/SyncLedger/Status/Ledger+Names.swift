import FoundationEssentials
import GRDB
import SyncCore
package import SystemPackage

extension Ledger {
    /// Whether a path is that of a watched folder or of what is above one, of a photo, or of a directory with photos
    /// below it; or was, of photos that were forgotten or moved since. Names of before are known as far as they look
    /// like wildcards.
    /// - Parameter path: absolute.
    package func hasName(_ path: FilePath) throws(LedgerError) -> Bool {
        try read("look up a name") { db in
            let folders = try db.rows("SELECT \(FolderRecord.columns) FROM folders", as: FolderRecord.self)
            return try folders.contains { try db.hasName(path, in: $0) } || db.hadName(path)
        }
    }
}

extension Database {
    fileprivate func hasName(_ path: FilePath, in folder: FolderRecord) throws -> Bool {
        if folder.path.starts(with: path) { return true }
        var place = path
        guard place.removePrefix(folder.path), let name = place.lastComponent else { return false }
        let directories = DirectoryTable(self)
        if try directories.find(place, in: folder.id) != nil { return true }
        let range = SubtreeRange(below: place)
        if try rawRow(LedgerQuery.nextDirectory, [folder.id.rawValue, range.from, range.to]) != nil { return true }
        guard let parent = try directories.find(place.removingLastComponent(), in: folder.id) else { return false }
        return try number(
            "SELECT 1 FROM photos WHERE directory_id = ? AND name = ?", [parent.rawValue, Data(name.bytes)]) != nil
    }

    /// Of a directory, all that was below it tells it.
    fileprivate func hadName(_ path: FilePath) throws -> Bool {
        let name = path.blob
        let slash = UInt8(ascii: "/")
        let (from, to): (Data, Data) = (name + [slash], name + [slash + 1])
        return try number("SELECT 1 FROM former_names WHERE path = ?1 OR path > ?2 AND path < ?3", [name, from, to])
            != nil
    }
}
