import SyncCore
import SyncEngine
import SystemPackage

/// `archive download --json`.
struct ArchiveDownloadReport: Report {
    struct Failure: Encodable {
        var key: String
        var message: String
    }

    /// The folder, or the zip file.
    var destination: String
    /// Photos that are there now and were not before.
    var saved = 0
    var alreadyThere = 0
    /// Keys of photos whose name another file has; it stayed.
    var kept: [String] = []
    var failed: [Failure] = []
    /// What has to be restored first, and what is on its way.
    var archived: Int
    var retrieving: Int
    @Nullable var restore: RestoreReport?

    init(
        _ destination: FilePath, _ memories: [ArchivedGalleryPhoto], _ outcomes: [ArchiveDownload.Outcome],
        of all: ArchivePage,
        restore: RestoreReport?
    ) {
        self.destination = destination.text
        archived = all.photos.count { $0.standing == .archived }
        retrieving = all.photos.count { $0.standing == .retrieving }
        self.restore = restore
        failed = all.problems.map { Failure(key: $0.key.rawValue, message: $0.reason) }
        for (memory, outcome) in zip(memories, outcomes) {
            switch outcome {
            case .success(.saved): saved += 1
            case .success(.alreadyThere), .success(.originalThere): alreadyThere += 1
            case .success(.kept): kept.append(memory.key.rawValue)
            case .failure(let error): note(error, memory)
            }
        }
    }

    private mutating func note(_ error: any Error, _ memory: ArchivedGalleryPhoto) {
        if let error = error as? StoreError, error.code == .archived {
            // The store's rules have moved it since it was listed.
            archived += 1
        } else {
            failed.append(Failure(key: memory.key.rawValue, message: "\(error)"))
        }
    }

    var status: ExitStatus {
        if let restore, restore.status != .done { return .partlyDone }
        return kept.isEmpty && failed.isEmpty ? .done : .partlyDone
    }

    func lines(on terminal: Terminal) -> [String] {
        var lines = failed.flatMap { failure in
            [terminal.styled("failed", .red) + "  " + failure.key.escapingControls]
                + terminal.wrapped(failure.message.escapingControls, indent: 8)
        }
        lines += kept.map { "\($0.escapingControls): another file has its name there; it was kept" }
        var sum = "\(Quantities.counted(saved, "photo")) saved in \(destination.escapingControls)"
        if alreadyThere > 0 { sum += ", \(Quantities.count(alreadyThere)) there already" }
        lines.append(sum)
        var rest: [String] = []
        if archived > 0, restore == nil {
            rest.append(
                "\(Quantities.counted(archived, "photo")) left out: in the archive. Request them with --restore.")
        }
        if retrieving > 0 {
            rest.append("\(Quantities.counted(retrieving, "photo")) left out: on the way from the archive.")
        }
        if retrieving > 0 || restore != nil {
            rest.append("When they are available, run the same command again; follow them with: sync-agent restores")
        }
        return lines + rest.flatMap { terminal.wrapped($0) }
    }
}
