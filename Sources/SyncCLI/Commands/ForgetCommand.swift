import ArgumentParser
import FoundationEssentials
import Logging
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SystemPackage

struct ForgetCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Delete stored photos for good, and stop reporting lost ones.",
        usage: "sync-agent forget [<paths> ...] [--missing] [<options>]",
        discussion: """
            The only way to delete stored photos. A path is forgotten, and what is stored of it, earlier versions \
            included, is deleted unless something else needs it: another path, a vacation, an event, a share, a \
            restore. While another machine stores for the same user, nothing is deleted. What is kept is named with \
            the reason. A photo whose file is still in a watched folder is refused, since it would be stored again: \
            move it out first. So is a photo on a drive that is not mounted, or in whose place another one is mounted. \
            Photos in files of gallery events are left to cleanup: such a file is refused, and --missing leaves it out.

            It shows what would be deleted, and what that frees and costs, and asks. It cannot be undone.

            A photo that is lost (its file is gone, and what was stored of it is gone or damaged) is forgotten, too: \
            status no longer reports it, and what is left of it in the store, damaged, is deleted. An archived photo \
            of an event, or an earlier image of a project, that is lost is named by its key.

            --older-than counts from the scan that found the file gone (on a new machine, from its rebuild; for files \
            that were gone before this was recorded, from the update), not from the moment when it was removed.

            EXAMPLES
              sync-agent forget --dry-run '~/Pictures/Gallery/IMG_20*.jpg'
              sync-agent forget ~/Pictures/Gallery/IMG_0001.jpg
              sync-agent forget --missing --older-than 365d
              sync-agent forget recovered --missing
              sync-agent forget --yes ~/Pictures/Gallery --json | jq .freedBytes
            """
    )

    @Argument(help: "Files, folders, quoted wildcards, or keys of what is lost.", completion: .file())
    var paths: [PathArgument] = []

    @Flag(help: "Only photos whose file is gone; without paths, of all watched folders.")
    var missing = false

    @Option(
        name: .customLong("older-than"),
        help: ArgumentHelp("Only photos that have been gone for at least this long (30d, 12w, 1y).", valueName: "age"))
    var age: Age?

    @Flag(help: "Dry run: show what would go; nothing is changed.")
    var dryRun = false

    @OptionGroup var consent: ConsentOptions
    @OptionGroup var options: AnswerOptions

    /// Days, weeks or years, as `365d`.
    struct Age: ExpressibleByArgument {
        private static let days = ["d": 1, "w": 7, "y": 365]

        let days: Int

        init?(argument: String) {
            guard let unit = argument.last.flatMap({ Self.days[String($0)] }), let count = Int(argument.dropLast()),
                (0...100_000).contains(count)
            else { return nil }
            days = count * unit
        }
    }

    func validate() throws {
        if paths.isEmpty, !missing { throw ValidationError("name what to forget, or use --missing") }
        if age != nil, !missing { throw ValidationError("--older-than goes with --missing") }
    }

    private struct Found: Sendable {
        var photos: [PhotoStatus] = []
        /// Lost ones that are of no file.
        var objects: [ObjectKey] = []
        /// Known ones that are not lost, and why they stay.
        var kept: [(key: ObjectKey, reason: String)] = []
        var unknown = UnknownPaths()
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        let workspace = try await workspace.changing(unless: dryRun)
        let found = try await find(workspace)
        if !options.json, found.photos.isEmpty, found.objects.isEmpty, found.kept.isEmpty,
            let failure = found.unknown.failure
        {
            throw failure
        }
        let services = try await ForgetServices(workspace, store: try await workspace.store(dryRun ? .reads : .writes))
        let now = workspace.time.now()
        if age != nil { try await requireClock(workspace) }
        let since = age.map { now.addingTimeInterval(-Double($0.days) * 86_400) }
        let plan = try await services.planner.plan(
            found.photos, objects: found.objects, onlyGone: missing, since: since)
        let preview = try report(plan, found, workspace)
        if dryRun { return Answer(preview, failure: found.unknown.failure) }
        if consent.yes { return try await carryOut(plan, found, services) }
        let shown = try await workspace.afterAsking { try ask(plan, preview, workspace.console.people) }
        return try await carryOut(plan, found, services, shown: shown)
    }

    /// Ages are told by this machine's clock. One that was set far ahead makes everything old: the last whole pass was not.
    private func requireClock(_ workspace: Workspace) async throws {
        let now = workspace.time.now()
        let last = try await workspace.ledger { try $0.overview().lastSyncAt }
        if let last, abs(now.timeIntervalSince(last)) < 2 * 86_400 { return }
        throw CommandFailure.failed(
            "--older-than counts by this machine's clock, and the last whole pass was "
                + (last.map { "on \(Quantities.day($0))" } ?? "never")
                + "; run sync-agent sync first, and see that the clock is right. Nothing was changed")
    }

    /// - Parameter shown: what was shown of what stays, before it was asked.
    private func carryOut(
        _ plan: ForgetPlan, _ found: Found, _ services: ForgetServices, shown: Set<String> = []
    ) async throws -> Answer {
        let workspace = services.workspace
        let done = try await services.planner.begin(plan)
        if !done.photos.isEmpty {
            for problem in try await services.publishChanges() {
                workspace.logger.warning("\(problem); the next pass makes up for it")
            }
        }
        var report = try report(done, found, workspace)
        report.shown = shown
        let line = ProgressLine(workspace.console.errors, time: workspace.time, elsewhere: .nothing)
        defer { line.finish() }
        do {
            // With what an earlier one did not come to the end of.
            report.note(
                try await services.deletions.run { count, total in
                    line.update { _ in ProgressBar.text(count, of: total, "object") + " deleted" }
                })
        } catch is AgentLock.Held {
            workspace.console.errors.writeLine(
                "Another process is deleting at this moment, and goes on with these, too.")
        } catch let error as StoreError {
            line.finish()
            workspace.console.errors.writeLine(
                "What was forgotten is not deleted yet: the next forget, sync or round of the agent goes on with it.")
            throw error
        }
        line.finish()
        return Answer(report, failure: found.unknown.failure)
    }

    private func report(_ plan: ForgetPlan, _ found: Found, _ workspace: Workspace) throws -> ForgetReport {
        ForgetReport(
            plan, known: found.kept, prices: try workspace.installation.prices(),
            isS3: workspace.installation.configuredIdentity.type != StoreType.directory.rawValue,
            at: workspace.time.now(), dryRun: dryRun)
    }

    /// - Returns: what was shown of what stays.
    private func ask(_ plan: ForgetPlan, _ preview: ForgetReport, _ terminal: Terminal) throws -> Set<String> {
        let count = plan.photos.count + plan.objects.count
        if count == 0 { return [] }
        preview.plan(on: terminal).forEach(terminal.writeLine)
        let deleted = plan.deleted.count
        let question =
            deleted > 0
            ? "Delete \(Quantities.counted(deleted, "stored object")) for good?"
            : "Forget \(Quantities.counted(count, plan.isOfLost ? "lost photo" : "photo"))?"
        try Question.confirmLoss(
            typing: deleted > 0 ? deleted : nil, question, on: terminal, to: "forget", no: "nothing was forgotten")
        return Set(preview.namedTexts)
    }

    // MARK: What is meant

    private func find(_ workspace: Workspace) async throws -> Found {
        let (names, places, watched) = (
            paths.map(\.text), workspace.installation.restorePlaces, workspace.settings.watch.map(\.path)
        )
        let now = workspace.time.now()
        return try await workspace.ledger { ledger in
            var found = Found()
            var seen: Set<Int64> = []
            var keys: Set<ObjectKey> = []
            func take(_ photo: PhotoStatus) { if seen.insert(photo.id).inserted { found.photos.append(photo) } }
            if names.isEmpty { for folder in watched { try ledger.photos(at: folder, visit: take) } }
            for name in names {
                if try Self.photos(named: name, places, ledger, take) { continue }
                let key = try? ObjectKey(name)
                if let key, !keys.insert(key).inserted { continue }
                if let key,
                    let object = try ledger.lostBesidePhotos(limit: .max).first(where: { $0.key == key })
                        ?? ledger.lostOriginal(key) ?? ledger.lostVersion(key)
                {
                    found.objects.append(object.key)
                } else if let key, let reason = try Self.whyKept(key, ledger, at: now) {
                    found.kept.append((key, reason))
                } else {
                    found.unknown.add(name)
                }
            }
            return found
        }
    }

    /// What is to be done about an object that is not lost, in place of forgetting it by its key.
    private static func whyKept(_ key: ObjectKey, _ ledger: Ledger, at now: Date) throws -> String? {
        guard let object = try ledger.object(key) else { return nil }
        let status =
            if let broken = try ledger.brokenCopy(key, at: now) {
                broken.words
            } else if object.problem != nil {
                "is damaged or gone"
            } else {
                "is stored, and not known to be damaged"
            }
        guard let path = try ledger.photoPaths(of: key, limit: 1).first else { return status }
        let name = path.text.escapingControls
        return "\(status). To forget the photo with all that is stored of it, name its path: \(name)"
    }

    /// A path, what a rebuild has found, or a wildcard, in this order.
    /// - Returns: whether anything is known by the name.
    private static func photos(
        named name: String, _ places: RestoreSelection.Places, _ ledger: Ledger, _ take: (PhotoStatus) -> Void
    ) throws -> Bool {
        if name.isEmpty { return false }
        let path = places.workingFolder.pushing(FilePath(argument: name)).lexicallyNormalized()
        let rebuilt = LedgerRebuild.place(named: name)
        for place in places.candidates(path) + [rebuilt].compactMap(\.self)
        where try ledger.photos(at: place, visit: take) > 0 {
            return true
        }
        for place in [path, rebuilt].compactMap(\.self) {
            guard let pattern = try places.pattern(place, ledger) else { continue }
            for folder in places.candidates(pattern.folder) {
                // The folder may be known under another name than it was given.
                let own = pattern.below(folder)
                var isAny = false
                try ledger.photos(at: folder) { photo in
                    guard own.matches(photo.path) else { return }
                    isAny = true
                    take(photo)
                }
                if isAny { return true }
            }
        }
        return false
    }
}
