import FoundationEssentials
import SyncCore
import SyncEngine
import SyncS3
import SyncSystem
import SystemPackage
import UnixSignals

/// One call of `mirror`, from its first request to its exit code: runs the mirror once or until the share ends, and says
/// what comes of it.
struct MirrorSession: Sendable {
    let services: MirrorServices
    let console: Console

    /// - Parameter interval: between two looks; `nil` to look once.
    func run(watchingEvery interval: Duration?) async throws -> ExitStatus {
        let end = try await Interruptible.run(until: .sigint, .sigterm) {
            if let interval { return try await watch(every: interval) }
            return try await once()
        }
        switch end {
        case .done(let status): return status
        // Stopped: what has arrived was written down before the end.
        case .interrupted(let signal, let status) where status != nil || interval != nil:
            return ExitStatus(endedBy: signal)
        case .interrupted(let signal, _):
            throw CommandFailure(
                ExitStatus(endedBy: signal),
                "stopped; what has arrived stays, and the same command goes on from there")
        }
    }

    private func once() async throws -> ExitStatus {
        let result = try await mirror()
        let view = view(of: result)
        if !console.isJSON { view.lines.forEach(console.output.writeLine) }
        view.complaints.forEach(console.errors.writeLine)
        if console.isJSON { console.output.writeLine(try JSONOutput.text(MirrorReport(result))) }
        return ExitStatus(result)
    }

    private func mirror() async throws -> MirrorResult {
        let line = ProgressLine(console.errors, time: services.time)
        defer { line.finish() }
        do {
            return try await services.mirror.run(line.show)
        } catch let error as StoreError where error.code == .notFound {
            throw CommandFailure.noSuchPath(error.message)
        }
    }

    private func watch(every interval: Duration) async throws -> ExitStatus {
        let line = ProgressLine(console.errors, time: services.time)
        var account = MirrorAccount()
        var failure: CommandFailure?
        defer { line.finish() }
        do {
            try await MirrorWatch(services.mirror, every: interval, time: services.time).run(observe: line.show) {
                outcome in
                line.finish()
                let isFirst = account.total == nil
                account.note(outcome)
                switch outcome {
                case .success(let result):
                    let view = view(of: result)
                    if !console.isJSON { (isFirst ? view.lines : view.changes).forEach(console.output.writeLine) }
                    account.news(in: view.complaints).forEach(console.errors.writeLine)
                case .failure(let error):
                    account.news(in: ["waiting: \(error)".escapingControls]).forEach(console.errors.writeLine)
                }
            }
        } catch let error as StoreError where error.code == .notFound {
            account.noteEnd(at: services.time.now())
            failure = CommandFailure.noSuchPath(error.message)
        } catch is CancellationError where account.total != nil {
            // Stopped, which is how a watch ends.
        }
        if console.isJSON, let total = account.total { console.output.writeLine(try JSONOutput.text(total)) }
        if let failure { throw failure }
        return account.status
    }

    private func view(of result: MirrorResult) -> MirrorView {
        MirrorView(result: result, terminal: console.output, isPreview: services.mirror.options.isPreview)
    }
}

extension ProgressLine {
    fileprivate func show(_ progress: MirrorProgress) {
        update { progress.text(elapsed: $0) }
    }
}

extension MirrorProgress {
    /// `[=====>    ]  12 of 45 photos  3.1 MiB/s  about 2 min left`, all by bytes.
    func text(elapsed: Duration) -> String {
        let percent = size == 0 ? 0 : Int(100 * sizeHere / size)
        let text =
            "\(ProgressBar.text(percent, of: 100))  \(Quantities.count(photosDone)) of "
            + Quantities.counted(photos, "photo")
        guard sizeHere > 0 else { return text }
        let left = elapsed * (Double(size - sizeHere) / Double(sizeHere))
        return text
            + ProgressBar.pace(bytes: sizeHere, elapsed: elapsed, left: left >= .seconds(1) ? left : nil)
    }
}

/// What the looks of one watch have come to, and what of it was told already.
struct MirrorAccount {
    /// Of all looks; `nil` before the first that could be made.
    private(set) var total: MirrorReport?
    /// Of the last look, as it would be that of `mirror` without `--watch`.
    private(set) var status = ExitStatus.done
    /// By the last look.
    private var told: Set<String> = []

    mutating func note(_ outcome: Result<MirrorResult, any Error>) {
        switch outcome {
        case .success(let result):
            total = MirrorReport(result, after: total)
            status = ExitStatus(result)
        case .failure(let error):
            status = ExitStatus(error)
        }
    }

    /// The share has ended, and its folder is lost.
    mutating func noteEnd(at now: Date) {
        total?.noteEnd(at: now)
        status = .noSuchPath
    }

    /// Those lines of a look that the look before it had not.
    mutating func news(in lines: [String]) -> [String] {
        defer { told = Set(lines) }
        return lines.filter { !told.contains($0) }
    }
}

extension ExitStatus {
    init(_ result: MirrorResult) {
        // What the person changed or deleted is as they want it; what has the name of a photo is in its way.
        let isAnyThere = result.hasPhotos || result.kept.contains { $0.reason != .nameTaken }
        let isAnyMissing = result.failed > 0 || result.kept.contains { $0.reason == .nameTaken }
        if let obstacle = result.obstacle {
            let isFull = (obstacle as? DownloadError)?.code == .noSpace
            if isFull, isAnyThere { self = .partlyDone } else { self.init(obstacle) }
        } else if result.end != nil {
            self = result.isComplete ? .done : result.neverCame ? .noSuchPath : .failed
        } else if !isAnyMissing, result.unwritten.isEmpty {
            self = .done
        } else {
            self = isAnyThere ? .partlyDone : .failed
        }
    }
}

/// What `mirror` is put together from. It needs no ledger and takes no lock of the agent; with a link, it needs no
/// configuration either, and one that is there only tells which folders are those of the agent.
struct MirrorServices: Sendable {
    let mirror: ShareMirror
    let time = TimeSource.system
    private let pool = BlockingPool(name: "mirror", threads: 3)
    private let closeSource: @Sendable () async -> Void

    init(
        _ reference: ShareReference, to output: OutputArgument, options: ShareMirror.Options, _ global: GlobalOptions,
        _ console: Console
    ) throws {
        let source: any ShareSource
        let folder: FilePath
        switch reference {
        case .id(let id):
            let installation = try Installation(global, environment: console.environment)
            folder = try output.announcedPath(installation, console)
            let store = installation.retrying(try installation.makeReadStore(nil))
            source = StoredShareSource(id, in: store)
            closeSource = store.close
        case .link(let link):
            folder = try output.announcedPath(ifConfigured: global, console)
            let transport = try CurlTransport.forLinks(console.environment)
            source = LinkedShareSource(link, transport: transport)
            closeSource = transport.close
        }
        mirror = ShareMirror(source, asked: reference.shareID, to: folder, options: options, pool: pool, time: time)
    }

    /// Waits until threads and connections are gone.
    func close() async {
        await closeSource()
        await pool.shutDown()
    }
}

/// `mirror --json`: the fields are a contract (docs/commands.md).
struct MirrorReport: Encodable {
    struct Kept: Encodable {
        var name: String
        /// `changed`, `deleted` or `nameTaken`.
        var reason: String
    }

    struct Failure: Encodable {
        /// `null` for what stopped all of them.
        @Nullable var name: String?
        var error: String
    }

    static let neverFetched = "it was not fetched before the share ended"

    var shareId: String
    var destination: String
    var downloaded: Int
    var alreadyThere: Int
    var kept: Int
    var failed: Int
    var errors: [Failure]
    var keptFiles: [Kept]
    /// `expired` or `gone`; `null` while the share lives.
    @Nullable var ended: String?
    /// `null` when the manifest could not be read any more.
    @Nullable var expiresAt: Date?
    @Nullable var photoCount: Int?
    var notes: [String]

    /// - Parameter earlier: of the looks before, in one watch: what they downloaded counts, too.
    init(_ result: MirrorResult, after earlier: MirrorReport? = nil) {
        shareId = result.shareID.description
        destination = result.destination.text
        downloaded = result.downloaded.count + (earlier?.downloaded ?? 0)
        alreadyThere = earlier?.alreadyThere ?? result.alreadyThere
        kept = result.kept.count
        failed = result.failed
        errors =
            result.told.map { Failure(name: $0.name, error: "\($0.error)") }
            + result.neverFetched.map { Failure(name: $0, error: Self.neverFetched) }
        keptFiles = result.kept.map { Kept(name: $0.name, reason: $0.reason.rawValue) }
        ended = result.end?.word
        expiresAt = result.share?.manifest.expiresAt ?? earlier?.expiresAt
        photoCount = result.share?.photos.count ?? earlier?.photoCount
        notes = result.notes
        if let obstacle = result.obstacle {
            errors += result.untried.map { Failure(name: $0, error: "\(obstacle)") }
            errors.append(Failure(name: nil, error: "\(obstacle)"))
        }
    }

    /// The share has ended, and no look could tell what is here of it.
    mutating func noteEnd(at now: Date) {
        let isExpired = expiresAt.map { $0 <= now } ?? false
        ended = (isExpired ? MirrorResult.End.expired(now) : .gone).word
    }
}

extension MirrorResult {
    /// Files of which each has a reason of its own.
    fileprivate var told: [Failure] { failures + unreadable + unwritten }
}

extension MirrorResult.End {
    fileprivate var word: String { if case .expired = self { "expired" } else { "gone" } }
}

/// What a mirror has come to, for people.
struct MirrorView {
    /// Of one kind; the rest is counted.
    private static let namesShown = 20

    let result: MirrorResult
    let terminal: Terminal
    let isPreview: Bool

    /// All of it.
    var lines: [String] {
        var lines: [String] = []
        if let share = result.share {
            lines.append(terminal.styled(title(of: share.manifest).escapingControls, .bold))
        }
        var counts: [String] = []
        if !result.downloaded.isEmpty { counts.append("\(photos(result.downloaded.count)) downloaded") }
        if result.alreadyThere > 0 { counts.append("\(photos(result.alreadyThere)) already there") }
        let kept = result.kept.count - missing
        if kept > 0 { counts.append("\(photos(kept)) left as they are") }
        if missing > 0 { counts.append("\(photos(missing)) missing") }
        let notFetched = result.failed - result.unreadable.count
        if notFetched > 0 { counts.append("\(photos(notFetched)) not fetched") }
        if !result.unreadable.isEmpty { counts.append("\(photos(result.unreadable.count)) not readable") }
        let place = result.destination.text.escapingControls
        lines.append("\(place): " + (counts.isEmpty ? "nothing to fetch" : counts.joined(separator: ", ")))
        lines += keptLines
        if isPreview, let share = result.share, share.photos.count > ShareMirror.previewCount {
            lines.append(
                "This is a preview of \(photos(share.photos.count)); without --preview the rest is fetched, too.")
        }
        return lines + ending
    }

    /// What a later look of a watch has found; empty when that is nothing.
    var changes: [String] {
        result.downloaded.map { "new  \($0.escapingControls)" } + (result.end == nil ? [] : keptLines) + ending
    }

    /// For standard error: what failed and why.
    var complaints: [String] {
        var lines = result.notes.map { "\($0.escapingControls)" }
        lines += shortened(result.told) { failure in
            terminal.styled("failed", .red) + "  \(failure.name): \(failure.error)".escapingControls
        }
        if let obstacle = result.obstacle {
            lines += shortened(result.untried) { name in
                terminal.styled("failed", .red) + "  \(name.escapingControls): not fetched"
            }
            let rest = result.untried.isEmpty ? "The" : "\(photos(result.untried.count)) still to come: the"
            lines.append(
                terminal.styled("sync-agent: ", .bold)
                    + "\("\(obstacle)".escapingControls). \(rest) same command goes on")
        }
        return lines
    }

    /// Photos of a share that has ended whose files are not here.
    private var missing: Int { result.end == nil ? 0 : result.kept.count { $0.reason != .changed } }

    private var keptLines: [String] {
        let lines = shortened(result.kept) { kept in
            let name = kept.name.escapingControls
            return switch kept.reason {
            case .changed: "kept    \(name): you changed it"
            case .deleted where result.end != nil: "missing \(name): it was here, and cannot be fetched any more"
            case .deleted: "kept    \(name): you deleted it"
            case .nameTaken where result.end != nil: "missing \(name): something else has this name"
            case .nameTaken: "kept    \(name): something else has this name"
            }
        }
        if result.end != nil {
            return lines
                + shortened(result.neverFetched) { name in
                    "missing \(name.escapingControls): \(MirrorReport.neverFetched)"
                }
        }
        if lines.isEmpty { return lines }
        return lines + ["To have them as they are in the share, use --force."]
    }

    private var ending: [String] {
        let changed = result.kept.count { $0.reason == .changed }
        let isAnyHere = !result.downloaded.isEmpty || result.alreadyThere > 0 || changed > 0
        let rest =
            result.isComplete
            ? changed == 0
                ? "all of it is here and stays"
                : "all of it is here, \(photos(changed)) as you changed \(changed == 1 ? "it" : "them"), and stays"
            : isAnyHere
                ? "what is here stays"
                : result.kept.isEmpty ? "nothing of it was fetched" : "nothing of it is here any more"
        return switch result.end {
        case nil: []
        case .expired(let date): ["This share ended on \(Quantities.day(date)); \(rest)."]
        case .gone: ["This share was revoked or has expired, or the link to it has ended; \(rest)."]
        }
    }

    private func title(of manifest: ShareManifest) -> String {
        let name = manifest.locationName.isEmpty ? "A share" : manifest.locationName
        let days =
            manifest.startDate == manifest.endDate
            ? "\(manifest.startDate)" : "\(manifest.startDate) to \(manifest.endDate)"
        return "\(name), \(days)" + (manifest.sharedBy.map { ", shared by \($0)" } ?? "")
            + ": \(contents(of: manifest))"
    }

    private func contents(of manifest: ShareManifest) -> String {
        guard let films = manifest.films?.count, films > 0 else { return photos(manifest.photoCount) }
        return "\(photos(manifest.photoCount)), \(Quantities.counted(films, "film"))"
    }

    private func photos(_ count: Int) -> String { Quantities.counted(count, "photo") }

    private func shortened<Item>(_ items: [Item], _ line: (Item) -> String) -> [String] {
        items.prefix(Self.namesShown).map(line)
            + (items.count > Self.namesShown ? ["… and \(Quantities.count(items.count - Self.namesShown)) more"] : [])
    }
}
