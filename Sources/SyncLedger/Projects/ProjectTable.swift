package import FoundationEssentials
import GRDB
package import SyncCore
import SystemPackage

/// The projects of one folder, inside a transaction.
struct ProjectTable {
    let db: Database
    let folder: FilePath
    let time: Date

    /// Makes the rows those of a new state of the file.
    /// - Parameter unusable: as ``Ledger/noteProjects(_:unusable:in:stamp:at:)`` takes it.
    func replace(_ records: [ProjectRecord], unusable: [ByteString: String]? = nil) throws -> ProjectListChanges {
        var known: [ByteString: KnownProject] = [:]
        for project in try db.rows(LedgerQuery.projectsOfFolder, [folder.blob], as: KnownProject.self) {
            known[project.record.id.inBytes] = project
        }
        let files = try files()
        let stored = Set(files.filter(\.isStoredImage).compactMap(\.id))
        let present = Set(records.map(\.id.inBytes))
        // What somebody has deleted frees those that were its duplicates while it was there.
        let survivors = known.filter { _, project in
            guard let original = project.duplicateOf?.inBytes else { return true }
            return !present.contains(original) && known[original] != nil
        }
        // What was stored of one that is being deleted is gone before its record is.
        try remember(
            known.filter { id, project in
                project.duplicateOf == nil && (stored.contains(id) || project.isDeleting) && !present.contains(id)
            }.map(\.value.record))
        let onDisk = Set(files.filter(\.isImageOnDisk).compactMap(\.id))
        let duplicates = ProjectDuplicates.find(
            in: records, stored: stored, onDisk: onDisk, requests: try requests(), survivors: Set(survivors.keys))
        var changes = ProjectListChanges()
        var undecided: Set<ByteString> = []
        for (position, record) in records.enumerated() {
            let id = record.id.inBytes
            let old = known.removeValue(forKey: id)
            let now = KnownProject(
                record: record.inMilliseconds, duplicateOf: duplicates[id]?.string,
                isDeleting: old?.isDeleting ?? false)
            if old != now { try store(now, at: position) }
            if old == nil { changes.added += 1 } else if old?.record != now.record { changes.changed += 1 }
            if old?.verdict(at: time) != now.verdict(at: time) { undecided.insert(id) }
        }
        changes.removed = known.count
        for id in known.keys {
            try db.run("DELETE FROM projects WHERE folder = ? AND id = ?", [folder.blob, id.string])
            undecided.insert(id)
        }
        if let unusable {
            for file in files {
                guard let id = file.id, !present.contains(id), let reason = file.error,
                    ProjectVerdict.isReason(reason), reason != ProjectVerdict.withoutRecord(unusable[id])
                else { continue }
                undecided.insert(id)
            }
        }
        if !undecided.isEmpty { try requeue(undecided, among: files) }
        return changes
    }

    /// Decides anew which projects are duplicates, by the files that are known now.
    func review() throws {
        let ids = try db.texts("SELECT id FROM projects WHERE folder = ? ORDER BY position", [folder.blob])
        let projects = try ids.compactMap {
            try db.row(LedgerQuery.project, [folder.blob, $0], as: KnownProject.self)?.record
        }
        _ = try replace(projects)
    }

    /// Lets the duplicates of a project be projects of their own, as long as nobody decides anew.
    func freeDuplicates(of id: String) throws {
        let survivors = try db.texts(
            "SELECT id FROM projects WHERE folder = ? AND duplicate_of = ?", [folder.blob, id])
        try db.run("UPDATE projects SET duplicate_of = NULL WHERE folder = ? AND duplicate_of = ?", [folder.blob, id])
        try requeue(Set(survivors.map(\.inBytes)))
    }

    /// Makes the files of these projects due: another decision about them is likely. What is decided about one at this
    /// moment is decided by what was known before: it counts for an earlier generation.
    func requeue(_ ids: Set<ByteString>) throws { try requeue(ids, among: files()) }

    private func requeue(_ ids: Set<ByteString>, among files: [ProjectFile]) throws {
        for file in files {
            guard let id = file.id, ids.contains(id) else { continue }
            try db.run(
                """
                UPDATE photos SET state = IIF(state = 'uploading', state, 'pending'),
                    generation = generation + (state = 'uploading'), attempts = 0, next_try_at = 0, error = NULL
                WHERE id = ? AND state IN ('pending', 'uploading', 'skipped', 'failed')
                """, [file.row])
        }
    }

    private func store(_ project: KnownProject, at position: Int) throws {
        let record = project.record
        try db.run(
            """
            INSERT INTO projects (folder, id, template_id, template_name, thumbnail_url, created_at, status, request_id,
                position, duplicate_of)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (folder, id) DO UPDATE SET template_id = excluded.template_id,
                template_name = excluded.template_name, thumbnail_url = excluded.thumbnail_url,
                created_at = excluded.created_at, status = excluded.status, request_id = excluded.request_id,
                position = excluded.position, duplicate_of = excluded.duplicate_of,
                given_up_at = IIF(status = excluded.status, given_up_at, NULL)
            """,
            [
                folder.blob, record.id, record.templateID, record.templateName, record.thumbnailURL,
                record.createdAt.milliseconds, record.status.rawValue, record.requestID, position, project.duplicateOf,
            ])
    }

    // MARK: Requests

    private func requests() throws -> [ByteString: ByteString] {
        var requests: [ByteString: ByteString] = [:]
        for row in try db.rawRows("SELECT request_id, project_id FROM project_requests") {
            requests[(row[0] as String).inBytes] = (row[1] as String).inBytes
        }
        return requests
    }

    /// Remembers the requests of projects that are no longer in the file: those in it need no memory.
    func remember(_ records: [ProjectRecord]) throws {
        for record in records.sorted(by: { $0.createdAt < $1.createdAt }) {
            guard let request = record.requestID else { continue }
            try db.run(
                "INSERT OR IGNORE INTO project_requests (request_id, project_id) VALUES (?, ?)", [request, record.id])
        }
        try db.run(
            """
            DELETE FROM project_requests WHERE id <= (SELECT id FROM project_requests ORDER BY id DESC LIMIT 1 OFFSET ?)
            """, [Ledger.requestsRemembered])
    }

    // MARK: Files

    private func files() throws -> [ProjectFile] {
        guard let root = try db.rootDirectory(of: folder) else { return [] }
        return try db.rows(
            "SELECT id, CAST(name AS TEXT), object_id IS NOT NULL, state, error FROM photos WHERE directory_id = ?",
            [root])
    }
}

/// A file directly in the folder.
private struct ProjectFile: FetchableRecord {
    let row: Int64
    let name: ProjectFileName
    let isStored: Bool
    let error: String?
    private let state: String

    var id: ByteString? { name.id?.inBytes }
    var isStoredImage: Bool {
        if case .image = name { isStored } else { false }
    }
    var isImageOnDisk: Bool {
        if case .image = name { PhotoState(rawValue: state)?.isOnDisk == true } else { false }
    }

    init(row: Row) {
        self.row = row[0]
        name = ProjectFileName(row[1] as String)
        isStored = row[2]
        state = row[3]
        error = row[4]
    }
}

extension ProjectRecord {
    /// As it comes back from the ledger.
    fileprivate var inMilliseconds: ProjectRecord {
        var record = self
        record.createdAt = Date(milliseconds: createdAt.milliseconds)
        return record
    }
}

/// A project as `projects.json` told of it when it could be read last.
package struct KnownProject: Hashable, Sendable {
    package var record: ProjectRecord
    /// The project of which it is a duplicate.
    package var duplicateOf: String?
    /// Whether somebody asked for it to be deleted, and that is not done yet.
    package var isDeleting: Bool

    package init(record: ProjectRecord, duplicateOf: String? = nil, isDeleting: Bool = false) {
        self.record = record
        self.duplicateOf = duplicateOf
        self.isDeleting = isDeleting
    }

    package func verdict(at now: Date) -> ProjectVerdict {
        ProjectVerdict(record, duplicateOf: duplicateOf, isDeleting: isDeleting, at: now)
    }
}

extension KnownProject: FetchableRecord {
    static let columns = """
        projects.id, projects.template_id, projects.template_name, projects.thumbnail_url, projects.created_at, \
        projects.status, projects.request_id, projects.duplicate_of, EXISTS (SELECT 1 FROM project_deletions \
        WHERE project_deletions.folder = projects.folder AND project_deletions.project_id = projects.id)
        """

    init(row: Row) throws {
        record = ProjectRecord(
            id: row[0], templateID: row[1], templateName: row[2], thumbnailURL: row[3],
            createdAt: Date(milliseconds: row[4]), status: try ProjectRecord.Status(rawValue: row[5]).known(),
            requestID: row[6])
        duplicateOf = row[7]
        isDeleting = row[8]
    }
}

/// What is known of the `projects.json` of a folder.
package struct ProjectListState: Hashable, Sendable {
    /// Of the file that was looked at last.
    package var stamp: FileStamp
    /// When it could be read last; `nil` when it never could.
    package var readAt: Date?
    /// What is wrong with the file now, in plain words: the state before counts.
    package var problem: String?
}

extension ProjectListState: FetchableRecord {
    init(row: Row) {
        readAt = row.time(0)
        problem = row[1]
        stamp = FileStamp(row: row, from: 2)
    }
}

/// What a new state of `projects.json` changed.
package struct ProjectListChanges: Hashable, Sendable {
    package var added = 0
    package var changed = 0
    /// Records that are no longer in the file. What is stored of them stays stored.
    package var removed = 0

    package var isEmpty: Bool { added + changed + removed == 0 }
}
