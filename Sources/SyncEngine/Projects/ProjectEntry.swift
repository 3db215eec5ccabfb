import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SystemPackage

/// A project with all that is known of it: its record, its files, and what is stored.
package struct ProjectEntry: Hashable, Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        // As for photos.
        case pending, uploading, uploaded, failed, skipped, missing, lost
        /// Another project stands for the same image.
        case duplicate
        /// It has been processing for too long.
        case dropped
        /// Somebody asked for that, and something is left.
        case deleting
        /// Its image is stored, and `projects.json` has no record of it that can be used.
        case unrecorded
    }

    /// The projects folder.
    package let folder: FilePath
    package let project: KnownProject
    package let image: PhotoStatus?
    package let metadata: PhotoStatus?
    /// How many earlier images of it are stored.
    package let versions: Int
    package let state: State
    /// Why it is not stored, in plain words.
    package let reason: String?

    package var record: ProjectRecord { project.record }
    /// What is stored of its image: of the file as it is, or of an earlier one.
    package var object: ObjectRecord? { image?.object ?? image?.earlier }
}

extension ProjectEntry {
    init(
        folder: FilePath, project: KnownProject, image: PhotoStatus?, metadata: PhotoStatus?, versions: Int, now: Date
    ) {
        let (state, reason) = Self.state(project.verdict(at: now), image)
        self.init(
            folder: folder, project: project, image: image, metadata: metadata, versions: versions, state: state,
            reason: reason)
    }

    /// A project of which only the image is known.
    init(unrecorded id: String, in folder: FilePath, image: PhotoStatus?, metadata: PhotoStatus?, versions: Int) {
        let object = image?.object ?? image?.earlier
        let record = ProjectRecord(
            id: id, templateID: "", templateName: "", createdAt: object?.storedAt ?? .distantPast, status: .completed)
        self.init(
            folder: folder, project: KnownProject(record: record), image: image, metadata: metadata, versions: versions,
            state: .unrecorded, reason: "its image is stored, and projects.json does not name it")
    }

    /// A project that is being deleted, and whose record is gone.
    init(deleting id: String, in folder: FilePath, image: PhotoStatus?, metadata: PhotoStatus?, versions: Int) {
        let record = ProjectRecord(
            id: id, templateID: "", templateName: "", createdAt: image?.modified ?? .distantPast, status: .completed)
        self.init(
            folder: folder, project: KnownProject(record: record, isDeleting: true), image: image, metadata: metadata,
            versions: versions, state: .deleting, reason: ProjectVerdict.isBeingDeleted)
    }

    /// A project whose record cannot be used.
    /// - Parameter record: what can be read of it.
    init(
        unusable record: ProjectRecord, _ problem: ProjectList.Problem, in folder: FilePath, image: PhotoStatus?,
        metadata: PhotoStatus?, versions: Int
    ) {
        let isStored = image?.object != nil || image?.earlier != nil
        self.init(
            folder: folder, project: KnownProject(record: record), image: image, metadata: metadata, versions: versions,
            state: isStored ? .unrecorded : .skipped, reason: ProjectVerdict.withoutRecord(problem.reason))
    }

    private static func state(_ verdict: ProjectVerdict, _ image: PhotoStatus?) -> (State, String?) {
        switch verdict {
        case .duplicate: (.duplicate, verdict.reason)
        case .deleting: (.deleting, verdict.reason)
        case .giveUp where image?.object == nil: (.dropped, verdict.reason)
        case .failed where image?.object == nil: (.skipped, verdict.reason)
        case .storeWhenWhole where image == nil: (.pending, "it is still processing")
        case .store where image == nil: (.pending, "its image is not in the folder")
        default: (image.flatMap { State(rawValue: $0.state.rawValue) } ?? .pending, image?.why)
        }
    }
}
