import ArgumentParser
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncSystem
import SyncZip
import SystemPackage

struct ProjectsDeleteCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete projects: here and in the store.",
        usage: "sync-agent projects delete <ids> ... [<options>]",
        discussion: """
            Removes what is stored of a project, earlier images included, then its record in projects.json, then its \
            image and metadata on this machine. It asks first. A project with a file that cannot be deleted is left as it \
            is. What another machine's catalogue names stays in the store, and is named. What else fails is named and kept; \
            run it again to continue.

            EXAMPLES
              sync-agent projects delete 0F3A9C21-6C0E-4C57-9C55-1B1A0C9B5B2D
              sync-agent projects delete --dry-run 0F3A9C21-6C0E-4C57-9C55-1B1A0C9B5B2D
            """
    )

    @Argument(help: "Full project ids.")
    var ids: [String]

    @OptionGroup var consent: ConsentOptions

    @Flag(help: "Dry run: show what would be deleted.")
    var dryRun = false

    @OptionGroup var options: AnswerOptions

    func answer(_ workspace: Workspace) async throws -> Answer {
        let place = try await workspace.changing(unless: dryRun)
        let services = try await ProjectServices(place)
        try services.requireFolder()
        let store = try await place.store(dryRun ? .reads : .writes)
        let remover = try await services.makeRemover(store)
        var targets: [ProjectRemover.Target] = []
        var unknown: [String] = []
        var seen: Set<ByteString> = []
        for id in ids where seen.insert(id.inBytes).inserted {
            let found = try await remover.find(id, in: services.folders)
            targets += found
            if found.isEmpty { unknown.append(id) }
        }
        targets = try await remover.weighed(targets)
        if dryRun { return answer(ProjectDeletionReport(planned: targets, unknown: unknown)) }
        if targets.isEmpty { return answer(ProjectDeletionReport([], unknown: unknown)) }
        if !consent.yes { try await workspace.afterAsking { try ask(targets, workspace.console.people) } }
        let lock = try await takeLock(of: store, workspace)
        defer { withExtendedLifetime(lock) {} }
        return answer(ProjectDeletionReport(try await remover.remove(targets), unknown: unknown))
    }

    /// What is deleted while it is copied to another store would be there again.
    private func takeLock(of store: any ObjectStore, _ workspace: Workspace) async throws -> AgentLock {
        do {
            return try await workspace.ledger.callAsFunction { [installation = workspace.installation] ledger in
                try installation.takeDeletionLock(
                    in: store, ledger, orSay: "nothing was deleted; give the command again, for that one")
            }
        } catch is AgentLock.Held {
            throw CommandFailure(
                .locked, "another process deletes or moves what is stored; wait for it, and run this again")
        }
    }

    private func answer(_ report: ProjectDeletionReport) -> Answer { Answer(report, failure: report.failure) }

    private func ask(_ targets: [ProjectRemover.Target], _ terminal: Terminal) throws {
        ProjectDeletionReport.plan(targets).forEach(terminal.writeLine)
        let count = Quantities.counted(Set(targets.map(\.id.inBytes)).count, "project")
        // What is deleted here is gone for good.
        try Question.confirmLoss(
            "Delete \(count) for good, here and in the store?", on: terminal, to: "delete", no: "nothing was deleted")
    }
}

struct ProjectsExportCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Save the images of projects in a folder or a zip file.",
        usage: "sync-agent projects export [<dir-and-ids> ...] [<options>]",
        discussion: """
            Images come from the projects folder, and from the store where they are no longer on this machine. Without ids: \
            all projects but duplicates. Nothing is replaced.

            EXAMPLES
              sync-agent projects export ~/Desktop/prints
              sync-agent projects export ~/Desktop/prints 0F3A9C21 7B2D
              sync-agent projects export --zip ~/Desktop/prints.zip
            """
    )

    @Argument(help: ArgumentHelp("The folder (not with --zip), then ids of projects.", valueName: "dir-and-ids"))
    var names: [OutputArgument] = []

    @Option(help: ArgumentHelp("Write one zip file.", valueName: "file"), completion: .file(extensions: ["zip"]))
    var zip: OutputArgument?

    @OptionGroup var options: AnswerOptions

    func validate() throws {
        if zip == nil, names.isEmpty { throw ValidationError("name a folder, or a file with --zip") }
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        let installation = workspace.installation
        let destination = try zip?.path(installation) ?? names[0].announcedPath(installation, workspace.console)
        let entries = try meant(try await workspace.projects())
        return Answer(try await export(entries, to: destination, workspace))
    }

    private func meant(_ entries: [ProjectEntry]) throws -> [ProjectEntry] {
        let ids = zip == nil ? Array(names.dropFirst()) : names
        if ids.isEmpty { return entries.filter { $0.project.duplicateOf == nil } }
        return try ids.map { try ProjectFilter.project($0.text, in: entries) }
    }

    private func export(
        _ entries: [ProjectEntry], to destination: FilePath, _ workspace: Workspace
    ) async throws -> ProjectExportReport {
        let export = ProjectExport(
            store: try await workspace.store(.reads), pool: workspace.threads.disk, time: workspace.time)
        let (items, without) = ProjectExport.items(of: entries)
        let outcomes: [ProjectExport.Outcome]
        if zip == nil {
            try FolderMaker().makeOutput(destination, workspace.installation)
            outcomes = await export.save(items, to: destination)
        } else {
            if items.isEmpty { throw CommandFailure.failed("there is no image to export") }
            try OutputPlace.checkAgain(destination, workspace.installation)
            let archive = try ZipFile(at: destination)
            // Until it is finished, nothing has its name.
            defer { archive.cancel() }
            outcomes = try await export.save(items, into: archive, at: destination)
        }
        return ProjectExportReport(destination, items, outcomes, without: without)
    }
}

/// What `projects export` did.
struct ProjectExportReport: Report {
    struct Failure: Encodable {
        var id: String
        var message: String
    }

    var destination: String
    var saved = 0
    var alreadyThere = 0
    /// Ids of projects in whose place another file was; it stayed.
    var kept: [String] = []
    var failed: [Failure] = []
    /// Ids of projects that have no image anywhere.
    var withoutImage: [String]

    init(
        _ destination: FilePath, _ items: [ProjectExport.Item], _ outcomes: [ProjectExport.Outcome], without: [String]
    ) {
        self.destination = destination.text
        withoutImage = without
        for (item, outcome) in zip(items, outcomes) {
            switch outcome {
            case .success(.saved): saved += 1
            case .success(.alreadyThere), .success(.originalThere): alreadyThere += 1
            case .success(.kept): kept.append(item.id)
            case .failure(let error): failed.append(Failure(id: item.id, message: "\(error)"))
            }
        }
    }

    var status: ExitStatus { kept.isEmpty && failed.isEmpty ? .done : .partlyDone }

    func lines(on terminal: Terminal) -> [String] {
        var lines = failed.map { "\($0.id.escapingControls): \($0.message)" }
        lines += kept.map { "\($0.escapingControls): another file has its name there; it was kept" }
        var sum = "\(Quantities.counted(saved, "image")) saved in \(destination.escapingControls)"
        if alreadyThere > 0 { sum += ", \(Quantities.count(alreadyThere)) there already" }
        if !withoutImage.isEmpty { sum += ", \(Quantities.counted(withoutImage.count, "project")) without an image" }
        lines.append(sum)
        return lines
    }
}

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
            throw CommandFailure.failed(
                "project \(id) is being deleted; finish that first: sync-agent projects delete \(id)")
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
    var from: String
    var to: String
    var dryRun: Bool
    /// Files that were copied, or are to be.
    var copied: Int
    var alreadyThere: Int
    var bytes: Int64
    /// Files of the old folder that were removed.
    var removed = 0
    var conflicts: [PathRemark]
    @Untold var isOldLeft = false

    init(_ plan: ProjectMigration.Plan, _ old: FilePath, _ new: FilePath) {
        (from, to, dryRun) = (old.text, new.text, true)
        (copied, alreadyThere, bytes) = (plan.files, plan.alreadyThere, plan.bytes)
        conflicts = plan.conflicts.map { PathRemark($0.path, $0.reason) }
    }

    init(_ result: ProjectMigration.Summary, _ old: FilePath, _ new: FilePath) {
        (from, to, dryRun) = (old.text, new.text, false)
        (copied, alreadyThere, bytes) = (result.copied, result.alreadyThere, result.bytes)
        (removed, isOldLeft) = (result.removed, result.isOldLeft)
        conflicts = result.conflicts.map { PathRemark($0.path, $0.reason) }
    }

    var status: ExitStatus { conflicts.isEmpty ? .done : .partlyDone }

    func lines(on terminal: Terminal) -> [String] {
        let verb = dryRun ? "to copy" : "copied and proven"
        var lines = conflicts.map { "\($0.path.escapingControls): \($0.reason)" }
        var sum = "\(Quantities.counted(copied, "file")) \(verb) (\(Quantities.bytes(bytes)))"
        if alreadyThere > 0 { sum += ", \(Quantities.count(alreadyThere)) there already" }
        lines.append(sum)
        if !conflicts.isEmpty {
            lines.append(dryRun ? "These have to be settled first." : "The old folder stays: \(from.escapingControls)")
        } else if !dryRun {
            let old = isOldLeft ? "empty, and stays: a drive is mounted there" : "gone"
            lines.append("The old folder is \(old). Now name the new one in the configuration (watch):")
            lines.append("  - {kind: projects, path: \(to.escapingControls)}")
        }
        return lines
    }
}
