import ArgumentParser
import Logging
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPhotos
import SyncSystem
import SyncWatch
import SystemPackage

/// A command that works on an installation. It gets it open, and says what came of it; opening, closing, printing and the
/// exit code are ``run()``'s.
protocol WorkspaceCommand: AsyncParsableCommand {
    var options: AnswerOptions { get }
    /// Whether it asks the ledger one thing after the other, and ends: then one connection is enough.
    var isQuery: Bool { get }
    func answer(_ workspace: Workspace) async throws -> Answer
}

extension WorkspaceCommand {
    var isQuery: Bool { false }

    func run() async throws { try await runInWorkspace() }

    func runInWorkspace() async throws {
        try await Console.run(json: options.json) { console in
            try await openWorkspace(console).whileOpen(answer)
        }
    }

    func openWorkspace(_ console: Console) throws -> Workspace {
        try Workspace(options.global, console, connections: isQuery ? .single : .pool)
    }
}

/// One that only looks, whatever its options.
protocol QueryCommand: WorkspaceCommand {}

extension QueryCommand {
    var isQuery: Bool { true }
}

/// The threads of one workspace, but for those of its ledger and its stores (docs/design.md, "Which thread am I on"). They
/// are started when there is work for them.
struct WorkThreads: Sendable {
    /// For what burns CPU: hashing, decoding, reducing. As many as there are cores; Foundation reads files to say so.
    let photos = BlockingPool(
        name: "photos", lendingAfter: SignOfLife.patience, threads: { ProcessEnvironment.processorCount })
    /// For what waits for disks, each of which may hang. Three photos are downloaded at once.
    let disk = BlockingPool(name: "disk", threads: 4, lendingAfter: SignOfLife.patience)
    /// One for each watched folder, whose looks and scans never overtake each other.
    let intake = DiskLanes(name: "intake")
    /// Waits for programs that tell people.
    let notices = BlockingPool(name: "notices", threads: 1)

    /// Waits for their ends. Twice is no error.
    func shutDown() async {
        await intake.shutDown()
        for pool in [photos, disk, notices] { await pool.shutDown() }
    }
}

/// One opened installation: the configuration, and of the rest what a command asks for. What was opened is closed once,
/// on errors too, and no thread is left.
final class Workspace: Sendable {
    private struct Opened {
        var ledger: LedgerQueue?
        var stores: [any ObjectStore] = []
        /// Those of which the ledger was when they were opened.
        var ownStores: [any ObjectStore] = []
        var copies: [Workspace] = []
        var lock: AgentLock?
    }

    let installation: Installation
    let console: Console
    let threads: WorkThreads
    /// Decode what is no JPEG. They are started when there is such a picture.
    let pictures: PictureWorkers
    private let connections: Ledger.Connections
    private let opened = Lock(Opened())

    /// - Parameter connections: to the ledger.
    /// - Throws: `ConfigError`.
    init(_ global: GlobalOptions, _ console: Console, connections: Ledger.Connections = .pool) throws {
        self.console = console
        self.connections = connections
        threads = WorkThreads()
        pictures = PictureWorkers(besides: ProcessEnvironment.executable)
        installation = try Installation(global, environment: console.environment)
    }

    private init(of original: Workspace, _ ledger: LedgerQueue) {
        installation = original.installation
        console = original.console
        threads = original.threads
        pictures = original.pictures
        connections = original.connections
        opened.withLock { $0.ledger = ledger }
    }

    /// Makes what leaves for others, and what screens show.
    var copyMaker: SharedPhotoMaker {
        SharedPhotoMaker(
            pictures: pictures,
            frames: FilmFrames(path: installation.environment["PATH"] ?? "") { [logger] in logger.warning("\($0)") })
    }

    /// Reads and reduces pictures of all kinds.
    var reducer: PhotoFileReducer { PhotoFileReducer(pictures: pictures) }

    /// Of JPEG files.
    var recompressor: JPEGRecompressor { JPEGRecompressor(workers: pictures) }

    var settings: Settings { installation.settings }
    var keys: KeyLayout { get throws { try installation.keys } }
    var time: TimeSource { installation.time }
    var logger: Logger { installation.logger }

    /// Opened when it is asked for first; made when it is not there yet. A command asks for one thing after the other.
    var ledger: LedgerQueue {
        get async throws {
            if let ledger = opened.withLock({ $0.ledger }) { return ledger }
            let ledger = try await LedgerQueue.open { [installation, connections] in
                try installation.openLedger(connections)
            }
            opened.withLock { $0.ledger = ledger }
            return ledger
        }
    }

    /// The configured store with retries, after a look that the ledger is about it.
    /// - Throws: ``CommandFailure``, ``StoreError``, ``LedgerError``.
    func store(_ access: LocalStoreAccess) async throws -> any ObjectStore {
        let ledger = try await ledger
        let made = try await ledger { [installation] in try installation.makeStore($0, access: access) }
        let store = installation.retrying(made)
        do {
            if let failure = try await strangeness(of: store) { throw failure }
            let own = installation.placeName(store)
            _ = try await ledger { try $0.bind(to: own) }
        } catch {
            await made.close()
            throw error
        }
        opened.withLock { opened in
            opened.stores.append(made)
            opened.ownStores.append(made)
        }
        return store
    }

    func recognition(_ store: any ObjectStore) async throws -> StoreRecognition {
        StoreRecognition(store: store, ledger: try await ledger, keys: try keys)
    }

    /// Why a store is not the one that the ledger is about, with the way out; `nil` when it is.
    func strangeness(of store: any ObjectStore) async throws -> CommandFailure? {
        let own = installation.placeName(store)
        let other = try await ledger { [installation] in try installation.otherPlace(of: $0, than: store) }
        guard let bound = other else { return nil }
        // Which store it is, it may not tell now.
        let kinship = installation.isThisUsers(bound) ? try? await kinshipOfConfigured() : nil
        let advice =
            switch kinship {
            case .same: "It is the same store: sync-agent move-store --adopt goes on with it"
            case .copy: "It is a copy of that store: sync-agent move-store --adopt goes on with it"
            case .alike: "Where it is the same store under another name: sync-agent move-store --adopt"
            case .other, nil:
                "Correct store or user. To take the photos to another store, name the old one and run sync-agent "
                    + "move-store NEW; to start over, move the ledger away: what the new place has already is found there "
                    + "(sync-agent rebuild), the rest is stored"
            }
        return CommandFailure.configuration(
            "the ledger \(installation.ledgerFile.string) tells what is stored in \(bound), and the configuration names "
                + "\(own). \(advice)")
    }

    /// Opened without the ledger: an embedded store that has to be another one answers nothing else.
    private func kinshipOfConfigured() async throws -> StoreRecognition.Kinship {
        let made = try installation.makeStore(settings.store, access: .reads)
        return try await closing(made.close) {
            try await recognition(installation.retrying(made)).kinship().kinship
        }
    }

    /// The configured store with retries, to read what the ledger need not know.
    func readStore() async throws -> any ObjectStore {
        installation.retrying(try await readStoreOnce())
    }

    /// The same without retries, for what can be done without.
    func readStoreOnce() async throws -> any ObjectStore {
        let (store, isOwn) = try await ledger { [installation] ledger in
            let store = try installation.makeStore(ledger, access: .reads)
            return (store, (try? installation.isCurrent(store, ledger)) ?? false)
        }
        opened.withLock { opened in
            opened.stores.append(store)
            if isOwn { opened.ownStores.append(store) }
        }
        return store
    }

    /// Lets a person answer, who may take a whole `move-store` over it: what was opened before is the old store then,
    /// and what is done there is done for nobody.
    /// - Throws: ``CommandFailure`` when the ledger is about another store by then; what `question` throws.
    func afterAsking<Value>(_ question: () throws -> Value) async throws -> Value {
        let answer = try question()
        let stores = opened.withLock { $0.ownStores }
        try await ledger { [installation] ledger in
            try installation.requireCurrent(
                stores, ledger, orSay: "nothing was done here; give the command again, for that one")
        }
        return answer
    }

    /// Takes care that the store is closed at the end.
    /// - Returns: it, with retries.
    func keep(_ store: any ObjectStore) -> any ObjectStore {
        opened.withLock { $0.stores.append(store) }
        return installation.retrying(store)
    }

    /// The same, with a copy of the ledger of which nothing is kept: for a look.
    func withLedgerCopy() async throws -> Workspace {
        let copy = Workspace(of: self, LedgerQueue(try await ledger { try $0.copyInMemory() }))
        opened.withLock { $0.copies.append(copy) }
        return copy
    }

    /// The same, with a ledger that knows nothing yet.
    func withEmptyLedger() throws -> Workspace {
        let empty = Workspace(of: self, LedgerQueue(try .inMemory()))
        opened.withLock { $0.copies.append(empty) }
        return empty
    }

    /// What a command works with that has a dry run: that one notes nothing, also not what is learned on its way, as which
    /// store it is, what a server can, or what the store has of an interrupted write.
    func changing(unless isDryRun: Bool) async throws -> Workspace {
        isDryRun ? try await withLedgerCopy() : self
    }

    /// Puts a ledger that cannot be used out of the way, with all that belongs to it: nothing is deleted. The next one that
    /// is asked for is new.
    /// - Parameter check: what it throws leaves the ledger where it is. While it runs, no agent does.
    /// - Returns: where it is now.
    /// - Throws: ``AgentLock/Held``; ``CommandFailure``; what `check` throws.
    func setLedgerAside(after check: () async throws -> Void) async throws -> FilePath {
        let lock = try installation.takeLock()
        defer { withExtendedLifetime(lock) {} }
        try await check()
        let ledger = opened.withLock { opened in
            defer { opened.ledger = nil }
            return opened.ledger
        }
        try? await ledger?.close()
        return try installation.setLedgerAside()
    }

    /// Takes the one agent's lock until the end.
    func takeLock() async throws {
        _ = try await ledger
        let lock = try installation.takeLock()
        opened.withLock { $0.lock = lock }
        installation.removeLeftSpools()
    }

    /// The agent's lock; `nil` while an agent, or a pass, has it.
    func takeLockIfFree() async throws -> AgentLock? {
        _ = try await ledger
        do {
            return try installation.takeLock()
        } catch is AgentLock.Held {
            return nil
        }
    }

    /// Runs a command's body, and closes what it opened.
    func whileOpen<Value>(_ body: (Workspace) async throws -> Value) async throws -> Value {
        try await closing(close) { try await body(self) }
    }

    /// Waits until no thread and no process of ours is left: first those that ask the others. The lock goes last: whoever gets it finds the
    /// ledger closed. Twice is no error.
    func close() async throws {
        let last = opened.withLock { opened in
            defer { opened = Opened() }
            return opened
        }
        defer { withExtendedLifetime(last.lock) {} }
        for copy in last.copies { try? await copy.close() }
        for store in last.stores { await store.close() }
        await threads.shutDown()
        pictures.close()
        try await last.ledger?.close()
    }
}

extension Workspace {
    /// A pass that tells what one would find: for a copy of the ledger, of which nothing is kept.
    func forecast(settle: Duration) async throws -> SyncPass {
        let (ledger, watched) = (try await ledger, settings.watch)
        return pass(over: try await ledger { try $0.register(watched) }, ledger, settle: settle, isForecast: true)
    }

    /// - Parameters:
    ///   - settle: `nil` for that of the configuration.
    ///   - watchdog: told what is looked at; `nil` where nobody asks.
    func pass(
        over folders: [FolderRecord], _ ledger: LedgerQueue, settle: Duration? = nil, watchdog: DiskWatchdog? = nil,
        isForecast: Bool = false
    ) -> SyncPass {
        SyncPass(
            folders: folders, ledger: ledger.ledger, scanner: FileTreeScanner(), reducer: PhotoFileReducer(),
            disks: threads.intake, settle: settle ?? settings.upload.settle, watchdog: watchdog, isForecast: isForecast,
            time: time)
    }

    /// What other machines have merged.
    func otherMerges(_ store: any ReadableStore) async throws -> OtherMerges {
        OtherMerges(
            store: store, ledger: try await ledger, keys: try keys,
            spool: installation.mergeSpool, pool: threads.disk, time: time)
    }

    /// Finds archived photos that another machine has given to another profile.
    func mergedPhotos(_ store: any ReadableStore) async throws -> MergedPhotos {
        MergedPhotos(
            store: store, ledger: try await ledger, keys: try keys, others: try await otherMerges(store))
    }

    /// What tells which earlier states of projects another machine has removed.
    /// - Parameter store: with retries.
    func prunedVersions(_ store: any ReadableStore) async throws -> PrunedVersions {
        PrunedVersions(store: store, ledger: try await ledger, keys: try keys, kept: settings.projectVersions)
    }
}

extension Installation {
    func retrying(_ store: any ObjectStore) -> any ObjectStore {
        var policy = RetryPolicy()
        if case .s3(let s3) = settings.store { policy = RetryPolicy(maximumAttempts: s3.attempts) }
        return RetryingStore(store, policy: policy, time: time, logger: logger, throttling: throttling)
    }
}

/// Runs `body`, and then closes what it worked with, on errors too.
func closing<Value>(
    _ close: () async throws -> Void, after body: () async throws -> Value
) async throws -> Value {
    let value: Value
    do {
        value = try await body()
    } catch {
        try? await close()
        throw error
    }
    try await close()
    return value
}
