import ArgumentParser
import Glibc
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPhotos
import SyncSystem
import SyncWatch

struct ProfilesMigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Map events that name a telephone number to the profile that has it.",
        discussion: """
            Counts the events that are mapped, and lists the numbers that no profile has. Photos that an earlier version \
            archived under a number get a key with the profile's UUID: the new object is proven before the old one is \
            removed. What is in an archive class has to be restored first; it is named and left.

            With --delete-orphans, the events of numbers without a profile are deleted from this machine, text and all, \
            unless their photo is not stored yet. It asks first. Photos in the store stay.

            EXAMPLES
              sync-agent profiles migrate --dry-run
              sync-agent profiles migrate
              sync-agent profiles migrate --delete-orphans
            """
    )

    @Flag(help: "Only say what would be done.")
    var dryRun = false

    @Flag(help: "Delete the events of numbers that no profile has.")
    var deleteOrphans = false

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @Flag(help: "Print the result as one JSON object.")
    var json = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let environment = ProcessEnvironment.current
        let errors = Terminal.standardError(environment)
        try await reportingFailure(errors) {
            let installation = try Installation(global)
            let ledger = try installation.openLedger()
            let queue = LedgerQueue(ledger, pool: BlockingPool(name: "ledger", threads: 1))
            var report = ProfileMigrationReport(
                try await migrate(installation, ledger, queue, errors), dryRun: dryRun)
            if deleteOrphans, !dryRun {
                try await delete(&report, installation, ledger, queue, json ? errors : .standardOutput(environment))
            }
            let output = Terminal.standardOutput(environment)
            if json {
                output.writeLine(try JSONOutput.text(report))
            } else {
                report.lines(on: output).forEach(output.writeLine)
            }
            try ledger.close()
            if report.status != .done { throw report.status.code }
        }
    }
    private func migrate(
        _ installation: Installation, _ ledger: Ledger, _ queue: LedgerQueue, _ errors: Terminal
    ) async throws -> ProfileMigration.Result {
        let store = try installation.makeStore(ledger, access: dryRun ? .reads : .writes)
        try installation.requireOwn(store, of: ledger)
        let migration = ProfileMigration(
            store: RetryingStore(store, time: installation.time, logger: installation.logger), ledger: queue,
            keys: try KeyLayout(user: installation.settings.user),
            book: try ledger.profileBook(installation.settings.share), time: installation.time)
        let progress = ShareProgress(terminal: errors, time: installation.time)
        defer { progress.finish() }
        return try await migration.run(isDryRun: dryRun) { progress.note($0, of: $1) }
    }

    private func delete(
        _ report: inout ProfileMigrationReport, _ installation: Installation, _ ledger: Ledger,
        _ queue: LedgerQueue, _ terminal: Terminal
    ) async throws {
        let orphans = report.orphans.filter { $0.events > 0 }
        guard !orphans.isEmpty else { return }
        if !yes { try ask(report, terminal) }
        let lock: AgentLock
        do {
            lock = try installation.takeCleanupLock()
        } catch is AgentLock.Held {
            throw CommandFailure(.locked, "a cleanup is at work; wait for it, and run this again")
        }
        defer { withExtendedLifetime(lock) {} }
        let store = try installation.makeStore(ledger, access: .writes)
        try installation.requireOwn(store, of: ledger)
        report.note(
            try await OrphanRemover(
                ledger: queue,
                store: RetryingStore(store, time: installation.time, logger: installation.logger),
                scanner: FileTreeScanner(), reducer: PhotoFileReducer(),
                pool: BlockingPool(name: "orphans", threads: 1)
            ).run(orphans.map(\.profile)))
    }

    private func ask(_ report: ProfileMigrationReport, _ terminal: Terminal) throws {
        report.lines(on: terminal).forEach(terminal.writeLine)
        // Text that is deleted is gone for good: silence is no yes.
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(.usage, "nobody is there to be asked; say --yes to delete, or --dry-run to look")
        }
        let count = Quantities.counted(report.orphans.reduce(0) { $0 + $1.events }, "event")
        guard Question.confirm("Delete \(count) of numbers without a profile, text and all?", on: terminal) else {
            throw CommandFailure(.failed, "nothing was deleted")
        }
    }
}
