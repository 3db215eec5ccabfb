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

            Photos that are only in the archive are restored first (restore.tier, restore.max_cost_usd); the agent \
            publishes the share when they are there.

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
            let ledger = try installation.openLedger()
            let parts = ShareParts(
                installation, try RestoreParts(installation, ledger: ledger, access: dryRun ? .reads : .writes))
            let output = Terminal.standardOutput(environment)
            var order = ShareOrder(
                vacation: try await parts.finder.find(vacation), selection: photos, quality: quality)
            order.expiresAt = expires?.end(from: installation.time.now())
            try check(order.expiresAt, now: installation.time.now())
            order.sharedBy = from
            if dryRun {
                try await show(order, installation, parts, output)
                return
            }
            order.usualSharer = try usualSharer(order.vacation, ledger, environment)
            try await share(order, to: recipient, installation, parts, output)
            try ledger.close()
        }
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
            isSilent: json && !terminal.isInteractive, asks: !yes
        ).run()
        let share = outcome.share
        if let from = order.sharedBy { try await parts.ledger { try $0.rememberSharer(from) } }
        let message = recipient.flatMap { Self.message(to: $0, share) }
        if json {
            output.writeLine(
                try JSONOutput.text(
                    ShareReport(
                        share, photos: outcome.photos, outcome.proposal, costUSD: outcome.costUSD, message: message)))
        } else {
            ShareView(terminal: output, now: installation.time.now())
                .result(share, photos: outcome.photos, wasThere: outcome.wasThere, message: message)
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
    private func usualSharer(
        _ vacation: Vacation, _ ledger: Ledger, _ environment: [String: String]
    ) throws -> String? {
        if from != nil { return nil }
        if let known = try ledger.sharer() { return known }
        let terminal = Terminal.standardError(environment)
        guard !yes, terminal.isInteractive, isatty(STDIN_FILENO) == 1 else { return vacation.sharedBy }
        let proposed = vacation.sharedBy ?? ProcessEnvironment.userName
        terminal.write("Your name, as it is shown\(proposed.map { " [\($0.escapingControls)]" } ?? ""): ")
        guard let line = readLine() else { return vacation.sharedBy }
        let answer = ShareManifestRules.plain(line)
        if answer.isEmpty { return proposed }
        try ledger.rememberSharer(answer)
        return answer
    }

    private func recipient(_ settings: ShareSettings) throws -> ShareRecipient? {
        guard let to, let via else { return nil }
        return try ShareRecipient(to, via: via, region: settings.phoneRegion, numbers: LibPhoneNumbers())
    }

    private static func message(to recipient: ShareRecipient, _ share: ShareRecord) -> String? {
        guard share.state == .live, let link = share.link else { return nil }
        let from = share.sharedBy.map { "\($0) shares" } ?? "Here are"
        return recipient.link(
            subject: "Photos of \(share.location)",
            text: "\(from) photos of \(share.location) with you: \(link.url) (until \(CalendarDay(link.endsAt)))")
    }
}

extension PhotoSelection: ExpressibleByArgument {}
extension ShareQuality: ExpressibleByArgument {}
