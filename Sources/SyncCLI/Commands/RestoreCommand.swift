import ArgumentParser
import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SystemPackage

struct RestoreCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore archived photos by path.",
        discussion: """
            PATHS are files, folders (an album), quoted wildcards, vacations, shares or object keys, including photos \
            that are no longer on this machine. The cost is shown first, and on a terminal it asks; elsewhere limits \
            say what is too much (--max-cost, restore.max_cost_usd). The agent follows the job, reports when it is \
            ready, and saves the photos to the folder of --output; without an agent, use --wait. What can be read \
            already is saved at once.

            Tiers, from cheap to fast: bulk (48 h from DEEP_ARCHIVE), standard (12 h), expedited (minutes, from GLACIER \
            only).

            EXAMPLES
              sync-agent restore ~/Pictures/Vacations/Paris_France_2024-06-15_2024-06-22
              sync-agent restore --estimate '~/Pictures/Gallery/IMG_20*.jpg'
              sync-agent restore --tier bulk --days 60 ~/Pictures/Gallery/2019
              sync-agent restore --rush --wait --output ~/paris ~/Pictures/Vacations/Paris
              sync-agent restore --suggest
              sync-agent restore --all --output ~/Pictures
              sync-agent restore --original --output ~/prints ~/Pictures/a.jpg
              sync-agent restore --machine old-laptop --from 2024-06-01 --output ~/june
            """
    )

    @Argument(help: "What to restore.", completion: .file())
    var paths: [PathArgument] = []

    @Option(help: "bulk, standard or expedited (default: restore.tier).")
    var tier: RestoreTier?

    @Flag(help: "The fastest tier that each photo's storage class has.")
    var rush = false

    @Option(
        help: ArgumentHelp(
            "How long the copies stay available (default: restore.days); it also extends copies that are available already.",
            valueName: "days"))
    var days: Int?

    @Flag(help: "Show what each tier would cost; no restore is requested.")
    var estimate = false

    @Option(
        name: .customLong("max-cost"),
        help: ArgumentHelp("Refuse when it would cost more (default: restore.max_cost_usd).", valueName: "usd"))
    var maximumCost: Double?

    @OptionGroup var consent: ConsentOptions

    @Flag(help: "Wait until the photos are available; Ctrl-C leaves the restore running.")
    var wait = false

    @Option(
        help: ArgumentHelp("Save the photos in this folder when they are available.", valueName: "dir"),
        completion: .directory)
    var output: OutputArgument?

    @Option(
        help: ArgumentHelp(
            "An earlier version of the photos, as status PATH lists them: its number (1 is the one before), a day, or its id.",
            valueName: "n|day|id"))
    var version: String?

    @Flag(help: "The original files, where they are kept (photos.keep_originals), instead of the reduced copies.")
    var original = false

    @Flag(help: "All known photos; with --output, saved with folders, names and times.")
    var all = false

    @Option(help: ArgumentHelp("Photos of this machine (name or id); paths are as they were there.", valueName: "name"))
    var machine: String?

    @Option(help: ArgumentHelp("Photos taken on this day or later.", valueName: "day"))
    var from: CalendarDay?

    @Option(help: ArgumentHelp("Photos taken on this day or earlier.", valueName: "day"))
    var to: CalendarDay?

    @Flag(help: "Suggest albums that you may want soon; no restore is requested.")
    var suggest = false

    @OptionGroup var options: AnswerOptions

    func validate() throws {
        let isLibrary = all || machine != nil || from != nil || to != nil
        if paths.isEmpty, !suggest, !isLibrary { throw ValidationError("name what to restore, or use --suggest") }
        if suggest, isLibrary { throw ValidationError("--suggest takes no other choice") }
        if all, !paths.isEmpty { throw ValidationError("--all takes no paths") }
        if all, machine != nil { throw ValidationError("--all and --machine exclude each other") }
        if version != nil, original { throw ValidationError("--version and --original exclude each other") }
        if version != nil, isLibrary { throw ValidationError("--version takes paths") }
        if let from, let to, to < from { throw ValidationError("--to is before --from") }
        if suggest, !paths.isEmpty { throw ValidationError("--suggest takes no paths") }
        if let version, RestoreVersion(version) == nil {
            throw ValidationError("--version takes a number, a day (2026-11-22), or six or more digits of an id")
        }
        if tier != nil, rush { throw ValidationError("--rush chooses the tier; leave out --tier") }
        if let days, !(1...3_650).contains(days) { throw ValidationError("--days takes 1 to 3650") }
        if let maximumCost, !(maximumCost >= 0) { throw ValidationError("--max-cost takes dollars, such as 2.50") }
        if estimate, wait || output != nil {
            throw ValidationError("--estimate only shows; leave out --wait and --output")
        }
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        let folder = try output?.announcedPath(workspace.installation, workspace.console)
        let services = try await RestoreServices(workspace, access: estimate || suggest ? .reads : .writes)
        if suggest { return try await suggestions(workspace, services) }
        var unread: [String] = []
        if scope(workspace.installation).isLibrary {
            // Brings what is known of other machines up to what they have written; this one stays what it is.
            unread = try await RebuildCommand.rebuild(workspace, inPlaceOf: nil, takesOver: false).problems
            let errors = workspace.console.errors
            for problem in unread {
                errors.writeLine(errors.styled("not whole", .yellow) + "  \(problem.escapingControls)")
            }
        }
        return try await order(Restores(services, for: .reading), savingIn: folder, besides: unread)
    }

    // MARK: An order

    /// - Parameter unread: what the store has and could not tell of: photos of it may be missing.
    private func order(
        _ restores: Restores, savingIn folder: FilePath?, besides unread: [String]
    ) async throws -> Answer {
        let workspace = restores.workspace
        var scope = scope(workspace.installation)
        let versions = try await versions(workspace.installation, restores.services)
        scope.versions = Dictionary(grouping: versions) { $0.key }.mapValues { $0.map { $0.photo } }
        let wish = RestoreWish(
            names: version == nil ? paths.map(\.text) : versions.map { $0.key.rawValue }, scope: scope,
            tier: rush ? .rush : tier.map { .tier($0) },
            days: days, extends: days != nil, output: folder, maximumCost: maximumCost, isAgreed: consent.yes)
        var proposal = try await restores.propose(wish)
        if proposal.isAllUnknown {
            let failure = Self.unknown(proposal)
            guard let hint = try await RebuildHint.text(workspace) else { throw failure }
            throw CommandFailure(failure.status, "\(failure)\n\(hint)")
        }
        if proposal.isEmpty {
            throw CommandFailure.noSuchPath(
                "nothing is known that was taken then; sync-agent status lists what is known")
        }
        if estimate { return try show(proposal, restores, besides: unread) }
        if wait, !proposal.runningJobs.isEmpty {
            try await restores.wait(for: proposal.runningJobs)
            proposal = try await restores.propose(wish)
        }
        try await restores.agree(to: proposal, wish)
        return try await carryOut(proposal, restores, besides: unread)
    }

    private func scope(_ installation: Installation) -> RestoreScope {
        // Days alone are those of the whole library.
        let isAll = all || paths.isEmpty && machine == nil
        return RestoreScope(
            isAll: isAll, machine: machine, ownName: installation.machineName, from: from, to: to,
            wantsOriginals: original)
    }

    private func show(_ proposal: RestoreProposal, _ restores: Restores, besides unread: [String]) throws -> Answer {
        let view = try restores.view()
        var report = EstimateReport(proposal, prices: view.prices)
        report.problems = unread
        let isWhole = proposal.problems.isEmpty && unread.isEmpty
        return Answer(report, status: isWhole ? .done : .partlyDone) {
            RestoreView(terminal: $0, prices: view.prices, isFree: view.isFree).proposal(proposal)
        }
    }

    private func carryOut(
        _ proposal: RestoreProposal, _ restores: Restores, besides unread: [String]
    ) async throws -> Answer {
        let (console, view) = (restores.workspace.console, try restores.view())
        let request = try await restores.request(proposal)
        let job = request.job
        let begun = try await restores.report(request)
        var answer = begun
        let comesLater = answer.items.contains { ["planned", "retrieving"].contains($0.state) }
        if !options.json {
            view.result(answer, readyAt: comesLater ? job?.end(after: request.hours) : nil)
                .forEach(console.output.writeLine)
        }
        var last: Restores.Ended?
        var isSaved = true
        var unsaved: [RestoreDownloader.Problem] = []
        // What can be read needs no agent to be saved, and nobody who waits.
        if !wait, let job, let folder = job.output, answer.items.contains(where: { $0.state == "restored" }) {
            let delivered = try await restores.save(job.id)
            answer = try await restores.report(request)
            unsaved = try await restores.unfinished(of: job.id, in: folder, besides: delivered.problems)
            isSaved = unsaved.isEmpty
            if !options.json {
                // By the agent, too.
                let saved = try await restores.services.ledger { try $0.restoreJob(job.id)?.saved } ?? delivered.saved
                console.output.writeLine(
                    "\(Quantities.counted(saved, "photo")) saved in \(folder.text.escapingControls)")
            }
        }
        if wait, let job {
            last = try await restores.wait(for: [job.id], savingIn: job.output)
            unsaved = last?.unsaved ?? []
            answer = try await restores.report(request)
        }
        answer.notSaved = unsaved.map { PathRemark($0.path, $0.reason) }
        answer.problems = unread
        isSaved = last?.isSaved ?? isSaved
        // Photos that another restore is bringing back are not saved by this one.
        let isLeftToOthers = self.output != nil && answer.skipped.contains { $0.state == "retrieving" }
        if isLeftToOthers {
            console.errors.writeLine(
                "What another restore is bringing back is not saved by this one: run it again with --wait, or when it is ready."
            )
        }
        let status: ExitStatus =
            switch answer.status {
            case .failed where request.refusals == [.accessDenied]: .refused
            case .done where !isSaved || isLeftToOthers: .partlyDone
            case let status: status
            }
        return Answer(answer, status: status) { [answer, last] _ in
            last.map { view.end(answer, $0, besides: begun) } ?? []
        }
    }

    /// What `--version` means of the paths.
    private func versions(
        _ installation: Installation, _ services: RestoreServices
    ) async throws -> [(key: ObjectKey, photo: FilePath)] {
        guard let wanted = version.flatMap(RestoreVersion.init) else { return [] }
        let (paths, locator) = (paths.map(\.text), installation.pathLocator)
        return try await services.ledger { try wanted.keys(of: paths, in: $0, locator) }
    }

    private static func unknown(_ proposal: RestoreProposal) -> CommandFailure {
        // A name that is no path is none of a folder that cannot be read either.
        let hidden = proposal.order.names.compactMap { UnknownPaths.obstacle(to: ProcessEnvironment.absolute($0)) }
        return CommandFailure(
            hidden.isEmpty ? .noSuchPath : .refused,
            (RestoreReport.Skipped.all(in: proposal).map { "\(($0.path ?? "").escapingControls): \($0.reason)" }
                + Set(hidden).sorted()).joined(separator: "\n"))
    }

    // MARK: Suggestions

    private func suggestions(_ workspace: Workspace, _ services: RestoreServices) async throws -> Answer {
        let settings = workspace.settings.restore
        let found = try await RestoreSuggestions(
            ledger: services.ledger, prices: try workspace.installation.prices(), tier: settings.tier,
            days: settings.days
        ).find(at: workspace.time.now(), limit: 10)
        return Answer(SuggestionReport(found))
    }
}

extension RestoreTier: ExpressibleByArgument {}

/// Which earlier version of photos `restore --version` means: its number, a day on which it was the stored one, or the
/// first digits of its id.
enum RestoreVersion: Hashable {
    case number(Int)
    case day(CalendarDay)
    case id(String)

    /// Digits of an id that cannot be a number.
    private static let shortestID = 6

    init?(_ text: String) {
        if let day = CalendarDay(text) {
            self = .day(day)
        } else if let number = Int(text), number >= 1, text.utf8.count < Self.shortestID {
            self = .number(number)
        } else if text.utf8.count >= Self.shortestID, text.allSatisfy(\.isHexDigit) {
            self = .id(text.lowercased())
        } else {
            return nil
        }
    }

    /// The one that is meant of a photo's versions; `nil` when there is none.
    func choose(from versions: [PhotoVersion]) -> PhotoVersion? {
        switch self {
        case .number(let number): return versions.first { $0.number == number }
        // In UTC, as all that `status` tells; the latest of that day.
        case .day(let day):
            return versions.first { version in
                CalendarDay(version.storedAt) <= day && day <= CalendarDay(version.replacedAt)
            }
        case .id(let id):
            return versions.first { version in
                version.object.md5.map { "\($0)".hasPrefix(id) } ?? false
                    || version.object.key.lastSegment.utf8.starts(with: id.utf8)
            }
        }
    }

    /// The keys of the versions, with the paths of the photos.
    /// - Throws: ``CommandFailure`` that names what has no such version.
    func keys(
        of paths: [String], in ledger: Ledger, _ locator: PathLocator
    ) throws -> [(key: ObjectKey, photo: FilePath)] {
        var keys: [(key: ObjectKey, photo: FilePath)] = []
        var unknown: [String] = []
        for path in paths {
            let before = keys.count
            let isKnown = try locator.photos(at: path, in: ledger) { photo, _ in
                guard let version = choose(from: try ledger.versions(of: photo)) else { return }
                keys.append((version.object.key, photo.path))
            }
            if !isKnown {
                unknown.append(UnknownPaths.message(path))
            } else if keys.count == before {
                unknown.append(
                    "\(ProcessEnvironment.absolute(path).text.escapingControls): no such version is stored; sync-agent status "
                        + "\(RawText.shown(path).escapingControls) lists those that are")
            }
        }
        guard unknown.isEmpty else { throw CommandFailure.noSuchPath(unknown.joined(separator: "\n")) }
        return keys
    }
}
