import ArgumentParser
import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SystemPackage

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read stored photos back, and store again what is damaged or gone.",
        discussion: """
            Compares the SHA-256 of each object with that of what was stored, the longest unproven first. What is archived \
            is held against its size and ETag, and never restored. The agent does so by itself, a little every day \
            (verify.percent_per_day), within a budget (verify.max_usd_per_month); this command takes as much, or more.

            What is damaged or missing is stored again where its file is here. Exit code 3 means that something was \
            damaged or missing, or that a photo is lost.

            EXAMPLES
              sync-agent verify                              one day's part
              sync-agent verify ~/Pictures/Trips/Rome
              sync-agent verify --percent 10 --budget 0.50
              sync-agent verify --all --budget 20 --json | jq .damaged
            """
    )

    @Argument(help: "Files or folders whose stored copies are read.", completion: .file())
    var paths: [String] = []

    @Option(help: ArgumentHelp("How much of all that is stored.", valueName: "N"))
    var percent: Double?

    @Flag(help: "All that is stored.")
    var all = false

    @Option(
        help: ArgumentHelp(
            "What it may cost, in US dollars. Without it: what is left of the month's budget.", valueName: "USD"))
    var budget: Double?

    @Flag(help: "Print the result as one JSON object.")
    var json = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if let percent, !(percent > 0 && percent <= 100) {
            throw ValidationError("--percent takes a number above 0, up to 100")
        }
        if let budget, !(budget >= 0) { throw ValidationError("--budget takes US dollars, 0 or more") }
        if [all, percent != nil, !paths.isEmpty].count(where: { $0 }) > 1 {
            throw ValidationError("--all, --percent and paths exclude each other")
        }
    }

    func run() async throws {
        let environment = ProcessEnvironment.current
        try await reportingFailure(.standardError(environment)) {
            let installation = try Installation(global)
            let report = try await verify(installation)
            let output = Terminal.standardOutput(environment)
            output.write(
                json ? try JSONOutput.text(report) + "\n" : report.text(now: installation.time.now()))
            if !report.isWell { throw ExitStatus.partlyDone.code }
        }
    }

    private func verify(_ installation: Installation) async throws -> VerifyReport {
        let ledger = try installation.openLedger()
        // What is broken is stored again here, unless an agent is at it.
        var lock: AgentLock?
        do {
            lock = try installation.takeLock()
        } catch is AgentLock.Held {}
        defer { withExtendedLifetime(lock) {} }
        let parts = try RestoreParts(installation, ledger: ledger, access: .reads)
        let verifier = Verifier(
            store: parts.store, ledger: parts.ledger,
            cost: VerificationCost(prices: try installation.pricesThatCount()),
            time: installation.time)
        let result = try await look(verifier, ledger, installation)
        var repaired = 0
        if !result.broken.isEmpty, lock != nil {
            try await storeAgain(ledger, installation)
            repaired = try result.broken.count { try ledger.object($0.key)?.problem == nil }
        }
        let now = installation.time.now()
        var report = VerifyReport(
            result, repaired: repaired, oldest: try ledger.verificationStanding(at: now).oldest,
            lost: try ledger.overview().lost)
        report.leftToAgent = !result.broken.isEmpty && lock == nil
        try ledger.close()
        return report
    }

    private func look(
        _ verifier: Verifier, _ ledger: Ledger, _ installation: Installation
    ) async throws -> Verifier.Result {
        let settings = installation.settings.verify
        let spent = try ledger.verificationStanding(at: installation.time.now()).spentUSD
        let limit = budget ?? max(settings.maximumUSDPerMonth - spent, 0)
        let choice: Verifier.Choice =
            paths.isEmpty
            ? .percent(all ? 100 : percent ?? (settings.percentPerDay > 0 ? settings.percentPerDay : 1))
            : .keys(try keys(ledger, installation))
        let terminal = Terminal.standardError(installation.environment)
        var line = StatusLine(terminal)
        defer { line.finish() }
        return try await verifier.run(choice, costingAtMost: limit) { done, total in
            guard terminal.isInteractive else { return }
            line.show(
                "\(ProgressBar.text(done, of: total)) \(Quantities.count(done)) of \(Quantities.count(total)) checked")
        }
    }

    /// The objects of the photos at the paths.
    private func keys(_ ledger: Ledger, _ installation: Installation) throws -> [ObjectKey] {
        let locator = PathLocator(roots: installation.settings.watch.map(\.path))
        var keys: [ObjectKey] = []
        var seen: Set<ObjectKey> = []
        var unknown: [String] = []
        for path in paths {
            let absolute = ProcessEnvironment.workingFolder.pushing(FilePath(path)).lexicallyNormalized()
            var count = 0
            for candidate in locator.candidates(for: absolute) where count == 0 {
                count = try ledger.photos(at: candidate) { photo in
                    var objects = [photo.object ?? photo.earlier].compactMap(\.self)
                    if photo.note != nil { objects += try ledger.events(of: photo.id).compactMap(\.object) }
                    for object in objects where seen.insert(object.key).inserted { keys.append(object.key) }
                }
            }
            if count == 0 { unknown.append(absolute.string) }
        }
        guard unknown.isEmpty else {
            throw CommandFailure(
                .noSuchPath,
                unknown.map {
                    "\($0.escapingControls): nothing is known of this path; is it below a watched folder, and was it synced?"
                }.joined(separator: "\n"))
        }
        return keys
    }

    private func storeAgain(_ ledger: Ledger, _ installation: Installation) async throws {
        let progress = ProgressLine(terminal: .standardError(installation.environment), time: installation.time)
        defer { progress.finish() }
        let parts = try AgentParts(installation, ledger: ledger, observe: progress.note)
        progress.expect(try ledger.overview().totals.waiting)
        try await parts.pipeline.run(.untilDone(patience: .seconds(10)))
        try await parts.vacations.round()
        try await parts.upkeep.mend()
    }
}
