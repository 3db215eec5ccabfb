package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// The ledger's number for a watched folder. It stays the same as long as the folder's path does.
package struct FolderID: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }
}

/// A watched folder as the ledger knows it.
package struct FolderRecord: Hashable, Sendable {
    package let id: FolderID
    package let kind: WatchedFolder.Kind
    package let path: FilePath
    package let profile: String?
    /// How it was watched last; `nil` before the first time.
    package let watching: WatchReport.Mode?
    /// What is wrong with watching it, with the remedy.
    package let note: String?
    /// What kept its last scan from seeing all of it, with the remedy; `nil` when it saw everything.
    package let problem: String?
    package let scannedAt: Date?

    package init(
        id: FolderID, folder: WatchedFolder, watching: WatchReport.Mode? = nil, note: String? = nil,
        problem: String? = nil, scannedAt: Date? = nil
    ) {
        self.id = id
        kind = folder.kind
        path = folder.path
        profile = folder.profile
        self.watching = watching
        self.note = note
        self.problem = problem
        self.scannedAt = scannedAt
    }

    package var folder: WatchedFolder { WatchedFolder(kind: kind, path: path, profile: profile) }
}

extension FolderRecord: FetchableRecord {
    static let columns = "id, kind, path, profile, watching, note, problem, scanned_at"

    init(row: Row) throws {
        let name: String = row[1]
        guard let kind = WatchedFolder.Kind(rawValue: name) else { throw UnknownName() }
        id = FolderID(rawValue: row[0])
        self.kind = kind
        path = FilePath(blob: row[2])
        profile = row[3]
        watching = (row[4] as String?).flatMap(WatchReport.Mode.init)
        note = row[5]
        problem = row[6]
        scannedAt = (row[7] as Int64?).map(Date.init(milliseconds:))
    }
}

extension WatchedFolder.Kind {
    /// Whether a photo's key is made of its content alone, so that it may move without being stored again.
    var isPooled: Bool { self != .projects }
}

/// The ledger holds a word that this version does not know. The schema's checks keep such words out.
struct UnknownName: Error {}
