import ArgumentParser
import SyncArchive
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncSystem
import SystemPackage

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
            if items.isEmpty { throw CommandFailure(.failed, "there is no image to export") }
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
