package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

extension Ledger {
    /// How many request ids are remembered; the oldest go first.
    package static let requestsRemembered = 1_000

    /// What is known of the `projects.json` of a folder; `nil` when there never was one.
    /// - Parameter folder: absolute, as it is configured; so for all functions about projects.
    package func projectList(of folder: FilePath) throws(LedgerError) -> ProjectListState? {
        try read("look up a list of projects") { try $0.projectList(folder.blob) }
    }

    /// The projects of a folder, by their ids.
    package func projects(in folder: FilePath) throws(LedgerError) -> [KnownProject] {
        try read("list projects") { try $0.rows(LedgerQuery.projectsOfFolder, [folder.blob]) }
    }

    package func project(_ id: String, in folder: FilePath) throws(LedgerError) -> KnownProject? {
        try read("look up a project") { try $0.row(LedgerQuery.project, [folder.blob, id]) }
    }

    /// Notes a whole and good state of `projects.json`, in place of the one before.
    ///
    /// It decides which projects are duplicates, remembers the requests of those that were stored and are no longer in the
    /// file, and makes the files due of every project about which the decision is another one now.
    /// - Parameters:
    ///   - records: each id once, in the order of the file.
    ///   - unusable: what is wrong with the record of a project that has none that can be used; `nil` where nobody looked.
    @discardableResult
    package func noteProjects(
        _ records: [ProjectRecord], unusable: [ByteString: String]? = nil, in folder: FilePath, stamp: FileStamp,
        at time: Date
    ) throws(LedgerError) -> ProjectListChanges {
        try write("note a list of projects") { db in
            try db.noteList(folder.blob, stamp, readAt: time, problem: nil)
            let table = ProjectTable(db: db, folder: folder, time: time)
            return try table.replace(records, unusable: unusable)
        }
    }

    /// Decides anew which projects of a folder are duplicates: an image has come to one that was thought to have none.
    package func reviewProjects(in folder: FilePath, at time: Date) throws(LedgerError) {
        try write("decide about projects") { try ProjectTable(db: $0, folder: folder, time: time).review() }
    }

    /// Whether an image of a project is in its folder.
    package func hasProjectImage(_ id: String, in folder: FilePath) throws(LedgerError) -> Bool {
        try read("look for the image of a project") { try !$0.imageStates(of: id, in: folder).isEmpty }
    }

    /// Whether all images of a project in its folder have failed: it stands for no other project then.
    package func isProjectImageBroken(_ id: String, in folder: FilePath) throws(LedgerError) -> Bool {
        try read("look for the image of a project") { try $0.isImageBroken(of: id, in: folder) }
    }

    /// Lets the duplicates of a project be projects of their own, as long as nobody decides anew.
    package func freeDuplicates(of id: String, in folder: FilePath, at time: Date) throws(LedgerError) {
        try write("decide about projects") { db in
            try ProjectTable(db: db, folder: folder, time: time).freeDuplicates(of: id)
        }
    }

    /// Ids of projects whose image is stored, and which `projects.json` does not name, by id. A folder without a list has
    /// none.
    package func unrecordedProjects(in folder: FilePath) throws(LedgerError) -> [String] {
        try read("list stored projects without a record") { db in
            guard let root = try db.rootDirectory(of: folder), try db.projectList(folder.blob)?.readAt != nil else {
                return []
            }
            let known = Set(try db.texts("SELECT id FROM projects WHERE folder = ?", [folder.blob]).map(\.inBytes))
            let names = try db.texts(
                "SELECT CAST(name AS TEXT) FROM photos WHERE directory_id = ? AND object_id IS NOT NULL", [root])
            let ids = names.compactMap { name -> ByteString? in
                if case .image(let id) = ProjectFileName(name) { id.inBytes } else { nil }
            }
            return Set(ids).subtracting(known).sorted().map(\.string)
        }
    }

    /// Whether photos wait for something else than a project that is still processing.
    package func isAnythingUnsynced() throws(LedgerError) -> Bool {
        try read("look whether all is stored") { db in
            try db.activeFolders().contains { folder in
                try db.number(LedgerQuery.firstUnsynced, [folder.id.rawValue, ProjectVerdict.unfinished]) != nil
            }
        }
    }

    /// How many images wait for their projects, which are still processing. That is no failure.
    package func unfinishedProjectImages() throws(LedgerError) -> Int {
        try read("count images of unfinished projects") { db in
            try db.activeFolders().filter { $0.kind == .projects }.reduce(0) {
                try $0 + db.total(LedgerQuery.unfinishedImages, [$1.id.rawValue, ProjectVerdict.unfinished])
            }
        }
    }

    /// Notes that `projects.json` cannot be read; what was known before stays.
    /// - Parameter stamp: of the file, as far as it has one.
    /// - Returns: whether that is news.
    package func noteProjectListProblem(
        _ problem: String, in folder: FilePath, stamp: FileStamp
    ) throws(LedgerError) -> Bool {
        try write("note a damaged list of projects") { db in
            let known = try db.projectList(folder.blob)
            try db.noteList(folder.blob, stamp, readAt: known?.readAt, problem: problem)
            return known?.problem != problem
        }
    }

    /// Gives up projects that have been processing for too long: their files are looked at once more, and left.
    /// - Returns: those that were given up now. Each is told once.
    package func giveUpProjects(in folder: FilePath, at time: Date) throws(LedgerError) -> [ProjectRecord] {
        let operation = "give up projects"
        let limit = time.milliseconds - Int64(ProjectRecord.patience / .milliseconds(1))
        let isIdle = try read(operation) {
            try $0.rows(LedgerQuery.projectsToGiveUp, [folder.blob, limit], as: KnownProject.self).isEmpty
        }
        if isIdle { return [] }
        return try write(operation) { db in
            let projects = try db.rows(LedgerQuery.projectsToGiveUp, [folder.blob, limit], as: KnownProject.self)
            for project in projects {
                try db.run(
                    "UPDATE projects SET given_up_at = ? WHERE folder = ? AND id = ?",
                    [time.milliseconds, folder.blob, project.record.id])
            }
            try ProjectTable(db: db, folder: folder, time: time).requeue(Set(projects.map(\.record.id.inBytes)))
            return projects.filter { $0.duplicateOf == nil && !$0.isDeleting }.map(\.record)
        }
    }

    /// Files directly in a projects folder that are to be stored and are not yet: the list goes up after them. One that was
    /// tried often is not waited for.
    package func projectFilesWaiting(in folder: FilePath) throws(LedgerError) -> [String] {
        try read("list the files of projects that wait") { db in
            guard let root = try db.rootDirectory(of: folder) else { return [] }
            return try db.texts(
                """
                SELECT CAST(name AS TEXT) FROM photos
                WHERE directory_id = ? AND (state = 'uploading' OR state = 'pending' AND attempts < 5)
                """, [root])
        }
    }
}

extension Database {
    func projectList(_ folder: Data) throws -> ProjectListState? {
        try row("SELECT read_at, problem, \(FileStamp.columns) FROM project_lists WHERE folder = ?", [folder])
    }

    fileprivate func noteList(_ folder: Data, _ stamp: FileStamp, readAt: Date?, problem: String?) throws {
        try run(
            """
            INSERT INTO project_lists (folder, read_at, problem, \(FileStamp.columns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (folder) DO UPDATE SET device = excluded.device, inode = excluded.inode, size = excluded.size,
                modified = excluded.modified, changed = excluded.changed, born = excluded.born,
                read_at = excluded.read_at, problem = excluded.problem
            """, [folder, readAt?.milliseconds, problem] + stamp.values)
    }

    /// The directory in which the files of projects are; `nil` when none is known.
    func rootDirectory(of folder: FilePath) throws -> Int64? {
        guard let id = try number("SELECT id FROM folders WHERE path = ?", [folder.blob]) else { return nil }
        return try DirectoryTable(self).find("", in: FolderID(rawValue: id))?.rawValue
    }

    /// How the images of a project are that are in its folder.
    fileprivate func imageStates(of id: String, in folder: FilePath) throws -> [PhotoState] {
        guard let root = try rootDirectory(of: folder) else { return [] }
        return try rawRows(LedgerQuery.statesOfProjectImages, [root, Data("\(id).".utf8), Data("\(id)/".utf8)])
            .filter { ProjectFileName($0[0] as String) == .image(id: id) }.compactMap { PhotoState(rawValue: $0[1]) }
    }

    fileprivate func isImageBroken(of id: String, in folder: FilePath) throws -> Bool {
        let states = try imageStates(of: id, in: folder)
        return !states.isEmpty && states.allSatisfy { $0 == .failed }
    }

    /// A project whose image cannot be stored stands for no other one: their images are tried.
    func freeDuplicates(ofBroken claim: Claim, at time: Date) throws {
        let folder = claim.folder.path
        guard claim.folder.kind == .projects, case .image(let id) = ProjectFileName(below: claim.relativePath),
            try isImageBroken(of: id, in: folder)
        else { return }
        try ProjectTable(db: self, folder: folder, time: time).freeDuplicates(of: id)
    }
}

extension Ledger {
    /// Notes an image of a project that is stored under a key of its own, beside the one that counts.
    /// - Parameters:
    ///   - maker: who has stored it, or that of which it is a copy.
    ///   - original: the key of which it is a copy, and which is about to get another content. What counts as stored there
    ///     is stored here from now on.
    package func noteProjectVersion(
        _ object: ObjectRecord, of project: String, maker: VersionMaker = .this, copiedFrom original: ObjectKey? = nil
    ) throws(LedgerError) {
        try write("note a version of a project") { db in
            let version = try db.store(object)
            try db.noteVersion(object.key, of: project, maker)
            if let original { try db.lead(holdersOf: original, to: version, object) }
        }
    }

    /// The earlier images of a project that are stored, the latest first: none of them is what a file of this machine is
    /// stored as. A file without an ending may be called as the project is.
    package func projectVersions(of project: String) throws(LedgerError) -> [ObjectRecord] {
        try read("list the versions of a project") { db in
            try db.rows(LedgerQuery.versionsOfProject, [project], as: ObjectRecord.self)
                .filter { $0.key.isOfProject }
        }
    }

    /// What is the stored copy of a file: removed, that would be stored nowhere. A ledger that was rebuilt knows it by
    /// the catalogue, and of no project that it was a version of it.
    /// - Parameters:
    ///   - folder: the beginning of the keys of a project's versions.
    ///   - project: whose own files, in this folder, do not count.
    package func projectVersionsInUse(
        below folder: String, besidesFilesOf project: (id: String, folder: FilePath)? = nil
    ) throws(LedgerError) -> Set<ObjectKey> {
        let range = KeyRange(prefix: folder, after: nil)
        return try read("list the versions of a project that files have") { db in
            let root = try project.flatMap { try db.rootDirectory(of: $0.folder) }
            let holders = try db.rawRows(LedgerQuery.versionsInUse, [range.from, range.to]).filter { row in
                guard let project, row[1] as Int64 == root else { return true }
                return ProjectFileName(row[2] as String).id?.inBytes != project.id.inBytes
            }
            return Set(try holders.map { try ObjectKey($0[0] as String) })
        }
    }

    /// How many earlier images each project has: see ``projectVersions(of:)``.
    package func projectVersionCounts() throws(LedgerError) -> [ByteString: Int] {
        try read("count the versions of projects") { db in
            let rows = try db.rawRows(
                """
                SELECT project_versions.project_id, project_versions.key FROM project_versions
                JOIN objects ON objects.key = project_versions.key
                WHERE \(LedgerQuery.isNoCopyOfOwnFile)
                """)
            var counts: [ByteString: Int] = [:]
            for row in rows {
                let key = try ObjectKey(row[1] as String)
                if key.isOfProject { counts[(row[0] as String).inBytes, default: 0] += 1 }
            }
            return counts
        }
    }

    /// Forgets objects of projects that are about to be deleted, and their versions. It is on the disk when this returns.
    /// - Parameter own: of which it stays known that this machine has stored them, until they are forgotten once more:
    ///   whoever has to delete them a second time finds them in the store alone.
    package func forgetProjectObjects(
        _ keys: [ObjectKey], remembering own: Set<ObjectKey> = []
    ) throws(LedgerError) {
        try write("forget objects of projects", isDurable: true) { db in
            for key in keys {
                if own.contains(key), let file = VersionedFile(ofVersion: key) {
                    try db.noteVersion(key, of: file.name, .this)
                } else {
                    try db.run("DELETE FROM project_versions WHERE key = ?", [key.rawValue])
                }
                try db.forgetObject(key)
            }
        }
    }
}

/// Keys of projects are made of names, and not of contents: another file may get the key of a stored one. It is in a
/// folder that was watched in place of the other one, or has the name that the other one had before.
extension Database {
    /// Photos whose content is stored as an object are stored as the copy of it from now on.
    func lead(holdersOf key: ObjectKey, to version: Int64, _ copy: ObjectRecord) throws {
        // What somebody else has put there is not what they are stored as.
        guard let md5 = copy.md5, let id = try objectID(key), id != version, try record(ofObject: id)?.md5 == md5 else {
            return
        }
        try run("UPDATE OR REPLACE photo_versions SET object_id = ? WHERE object_id = ?", [version, id])
        try run(
            """
            UPDATE photos SET object_id = ? WHERE object_id = ? AND object_generation = generation
                AND state <> 'uploading' AND (md5 IS NULL OR md5 = ?)
            """, [version, id, md5.blob])
        // A trigger takes that for new contents of theirs.
        try run("DELETE FROM photo_versions WHERE object_id = ?", [id])
    }

    /// The key is about to have the content of `photo`. Of other photos of which another one was stored there, now or
    /// before their files changed, it is stored no longer. Their files are stored again when their turn comes.
    func unstoreOthers(than photo: Int64, replacedBy object: ObjectRecord) throws {
        guard let md5 = object.md5, let id = try objectID(object.key), let known = try record(ofObject: id)?.md5,
            known != md5
        else { return }
        try run("DELETE FROM photo_versions WHERE object_id = ?", [id])
        try unstorePhotos(
            where: """
                object_id = ? AND id <> ? AND (object_generation < generation OR md5 IS NULL OR md5 <> ?)
                AND folder_id IN (SELECT id FROM folders WHERE machine IS NULL)
                """, [id, photo, md5.blob])
    }

    fileprivate func forgetObject(_ key: ObjectKey) throws {
        guard let id = try objectID(key) else { return }
        try unstorePhotos(where: "object_id = ?", [id])
        try run("DELETE FROM objects WHERE id = ?", [id])
    }

    /// Photos are stored no longer: they are forgotten where they are missing, and wait where they are on the disk.
    private func unstorePhotos(where condition: String, _ arguments: StatementArguments) throws {
        try run("DELETE FROM photos WHERE \(condition) AND state IN ('missing', 'lost')", arguments)
        try run(
            """
            UPDATE photos SET object_id = NULL, object_generation = NULL, uploaded_at = NULL,
                state = IIF(state = 'uploaded', 'pending', state), next_try_at = 0
            WHERE \(condition)
            """, arguments)
    }
}

extension LedgerQuery {
    package static let projectsOfFolder = "SELECT \(KnownProject.columns) FROM projects WHERE folder = ? ORDER BY id"
    package static let project = "SELECT \(KnownProject.columns) FROM projects WHERE folder = ? AND id = ?"
    /// Projects that are to be given up and were not told yet.
    package static let projectsToGiveUp = """
        SELECT \(KnownProject.columns) FROM projects
        WHERE folder = ? AND status = 'Processing' AND created_at < ? AND given_up_at IS NULL
        """
    package static let versionsOfProject = """
        SELECT \(ObjectRecord.columns) FROM project_versions
        JOIN objects ON objects.key = project_versions.key
        WHERE project_versions.project_id = ? AND \(isNoCopyOfOwnFile) ORDER BY project_versions.key DESC
        """
    /// Of an object: whether no file of this machine is stored as it. One whose key another machine has taken is stored as a
    /// version, which is no earlier state of it then.
    fileprivate static let isNoCopyOfOwnFile = """
        NOT EXISTS (
            SELECT 1 FROM photos CROSS JOIN folders ON folders.id = photos.folder_id
            WHERE photos.object_id = objects.id AND folders.machine IS NULL
        )
        """
    package static let versionsInUse = """
        SELECT objects.key, photos.directory_id, CAST(photos.name AS TEXT) FROM objects
        CROSS JOIN photos ON photos.object_id = objects.id WHERE \(KeyRange.condition)
        """
    /// The last two arguments are `{id}.` and `{id}/`: names that begin with the id and a dot.
    package static let statesOfProjectImages = """
        SELECT CAST(name AS TEXT), state FROM photos
        WHERE directory_id = ? AND name >= ? AND name < ? AND state NOT IN ('missing', 'lost')
        """
    package static let firstUnsynced =
        "SELECT 1 FROM photos WHERE folder_id = ? AND state = 'pending' AND error IS NOT ? LIMIT 1"
    package static let unfinishedImages =
        "SELECT COUNT(*) FROM photos WHERE folder_id = ? AND state = 'pending' AND error = ?"
}
