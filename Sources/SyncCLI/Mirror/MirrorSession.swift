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
    let parts: MirrorServices
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
        let line = ProgressLine(console.errors, time: parts.time)
        defer { line.finish() }
        do {
            return try await parts.mirror.run(line.show)
        } catch let error as StoreError where error.code == .notFound {
            throw CommandFailure(.noSuchPath, error.message)
        }
    }

    private func watch(every interval: Duration) async throws -> ExitStatus {
        let line = ProgressLine(console.errors, time: parts.time)
        var account = MirrorAccount()
        var failure: CommandFailure?
        defer { line.finish() }
        do {
            try await MirrorWatch(parts.mirror, every: interval, time: parts.time).run(observe: line.show) { outcome in
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
            account.noteEnd(at: parts.time.now())
            failure = CommandFailure(.noSuchPath, error.message)
        } catch is CancellationError where account.total != nil {
            // Stopped, which is how a watch ends.
        }
        if console.isJSON, let total = account.total { console.output.writeLine(try JSONOutput.text(total)) }
        if let failure { throw failure }
        return account.status
    }

    private func view(of result: MirrorResult) -> MirrorView {
        MirrorView(result: result, terminal: console.output, isPreview: parts.mirror.options.isPreview)
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
        let isAnyThere = !result.downloaded.isEmpty || result.alreadyThere > 0 || !result.kept.isEmpty
        if let obstacle = result.obstacle {
            let isFull = (obstacle as? DownloadError)?.code == .noSpace
            if isFull, isAnyThere { self = .partlyDone } else { self.init(obstacle) }
        } else if result.end != nil {
            self = result.isComplete ? .done : result.neverCame ? .noSuchPath : .failed
        } else if result.failed == 0, result.unwritten.isEmpty {
            self = .done
        } else {
            self = isAnyThere ? .partlyDone : .failed
        }
    }
}

/// What `mirror` is put together from. It needs no ledger and takes no lock of the agent; with a link, no configuration
/// is read either, and nobody knows which folders are those of the agent.
struct MirrorServices: Sendable {
    let mirror: ShareMirror
    let time: TimeSource
    private let pool = BlockingPool(name: "mirror", threads: 3)
    private let closeSource: @Sendable () async -> Void

    init(
        _ reference: ShareReference, to output: OutputArgument, options: ShareMirror.Options, _ global: GlobalOptions,
        _ console: Console, time: TimeSource = .system
    ) throws {
        let source: any ShareSource
        let folder: FilePath
        switch reference {
        case .id(let id):
            let installation = try Installation(global, environment: console.environment, time: time)
            folder = try output.announcedPath(installation, console)
            let store = installation.retrying(try installation.makeReadStore(nil))
            source = StoredShareSource(id, in: store)
            closeSource = store.close
        case .link(let link):
            folder = output.unaskedPath
            let transport = try Self.transport(console.environment)
            source = LinkedShareSource(link, transport: transport)
            closeSource = transport.close
        }
        self.time = time
        mirror = ShareMirror(source, asked: reference.shareID, to: folder, options: options, pool: pool, time: time)
    }

    /// Waits until threads and connections are gone.
    func close() async {
        await closeSource()
        await pool.shutDown()
    }

    private static func transport(_ environment: [String: String]) throws -> CurlTransport {
        let bundle = ["AWS_CA_BUNDLE", "SSL_CERT_FILE"].compactMap { environment[$0] }.first { !$0.isEmpty }
        do {
            return try CurlTransport(settings: TransportSettings(caBundle: bundle))
        } catch {
            throw CommandFailure(.failed, error.message)
        }
    }
}
