package import FoundationEssentials
package import SyncCore
package import SyncLedger
import SystemPackage

/// Decides, file by file, what a projects folder stores: images and metadata of projects that are worth it, and
/// `projects.json` after them. A folder that never had a `projects.json` stores what is in it.
package struct ProjectUploadPolicy: Sendable {
    package enum Decision: Hashable, Sendable {
        /// As the planner says.
        case pass
        /// The image of a project: earlier ones of it are kept.
        case image(of: String)
        /// As well, but it may not be whole yet.
        case unfinishedImage(of: String)
        /// The list, if it still is the file with this stamp.
        case list(FileStamp)
        case done(Outcome)

        /// What is kept earlier versions of: the project whose image it is, or the list.
        var project: String? {
            switch self {
            case .image(let id), .unfinishedImage(let id): id
            case .list: ProjectFileName.listName
            case .pass, .done: nil
            }
        }
    }

    /// When a file that waits is looked at again, unless a new list brings it back at once.
    private static let pause = Duration.seconds(600)
    private static let shortPause = Duration.seconds(1)

    private let shelf: ProjectListSync
    private let ledger: Ledger
    private let now: @Sendable () -> Date

    package init(shelf: ProjectListSync, ledger: Ledger, now: @escaping @Sendable () -> Date) {
        self.shelf = shelf
        self.ledger = ledger
        self.now = now
    }

    /// Blocks.
    /// - Throws: ``LedgerError``.
    package func decide(_ claim: Claim) throws -> Decision {
        guard claim.folder.kind == .projects else { return .pass }
        let name = ProjectFileName(below: claim.relativePath)
        guard name != .other, let list = try shelf.look(at: claim.folder.path, isUrgent: name == .list) else {
            return .pass
        }
        switch name {
        case .list: return try decide(list, in: claim.folder.path)
        case .image(let id): return try decide(id, list, claim, isImage: true)
        case .metadata(let id): return try decide(id, list, claim, isImage: false)
        case .other: return .pass
        }
    }

    private func decide(_ list: ProjectListState, in folder: FilePath) throws -> Decision {
        if let problem = list.problem {
            return .done(
                .failed(
                    "\(problem); the state before counts, and stays stored. It is read again when it changes", nil))
        }
        let waiting = Set(try ledger.projectFilesWaiting(in: folder).compactMap { ProjectFileName($0).id?.inBytes })
        let wanted =
            try !waiting.isEmpty
            && ledger.projects(in: folder).contains { project in
                waiting.contains(project.record.id.inBytes) && project.verdict(at: now()) == .store
            }
        if wanted {
            return .done(.waits("it is stored after the images of its projects", until: now() + Self.shortPause))
        }
        return .list(list.stamp)
    }

    private func decide(
        _ id: String, _ list: ProjectListState, _ claim: Claim, isImage: Bool
    ) throws -> Decision {
        guard let project = try ledger.project(id, in: claim.folder.path) else {
            guard let problem = list.problem else {
                return .done(.skipped(ProjectVerdict.noRecord, isImage ? .unrecorded : nil))
            }
            return .done(.waits("projects.json cannot be used: \(problem)", until: now() + Self.pause))
        }
        let verdict = try verdict(on: project, claim, isImage: isImage)
        if let reason = verdict.reason { return .done(.skipped(reason, isImage ? verdict.leftOut : nil)) }
        guard isImage else { return .pass }
        return verdict == .store ? .image(of: id) : .unfinishedImage(of: id)
    }

    /// A project whose image came after the list was read: it may stand for one without an image, or with a broken one.
    private func verdict(on project: KnownProject, _ claim: Claim, isImage: Bool) throws -> ProjectVerdict {
        let verdict = project.verdict(at: now())
        let folder = claim.folder.path
        guard isImage, case .duplicate(let original) = verdict, try ledger.project(original, in: folder) != nil else {
            return verdict
        }
        if try ledger.isProjectImageBroken(original, in: folder) {
            try ledger.freeDuplicates(of: original, in: folder, at: now())
        } else if try !ledger.hasProjectImage(original, in: folder) {
            try ledger.reviewProjects(in: folder, at: now())
        } else {
            return verdict
        }
        return try ledger.project(project.record.id, in: folder)?.verdict(at: now()) ?? verdict
    }

    /// What an image that could not be decoded comes to while its project is in the making.
    package func outcome(ofUnfinished error: PhotoError) -> Outcome? {
        switch error.code {
        case .truncated, .corrupt, .notAPhoto, .notStored, .unsupported:
            .waits(ProjectVerdict.unfinished, until: now() + Self.pause)
        default: nil
        }
    }
}
