import FoundationEssentials
import GRDB
import Logging
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage

/// What outlives every process of a home: disk, store, clock, and the file of the ledger.
final class Home {
    static let pictures: FilePath = "/pictures"
    static let gallery: FilePath = "/pictures/gallery"
    static let trips: FilePath = "/pictures/trips"
    static let rome: FilePath = "/pictures/trips/Rome_Italy_2025-05-01_2025-05-09"
    static let oslo: FilePath = "/pictures/trips/Oslo_Norway_2025-08-11_2025-08-15"

    let tree: TemporaryTree
    let disk = FakeDisk()
    let memory: InMemoryStore
    let clock: LifeClock
    /// Of another app; `nil` where there is none.
    let events: EventGallery?
    /// Of one more app; `nil` where there is none.
    let projects: ProjectsFolder?
    private(set) var ledgerFile: FilePath
    private var ledgers = 0

    let name: String

    /// - Parameters:
    ///   - other: one whose store this one uses, too.
    ///   - hasApps: whether other apps keep events in a gallery, and projects in a folder.
    init(_ name: String = "home", beside other: Home? = nil, hasApps: Bool = false) throws {
        let clock = other?.clock ?? LifeClock()
        self.clock = clock
        self.name = name
        memory = other?.memory ?? InMemoryStore(now: { clock.now }, restoreDuration: .seconds(48 * 3_600))
        tree = try TemporaryTree(in: .memory)
        events = try hasApps ? EventGallery(in: tree, clock: clock) : nil
        projects = try hasApps ? ProjectsFolder(in: tree, clock: clock) : nil
        ledgerFile = tree.path("ledger-0.sqlite")
    }

    /// As scanner and reducer see it.
    var view: HomeDisk { HomeDisk(disk, events: events?.path, projects: projects?.path) }

    /// A process that nothing disturbs.
    func start() throws -> AgentProcess { try AgentProcess(self, store: FaultyStore(memory), isAlive: { true }) }

    /// A process whose store answers as `trouble` says. When that kills it, the home goes on with the ledger as it was at
    /// that moment, and nothing that the dead process still does is seen by anybody.
    func start(in trouble: Trouble) throws -> AgentProcess {
        let spare = nextLedger()
        let (file, isDead) = (ledgerFile, Lock(false))
        let kill: @Sendable () -> Void = {
            if isDead.withLock({ wasDead in
                defer { wasDead = true }; return wasDead
            }) {
                return
            }
            Self.copy(file, to: spare)
        }
        let store = FaultyStore(memory) { call in
            if isDead.withLock({ $0 }) { return [.failBefore(.storeMissing)] }
            return trouble.effects(of: call, kill: kill)
        }
        let isAlive: @Sendable () -> Bool = { !isDead.withLock { $0 } }
        return try AgentProcess(
            self, store: store, steps: trouble.steps(isAlive: isAlive, kill: kill), isAlive: isAlive)
    }

    /// After a process has ended, one way or the other.
    /// - Returns: whether it was killed.
    func finish(_ process: AgentProcess) async throws -> Bool {
        try await process.end()
        if process.isAlive() { return false }
        ledgerFile = tree.path("ledger-\(ledgers).sqlite")
        return true
    }

    /// The disk with the state folder is gone.
    func loseLedger() { ledgerFile = nextLedger() }

    private func nextLedger() -> FilePath {
        ledgers += 1
        return tree.path("ledger-\(ledgers).sqlite")
    }

    private static func copy(_ file: FilePath, to other: FilePath) {
        do {
            let target = try DatabaseQueue(path: other.string)
            try DatabaseQueue(path: file.string).backup(to: target)
            try target.close()
        } catch {
            preconditionFailure("no copy of the ledger: \(error)")
        }
    }
}

/// How a store behaves while one process works: what a call meets is decided by the seed and by what the call is, not by
/// when it comes, so that calls which overlap change nothing.
struct Trouble: Sendable {
    enum Kind: Sendable {
        /// One call of so many fails, before or after its work.
        case faults(oneIn: Int)
        /// The process dies at one call of so many, before or after its work.
        case death(oneIn: Int)
        /// The store is away from this call on.
        case outage(after: Int)
    }

    private static let codes: [StoreError.Code] = [
        .connectionLost, .timedOut, .serverFailed, .throttled, .unreachable, .accessDenied, .invalidResponse,
    ]
    private static let changes: Set<StoreOperation> = [.put, .delete, .deleteMany, .copy, .restore]

    let kind: Kind
    let seed: UInt64
    private let counts = Counts()

    private final class Counts: Sendable {
        private let seen = Lock<[String: Int]>([:])

        func next(_ name: String) -> Int {
            seen.withLock { seen in
                seen[name, default: 0] += 1
                return seen[name, default: 0]
            }
        }
    }

    init(_ kind: Kind, seed: UInt64) {
        self.kind = kind
        self.seed = seed
    }

    func effects(of call: FaultyStore.Call, kill: @escaping @Sendable () -> Void) -> [StoreFault.Effect] {
        let name = "\(call.operation) \(Self.withoutIDs(call.key))"
        var dice = Dice(seed: Self.hash(seed, "\(name) \(counts.next(name))"))
        switch kind {
        case .faults(let chances):
            guard dice.oneIn(chances), let code = dice.pick(Self.codes) else { return [] }
            return [Self.changes.contains(call.operation) && dice.oneIn(2) ? .failAfter(code) : .failBefore(code)]
        case .death(let chances):
            // Photos of a share are sent side by side: which of them came first is not the seed's.
            let isAlone = !call.key.hasPrefix("shares/") || call.key.hasSuffix(".json") || call.key.hasSuffix(".html")
            guard isAlone, Self.changes.contains(call.operation), dice.oneIn(chances) else { return [] }
            return dice.oneIn(2)
                ? [.afterwards(kill), .failAfter(.storeMissing)] : [.meanwhile(kill), .failBefore(.storeMissing)]
        case .outage(let calls):
            return counts.next("all") > calls ? [.failBefore(.unreachable)] : []
        }
    }

    /// What changes of files meet. One that fails has changed nothing.
    func steps(isAlive: @escaping @Sendable () -> Bool, kill: @escaping @Sendable () -> Void) -> FileSteps {
        @Sendable func meet(_ moment: String, mayFail: Bool) throws {
            guard isAlive() else { throw FileSteps.Killed() }
            var dice = Dice(seed: Self.hash(seed, "\(moment) \(counts.next(moment))"))
            switch kind {
            case .faults(let chances): if mayFail, dice.oneIn(chances) { throw Errno.ioError }
            case .death(let chances):
                guard dice.oneIn(chances) else { return }
                kill()
                throw FileSteps.Killed()
            case .outage: break
            }
        }
        return FileSteps(
            before: { try meet("before \($0)", mayFail: true) }, after: { try meet("after \($0)", mayFail: false) })
    }

    /// Ids of shares and machines are drawn by the system: `shares/X/X_1.jpg` is `shares//_1.jpg`, and
    /// `users/ana/machines/X.json` is `users/ana/machines/.json`.
    static func withoutIDs(_ key: String) -> String {
        let parts = key.split(separator: "/")
        let place = parts.first == "shares" ? 1 : 3
        guard parts.count > place, place == 1 || ["shares", "catalog", "machines"].contains(parts[2]) else {
            return key
        }
        return key.replacing(parts[place].prefix { $0 != "." }, with: "")
    }

    /// FNV-1a.
    private static func hash(_ seed: UInt64, _ text: String) -> UInt64 {
        text.utf8.reduce(seed ^ 0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}
