import ArgumentParser
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SystemPackage

struct ProjectsMigrateCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Move a projects folder to another place, without losing anything.",
        usage: "sync-agent projects migrate <old> <new> [<options>]",
        discussion: """
            Copies every file, reads each copy back, and removes the old folder only when all copies are verified. A \
            file in the new place is never replaced: if one differs, it is named, and nothing is removed. If \
            interrupted, run it again.

            EXAMPLES
              sync-agent projects migrate --dry-run ~/Projects ~/Pictures/Projects
              sync-agent projects migrate ~/Documents/Projects ~/Pictures/Projects
            """
    )

    @Argument(help: "The current folder.", completion: .directory)
    var old: PathArgument

    @Argument(help: "The new folder.", completion: .directory)
    var new: OutputArgument

    @Flag(help: "Dry run: show what would be copied.")
    var dryRun = false

    @OptionGroup var options: AnswerOptions

    func answer(_ workspace: Workspace) async throws -> Answer {
        let old = old.path
        let new = try new.path(ofProjectsIn: old, workspace.installation)
        // What is half deleted is known by its folder: under another name it would be stored again.
        if let id = try await workspace.ledger({ try $0.projectsBeingDeleted(in: old) }).first?.escapingControls {
            throw CommandFailure(
                .failed, "project \(id) is being deleted; finish that first: sync-agent projects delete \(id)")
        }
        return Answer(try await migrate(old, new, workspace))
    }

    private func migrate(_ old: FilePath, _ new: FilePath, _ workspace: Workspace) async throws -> MigrationReport {
        let migration = ProjectMigration(from: old, to: new)
        let pool = workspace.threads.disk
        let line = ProgressLine(workspace.console.errors, time: workspace.time, elsewhere: .nothing)
        defer { line.finish() }
        do {
            if dryRun { return MigrationReport(try await pool.runChecking { try migration.plan($0) }, old, new) }
            let result = try await pool.runChecking { flag in
                try migration.run(flag) { done in
                    line.update { _ in "\(Quantities.counted(done, "file")) copied and proven" }
                }
            }
            return MigrationReport(result, old, new)
        } catch let error as Errno {
            throw DownloadError(error, new)
        }
    }
}

/// What `projects migrate` did, or would do.
struct MigrationReport: Report {
    struct Conflict: Encodable {
        var path: String
        var reason: String

        init(_ conflict: ProjectMigration.Conflict) { (path, reason) = (conflict.path.text, conflict.reason) }
    }

    var from: String
    var to: String
    var dryRun: Bool
    /// Files that were copied, or are to be.
    var copied: Int
    var alreadyThere: Int
    var bytes: Int64
    /// Files of the old folder that were removed.
    var removed = 0
    var conflicts: [Conflict]
    private var isOldLeft = false

    private enum CodingKeys: String, CodingKey {
        case from, to, dryRun, copied, alreadyThere, bytes, removed, conflicts
    }

    init(_ plan: ProjectMigration.Plan, _ old: FilePath, _ new: FilePath) {
        (from, to, dryRun) = (old.text, new.text, true)
        (copied, alreadyThere, bytes) = (plan.files, plan.alreadyThere, plan.bytes)
        conflicts = plan.conflicts.map(Conflict.init)
    }

    init(_ result: ProjectMigration.Summary, _ old: FilePath, _ new: FilePath) {
        (from, to, dryRun) = (old.text, new.text, false)
        (copied, alreadyThere, bytes) = (result.copied, result.alreadyThere, result.bytes)
        (removed, isOldLeft) = (result.removed, result.isOldLeft)
        conflicts = result.conflicts.map(Conflict.init)
    }

    var status: ExitStatus { conflicts.isEmpty ? .done : .partlyDone }

    func lines(on terminal: Terminal) -> [String] {
        let verb = dryRun ? "to copy" : "copied and proven"
        var lines = conflicts.map { "\($0.path.escapingControls): \($0.reason)" }
        var sum = "\(Quantities.counted(copied, "file")) \(verb) (\(Quantities.bytes(bytes)))"
        if alreadyThere > 0 { sum += ", \(Quantities.count(alreadyThere)) there already" }
        lines.append(sum)
        if !conflicts.isEmpty {
            lines.append(
                dryRun ? "These have to be settled first." : "The old folder stays: \(from.escapingControls)")
        } else if !dryRun {
            let old = isOldLeft ? "empty, and stays: a drive is mounted there" : "gone"
            lines.append("The old folder is \(old). Now name the new one in the configuration (watch):")
            lines.append("  - {kind: projects, path: \(to.escapingControls)}")
        }
        return lines
    }
}
