import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncPhotos
import SyncSystem
import SyncWatch
import SystemPackage

/// Carries an order for a share out, from the proposal to the link.
struct ShareSession {
    struct Outcome {
        let share: ShareRecord
        let photos: [SharePhoto]
        let proposal: ShareProposal
        /// Whether nothing had to be sent.
        let wasThere: Bool
        /// Of the restores that were asked for.
        let costUSD: Double
    }

    fileprivate static let pollEvery = Duration.seconds(1)

    let services: ShareServices
    let order: ShareOrder
    let asks: Bool
    /// Who is to get the link, as soon as there is one.
    let recipient: ShareRecipient?

    private var workspace: Workspace { services.workspace }
    private var restores: Restores { Restores(services.restores, for: .share) }
    /// Where people read.
    private var terminal: Terminal { workspace.console.people }
    private var isSilent: Bool { workspace.console.isSilent }

    /// - Throws: ``CommandFailure``, ``ShareError``, ``StoreError``, ``LedgerError``.
    func run() async throws -> Outcome {
        let proposal = try await services.planner.propose(order)
        let view = ShareView(terminal: terminal, now: workspace.time.now())
        let lines = isSilent ? proposal.notes.map(\.escapingControls) : view.proposal(proposal, showsAll: false)
        lines.forEach(terminal.writeLine)
        if proposal.change == .none, let share = proposal.existing {
            do {
                // What was published can be removed by others, or lost.
                if try await services.publisher.examine(share.id) { return try await mend(share.id, proposal) }
                if services.publisher.wantsNewLinks(share) { try await services.publisher.renew(share.id) }
            } catch ShareError.inOtherHands {
                // The agent is making the new links.
            }
            try await noteRecipient(of: share.id)
            return try await outcome(of: share.id, proposal, wasThere: true, costUSD: 0)
        }
        try proposal.requireSomething()
        let restore = try await restore(of: proposal.archived, until: proposal.expiresAt)
        try await workspace.afterAsking {
            try Question.require(
                "Share them with everybody who has the link?", on: terminal, unless: !asks, no: "nothing was shared")
        }
        return try await publish(proposal, restore)
    }

    /// Stores again what the store has not any more.
    private func mend(_ id: ShareID, _ proposal: ShareProposal) async throws -> Outcome {
        let progress = ProgressLine(workspace.console.errors, time: workspace.time)
        defer { progress.finish() }
        terminal.writeLine("Something of it is missing in the store, or has other bytes there, and is stored again.")
        try await noteRecipient(of: id)
        let costUSD = try await send(id, proposal, progress)
        return try await outcome(of: id, proposal, wasThere: false, costUSD: costUSD)
    }

    /// Sends what is to be sent, and asks for what of it only the attempt has shown to be in the archive.
    /// - Returns: what that costs.
    private func send(_ id: ShareID, _ proposal: ShareProposal, _ progress: ProgressLine) async throws -> Double {
        let rest = "What was sent is kept: a running agent, or the same command again, continues it"
        do {
            return try await withStoreErrors(adding: rest) {
                let result = try await services.publisher.run(id) { progress.count($0, of: $1, "photo") }
                guard case .waiting(_, let archived) = result else { return 0 }
                progress.finish()
                return try await askAgain(for: archived, beside: proposal, of: id)
            }
        } catch let error as ShareError {
            // Nothing of it can be shared, and nothing of it shall be left.
            if case .nothing = error { try await services.remover.run(id, .revoked) }
            throw error
        }
    }

    /// Another process may have the share in hand, or make the same one at this moment: it is waited for, and what it
    /// left is done.
    private func publish(_ first: ShareProposal, _ firstRestore: RestoreProposal?) async throws -> Outcome {
        let progress = ProgressLine(workspace.console.errors, time: workspace.time)
        defer { progress.finish() }
        var proposal = first
        var restore = firstRestore
        var costUSD = 0.0
        while true {
            do {
                if proposal.change == .none, let share = proposal.existing {
                    return try await outcome(of: share.id, proposal, wasThere: false, costUSD: costUSD)
                }
                let id = try await services.planner.accept(proposal)
                try await noteRecipient(of: id)
                if let wanted = restore {
                    restore = nil
                    costUSD += wanted.estimate.totalUSD
                    try await carryOut(wanted, for: id)
                }
                costUSD += try await send(id, proposal, progress)
                return try await outcome(of: id, proposal, wasThere: false, costUSD: costUSD)
            } catch ShareError.inOtherHands {
                progress.show("another process is at work on this share")
                try await workspace.time.sleep(Self.pollEvery)
                proposal = try await services.planner.propose(order)
            }
        }
    }

    private func noteRecipient(of id: ShareID) async throws {
        guard let note = recipient?.note else { return }
        try await services.ledger { try $0.noteRecipient(note, of: id) }
    }

    private func outcome(
        of id: ShareID, _ proposal: ShareProposal, wasThere: Bool, costUSD: Double
    ) async throws -> Outcome {
        let (share, photos) = try await services.ledger { (try $0.share(id), try $0.sharePhotos(id)) }
        guard let share else { throw ShareError.over(id) }
        return Outcome(share: share, photos: photos, proposal: proposal, wasThere: wasThere, costUSD: costUSD)
    }

    // MARK: Photos in the archive

    /// Photos that only the attempt has shown to be in the archive: they are asked for too, once.
    /// - Returns: what that costs.
    private func askAgain(
        for archived: [ObjectKey], beside known: ShareProposal, of id: ShareID
    ) async throws -> Double {
        let found = Set(archived).subtracting(known.archived).sorted()
        guard let restore = try await restore(of: found, until: known.expiresAt), !restore.candidates.isEmpty else {
            return 0
        }
        let isAgreed = try await workspace.afterAsking {
            !asks || Question.confirm("Restore them too?", on: terminal)
        }
        guard isAgreed else { return 0 }
        try await carryOut(restore, for: id)
        return restore.estimate.totalUSD
    }

    /// What it takes to bring back the photos that are only in the archive; `nil` when nothing has to be asked for.
    /// - Throws: ``CommandFailure`` when `restore.tier` cannot be had; ``StoreError``, ``LedgerError``.
    func restoreProposal(of archived: [ObjectKey]) async throws -> RestoreProposal? {
        guard !archived.isEmpty else { return nil }
        return try await restores.propose(RestoreWish(names: archived.map(\.rawValue)))
    }

    /// Why a restore would be paid for and be of no use: the share may be over before its photos are there.
    /// - Parameter end: of the share.
    func uselessness(of restore: RestoreProposal, until end: Date) -> String? {
        guard !restore.candidates.isEmpty, let hours = services.restores.planner.hours(of: restore) else { return nil }
        let left = end.timeIntervalSince(workspace.time.now())
        guard hours * 3_600 >= left else { return nil }
        let days = Int((hours / 24).rounded(.up)) + 1
        return
            "\(Quantities.counted(restore.candidates.count, "photo has", plural: "photos have")) to come back from the archive first, which "
            + "takes up to \(RestoreView.hours(hours)), and the share ends in \(Quantities.span(.seconds(left))). Give it "
            + "longer, such as --expires \(days)d, or bring them back first with sync-agent restore"
    }

    /// What it takes, shown to whoever is to pay for it. One that would be of no use is not asked for.
    private func restore(of archived: [ObjectKey], until end: Date) async throws -> RestoreProposal? {
        guard let restore = try await restoreProposal(of: archived) else { return nil }
        if let useless = uselessness(of: restore, until: end) {
            throw CommandFailure.usage("\(useless). No restore was requested, and nothing was shared")
        }
        if isSilent {
            terminal.writeLine(
                "\(Quantities.counted(restore.candidates.count, "photo")) to bring back from the archive: "
                    + "it costs \(Quantities.aboutDollars(restore.estimate.totalUSD)) in all.")
        } else {
            terminal.writeLine("")
            try restores.view().proposal(restore).forEach(terminal.writeLine)
            terminal.writeLine("")
        }
        try restores.requireLimit(restore)
        return restore
    }

    /// Requests what was agreed to.
    func carryOut(_ restore: RestoreProposal, for id: ShareID) async throws {
        if let job = try await services.restores.planner.accept(restore).job?.id ?? restore.runningJobs.last {
            try await services.ledger { try $0.noteRestore(job, of: id) }
            try await restores.send(job)
        }
        // Its price is in what was agreed to.
        for change in try await restores.change(restore, besides: nil) {
            guard let error = change.error else { continue }
            terminal.writeLine("\(change.candidate.key.rawValue.escapingControls): \(error)".escapingControls)
        }
    }
}

/// Sees to it that the ledger knows a vacation's folder as it is, before anything of it is shared: in the way in which
/// `sync` does it, or, while another process has the lock, by waiting until that one has taken in what changed.
struct ShareFolderSync {
    /// How long an agent is waited for that takes in nothing of it.
    private static let patience = Duration.seconds(60)
    /// Of files that are waited for.
    private static let namesShown = 3

    let workspace: Workspace

    /// - Parameter folder: absolute, as the ledger calls it.
    /// - Throws: ``CommandFailure``, ``StoreError``, ``LedgerError``.
    func run(_ folder: FilePath) async throws {
        let pool = workspace.threads.disk
        let ledger = try await workspace.ledger
        let line = ProgressLine(workspace.console.errors, time: workspace.time)
        defer { line.finish() }
        var waitsFor: [FilePath] = []
        var since = workspace.time.monotonic()
        while true {
            if let lock = try await workspace.takeLockIfFree() {
                line.finish()
                defer { withExtendedLifetime(lock) {} }
                return try await pass(over: folder)
            }
            let unseen = try await FolderSnapshot.take(at: folder, FileTreeScanner(), ledger: ledger, pool: pool).unseen
            if unseen.isEmpty { return try await requireWhole(below: folder) }
            if unseen != waitsFor {
                waitsFor = unseen
                since = workspace.time.monotonic()
            }
            guard workspace.time.monotonic() - since < Self.patience else { throw Self.unseen(unseen) }
            line.show("waiting until the agent has taken in \(Quantities.counted(unseen.count, "file"))")
            try await workspace.time.sleep(ShareSession.pollEvery)
        }
    }

    private func pass(over folder: FilePath) async throws {
        let terminal = workspace.console.errors
        let progress = PassProgress(terminal: terminal, time: workspace.time)
        defer { progress.finish() }
        let services = try await AgentServices(workspace, observe: progress.note)
        let intake = try await services.makePass().takeIn(only: folder) { progress.noteSeen($0) }
        try Self.requireWhole(intake, below: folder, on: terminal)
        let now = workspace.time.now()
        let due = try await services.ledger { ledger -> (id: VacationID, waiting: Int)? in
            guard let record = try ledger.vacation(in: folder) else { return nil }
            try ledger.makeDue(record.id, at: now)
            return (record.id, try ledger.vacation(record.id)?.waiting ?? 0)
        }
        guard let (id, waiting) = due else { return }
        progress.expect(waiting)
        try await services.pipeline.run(.untilDone(patience: .seconds(10)), of: id)
        try await requireWhole(below: folder)
        try await services.vacations.round(of: id)
    }

    /// On a copy of the ledger that nobody keeps: nothing is sent or remembered. Files that are just being written are
    /// waited for as for a share, and what cannot be stored is found out.
    /// - Throws: ``CommandFailure``, ``LedgerError``.
    func forecast(_ folder: FilePath) async throws {
        let (ledger, terminal) = (try await workspace.ledger, workspace.console.errors)
        let pass = try await workspace.forecast(settle: workspace.settings.upload.settle)
        try Self.requireWhole(try await pass.takeIn(only: folder), below: folder, on: terminal)
        try await requireWhole(below: folder)
        guard let vacation = try await ledger({ try $0.vacation(in: folder) }) else { return }
        let line = ProgressLine(terminal, time: workspace.time)
        defer { line.finish() }
        let settings = workspace.settings
        let preparer = Preparer(
            ledger: ledger.ledger, scanner: FileTreeScanner(), reducer: workspace.reducer,
            planner: UploadPlanner(keys: try workspace.keys), policy: settings.photos.reduce,
            settle: settings.upload.settle, now: workspace.time.now)
        let forecast = UploadForecast(
            ledger: ledger, preparer: preparer, pool: workspace.threads.photos, time: workspace.time)
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
    private static func requireWhole(_ intake: SyncPass.Scanned, below folder: FilePath, on terminal: Terminal) throws {
        for problem in intake.problems { terminal.writeLine("\(problem)".escapingControls) }
        let writing = intake.stillChanging.filter { $0.starts(with: folder) }
        guard writing.isEmpty else { throw beingWritten(writing) }
    }

    private static func unseen(_ files: [FilePath]) -> CommandFailure {
        CommandFailure.failed(
            "\(Quantities.counted(files.count, "file")) in the folder changed, and the running agent has not taken that in "
                + "(\(names(files))): nothing was shared. sync-agent status tells what it is at work on; share again then"
        )
    }

    private static func beingWritten(_ files: [FilePath]) -> CommandFailure {
        CommandFailure.failed(
            "\(Quantities.counted(files.count, "file in the folder is", plural: "files in the folder are")) just being written (\(names(files))): nothing was "
                + "shared. Share again when they are whole")
    }

    private static func names(_ files: [FilePath]) -> String {
        let names = files.prefix(namesShown).map { ($0.lastComponent?.string ?? $0.string).escapingControls }
        return names.joined(separator: ", ") + (files.count > namesShown ? ", …" : "")
    }
}

extension ShareServices {
    /// - Throws: ``ShareError/noGuests(_:)`` where guests are asked for and could not reach the page.
    func requireGuestsCanCome(_ order: ShareOrder) throws {
        if order.takesGuests == true, let reason = links.noGuests { throw ShareError.noGuests(reason) }
    }
}
