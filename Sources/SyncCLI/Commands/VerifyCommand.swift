import ArgumentParser
import FoundationEssentials
import Logging
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SystemPackage

struct VerifyCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify stored photos, and store again what is damaged or missing.",
        usage: "sync-agent verify [<paths> ...] [<options>]",
        discussion: """
            Compares the SHA-256 of each object with that of what was stored, starting with the objects that were \
            verified longest ago. Archived objects are compared by size and ETag, and never restored. The agent does \
            this by itself, a little every day (verify.percent_per_day), within a budget (verify.max_usd_per_month); \
            this command does one day's part, or more.

            What is damaged or missing is stored again if its file is on this machine. This machine's catalogue is \
            read, too, unless paths are given, and written again if it was altered. Exit code 3 means that something \
            was damaged or missing, or that a photo is lost.

            EXAMPLES
              sync-agent verify                              one day's part
              sync-agent verify ~/Pictures/Trips/Rome
              sync-agent verify --percent 10 --budget 0.50
              sync-agent verify --all --budget 20 --json | jq .damaged
            """
    )

    @Argument(help: "Files or folders to verify.", completion: .file())
    var paths: [PathArgument] = []

    @Option(help: ArgumentHelp("Verify this part of all objects, in percent.", valueName: "N"))
    var percent: Double?

    @Flag(help: "Verify all objects.")
    var all = false

    @Option(
        help: ArgumentHelp("Maximum cost in US dollars (default: the rest of the month's budget).", valueName: "USD"))
    var budget: Double?

    @OptionGroup var options: AnswerOptions

    func validate() throws {
        if let percent, !(percent > 0 && percent <= 100) {
            throw ValidationError("--percent takes a number above 0, up to 100")
        }
        if let budget, !(budget >= 0) { throw ValidationError("--budget takes US dollars, 0 or more") }
        if [all, percent != nil, !paths.isEmpty].count(where: { $0 }) > 1 {
            throw ValidationError("--all, --percent and paths exclude each other")
        }
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        let installation = workspace.installation
        // What is broken is stored again here, unless an agent is at it.
        let lock = try await workspace.takeLockIfFree()
        defer { withExtendedLifetime(lock) {} }
        let services = try await RestoreServices(workspace, access: .reads)
        let ledger = services.ledger
        let cost = VerificationCost(prices: try installation.pricesThatCount())
        let verifier = Verifier(
            store: services.store, ledger: services.ledger, cost: cost,
            moves: try await workspace.mergedPhotos(services.store),
            pruned: try await workspace.prunedVersions(services.store),
            time: workspace.time)
        // What is given counts for this run, whatever was spent before it.
        let month = budget == nil ? workspace.settings.verify.maximumUSDPerMonth : nil
        var result = try await check(verifier, ofMonth: month, workspace)
        var catalog: ObjectKey?
        if paths.isEmpty {
            do {
                let finding = try await CatalogAudit.readBack(
                    store: services.store, ledger: ledger, keys: try workspace.keys,
                    hold: workspace.catalogHold, cost: cost, costingAtMost: budget.map { $0 - result.costUSD },
                    ofMonth: month, time: workspace.time)
                result.add(finding)
                catalog = finding.broken?.key
            } catch let error as StoreError {
                result.addUnreadCatalog(error)
            }
        }
        var repaired = 0
        if !result.broken.isEmpty, lock != nil {
            try await storeAgain(workspace)
            let (broken, ofCatalog) = (result.broken, catalog)
            repaired = try await ledger { ledger in
                let isWritten = try ledger.catalogStatus().problem == nil
                return try broken.count { broken in
                    if broken.key == ofCatalog { return isWritten }
                    return try ledger.object(broken.key)?.problem == nil
                }
            }
        }
        let (now, keys) = (workspace.time.now(), result.broken.map(\.key))
        let advice = try await ledger { ledger in
            try keys.reduce(into: [ObjectKey: String]()) { $0[$1] = try ledger.brokenCopy($1, at: now)?.advice }
        }
        let (status, lost) = try await ledger { (try $0.verificationStatus(at: now), try $0.overview().lost) }
        let report = VerifyReport(
            result, repaired: repaired, oldest: status.oldest, lost: lost,
            leftToAgent: !result.broken.isEmpty && lock == nil, advice: advice)
        return Answer(report, status: report.status) { _ in report.lines(now: now) }
    }

    private func check(
        _ verifier: Verifier, ofMonth month: Double?, _ workspace: Workspace
    ) async throws -> Verifier.Summary {
        let settings = workspace.settings.verify
        let choice: Verifier.Choice =
            paths.isEmpty
            ? .percent(all ? 100 : percent ?? (settings.percentPerDay > 0 ? settings.percentPerDay : 1))
            : .keys(try await keys(workspace))
        let line = ProgressLine(workspace.console.errors, time: workspace.time, elsewhere: .nothing)
        defer { line.finish() }
        return try await verifier.run(choice, costingAtMost: budget, ofMonth: month) { done, total in
            line.update { _ in ProgressBar.text(done, of: total, "object") + " checked" }
        }
    }

    /// The objects of the photos at the paths.
    private func keys(_ workspace: Workspace) async throws -> [ObjectKey] {
        let (paths, locator) = (paths.map(\.text), workspace.installation.pathLocator)
        return try await workspace.ledger { ledger in
            var keys: [ObjectKey] = []
            var seen: Set<ObjectKey> = []
            let unknown = try locator.photos(at: paths, in: ledger) { photo in
                var objects = try ([photo] + ledger.companions(of: photo)).compactMap { $0.object ?? $0.earlier }
                if photo.isOfEvents { objects += try ledger.events(of: photo.id).compactMap(\.object) }
                objects += try objects.compactMap { try ledger.anyOriginal(of: $0.key) }
                for object in objects where seen.insert(object.key).inserted { keys.append(object.key) }
            }
            if let failure = unknown.failure { throw failure }
            return keys
        }
    }

    private func storeAgain(_ workspace: Workspace) async throws {
        let progress = PassProgress(terminal: workspace.console.errors, time: workspace.time)
        defer { progress.finish() }
        let services = try await AgentServices(workspace, observe: progress.note)
        progress.expect(try await services.ledger { try $0.overview().totals.waiting })
        try await services.pipeline.run(.untilDone(patience: .seconds(10)))
        do {
            try await services.vacations.round()
        } catch let error as StoreError {
            workspace.logger.warning("vacations wait for the store: \(error)")
        }
        try await services.upkeep.mend()
        try await workspace.updateCatalog(services.restores.store)
        try await services.originals?.run().log(to: workspace.logger)
    }
}

/// `verify --json`: the fields are a contract (docs/commands.md).
struct VerifyReport: Encodable {
    struct Damaged: Encodable {
        @Nullable var path: String?
        var key: String
        var reason: String
        /// What becomes of it, where its original is whole.
        @Untold var advice: String?
    }

    struct Missing: Encodable {
        @Nullable var path: String?
        var key: String
        @Untold var advice: String?
    }

    /// Objects that were looked at.
    var checked: Int
    /// Bytes that were read.
    var bytes: Int64
    var ok: Int
    /// Of those that are as they were stored: the archived ones, of which the store tells size and ETag, and no more.
    var unread: Int
    var damaged: [Damaged]
    var missing: [Missing]
    /// Objects that are damaged or missing and that only other machines need: those tell of them, and store them again.
    var leftToOthers: Int
    /// Of the damaged and missing ones, those that were stored again in this run.
    var repaired: Int
    var costUSD: Double
    /// When the object that waits longest was proved last.
    @Nullable var oldestUnverified: Date?
    /// Objects of which the store could not tell now, and why: of the first thousand.
    var undecided: Int
    var errors: [String]
    /// `budget` when the money was over before the objects were.
    @Nullable var stoppedBy: String?
    /// Photos that are neither on this machine nor in the store.
    var lost: Int

    /// Who stores again what is broken, when this command could not.
    @Untold var leftToAgent = false

    /// Whether all that was looked at is as it was stored, and nothing is lost.
    var status: ExitStatus {
        damaged.isEmpty && missing.isEmpty && undecided == 0 && lost == 0 ? .done : .partlyDone
    }

    func lines(now: Date) -> [String] {
        var lines = damaged.map { broken in
            let advice = broken.advice.map { "; \($0)" } ?? ""
            return "damaged: \(Self.name(broken.path, broken.key)): \(broken.reason.escapingControls)\(advice)"
        }
        lines += missing.map { broken in
            let advice = broken.advice.map { ": \($0)" } ?? ""
            return "missing: \(Self.name(broken.path, broken.key))\(advice)"
        }
        lines += errors.map { "not known: \($0)".escapingControls }
        if undecided > errors.count { lines.append("not known: \(Quantities.count(undecided - errors.count)) more") }
        var line = "\(Quantities.counted(checked, "object")) checked (\(Quantities.bytes(bytes)) read), "
        line += ok == checked ? "all as they were stored" : "\(Quantities.count(ok)) as they were stored"
        if unread > 0 {
            let them = unread == 1 ? "it is" : "they are"
            line += " (\(Quantities.count(unread)) by size and ETag only, as the store tells them: \(them) archived, "
            line += "and cannot be read without a restore)"
        }
        if !damaged.isEmpty { line += ", \(Quantities.count(damaged.count)) damaged" }
        if !missing.isEmpty { line += ", \(Quantities.count(missing.count)) missing" }
        if leftToOthers > 0 { line += ", \(Quantities.count(leftToOthers)) left to another machine to store again" }
        if repaired > 0 { line += ", \(Quantities.count(repaired)) stored again" }
        if undecided > 0 { line += "; of \(Quantities.count(undecided)) the store could not tell" }
        if costUSD > 0 { line += "; \(Quantities.aboutDollars(costUSD))" }
        lines.append(line)
        if stoppedBy != nil {
            lines.append(
                "It stopped at the budget: --budget USD sets another one, verify.max_usd_per_month the month's.")
        }
        if leftToAgent { lines.append("The agent that is running stores again what it can, within the hour.") }
        if lost > 0 {
            lines.append(
                "\(Quantities.counted(lost, "photo")) \(lost == 1 ? "is" : "are") lost: sync-agent status names them.")
        }
        if let oldestUnverified {
            lines.append("The object that waits longest was proved \(Quantities.ago(oldestUnverified, now: now)).")
        }
        return lines
    }

    private static func name(_ path: String?, _ key: String) -> String {
        path.map { "\($0.escapingControls) (\(key))" } ?? key
    }
}

extension VerifyReport {
    /// - Parameter advice: what becomes of objects that are not repaired, where their originals are whole.
    init(
        _ result: Verifier.Summary, repaired: Int, oldest: Date?, lost: Int, leftToAgent: Bool,
        advice: [ObjectKey: String]
    ) {
        let damaged = result.broken.compactMap { broken -> Damaged? in
            guard case .damaged(let reason) = broken.problem else { return nil }
            return Damaged(
                path: broken.path?.text, key: broken.key.rawValue, reason: reason, advice: advice[broken.key])
        }
        let missing = result.broken.filter { $0.problem == .missing }.map {
            Missing(path: $0.path?.text, key: $0.key.rawValue, advice: advice[$0.key])
        }
        self.init(
            checked: result.checked, bytes: result.bytes, ok: result.intact, unread: result.unread, damaged: damaged,
            missing: missing, leftToOthers: result.leftToOthers, repaired: repaired,
            costUSD: result.costUSD.roundedUSD, oldestUnverified: oldest, undecided: result.undecided,
            errors: result.failures.first.map(\.description), stoppedBy: result.isOverBudget ? "budget" : nil,
            lost: lost, leftToAgent: leftToAgent)
    }
}

/// `retry --json`: the fields are a contract (docs/commands.md).
struct RetryReport: Report {
    var retried: Int
    /// Of them: those that had failed.
    var failed: Int
    /// Of them: those that waited for their next try.
    var waiting: Int
    var agentRunning: Bool

    func lines(on terminal: Terminal) -> [String] {
        guard retried > 0 else { return ["Nothing failed, and nothing waits for another try."] }
        let next = agentRunning ? "the agent tries them now" : "no agent is running: sync-agent sync tries them"
        return [
            "\(Quantities.counted(retried, "photo")) to try again (\(Quantities.count(failed)) had failed, "
                + "\(Quantities.count(waiting)) waited); \(next)"
        ]
    }
}
