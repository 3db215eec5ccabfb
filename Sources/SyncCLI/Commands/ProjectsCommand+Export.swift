import ArgumentParser
import FoundationEssentials
import SyncArchive
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncSystem
import SystemPackage

struct ProjectsExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Save the images of projects in a folder or a zip file.",
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
    var names: [String] = []

    @Option(help: ArgumentHelp("Write one zip file.", valueName: "file"), completion: .file(extensions: ["zip"]))
    var zip: String?

    @Flag(help: "Print the result as one JSON object.")
    var json = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if zip == nil, names.isEmpty { throw ValidationError("name a folder, or a file with --zip") }
    }

    func run() async throws {
        let environment = ProcessEnvironment.current
        try await reportingFailure(.standardError(environment)) {
            let installation = try Installation(global)
            let ledger = try installation.openLedger()
            let parts = ProjectParts(installation, ledger: ledger)
            let report = try await export(try meant(parts.entries()), parts, installation.time)
            let output = Terminal.standardOutput(environment)
            if json { output.writeLine(try JSONOutput.text(report)) } else { report.lines.forEach(output.writeLine) }
            try ledger.close()
            if !report.isComplete { throw ExitStatus.partlyDone.code }
        }
    }

    private func meant(_ entries: [ProjectEntry]) throws -> [ProjectEntry] {
        let ids = zip == nil ? Array(names.dropFirst()) : names
        if ids.isEmpty { return entries.filter { $0.project.duplicateOf == nil } }
        return try ids.map { try ProjectFilter.project($0, in: entries) }
    }

    private func export(
        _ entries: [ProjectEntry], _ parts: ProjectParts, _ time: TimeSource
    ) async throws -> ProjectExportReport {
        let pool = BlockingPool(name: "export", threads: 2)
        let export = ProjectExport(store: try parts.openStore(.reads), pool: pool, time: time)
        let (items, without) = ProjectExport.items(of: entries)
        let outcomes: [ProjectExport.Outcome]
        let destination: FilePath
        if let zip {
            destination = Self.absolute(zip)
            if items.isEmpty { throw CommandFailure(.failed, "there is no image to export") }
            let archive = try ZipFile(at: destination)
            do {
                outcomes = try await export.save(items, into: archive, at: destination)
            } catch {
                archive.cancel()
                throw error
            }
        } else {
            destination = Self.absolute(names[0])
            try FolderMaker().makeFolder(
                destination, permissions: [.ownerReadWriteExecute, .groupReadExecute, .otherReadExecute])
            outcomes = await export.save(items, to: destination)
        }
        return ProjectExportReport(destination, items, outcomes, without: without)
    }

    private static func absolute(_ path: String) -> FilePath {
        ProcessEnvironment.workingFolder.pushing(FilePath(path)).lexicallyNormalized()
    }
}

/// What `projects export` did.
struct ProjectExportReport: Encodable {
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
        self.destination = destination.string
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

    var isComplete: Bool { kept.isEmpty && failed.isEmpty }

    var lines: [String] {
        var lines = failed.map { "\($0.id.escapingControls): \($0.message)" }
        lines += kept.map { "\($0.escapingControls): another file has its name there; it was kept" }
        var sum = "\(Quantities.counted(saved, "image")) saved in \(destination.escapingControls)"
        if alreadyThere > 0 { sum += ", \(Quantities.count(alreadyThere)) there already" }
        if !withoutImage.isEmpty { sum += ", \(Quantities.counted(withoutImage.count, "project")) without an image" }
        lines.append(sum)
        return lines
    }
}
