import ArgumentParser
import FoundationEssentials
import Logging
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncSystem
import SyncWatch
import SystemPackage

struct RebuildCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Bring back what is known of stored photos, when this disk or the ledger is gone.",
        usage: "sync-agent rebuild [--machine <name>] [<options>]",
        discussion: """
            Reads the store's catalogue: photos by their paths, vacations, shares and restores. What it lacks is found \
            by listing the store, and appears under recovered/. No photo is stored or downloaded. What the ledger \
            knows already stays; a damaged ledger is set aside, and never deleted. It can be stopped and run again.

            A machine takes the place of the one with its own name, or, when the store knows \
            no machine of that name, of the only one there is; --machine names another one. Where several have the name, \
            none is taken: they are listed with their ids and last signs of life, and --machine takes an id. Photos of \
            other machines are under machines/NAME/.

            EXAMPLES
              sync-agent rebuild
              sync-agent rebuild --machine old-laptop
              sync-agent restore --all --output ~/Pictures
            """
    )

    @Option(
        help: ArgumentHelp("Take the place of the machine with this name or id.", valueName: "name"))
    var machine: String?

    @OptionGroup var options: AnswerOptions

    func answer(_ workspace: Workspace) async throws -> Answer {
        let aside = try await setDamagedLedgerAside(workspace)
        try await workspace.takeLock()
        let result = try await Self.rebuild(workspace, inPlaceOf: machine)
        if result.fromCatalog > 0 { try await Self.makeEmptyFolders(workspace) }
        return Answer(RebuildReport(result, setAside: aside, store: workspace.settings.catalog))
    }

    /// - Throws: ``CommandFailure`` when no machine has the name, or several have it.
    static func rebuild(
        _ workspace: Workspace, inPlaceOf machine: String?, takesOver: Bool = true
    ) async throws -> LedgerRebuild.Summary {
        let line = ProgressLine(workspace.console.errors, time: workspace.time)
        defer { line.finish() }
        return try await withRebuild(workspace) { rebuild in
            try await rebuild.run(inPlaceOf: machine, takesOver: takesOver) { step in
                line.update { _ in Self.text(step) }
            }
        }
    }

    /// - Throws: what `body` throws; ``CommandFailure`` in place of what people can mend.
    private static func withRebuild<Value>(
        _ workspace: Workspace, _ body: (LedgerRebuild) async throws -> Value
    ) async throws -> Value {
        let (settings, installation) = (workspace.settings, workspace.installation)
        let ledger = try await workspace.ledger
        let store = try await workspace.store(.reads)
        let folders = try await ledger { try $0.register(settings.watch) }
        // What stays is removed with what processes leave that were killed.
        defer { _ = try? installation.rebuildSpool.unlink() }
        let rebuild = LedgerRebuild(
            store: store, ledger: ledger, keys: try workspace.keys, folders: folders,
            machineName: installation.machineName, spool: installation.rebuildSpool, scanner: FileTreeScanner(),
            pool: workspace.threads.disk, verification: try installation.verificationRuleOfRebuild(),
            moves: try await workspace.mergedPhotos(store), pruned: try await workspace.prunedVersions(store),
            time: workspace.time)
        do {
            return try await body(rebuild)
        } catch let error as LedgerRebuild.UnknownMachine {
            throw CommandFailure.noSuchPath("\(error)")
        } catch let error as LedgerRebuild.SharedName {
            throw CommandFailure.usage("\(error)")
        } catch let error as Errno {
            throw CommandFailure.failed(
                "\(installation.rebuildSpool): \(FileFault(error, or: "check the state folder").message)")
        }
    }

    /// On a new disk no restore makes a watched folder that had no photos, and each pass would ask for its drive. Only what is in
    /// the home folder is on no other drive.
    private static func makeEmptyFolders(_ workspace: Workspace) async throws {
        guard let home = workspace.installation.location.home else { return }
        let folders = try await workspace.ledger { try $0.overview().folders }
        for folder in folders where folder.record.path.starts(with: home) {
            guard PhotoState.allCases.allSatisfy({ folder.tallies[$0].files == 0 }) else { continue }
            try Folder.make(folder.record.path, permissions: FolderMaker.watched)
        }
    }

    /// Offers a rebuild where nothing is known here of what the store has; nothing is lost when nobody answers.
    static func offer(_ workspace: Workspace) async throws {
        guard let hint = try await RebuildHint.text(workspace) else { return }
        let console = workspace.console
        console.errors.writeLine(hint)
        guard console.errors.isInteractive, !console.isJSON, Question.isSomebodyThere,
            Question.confirm("Rebuild first?", on: console.errors)
        else {
            return
        }
        let result = try await rebuild(workspace, inPlaceOf: nil)
        RebuildReport(result, setAside: nil, store: workspace.settings.catalog).lines(on: console.errors)
            .forEach(console.errors.writeLine)
    }

    private static func text(_ step: LedgerRebuild.Step) -> String {
        switch step {
        case .listed(let count): "\(Quantities.counted(count, "object")) listed"
        case .named(let count): "\(Quantities.counted(count, "name")) read"
        case .recovered(let done, let total): ProgressBar.text(done, of: total, "photo") + " without a name"
        }
    }

    /// What the new ledger would be refused for, as a name that several machines have, leaves the damaged one where it is.
    /// - Returns: where a damaged ledger was put.
    private func setDamagedLedgerAside(_ workspace: Workspace) async throws -> FilePath? {
        do {
            try await workspace.ledger { try $0.requireWhole() }
            return nil
        } catch let error as LedgerError where error.code == .damaged {
            workspace.logger.warning("\(error)")
            return try await workspace.setLedgerAside {
                try await Self.withRebuild(workspace.withEmptyLedger()) {
                    try await $0.checkChoice(inPlaceOf: machine)
                }
            }
        }
    }
}

extension Installation {
    /// - Throws: ``CommandFailure``.
    func setLedgerAside() throws -> FilePath {
        do {
            return try Ledger.moveAside(ledgerFile)
        } catch {
            throw CommandFailure.refused(
                "\(ledgerFile): cannot be set aside: \(FileFault(error, or: "check its folder").message)")
        }
    }
}

/// `rebuild --json`: the fields are a contract (docs/commands.md).
struct RebuildReport: Report {
    struct Machine: Encodable {
        var id: String
        var name: String
        /// `this`, `takenOver`, `other`, `replaced`, `unreadable`.
        var role: String
        @Nullable var writtenAt: Date?
        /// Where its photos are, when it is another one.
        @Nullable var path: String?
    }

    var photos: Int
    var fromCatalog: Int
    var recovered: Int
    var vacations: Int
    var shares: Int
    var requests: Int
    var machines: [Machine]
    /// Photos that a catalogue names, and that the store does not have.
    var lost: Int
    /// Photos of restores that were still to be saved, nobody knows where.
    var unsaved: Int
    /// Stored objects that are not what was told of them, and of which only their bytes tell more.
    var unclear: Int
    /// What could not be read.
    var problems: [String]
    /// Where a damaged ledger was put.
    @Nullable var setAside: String?

    @Untold var isCatalogOff = false
    /// Problems besides those that are named.
    @Untold var unnamed = 0
    /// Stored objects that are to be read, and of which nothing else is said.
    @Untold var toBeRead = 0

    var status: ExitStatus { problems.isEmpty && lost == 0 && unclear == 0 ? .done : .partlyDone }

    func lines(on terminal: Terminal) -> [String] {
        var lines = setAside.map { ["The damaged ledger is \($0.escapingControls)."] } ?? []
        lines += problems.map { terminal.styled("not whole", .yellow) + "  \($0.escapingControls)" }
        if unnamed > 0 { lines.append("and \(Quantities.count(unnamed)) more") }
        lines.append(
            "\(Quantities.counted(photos, "photo")) known: \(Quantities.count(fromCatalog)) by name, "
                + "\(Quantities.count(recovered)) under recovered/; \(Quantities.counted(vacations, "vacation")), "
                + "\(Quantities.counted(shares, "share")) (\(Quantities.counted(requests, "request")))")
        for machine in machines {
            let name = machine.name.escapingControls
            switch machine.role {
            case "takenOver": lines.append("This machine takes the place of \(name).")
            case "other":
                let isOnly = machines.count { $0.name == machine.name } == 1
                lines.append(
                    "The photos of \(name) are under \((machine.path ?? "").escapingControls)/; if this machine is to take "
                        + "its place: sync-agent rebuild --machine \(isOnly ? name : machine.id)")
            default: continue
            }
        }
        if lost > 0 { lines.append("\(Quantities.counted(lost, "photo")) lost: sync-agent status names them") }
        if unclear > 0 {
            lines.append(
                "\(Quantities.counted(unclear, "object")) in the store may be cut, or another copy: sync-agent sync reads what "
                    + "is not as it is known, and status tells what it has found")
        }
        if toBeRead > 0 {
            lines.append(
                "\(Quantities.counted(toBeRead, "object")) in the store to be read once, as after the store was copied "
                    + "without the times of its files: sync-agent sync does it")
        }
        if unsaved > 0 {
            lines.append(
                "\(Quantities.counted(unsaved, "photo")) of restores not saved yet, and the folder is not known any more: "
                    + "sync-agent restore PATH --output DIR saves them (sync-agent restores lists them)")
        }
        if photos == 0 { return lines + ["The store has no photos of this user."] }
        if isCatalogOff { lines.append("store.catalog is off: what is stored from now on has no names in the store.") }
        return lines + [
            "Next: sync-agent sync finds what of them is on this disk; sync-agent restore --all --output DIR brings the "
                + "photos back."
        ]
    }
}

extension RebuildReport {
    init(_ result: LedgerRebuild.Summary, setAside aside: FilePath?, store: CatalogSwitch) {
        let machines = result.machines.map {
            Machine(
                id: $0.id, name: $0.name, role: $0.role.rawValue, writtenAt: $0.writtenAt,
                path: $0.place.map { String($0.text.dropFirst()) })
        }
        self.init(
            photos: result.photos, fromCatalog: result.fromCatalog, recovered: result.recovered,
            vacations: result.vacations, shares: result.shares, requests: result.requests, machines: machines,
            lost: result.lost, unsaved: result.unsaved, unclear: result.unclear, problems: result.problems,
            setAside: aside?.string, isCatalogOff: store == .off, unnamed: result.unread.unnamed,
            toBeRead: result.toBeRead)
    }
}

/// What to tell where nothing is known here of what the store has: the one home of it.
enum RebuildHint {
    /// A machine that knows its store asks it for nothing.
    /// - Returns: `nil` where something is known here (of a rebuild that came to its end), and where the store has no photos
    ///   of this user or does not answer soon: whoever uses it next tells what is wrong with it.
    static func text(_ workspace: Workspace) async throws -> String? {
        let user = workspace.settings.user
        if try await workspace.ledger({ try $0.catalogStatus().rebuildOf }) != nil {
            return """
                A rebuild was ended before all was known again: "sync-agent rebuild" goes on with it.
                """
        }
        let keys = try workspace.keys
        guard try await workspace.ledger({ try $0.isNew() }) else { return nil }
        do {
            let hasPhotos = try await workspace.time.within(StatusReader.patience) {
                try await workspace.readStoreOnce().hasObjects(below: keys.photos)
            }
            guard hasPhotos else { return nil }
        } catch is StoreError, is Overdue {
            return nil
        }
        return """
            The store has photos of \(user) already, and nothing is known of them here. "sync-agent rebuild" brings back their \
            names, vacations and shares; no photo is stored or downloaded for it.
            """
    }
}

extension Workspace {
    private static let catalogTries = 50

    /// Takes the lock of the catalogue, whoever else of this machine writes it.
    var catalogHold: CatalogHold {
        { [installation, time] in
            // Another process writes a few changes, or a whole library: the first is waited for.
            for _ in 0..<Self.catalogTries {
                do {
                    return try installation.takeCatalogLock()
                } catch is AgentLock.Held {
                    try await time.sleep(.milliseconds(200))
                }
            }
            return try installation.takeCatalogLock()
        }
    }

    /// What keeps this machine's catalogue.
    /// - Parameter store: with retries.
    func catalogWriter(_ store: any ObjectStore) async throws -> CatalogWriter {
        CatalogWriter(
            store: store, ledger: try await ledger, keys: try keys,
            name: installation.machineName, spool: installation.catalogSpool,
            hold: catalogHold, pool: threads.disk, time: time, logger: logger)
    }

    /// Brings the store's catalogue up to what a command has just changed, of shares above all: other machines are to know it,
    /// and should this disk be gone tomorrow, another one has to. What the store has against it is in the log; the next pass
    /// makes up for it.
    /// - Throws: ``LedgerError``, `CancellationError`.
    func updateCatalog(_ store: any ObjectStore) async throws {
        guard settings.catalog == .on else { return }
        // A rebuild that is under way does not have all names yet.
        let isRebuilding = try await ledger.callAsFunction { try $0.catalogStatus().rebuildOf != nil }
        if isRebuilding, try installation.agentRuns() { return }
        try await catalogWriter(store).run()
    }

    /// What other machines have merged, and how this one merges beside them.
    /// - Parameter store: with retries.
    func mergeAgreement(_ store: any ObjectStore) async throws -> MergeAgreement {
        let (others, isKept) = (try await otherMerges(store), settings.catalog == .on)
        return MergeAgreement(
            others: { try await others.all(tells: isKept) }, publish: { try await self.publishChanges(store) })
    }

    /// - Throws: ``CommandFailure`` where the store does not have the catalogue as the ledger is now.
    private func publishChanges(_ store: any ObjectStore) async throws {
        guard settings.catalog == .on else { return }
        if try await ledger.callAsFunction({ try $0.catalogStatus().rebuildOf != nil }) {
            throw CommandFailure.failed(
                "the ledger is not rebuilt to its end: run sync-agent rebuild, and merge then")
        }
        switch try await catalogWriter(store).run() {
        case .unchanged, .written: return
        case .failed(let reason), .refused(let reason):
            throw CommandFailure.failed(
                "other machines have to know of a merge before it begins, and cannot be told now: \(reason). Run it "
                    + "again when that is mended")
        }
    }
}
