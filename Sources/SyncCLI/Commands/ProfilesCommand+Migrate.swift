import ArgumentParser
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPhotos
import SyncSystem
import SyncWatch

struct ProfilesMigrateCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Map events that name a telephone number to the profile that has it.",
        usage: "sync-agent profiles migrate [<options>]",
        discussion: """
            Counts the events that are mapped, and lists the numbers that no profile has. Photos that an earlier version \
            archived under a number get a key with the profile's UUID, and those under another id, of a profile or an event, \
            that may hold a number, get one with its pseudonym: the new object is proven before the old one is removed. What is in an \
            archive class has to be restored first; it is named and left.

            With --delete-orphans, the events of numbers without a profile are deleted from this machine, text and all, \
            unless their photo is not stored yet. It asks first. Photos in the store stay.

            EXAMPLES
              sync-agent profiles migrate --dry-run
              sync-agent profiles migrate
              sync-agent profiles migrate --delete-orphans
            """
    )

    @Flag(help: "Dry run: show what would be done.")
    var dryRun = false

    @Flag(help: "Delete the events of numbers that no profile has.")
    var deleteOrphans = false

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup var options: AnswerOptions

    func answer(_ workspace: Workspace) async throws -> Answer {
        let store = try await workspace.store(dryRun ? .reads : .writes)
        let queue = try await workspace.ledger
        var report = ProfileMigrationReport(try await migrate(workspace, store, queue), dryRun: dryRun)
        let orphans = report.orphans.filter { $0.events > 0 }
        if deleteOrphans, !dryRun, !orphans.isEmpty {
            if !yes { try ask(report, workspace.console.people) }
            report.note(try await delete(orphans.map(\.profile), workspace, store, queue))
        }
        return Answer(report)
    }

    private func migrate(
        _ workspace: Workspace, _ store: any ObjectStore, _ queue: LedgerQueue
    ) async throws -> ProfileMigration.Summary {
        let settings = workspace.settings.share
        let migration = ProfileMigration(
            store: store, ledger: queue, keys: try KeyLayout(user: workspace.settings.user),
            book: try await queue { try $0.profileBook(settings) }, time: workspace.time)
        let progress = ProgressLine(workspace.console.errors, time: workspace.time)
        defer { progress.finish() }
        return try await migration.run(isDryRun: dryRun) { progress.count($0, of: $1, "photo") }
    }

    private func delete(
        _ orphans: [String], _ workspace: Workspace, _ store: any ObjectStore, _ queue: LedgerQueue
    ) async throws -> OrphanRemover.Summary {
        let lock: AgentLock
        do {
            lock = try workspace.installation.takeCleanupLock()
        } catch is AgentLock.Held {
            throw CommandFailure(.locked, "a cleanup is at work; wait for it, and run this again")
        }
        defer { withExtendedLifetime(lock) {} }
        return try await OrphanRemover(
            ledger: queue, store: store, scanner: FileTreeScanner(), reducer: PhotoFileReducer(),
            pool: workspace.threads.disk
        ).run(orphans)
    }

    private func ask(_ report: ProfileMigrationReport, _ terminal: Terminal) throws {
        report.lines(on: terminal).forEach(terminal.writeLine)
        let count = Quantities.counted(report.orphans.reduce(0) { $0 + $1.events }, "event")
        // Text that is deleted is gone for good.
        try Question.confirmLoss(
            "Delete \(count) of numbers without a profile, text and all?", on: terminal,
            advice: "use --yes to delete, or --dry-run to look", no: "nothing was deleted")
    }
}
