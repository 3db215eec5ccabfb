import ArgumentParser
import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncWatch

struct StatusCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what is safe, what is not yet, and why.",
        usage: "sync-agent status [<paths> ...] [<options>]",
        discussion: """
            Without a path it shows an overview, with paths every photo there, including those that were deleted on \
            this machine. Storage classes are those that the store last reported; the agent asks it every day, \
            --refresh asks now, with one request for each thousand objects. It also finds what the store no longer \
            has: the next sync stores it again.

            --check is for monitoring, as a Nagios plugin: one line with numbers, and exit code 0 for OK, 1 for \
            WARNING, 2 for CRITICAL, 3 for UNKNOWN. CRITICAL: photos are lost; stored objects are damaged or gone; a \
            photo waits, the store is away or takes no photos, or no agent runs and no pass finished, for more than 3 \
            days. WARNING: the same for more than a day; a photo is tried in vain for more than an hour; the store \
            cannot be reached, or takes no photos; a disk is full; photos cannot be stored; a folder cannot be read, or \
            was not looked at yet; gallery events are overdue; the catalogue is not up to date; there was no pass yet, \
            or the last one is later than the clock of this machine.

              ❄️  archived    ⏳  retrieving    ✨  restored    ⭐  rush    ⚠️  error

            EXAMPLES
              sync-agent status
              sync-agent status --watch
              sync-agent status --refresh
              sync-agent status --machines
              sync-agent status --check
              sync-agent status ~/Pictures/Gallery/IMG_0001.jpg
              sync-agent status --json | jq .oldestUnsynced
            """
    )

    @Argument(help: "Files or folders to show.", completion: .file())
    var paths: [PathArgument] = []

    @Flag(help: "Keep showing the overview until Ctrl-C.")
    var watch = false

    @Flag(help: "Query the store for the class of every object first.")
    var refresh = false

    @Flag(help: "Show the machines that store for this user, and when each last did.")
    var machines = false

    @Flag(help: "Check: one line and exit code 0, 1, 2 or 3, for monitoring.")
    var check = false

    @OptionGroup var options: AnswerOptions

    var isQuery: Bool { !refresh && !machines }

    func run() async throws {
        guard check else { return try await runInWorkspace() }
        try await Console.run { console in
            do {
                return try await openWorkspace(console).whileOpen(answer)
            } catch {
                return StatusCheck.unknown(error).answer
            }
        }
    }

    func validate() throws {
        if check, machines || watch || refresh || options.json || !paths.isEmpty {
            throw ValidationError("--check goes alone")
        }
        if machines, watch || refresh || !paths.isEmpty {
            throw ValidationError("--machines goes with --json alone")
        }
        if watch, options.json || !paths.isEmpty {
            throw ValidationError("--watch shows the overview; leave out --json and the paths")
        }
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        if machines { return try await listMachines(workspace) }
        if refresh { try await refreshClasses(workspace) }
        if !paths.isEmpty { return try await listPhotos(workspace) }
        if watch { try await follow(workspace) }
        let status = try await StatusReader(workspace: workspace).readNow(for: workspace.console.output)
        if check {
            let (report, since) = (status.report, status.waitingSince)
            return StatusCheck(report: report, waitingSince: since, now: status.now).result.answer
        }
        if status.report.store.reachable, let hint = try await RebuildHint.text(workspace) {
            workspace.console.errors.writeLine(hint)
        }
        return Answer(status.report) { _ in status.lines }
    }

    private func refreshClasses(_ workspace: Workspace) async throws {
        let services = try await RestoreServices(workspace, access: .reads)
        let terminal = workspace.console.errors
        let line = ProgressLine(terminal, time: workspace.time, elsewhere: .nothing)
        let result: ClassRefresh.Summary
        do {
            defer { line.finish() }
            result = try await services.refresh.run { seen in
                line.update { _ in "checked \(Quantities.counted(seen, "object"))" }
            }
        } catch let error as StoreError {
            guard try await workspace.hasNoStoreYet(error) else { throw error }
            return terminal.writeLine("the store is not there yet; the first sync makes it")
        }
        var summary =
            "checked \(Quantities.counted(result.seen, "object")); \(Quantities.count(result.changed)) "
            + "had changed"
        let broken = result.findings.broken
        if broken.objects > 0 {
            summary += "; \(Quantities.count(broken.objects)) are no longer there as they were stored "
            summary += "(\(Quantities.counted(broken.pending, "photo")) to be stored again, "
            summary += "\(Quantities.count(broken.lost)) lost)"
        }
        if result.findings.mended > 0 { summary += "; \(Quantities.count(result.findings.mended)) are there again" }
        terminal.writeLine(summary)
        for problem in result.problems {
            terminal.writeLine("cannot be checked: \(problem.key.rawValue.escapingControls): \(problem.reason)")
        }
        if result.problemCount > result.problems.count {
            terminal.writeLine("cannot be checked: \(Quantities.counted(result.problemCount, "object")) in all")
        }
    }

    private func listMachines(_ workspace: Workspace) async throws -> Answer {
        let (ledger, keys) = (try await workspace.ledger, try workspace.keys)
        let (found, problems) = try await MachineNotes(
            store: try await workspace.readStore(), ledger: ledger, keys: keys, pool: workspace.threads.disk,
            time: workspace.time
        ).run()
        for problem in problems { workspace.console.errors.writeLine(problem.escapingControls) }
        let (installation, now) = (workspace.installation, workspace.time.now())
        let report = try await ledger { try MachinesReport(found, installation, $0) }
        return Answer(report, status: problems.isEmpty ? .done : .partlyDone) {
            MachinesView(terminal: $0, now: now).lines(report)
        }
    }

    private func listPhotos(_ workspace: Workspace) async throws -> Answer {
        let (paths, isJSON, output) = (paths.map(\.text), options.json, workspace.console.output)
        let (policy, now) = (try workspace.installation.tierPolicy(), workspace.time.now())
        let locator = workspace.installation.pathLocator
        let (reports, unknown) = try await workspace.ledger { ledger in
            try ledger.expireRestores(at: now)
            let view = PhotoListView(terminal: output)
            var reports: [PhotoReport] = []
            var elsewhere = PhotosElsewhere(ledger: ledger, scanner: FileTreeScanner())
            let unknown = try locator.photos(at: paths, in: ledger) { photo in
                let status = try PhotoStatusText(
                    photo, policy: policy, elsewhere: elsewhere.words(photo), in: ledger, now: now)
                let versions = try ledger.versions(of: photo)
                let original = try photo.object.flatMap { try ledger.original(of: $0.key) }
                let unit = try ledger.unit(of: photo)
                if isJSON {
                    reports.append(PhotoReport(status, original: original, versions: versions, unit: unit))
                } else {
                    // At once: there may be many.
                    (view.lines(status) + view.lines(unit, of: photo) + view.lines(original: original)
                        + view.lines(versions))
                        .forEach(output.writeLine)
                }
            }
            return (reports, unknown)
        }
        return Answer(["files": reports], failure: unknown.failure) { _ in [] }
    }

    private func follow(_ workspace: Workspace) async throws {
        let output = workspace.console.output
        let reader = StatusReader(workspace: workspace)
        if output.isInteractive { output.write("\u{1B}[2J") }
        while true {
            let lines = try await reader.readNow(for: output).lines
            // Home, the text with each line cleared to its end, then whatever is left below (ECMA-48).
            output.write(
                output.isInteractive
                    ? "\u{1B}[H" + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J"
                    : lines.map { $0 + "\n" }.joined() + "\n")
            try await workspace.time.sleep(.seconds(1))
        }
    }
}

extension StatusCommand {
    /// The command and flags of it, each once, without ArgumentParser, which looks up at run time what a property is: for
    /// `status` that would be a quarter of its CPU, and monitoring asks again and again.
    /// - Returns: `nil` for all other command lines, right or wrong: ArgumentParser has the words for them.
    init?(flags words: [String]) {
        guard words.first == Self.configuration.commandName else { return nil }
        var flags = Set(words.dropFirst())
        guard flags.count == words.count - 1 else { return nil }
        func take(_ flag: String) -> Bool { flags.remove(flag) != nil }
        // Set within an initialiser of its own, the properties would be defined again, and hold nothing.
        var command = Self()
        command.paths = []
        command.watch = take("--watch")
        command.refresh = take("--refresh")
        command.machines = take("--machines")
        command.check = take("--check")
        command.options = AnswerOptions()
        command.options.json = take("--json")
        command.options.global = GlobalOptions()
        command.options.global.configurationFile = nil
        command.options.global.verbose = take("--verbose")
        guard flags.isEmpty, (try? command.validate()) != nil else { return nil }
        self = command
    }
}

/// `status --machines --json`.
struct MachinesReport: Encodable {
    struct Machine: Encodable {
        var id: String
        @Nullable var name: String?
        var isThis: Bool
        @Nullable var lastSyncAt: Date?
        @Nullable var pending: Int?
        @Nullable var failed: Int?
        @Nullable var lost: Int?
        @Nullable var version: String?

        init(_ machine: MachineNotes.Machine) {
            (id, name, isThis) = (machine.id, machine.name, false)
            (lastSyncAt, version) = (machine.note?.lastSyncAt, machine.note?.version)
            (pending, failed, lost) = (machine.note?.pending, machine.note?.failed, machine.note?.lost)
        }

        /// This machine, as it is at this moment.
        init(this id: String, name: String, _ overview: Overview) {
            (self.id, self.name, isThis) = (id, name, true)
            (lastSyncAt, version) = (overview.lastSyncAt, SyncAgentCommand.version)
            (pending, failed, lost) = (overview.totals.waiting, overview.totals[.failed].files, overview.lostHere)
        }
    }

    var machines: [Machine]
}

extension MachinesReport {
    /// - Parameter found: what the store tells.
    init(_ found: [MachineNotes.Machine], _ installation: Installation, _ ledger: Ledger) throws {
        let own = try ledger.catalogStatus().machine
        let this = Machine(this: own, name: installation.machineName, try ledger.overview())
        machines = [this] + found.map { Machine($0) }
    }
}

/// `status --machines`, for people.
struct MachinesView {
    private static let table = Table(.left(22, gap: 2), .left(20, gap: 2), .right(9, gap: 2), .right(8, gap: 2), .rest)
    /// After so many days without a pass, somebody should look.
    private static let silence: TimeInterval = 7 * 86_400

    let terminal: Terminal
    let now: Date

    func lines(_ report: MachinesReport) -> [String] {
        if terminal.isNarrow(for: 80) { return report.machines.flatMap(entry) }
        let head = Self.table.row("machine", "last whole pass", "waiting", "failed", "")
        return [terminal.styled(head, .bold)]
            + report.machines.map { machine in
                Self.table.row(
                    name(machine), age(machine), machine.pending.map(Quantities.count) ?? "-",
                    machine.failed.map(Quantities.count) ?? "-", remark(machine))
            }
    }

    private func entry(_ machine: MachinesReport.Machine) -> [String] {
        let counts = [("waiting", machine.pending), ("failed", machine.failed)]
            .compactMap { name, count in count.map { "\(Quantities.count($0)) \(name)" } }
        return terminal.wrapped(name(machine))
            + terminal.wrapped(
                ([age(machine)] + counts + [remark(machine)]).filter { !$0.isEmpty }.joined(separator: ", "), indent: 2)
    }

    private func name(_ machine: MachinesReport.Machine) -> String {
        (machine.name ?? machine.id).escapingControls
    }

    private func age(_ machine: MachinesReport.Machine) -> String {
        guard let last = machine.lastSyncAt else { return machine.isThis ? "none yet" : "not told" }
        // Why it has no age is told beside it.
        return last.isAhead(of: now) ? Quantities.time(last) : Quantities.ago(last, now: now)
    }

    private func remark(_ machine: MachinesReport.Machine) -> String {
        let isAhead = machine.lastSyncAt?.isAhead(of: now) ?? false
        if machine.isThis {
            return isAhead ? terminal.styled("this machine, its clock was ahead", .yellow) : "this machine"
        }
        guard let last = machine.lastSyncAt else { return "" }
        if isAhead { return terminal.styled("its clock is ahead of this one", .yellow) }
        guard now.timeIntervalSince(last) > Self.silence else { return "" }
        return terminal.styled("silent: is it on?", .yellow)
    }
}
