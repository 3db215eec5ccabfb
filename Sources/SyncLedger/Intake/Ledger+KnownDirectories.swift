import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// A directory that is as the ledger knows it, as long as it has this digest.
package struct KnownDirectory: Hashable, Sendable {
    package let id: DirectoryID
    package let digest: SHA256Digest
    /// How many files it holds.
    package let files: Int
}

/// A directory that a scan has found to be as the ledger knows it.
package struct ComparedDirectory: Sendable {
    package let id: DirectoryID
    package let digest: SHA256Digest
    package let files: [ScannedFile]

    package init(id: DirectoryID, digest: SHA256Digest, files: [ScannedFile]) {
        self.id = id
        self.digest = digest
        self.files = files
    }
}

extension Ledger {
    /// The directories of which a digest is known, by their paths below the folder: where one still has it, there is nothing
    /// to reconcile.
    /// - Parameter start: below the folder; empty for all of it.
    package func knownDirectories(
        of folder: FolderID, below start: FilePath
    ) throws(LedgerError) -> [FilePath: KnownDirectory] {
        try read("look up directories") { db in
            let range = SubtreeRange(below: start)
            let rows = try db.rows(
                LedgerQuery.digestsInRange, [folder.rawValue, start.directoryBlob, range.to], as: DigestedDirectory.self
            )
            return rows.reduce(into: [:]) { $0[$1.path] = $1.known }
        }
    }

    /// Notes by which digests directories can be told to be as they are. One that is no longer as it was compared, or of
    /// which the ledger has learned more since, is left out.
    package func noteDigests(of directories: [ComparedDirectory]) throws(LedgerError) {
        if directories.isEmpty { return }
        try write("note that directories are known") { db in
            for directory in directories {
                let plan = try PhotoTable(db).plan(of: directory.id, directory.files) { _ in true }
                guard plan.isEmpty else { continue }
                try db.run(
                    "UPDATE directories SET digest = ?, digest_files = ? WHERE id = ?",
                    [Data(directory.digest.bytes), directory.files.count, directory.id.rawValue])
            }
        }
    }
}

/// A row of a directory with a digest. Its path is below the watched folder.
private struct DigestedDirectory: FetchableRecord {
    let path: FilePath
    let known: KnownDirectory

    init(row: Row) throws {
        path = FilePath(directoryBlob: row[0])
        known = KnownDirectory(
            id: DirectoryID(rawValue: row[1]), digest: try SHA256Digest(blob: row[2]).known(), files: row[3])
    }
}

extension LedgerQuery {
    package static let digestsInRange = """
        SELECT path, id, digest, digest_files FROM directories
        WHERE folder_id = ? AND path >= ? AND path < ? AND digest IS NOT NULL
        """
}
