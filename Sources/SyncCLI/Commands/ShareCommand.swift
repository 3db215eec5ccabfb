import ArgumentParser
import FoundationEssentials
import Glibc
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPhone

struct ShareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share",
        abstract: "Publish a vacation, and print the link.",
        discussion: """
            Copies of the photos go to a place of their own in the store, without positions, serial numbers, maker notes \
            and embedded previews, with a page on which they are seen. On a terminal it shows them first and asks. The \
            same vacation again gives the same link; what changed since is brought up to date under it.

            Before that it looks at the folder, as sync does: what is shared is what is there now.

            Photos that are only in the archive are restored first (restore.tier, restore.max_cost_usd); a running agent, \
            or the next sync, publishes the share when they are there.

            EXAMPLES
              sync-agent share Paris_France_2024-06-15_2024-06-22
              sync-agent share --photos 0,2-5 --expires 12h --from Ana ~/Pictures/Vacations/Paris
              sync-agent share --dry-run Paris            what would be shared, with numbers
              sync-agent share --to '+49 151 23456789' --via whatsapp Paris
            """
    )

    @Argument(help: "The vacation's folder, name or location.", completion: .directory)
    var vacation: String

    @Option(help: ArgumentHelp("Your name, as it is shown. It is remembered.", valueName: "name"))
    var from: String?

    @Option(help: ArgumentHelp("Only these, by their numbers from 0, such as 0,2-5.", valueName: "numbers"))
    var photos: PhotoSelection?

    @Option(help: "reduced as stored, or full.")
    var quality: ShareQuality = .reduced

    @Option(help: ArgumentHelp("30d, 12h or a last day, 2026-12-31 (default: share.expire_days).", valueName: "end"))
    var expires: ShareExpiry?

    @Option(help: ArgumentHelp("Also print a message to somebody, with --via.", valueName: "number|address"))
    var to: String?

    @Option(help: "whatsapp, sms or email.")
    var via: ShareChannel?

    @Flag(help: "Only show what would be shared, every photo with its number.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @Flag(help: "Print the result as one JSON object.")
    var json = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if to != nil, via == nil {
            throw ValidationError("say with --via how it is to be sent: whatsapp, sms or email")
        }
        if via != nil, to == nil { throw ValidationError("say with --to who is to get it") }
        if let from, ShareManifestRules.plain(from).isEmpty { throw ValidationError("--from takes a name") }
    }

    func run() async throws {
        let environment = ProcessEnvironment.current
        try await reportingFailure(.standardError(environment)) {
            let installation = try Installation(global)
            let recipient = try recipient(installation.settings.share)
            let end = expires?.end(from: installation.time.now())
            try check(end, now: installation.time.now())
            // A look changes nothing: it has a copy of the ledger, which it may bring up to the folder.
            let kept = try installation.openLedger()
            let ledger = dryRun ? try kept.copyInMemory() : kept
            let parts = ShareParts(
                installation, try RestoreParts(installation, ledger: ledger, access: dryRun ? .reads : .founds))
            let output = Terminal.standardOutput(environment)
            var order = ShareOrder(
                vacation: try await current(parts.finder, ledger, installation), selection: photos, quality: quality)
            order.expiresAt = end
            order.sharedBy = from
            if dryRun {
                try await show(order, installation, parts, output)
                return
            }
            let (sharer, isNew) = try usualSharer(order.vacation, ledger, environment)
            order.usualSharer = sharer
            try await share(order, to: recipient, installation, parts, output)
            // Not before it was shared: whoever says no has said nothing.
            if let name = order.sharedBy ?? (isNew ? sharer : nil) { try ledger.rememberSharer(name) }
            try ledger.close()
        }
    }

    /// The vacation that is meant, as it is in its folder now, and not as it was when somebody looked there last.
    private func current(
        _ finder: VacationFinder, _ ledger: Ledger, _ installation: Installation
    ) async throws -> Vacation {
        let folder = try await finder.folder(named: vacation)
        let intake = ShareIntake(installation: installation, ledger: ledger)
        if dryRun { try await intake.forecast(folder) } else { try await intake.run(folder) }
        // It may have got another title by that look.
        if let found = try await finder.vacation(in: folder), !found.photos.isEmpty { return found }
        return try await finder.find(vacation)
    }

    private func check(_ end: Date?, now: Date) throws {
        guard let end else { return }
        if end <= now { throw CommandFailure(.usage, "--expires names a moment that is over") }
        if end.timeIntervalSince(now) > ShareExpiry.longest + 86_400 {
            throw CommandFailure(.usage, "--expires: a share lasts at most \(Int(ShareExpiry.longest / 86_400)) days")
        }
    }

    // MARK: Sharing

    private func share(
        _ order: ShareOrder, to recipient: ShareRecipient?, _ installation: Installation, _ parts: ShareParts,
        _ output: Terminal
    ) async throws {
        // With JSON on standard output, what is for people goes to standard error, and only where one sits there.
        let terminal = json ? Terminal.standardError(installation.environment) : output
        let outcome = try await ShareSession(
            parts: parts, installation: installation, order: order, terminal: terminal,
            isSilent: json && !terminal.isInteractive, asks: !yes, recipient: recipient
        ).run()
        let share = outcome.share
        let message = ShareMessage(share)?.address
        if json {
            output.writeLine(
                try JSONOutput.text(
                    ShareReport(
                        share, photos: outcome.photos, outcome.proposal, costUSD: outcome.costUSD, message: message)))
        } else {
            ShareView(terminal: output, now: installation.time.now())
                .result(
                    share, photos: outcome.photos, wasThere: outcome.wasThere, message: message,
                    agentRuns: try installation.agentRuns()
                )
                .forEach(output.writeLine)
        }
        if outcome.photos.contains(where: { $0.position != nil && $0.failure != nil }) {
            throw ExitStatus.partlyDone.code
        }
    }

    private func show(
        _ order: ShareOrder, _ installation: Installation, _ parts: ShareParts, _ output: Terminal
    ) async throws {
        let view = ShareView(terminal: output, now: installation.time.now())
        do {
            let proposal = try await parts.desk.propose(order)
            let restore = try await ShareRestore(parts: parts, installation: installation).proposal(proposal.archived)
            let costUSD = restore?.estimate.totalUSD ?? 0
            if json {
                output.writeLine(try JSONOutput.text(ShareReport(proposal, costUSD: costUSD)))
            } else {
                view.proposal(proposal, showsAll: true).forEach(output.writeLine)
                if let restore {
                    let limit = ShareRestore(parts: parts, installation: installation)
                        .uselessness(of: restore, until: proposal.expiresAt)
                    if let limit { output.writeLine(limit) }
                    output.writeLine(
                        "\(Quantities.counted(restore.candidates.count, "photo")) to bring back from the archive first: "
                            + "it costs \(Quantities.aboutDollars(costUSD)) in all.")
                }
            }
        } catch let error as ShareError {
            if case .tooMany = error, !json { view.list(order.vacation).forEach(output.writeLine) }
            throw error
        }
    }

    // MARK: From and to

    /// Under which name is shared when nothing says otherwise. The first time, a person at a terminal is asked. Nobody's
    /// account or configuration is published unasked.
    /// - Returns: also whether the name was just told.
    private func usualSharer(
        _ vacation: Vacation, _ ledger: Ledger, _ environment: [String: String]
    ) throws -> (name: String?, isNew: Bool) {
        if from != nil { return (nil, false) }
        if let known = try ledger.sharer() { return (known, false) }
        let terminal = Terminal.standardError(environment)
        guard !yes, terminal.isInteractive, isatty(STDIN_FILENO) == 1 else {
            return (vacation.sharedBy, false)
        }
        let proposed = vacation.sharedBy ?? ProcessEnvironment.userName
        terminal.write("Your name, as it is shown\(proposed.map { " [\($0.escapingControls)]" } ?? ""): ")
        guard let line = readLine() else { return (vacation.sharedBy, false) }
        let answer = ShareManifestRules.plain(line)
        return answer.isEmpty ? (proposed, false) : (answer, true)
    }

    private func recipient(_ settings: ShareSettings) throws -> ShareRecipient? {
        guard let to, let via else { return nil }
        return try ShareRecipient(to, via: via, region: settings.phoneRegion, numbers: LibPhoneNumbers())
    }
}

extension PhotoSelection: ExpressibleByArgument {}
extension ShareQuality: ExpressibleByArgument {}
