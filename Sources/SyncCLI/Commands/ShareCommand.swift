import ArgumentParser
import FoundationEssentials
import Glibc
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPhone
import SystemPackage

struct ShareCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "share",
        abstract: "Publish a vacation, and print the link.",
        usage: "sync-agent share <vacation> [<options>]",
        discussion: """
            Copies of the photos go to a place of their own in the store, without positions, serial numbers, maker notes \
            and embedded previews, with a page on which they are seen. On a terminal it shows them first and asks. The \
            same vacation again gives the same link; what changed since is brought up to date under it.

            The folder is scanned first, as sync does: what is shared is what is there now.

            Photos that are only in the archive are restored first (restore.tier, restore.max_cost_usd); a running agent, \
            or the next sync, publishes the share when they are there.

            With --export nothing is published: the same page, with the same copies, is saved as a folder, or as a \
            file that ends in .zip. It opens in a browser without a server, and needs no store for photos that are on \
            the disk.

            EXAMPLES
              sync-agent share Paris_France_2024-06-15_2024-06-22
              sync-agent share --photos 0,2-5 --expires 12h --from Ana Paris
              sync-agent share --dry-run Paris                what would be shared
              sync-agent share --to '+49 151 23456789' --via whatsapp Paris
              sync-agent share --export /media/usb/Paris Paris
            """
    )

    @Argument(help: "The vacation's folder, name or location.", completion: .directory)
    var vacation: PathArgument

    @Option(help: ArgumentHelp("Your name as shown on the share; it is remembered.", valueName: "name"))
    var from: String?

    @Option(help: ArgumentHelp("Only these photos, by number from 0, such as 0,2-5.", valueName: "numbers"))
    var photos: PhotoSelection?

    @Option(help: "reduced as stored, or full.")
    var quality: ShareQuality = .reduced

    @Flag(
        inversion: .prefixedNo,
        help: "Publish the names of the files, without folders, for mirror --original-names (default: no).")
    var originalNames: Bool?

    @Flag(inversion: .prefixedNo, help: "Let whoever has the link add photos, which you accept or refuse.")
    var guests: Bool?

    @Option(help: ArgumentHelp("30d, 12h or a last day, 2026-12-31 (default: share.expire_days).", valueName: "end"))
    var expires: ShareExpiry?

    @Option(
        help: ArgumentHelp("Publish nothing, and save the page as a folder or a ZIP file.", valueName: "dir|zip"),
        completion: .directory)
    var export: OutputArgument?

    @Option(help: ArgumentHelp("Also print a message to somebody, with --via.", valueName: "number|address"))
    var to: String?

    @Option(help: "whatsapp, sms or email.")
    var via: ShareChannel?

    @Flag(help: "Dry run: show what would be shared, every photo with its number.")
    var dryRun = false

    @OptionGroup var consent: ConsentOptions
    @OptionGroup var options: AnswerOptions

    func validate() throws {
        if to != nil, via == nil {
            throw ValidationError("--to needs --via: whatsapp, sms or email")
        }
        if via != nil, to == nil { throw ValidationError("--via needs --to: a number or an address") }
        if export != nil {
            if to != nil || expires != nil {
                throw ValidationError("--export makes no link: leave out --to, --via and --expires")
            }
            if guests != nil { throw ValidationError("an exported page takes no photos: leave out --guests") }
            if dryRun { throw ValidationError("--export and --dry-run exclude each other") }
        }
        if let from, ShareManifestRules.plain(from).isEmpty { throw ValidationError("--from takes a name") }
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        if let export { return try await save(to: export, workspace) }
        let installation = workspace.installation
        let recipient = try recipient(installation.settings.share)
        let end = expires?.end(from: workspace.time.now())
        try check(end, now: workspace.time.now())
        // A look changes nothing: it has a copy of the ledger, which it may bring up to the folder.
        let place = try await workspace.changing(unless: dryRun)
        let services = try ShareServices(try await RestoreServices(place, access: dryRun ? .reads : .founds))
        // What was taken back on another machine is not offered again: it would be shared anew.
        if !dryRun {
            for noticed in try await services.notes.followAndClaimAll() {
                if case .takenOver = noticed.fate { workspace.console.errors.writeLine("\(noticed)".escapingControls) }
            }
        }
        var order = ShareOrder(vacation: try await current(services.finder, place), selection: photos, quality: quality)
        order.expiresAt = end
        order.sharedBy = from
        order.tellsNames = originalNames
        order.takesGuests = guests
        try services.requireGuestsCanCome(order)
        if dryRun { return try await show(order, services) }
        let (sharer, isNew) = try await usualSharer(order.vacation, services.ledger, workspace.console.errors)
        order.usualSharer = sharer
        let answer = try await share(order, to: recipient, services)
        // Not before it was shared: whoever says no has said nothing.
        if let name = order.sharedBy ?? (isNew ? sharer : nil) {
            try await services.ledger { try $0.rememberSharer(name) }
        }
        try await workspace.updateCatalog(services.restores.store)
        return answer
    }

    private func save(to output: OutputArgument, _ workspace: Workspace) async throws -> Answer {
        // Before anything is looked at.
        let isArchive = output.ending == "zip"
        let destination =
            try isArchive
            ? output.path(workspace.installation)
            : output.announcedPath(workspace.installation, workspace.console)
        let copy = try await workspace.withLedgerCopy()
        let session = try await ShareExportSession(workspace, copy: copy)
        var order = ShareOrder(vacation: try await current(session.finder, copy), selection: photos, quality: quality)
        order.sharedBy = from
        order.tellsNames = originalNames
        return try await session.run(order, to: destination, isArchive: isArchive)
    }

    /// The vacation that is meant, as it is in its folder now, and not as it was when somebody looked there last.
    private func current(_ finder: VacationFinder, _ workspace: Workspace) async throws -> Vacation {
        let folder = try await finder.folder(named: vacation.text)
        let intake = ShareFolderSync(workspace: workspace)
        if dryRun || export != nil { try await intake.forecast(folder) } else { try await intake.run(folder) }
        // It may have got another title by that look. One of which no photo can be stored is found, too: whoever shares
        // it is told why.
        if let found = try await finder.vacation(in: folder), !found.photos.isEmpty || !found.failures.isEmpty {
            return found
        }
        do {
            return try await finder.find(vacation.text)
        } catch let error as VacationLookupError {
            // Its folder was found above: it is there, and the ledger has taken in no photo of it.
            if case .unknown = error { throw VacationLookupError.empty(folder) }
            throw error
        }
    }

    private func check(_ end: Date?, now: Date) throws {
        guard let end else { return }
        if end <= now { throw CommandFailure.usage("--expires is in the past") }
        if end.timeIntervalSince(now) > ShareExpiry.longest + 86_400 {
            throw CommandFailure.usage("--expires: a share lasts at most \(Int(ShareExpiry.longest / 86_400)) days")
        }
    }

    // MARK: Sharing

    private func share(
        _ order: ShareOrder, to recipient: ShareRecipient?, _ services: ShareServices
    ) async throws -> Answer {
        let outcome = try await ShareSession(services: services, order: order, asks: !consent.yes, recipient: recipient)
            .run()
        let (share, photos) = (outcome.share, outcome.photos)
        let message = ShareMessage.address(share)
        let agentRuns = try services.workspace.installation.agentRuns()
        let isPartial = photos.contains { $0.position != nil && $0.failure != nil }
        let news = photos.filter { !outcome.proposal.explains($0) }
        return Answer(
            ShareReport(share, photos: photos, outcome.proposal, costUSD: outcome.costUSD, message: message),
            status: isPartial ? .partlyDone : .done
        ) { output in
            ShareView(terminal: output, now: services.workspace.time.now()).result(
                share, photos: news, wasThere: outcome.wasThere, message: message, agentRuns: agentRuns)
        }
    }

    private func show(_ order: ShareOrder, _ services: ShareServices) async throws -> Answer {
        let output = services.workspace.console.output
        let view = ShareView(terminal: output, now: services.workspace.time.now())
        do {
            let proposal = try await services.planner.propose(order)
            try proposal.requireSomething()
            let session = ShareSession(services: services, order: order, asks: !consent.yes, recipient: nil)
            let restore = try await session.restoreProposal(of: proposal.archived)
            let costUSD = restore?.estimate.totalUSD ?? 0
            let status: ExitStatus = proposal.refused.isEmpty ? .done : .partlyDone
            return Answer(ShareReport(proposal, costUSD: costUSD), status: status) { _ in
                var lines = view.proposal(proposal, showsAll: true)
                if let restore {
                    if let limit = session.uselessness(of: restore, until: proposal.expiresAt) {
                        lines.append(limit)
                    }
                    lines.append(
                        "\(Quantities.counted(restore.candidates.count, "photo")) to bring back from the archive first: "
                            + "it costs \(Quantities.aboutDollars(costUSD)) in all.")
                }
                return lines
            }
        } catch let error as ShareError {
            if error.asksToChoose, !options.json {
                view.list(order.vacation).forEach(output.writeLine)
            }
            throw error
        }
    }

    // MARK: From and to

    /// Under which name is shared when nothing says otherwise. The first time, a person at a terminal is asked. Nobody's
    /// account or configuration is published unasked.
    /// - Returns: also whether the name was just told.
    private func usualSharer(
        _ vacation: Vacation, _ ledger: LedgerQueue, _ terminal: Terminal
    ) async throws -> (name: String?, isNew: Bool) {
        if from != nil { return (nil, false) }
        if let known = try await ledger({ try $0.sharer() }) { return (known, false) }
        guard !consent.yes, terminal.isInteractive, isatty(STDIN_FILENO) == 1 else { return (vacation.sharedBy, false) }
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

/// How long a share lasts, as people write it: `30d`, `12h`, `45min`, or its last day, `2026-12-31`.
enum ShareExpiry: ExpressibleByArgument, Hashable, Sendable {
    /// Seconds.
    case after(TimeInterval)
    /// To the end of that day, in the time zone of this machine.
    case day(CalendarDay)

    static let longest = OtherShares.longestLife

    init?(argument text: String) {
        if let day = CalendarDay(text) {
            self = .day(day)
            return
        }
        let digits = text.prefix { ("0"..."9").contains($0) }
        let units: [Substring: TimeInterval] = ["d": 86_400, "h": 3_600, "min": 60]
        guard let count = Int(digits), count > 0, let unit = units[text.dropFirst(digits.count)],
            Double(count) * unit <= Self.longest
        else { return nil }
        self = .after(Double(count) * unit)
    }

    func end(from now: Date) -> Date {
        switch self {
        case .after(let seconds): return now.addingTimeInterval(seconds)
        case .day(let day):
            // mktime(3) finds out about summer time, and takes the 32nd for the next month's first.
            var parts = tm()
            parts.tm_year = Int32(day.year - 1_900)
            parts.tm_mon = Int32(day.month - 1)
            parts.tm_mday = Int32(day.day + 1)
            parts.tm_isdst = -1
            return Date(timeIntervalSince1970: Double(mktime(&parts)))
        }
    }
}
