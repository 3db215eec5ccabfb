package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

extension Ledger {
    /// Notes that projects are to be deleted: from now on nothing of them is stored, and their files are looked at once
    /// more, so that each of them waits until it is gone.
    /// - Returns: those of them of which a file is being stored at this moment; they are not noted.
    package func beginProjectDeletion(
        _ ids: [String], in folder: FilePath, at time: Date
    ) throws(LedgerError) -> Set<ByteString> {
        try write("note what is to be deleted", isDurable: true) { db in
            let busy = try db.projectsInHand(of: folder).intersection(ids.map(\.inBytes))
            for id in ids where !busy.contains(id.inBytes) {
                try db.run(
                    "INSERT OR IGNORE INTO project_deletions (folder, project_id) VALUES (?, ?)", [folder.blob, id])
            }
            let begun = Set(ids.map(\.inBytes)).subtracting(busy)
            try ProjectTable(db: db, folder: folder, time: time).requeue(begun)
            return busy
        }
    }

    /// Notes that a project is gone: record, files and objects. Its request stays remembered: a replay of it is a duplicate.
    /// What was one while it was there is one no longer, and due.
    package func endProjectDeletion(_ id: String, in folder: FilePath, at time: Date) throws(LedgerError) {
        try write("note that a project is deleted") { db in
            if let project = try db.row(LedgerQuery.project, [folder.blob, id], as: KnownProject.self),
                project.duplicateOf == nil
            {
                try ProjectTable(db: db, folder: folder, time: time).remember([project.record])
            }
            // Of those that were still to be deleted, and that the store has no more.
            for name in [id, id + ProjectFileName.metadataEnding] {
                try db.run(
                    """
                    DELETE FROM project_versions WHERE project_id = ?
                    AND NOT EXISTS (SELECT 1 FROM objects WHERE objects.key = project_versions.key)
                    """, [name])
            }
            try db.run("DELETE FROM projects WHERE folder = ? AND id = ?", [folder.blob, id])
            try db.run("DELETE FROM project_deletions WHERE folder = ? AND project_id = ?", [folder.blob, id])
            try ProjectTable(db: db, folder: folder, time: time).freeDuplicates(of: id)
        }
    }

    /// Notes that projects stay after all: what is on the disk of them is due.
    package func callOffProjectDeletion(
        _ ids: Set<ByteString>, in folder: FilePath, at time: Date
    ) throws(LedgerError) {
        try write("note that projects stay", isDurable: true) { db in
            for id in ids {
                try db.run(
                    "DELETE FROM project_deletions WHERE folder = ? AND project_id = ?", [folder.blob, id.string])
            }
            try ProjectTable(db: db, folder: folder, time: time).requeue(ids)
        }
    }

    /// Forgets files directly in the folder that were deleted for good, as far as nothing of them is stored.
    package func forgetProjectFiles(_ names: [FilePath.Component], in folder: FilePath) throws(LedgerError) {
        try write("forget the files of a project") { db in
            guard let root = try db.rootDirectory(of: folder) else { return }
            for name in names {
                try db.run(
                    """
                    DELETE FROM photos WHERE directory_id = ? AND name = ? AND object_id IS NULL AND state <> 'uploading'
                    """, [root, Data(name.bytes)])
            }
            try DirectoryTable(db).removeIfEmpty(DirectoryID(rawValue: root))
        }
    }

    /// Whether somebody asked to delete a project, and something is left of it, be it without a record.
    package func isProjectBeingDeleted(_ id: String, in folder: FilePath) throws(LedgerError) -> Bool {
        try read("look up a deletion") { db in
            try db.number(
                "SELECT 1 FROM project_deletions WHERE folder = ? AND project_id = ?", [folder.blob, id]) != nil
        }
    }

    /// Ids of projects that somebody asked to delete, and of which something is left.
    package func projectsBeingDeleted(in folder: FilePath) throws(LedgerError) -> [String] {
        try read("list what is being deleted") { db in
            try db.texts("SELECT project_id FROM project_deletions WHERE folder = ? ORDER BY project_id", [folder.blob])
        }
    }
}

extension Database {
    fileprivate func projectsInHand(of folder: FilePath) throws -> Set<ByteString> {
        guard let root = try rootDirectory(of: folder) else { return [] }
        let names = try texts(
            "SELECT CAST(name AS TEXT) FROM photos WHERE directory_id = ? AND state = 'uploading'", [root])
        return Set(names.compactMap { ProjectFileName($0).id?.inBytes })
    }
}
