import FoundationEssentials
import Logging
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPhotos
import SyncS3
import SyncSystem
import SystemPackage

/// Everything that `doctor` looks at, in order: first what works without a configuration.
struct Doctor: Sendable {
    let global: GlobalOptions
    let environment: [String: String]
    let triesArchive: Bool
    let checks: Checks

    /// - Throws: ``DoctorStoreChecks/Interrupted``, `CancellationError`.
    func run() async throws {
        let location: ConfigLocation
        do {
            location = try ConfigLocation(
                option: global.configurationFile?.text, environment: environment,
                workingFolder: ProcessEnvironment.workingFolder)
        } catch {
            return refuse(error)
        }
        let pool = BlockingPool(name: "doctor", threads: 1)
        try await closing(pool.shutDown) { try await run(location, pool) }
    }

    private func run(_ location: ConfigLocation, _ pool: BlockingPool) async throws {
        let installation = await pool.finish { readConfiguration(location) }
        let machine = DoctorMachineChecks(location: location, checks: checks, pool: pool)
        let pictures = PictureWorkers(besides: ProcessEnvironment.executable)
        let (ledger, agentRuns) = await pool.finish {
            checks.add(machine.stateFolder())
            let ledger = machine.openLedger()
            if let ledger {
                checks.add(machine.clock(ledger))
                checks.add(machine.verification(ledger, installation?.settings.verify, now: TimeSource.system.now()))
                checks.add(machine.photos(ledger))
                checks.add(machine.shares(ledger, now: TimeSource.system.now()))
                if let installation {
                    checks.add(machine.retention(ledger, installation))
                    checks.add(machine.originals(ledger, installation, hasDecoder: pictures.program != nil))
                }
                checks.add(machine.places(ledger, installation?.settings.photos.reduce))
            }
            return (ledger, machine.checkAgent())
        }
        let decoder = DoctorDecoderCheck(pictures: pictures)
        checks.add(try await pool.runChecking { try decoder.finding($0) })
        checks.add(films(FilmFrames(path: environment["PATH"] ?? "")))
        let closeLedger: @Sendable () async -> Void = { await pool.finish { try? ledger?.close() } }
        try await closing(closeLedger) {
            if let installation {
                checks.add(PlainConnections(installation.settings, environment: environment).finding)
                await machine.checkFolders(installation.settings.watch, ledger: ledger, agentRuns: agentRuns)
            }
            await pool.finish {
                machine.checkSpace(places(location, installation))
                if let installation { machine.checkWays(installation.settings) }
            }
            if let installation { try await examineStore(installation, ledger) }
        }
    }

    /// What makes pictures of films. They are stored and shared without it, too.
    private func films(_ frames: FilmFrames?) -> Finding {
        guard let frames else { return .ok("films", "shared without a picture of them: ffmpeg is not installed") }
        return .ok("films", "shared with a picture of them, made by \(frames.program)")
    }

    // MARK: Configuration

    private func readConfiguration(_ location: ConfigLocation) -> Installation? {
        do {
            let loaded = try ConfigFile.load(location)
            let warnings = loaded.warnings.map(\.description)
            if let failure = placeFailure(loaded.settings, location) {
                checks.add(
                    .wrong(
                        "configuration", message: "\(location.file): \(failure.description)",
                        otherwise: "name another folder", cause: failure))
            } else if warnings.isEmpty {
                checks.add(.ok("configuration", location.file.string))
            } else {
                let advice = warnings.count == 1 ? Advice(warnings[0]) : nil
                checks.add(
                    .limited(
                        "configuration", "\(location.file): \(advice?.reason ?? warnings.joined(separator: "\n"))",
                        instead: advice?.remedy ?? "it works, but needs attention"))
            }
            return Installation(
                location: location, settings: loaded.settings, environment: environment,
                logger: Installation.logger(global, environment), time: .system)
        } catch {
            refuse(error)
            return nil
        }
    }

    /// What keeps its folders from being apart, as the disks tell; `nil` for nothing.
    private func placeFailure(_ settings: Settings, _ location: ConfigLocation) -> CommandFailure? {
        do throws(CommandFailure) {
            try OutputPlace.check(settings, at: location)
            return nil
        } catch {
            return error
        }
    }

    private func refuse(_ error: ConfigError) {
        let name = "configuration"
        let remedy = "correct it; sync-agent config reference explains every key"
        checks.add(
            error.problems.count == 1
                ? .wrong(name, message: error.description, otherwise: remedy, cause: error)
                : .wrong(name, error.description, remedy: remedy, cause: error))
    }

    private func places(_ location: ConfigLocation, _ installation: Installation?) -> [(what: String, path: FilePath)] {
        var places = [(what: "state", path: location.stateFolder)]
        if case .directory(let directory)? = installation?.settings.store {
            places.append(("store", directory.path))
        }
        return places
    }

    // MARK: Store

    private func examineStore(_ installation: Installation, _ ledger: Ledger?) async throws {
        let policy: TierPolicy
        do {
            policy = try installation.tierPolicy()
        } catch let error as ConfigError {
            return refuse(error)
        }
        switch installation.settings.store {
        case .directory(let directory):
            guard isStore(directory.path, ledger) else { return }
            let store = installation.makeStore(directory, .writes, memory: ledger)
            let steps = StoreSteps(checks: checks, policy: policy, s3: nil, triesArchive: true)
            try await closing(store.close) { try await examine(store, installation, ledger, steps) }
        case .s3(let section):
            guard let store = openStore(section, installation, ledger) else { return }
            try await closing(store.close) {
                guard try await S3Connection(checks: checks, store: store, now: installation.time.now).examine() else {
                    return
                }
                let isAmazon = store.knowledge.address.isAmazon
                let steps = StoreSteps(
                    checks: checks, policy: policy, s3: store, triesArchive: triesArchive || !isAmazon)
                try await examine(store, installation, ledger, steps)
            }
        }
    }

    private func examine(
        _ store: any ObjectStore, _ installation: Installation, _ ledger: Ledger?, _ steps: StoreSteps
    ) async throws {
        // Every other command refuses to use the two together.
        if let ledger, let other = try? installation.otherPlace(of: ledger, than: store) {
            return checks.add(
                .wrong(
                    "store",
                    "the ledger tells what is stored in \(other), and the configuration names "
                        + installation.placeName(store),
                    remedy: "correct store or user; where it is the same store under another name: sync-agent "
                        + "move-store --adopt",
                    cause: CommandFailure.configuration("store")))
        }
        let retrying = installation.retrying(store)
        guard let base = installation.settings.share.publicBaseURL else {
            return try await DoctorStoreChecks(
                installation: installation, store: retrying, checks: checks, steps: steps
            ).run()
        }
        let transport = try CurlTransport.forLinks(environment)
        let links = ShareLinks(store: retrying, publicBaseURL: base, time: installation.time)
        var steps = steps
        steps.openReader = Self.openReader(links, PublicReader(transport: transport))
        let examination = DoctorStoreChecks(
            installation: installation, store: retrying, checks: checks, steps: steps)
        try await closing(transport.close) { try await examination.run() }
    }

    /// Reads what is below share.public_base_url.
    private static func openReader(
        _ links: ShareLinks, _ reader: PublicReader
    ) -> @Sendable (ObjectKey) async throws -> [UInt8]? {
        { key in
            guard let link = links.openAddress(of: key).flatMap({ WebLink($0) }) else {
                throw StoreError(
                    .invalidRequest, operation: "get", message: "share.public_base_url is no http or https address")
            }
            return try await reader.bytes(at: link, limit: 1 << 20)
        }
    }

    private func openStore(
        _ section: S3StoreSettings, _ installation: Installation, _ ledger: Ledger?
    ) -> S3Store? {
        do {
            return try installation.makeStore(section, memory: ledger.map(IgnoringStoredFacts.init(base:)))
        } catch {
            let message = (error as? StoreError)?.message ?? "\(error)"
            checks.add(
                .wrong(
                    "store", message, remedy: "correct the store section",
                    cause: CommandFailure.configuration(message)))
            return nil
        }
    }

    /// An embedded store is looked into only where there is one: opening it would make it.
    private func isStore(_ path: FilePath, _ ledger: Ledger?) -> Bool {
        let name = "store"
        do {
            try FileDescriptor.open(path.appending(StoreMarker.name), .readOnly).close()
            return true
        } catch Errno.permissionDenied {
            // The store says what it is denied.
            return true
        } catch {}
        if let obstacle = FolderMaker().obstacle(to: path) {
            checks.add(
                .wrong(
                    name, "\(path): \(obstacle) is no folder", remedy: "name another place in store.path",
                    cause: CommandFailure.configuration(name)))
        } else if (try? ledger?.knowsStore()) ?? false {
            let objects = (try? ledger?.overview().tiers.reduce(0) { $0 + $1.objects }) ?? 0
            let error = StoreError(
                .storeMissing, operation: "check",
                message:
                    "\(path) is no store, although \(Quantities.counted(objects, "object is", plural: "objects are")) known to be in it; "
                    + "mount its disk, or correct store.path")
            checks.add(.wrong(name, error))
        } else if ledger == nil, checks.findings.contains(where: { $0.name == "ledger" && $0.state == .wrong }) {
            checks.add(
                .limited(
                    name, "\(path): not there; the ledger, which cannot be read, would tell whether it ever was",
                    instead: "mend what ledger says, and run doctor again"))
        } else {
            checks.add(.ok(name, "\(path): not there yet, the first sync makes it"))
        }
        return false
    }
}

/// The memory of a store that is examined: what earlier runs learned is not believed, so that all is tried anew, and what
/// is found is remembered as ever.
struct IgnoringStoredFacts: EndpointFactStore {
    let base: any EndpointFactStore

    func facts(of place: String) -> [String: String] { [:] }

    func remember(_ fact: String, value: String, of place: String) { base.remember(fact, value: value, of: place) }

    func noteUpload(_ upload: StoredUpload) { base.noteUpload(upload) }

    func forgetUpload(_ id: String) { base.forgetUpload(id) }

    func unfinishedUploads() -> [StoredUpload] { base.unfinishedUploads() }
}

/// What was found so far, in its order. Each finding is told at once: some take a while.
final class Checks: Sendable {
    private let report: @Sendable (Finding) -> Void
    private let list = Lock<[Finding]>([])

    init(report: @escaping @Sendable (Finding) -> Void) { self.report = report }

    var findings: [Finding] { list.withLock { $0 } }

    /// - Parameter finding: `nil` where there is nothing to tell.
    func add(_ finding: Finding?) {
        guard let finding else { return }
        list.withLock { $0.append(finding) }
        report(finding)
    }

    /// What the command ends with: the gravest of what is wrong, `done` when nothing is.
    var status: ExitStatus {
        let wrong = Set(findings.filter { $0.state == .wrong }.map { $0.cause.map(ExitStatus.init) ?? .failed })
        if let gravest = Self.gravest.first(where: wrong.contains) { return gravest }
        return wrong.isEmpty ? .done : .failed
    }

    /// Without a configuration nothing works; without credentials nobody knows whether the store would.
    private static let gravest: [ExitStatus] = [.configuration, .refused, .storeUnreachable]
}

/// `doctor --json`: its fields are a contract (docs/commands.md).
struct DoctorReport: Encodable {
    struct Check: Encodable {
        var name: String
        var state: String
        var detail: String
        @Nullable var remedy: String?
    }

    var checks: [Check]

    init(_ findings: [Finding]) {
        checks = findings.map {
            Check(name: $0.name, state: $0.state.rawValue, detail: $0.detail, remedy: $0.remedy)
        }
    }
}

/// The findings for people, in 80 columns.
struct DoctorView {
    let terminal: Terminal

    private static let table = Table(.left(9), .left(18), .rest)

    private var textWidth: Int { terminal.textWidth - 27 }

    /// ```
    /// limited  conditional-puts  the server does not look at If-None-Match, and overwrites
    ///                            -> a HEAD goes before each put
    /// ```
    func lines(_ finding: Finding) -> [String] {
        let words = finding.detail.split(separator: "\n").flatMap {
            TextLayout.wrapped(String($0).escapingControls, to: textWidth)
        }
        let remedy = finding.remedy.map { TextLayout.wrapped($0.escapingControls, to: textWidth - 3) } ?? []
        let style: Terminal.Style =
            switch finding.state {
            case .ok: .green
            case .limited: .yellow
            case .wrong: .red
            }
        return Self.table.rows(
            Self.word(for: finding.state), finding.name, last: words.isEmpty ? [""] : words,
            first: { terminal.styled($0, style) })
            + remedy.enumerated().map { Self.table.row("", "", ($0 == 0 ? "-> " : "   ") + $1) }
    }

    func summary(_ findings: [Finding]) -> String {
        let counts = Finding.State.allCases.map { state in
            "\(findings.count { $0.state == state }) \(Self.word(for: state))"
        }
        return counts.joined(separator: ", ")
    }

    private static func word(for state: Finding.State) -> String {
        state == .wrong ? "WRONG" : state.rawValue
    }
}
