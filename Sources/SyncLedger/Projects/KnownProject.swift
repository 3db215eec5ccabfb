package import FoundationEssentials
import GRDB
package import SyncCore

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
        guard let status = ProjectRecord.Status(rawValue: row[5]) else { throw UnknownName() }
        record = ProjectRecord(
            id: row[0], templateID: row[1], templateName: row[2], thumbnailURL: row[3],
            createdAt: Date(milliseconds: row[4]), status: status, requestID: row[6])
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
        readAt = (row[0] as Int64?).map(Date.init(milliseconds:))
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

    package init() {}

    package var isEmpty: Bool { added + changed + removed == 0 }
}
