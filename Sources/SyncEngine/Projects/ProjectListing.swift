package import FoundationEssentials
import SyncCore
package import SyncLedger
package import SystemPackage

/// All projects of some folders, put together from the ledger.
package struct ProjectListing: Sendable {
    private let ledger: Ledger
    private let listSync: ProjectListSync
    private let now: @Sendable () -> Date

    package init(ledger: Ledger, listSync: ProjectListSync, now: @escaping @Sendable () -> Date) {
        self.ledger = ledger
        self.listSync = listSync
        self.now = now
    }

    /// The newest first; of those of one moment, by id. Looks at each `projects.json` before. Blocks.
    /// - Throws: ``LedgerError``.
    package func entries(in folders: [FilePath]) throws -> [ProjectEntry] {
        let versions = try ledger.projectVersionCounts()
        var entries: [ProjectEntry] = []
        for folder in folders {
            let hasList = try listSync.refresh(folder, isUrgent: true) != nil
            var deleting = Set(try ledger.projectsBeingDeleted(in: folder).map(\.inBytes))
            guard hasList || !deleting.isEmpty else { continue }
            let files = try files(in: folder)
            for project in try ledger.projects(in: folder) {
                let id = project.record.id.inBytes
                deleting.remove(id)
                entries.append(
                    ProjectEntry(
                        folder: folder, project: project, image: files.images[id], metadata: files.metadata[id],
                        versions: versions[id] ?? 0, now: now()))
            }
            for id in deleting {
                entries.append(
                    ProjectEntry(
                        deleting: id.string, in: folder, image: files.images[id], metadata: files.metadata[id],
                        versions: versions[id] ?? 0))
            }
            let unusable = try listSync.unusableRecords(in: folder)
            for (id, problem) in unusable where !deleting.contains(id) {
                guard let record = problem.record else { continue }
                entries.append(
                    ProjectEntry(
                        unusable: record, problem, in: folder, image: files.images[id], metadata: files.metadata[id],
                        versions: versions[id] ?? 0))
            }
            for id in try ledger.unrecordedProjects(in: folder) {
                let key = id.inBytes
                if unusable[key]?.record != nil || deleting.contains(key) { continue }
                entries.append(
                    ProjectEntry(
                        unrecorded: id, in: folder, image: files.images[key], metadata: files.metadata[key],
                        versions: versions[key] ?? 0))
            }
        }
        return entries.sorted { left, right in
            left.record.createdAt == right.record.createdAt
                ? left.record.id.inBytes < right.record.id.inBytes : left.record.createdAt > right.record.createdAt
        }
    }

    private func files(
        in folder: FilePath
    ) throws -> (images: [ByteString: PhotoStatus], metadata: [ByteString: PhotoStatus]) {
        var images: [ByteString: PhotoStatus] = [:]
        var metadata: [ByteString: PhotoStatus] = [:]
        try ledger.photos(at: folder) { photo in
            guard photo.folder.path == folder else { return }
            switch ProjectFileName(below: photo.relativePath) {
            case .image(let id):
                let isUsual = photo.relativePath.extension == "jpg"
                if isUsual || images[id.inBytes] == nil { images[id.inBytes] = photo }
            case .metadata(let id): metadata[id.inBytes] = photo
            case .list, .other: break
            }
        }
        return (images, metadata)
    }
}
