import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncPhotos
import SyncSystem
import SyncWatch
import SystemPackage

/// Sees to it that the ledger knows a vacation's folder as it is, before anything of it is shared: in the way in which
/// `sync` does it, or, while another process has the lock, by waiting until that one has taken in what changed.
struct ShareIntake {
    private static let lookEvery = Duration.seconds(1)
    /// How long an agent is waited for that takes in nothing of it.
    private static let patience = Duration.seconds(60)
    /// Of files that are waited for.
    private static let namesShown = 3

    let workspace: Workspace

    private var installation: Installation { workspace.installation }

    /// - Parameter folder: absolute, as the ledger calls it.
    /// - Throws: ``CommandFailure``, ``StoreError``, ``LedgerError``.
    func run(_ folder: FilePath) async throws {
        let pool = workspace.threads.disk
        let ledger = try await workspace.ledger
        let line = ProgressLine(.standardError(installation.environment), time: installation.time)
        defer { line.finish() }
        var waitsFor: [FilePath] = []
        var since = installation.time.monotonic()
        while true {
            if let lock = try await workspace.takeLockIfFree() {
                line.finish()
                defer { withExtendedLifetime(lock) {} }
                return try await pass(over: folder)
            }
            let unseen = try await FolderLook.take(at: folder, FileTreeScanner(), ledger: ledger, pool: pool).unseen
            if unseen.isEmpty { return try await requireWhole(below: folder) }
            if unseen != waitsFor {
                waitsFor = unseen
                since = installation.time.monotonic()
            }
            guard installation.time.monotonic() - since < Self.patience else { throw Self.unseen(unseen) }
            line.show("waiting until the agent has taken in \(Quantities.counted(unseen.count, "file"))")
            try await installation.time.sleep(Self.lookEvery)
        }
    }

    private func pass(over folder: FilePath) async throws {
        let terminal = Terminal.standardError(installation.environment)
        let progress = PassProgress(terminal: terminal, time: installation.time)
        defer { progress.finish() }
        let parts = try await AgentServices(workspace, observe: progress.note)
        let intake = try await parts.makePass().takeIn(only: folder) { progress.noteSeen($0) }
        try Self.requireWhole(intake, below: folder, tell: terminal)
        let now = workspace.time.now()
        let hurried = try await parts.ledger { ledger -> (id: VacationID, waiting: Int)? in
            guard let record = try ledger.vacation(in: folder) else { return nil }
            try ledger.hurry(record.id, at: now)
            return (record.id, try ledger.vacation(record.id)?.waiting ?? 0)
        }
        guard let (id, waiting) = hurried else { return }
        progress.expect(waiting)
        try await parts.pipeline.run(.untilDone(patience: .seconds(10)), of: id)
        try await requireWhole(below: folder)
        try await parts.vacations.round(of: id)
    }

    /// On a copy of the ledger that nobody keeps: nothing is sent or remembered. Files that are just being written are
    /// waited for as for a share, and what cannot be stored is found out.
    /// - Throws: ``CommandFailure``, ``LedgerError``.
    func forecast(_ folder: FilePath) async throws {
        let (ledger, watched) = (try await workspace.ledger, workspace.settings.watch)
        let pass = SyncPass(
            folders: try await ledger { try $0.register(watched) }, ledger: ledger.ledger, scanner: FileTreeScanner(),
            reducer: PhotoFileReducer(), pool: workspace.threads.intake, settle: workspace.settings.upload.settle,
            isForecast: true, time: installation.time)
        let terminal = Terminal.standardError(installation.environment)
        try Self.requireWhole(try await pass.takeIn(only: folder), below: folder, tell: terminal)
        try await requireWhole(below: folder)
        guard let vacation = try await ledger({ try $0.vacation(in: folder) }) else { return }
        let line = ProgressLine(terminal, time: installation.time)
        defer { line.finish() }
        let settings = workspace.settings
        let preparer = Preparer(
            ledger: ledger.ledger, scanner: FileTreeScanner(), reducer: PhotoFileReducer(pictures: workspace.pictures),
            planner: UploadPlanner(keys: try KeyLayout(user: settings.user)), policy: settings.photos.reduce,
            settle: settings.upload.settle, now: installation.time.now)
        let forecast = UploadForecast(
            ledger: ledger, preparer: preparer, pool: workspace.threads.photos, time: installation.time)
        try await forecast.run(of: vacation.id) { line.count($0, of: $1, "photo") }
    }

    /// A writer that pauses leaves a file that looks whole, and is not.
    /// - Throws: ``CommandFailure`` where a photo that waits for its upload is not whole.
    private func requireWhole(below folder: FilePath) async throws {
        let waiting = try await workspace.ledger { ledger in
            var files: [FilePath] = []
            try ledger.photos(at: folder) { photo in
                if photo.state == .pending || photo.state == .uploading { files.append(photo.path) }
            }
            return files
        }
        let (scanner, settle, now) = (FileTreeScanner(), workspace.settings.upload.settle, workspace.time.now())
        let writing = await workspace.threads.disk.finish {
            waiting.filter { file in
                guard let stamp = try? scanner.stamp(of: file) else { return false }
                return scanner.whyUnfinished(file, stamp, settle: settle, at: now) != nil
            }
        }
        guard writing.isEmpty else { throw Self.beingWritten(writing) }
    }

    /// - Throws: ``CommandFailure`` where a file in the folder kept changing.
    private static func requireWhole(_ intake: SyncPass.Scanned, below folder: FilePath, tell terminal: Terminal) throws
    {
        for problem in intake.problems { terminal.writeLine("\(problem)".escapingControls) }
        let writing = intake.stillChanging.filter { $0.starts(with: folder) }
        guard writing.isEmpty else { throw beingWritten(writing) }
    }

    private static func unseen(_ files: [FilePath]) -> CommandFailure {
        CommandFailure(
            .failed,
            "\(Quantities.counted(files.count, "file")) in the folder changed, and the running agent has not taken that in "
                + "(\(names(files))): nothing was shared. sync-agent status tells what it is at work on; share again then"
        )
    }

    private static func beingWritten(_ files: [FilePath]) -> CommandFailure {
        CommandFailure(
            .failed,
            "\(Quantities.counted(files.count, "file in the folder is", plural: "files in the folder are")) just being written (\(names(files))): nothing was "
                + "shared. Share again when they are whole")
    }

    private static func names(_ files: [FilePath]) -> String {
        let names = files.prefix(namesShown).map { ($0.lastComponent?.string ?? $0.string).escapingControls }
        return names.joined(separator: ", ") + (files.count > namesShown ? ", …" : "")
    }
}
