import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
import SyncLedger

/// What has to be done now and then for what is stored: leftovers taken back, the rules for old objects carried out where
/// nobody else does, and the ledger brought up to what the store reports.
package struct StoreUpkeep: Sendable {
    private static let refreshEvery: TimeInterval = 86_400
    private static let problemsTold = 10

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let mover: TierMover?
    private let refresh: ClassRefresh
    private let time: TimeSource
    private let logger: Logger

    /// - Parameter policy: whose rules are carried out here in the mode `agent`, and in `bucket` where the store keeps no
    ///   rules.
    package init(
        store: any ObjectStore, ledger: LedgerQueue, keys: KeyLayout, policy: TierPolicy, time: TimeSource,
        logger: Logger
    ) {
        self.store = store
        self.ledger = ledger
        let movesHere =
            switch policy.mode {
            case .off: false
            case .agent: true
            case .bucket: store.capabilities.lifecycle == .byAgent
            }
        mover =
            movesHere
            ? TierMover(store: store, ledger: ledger, rules: policy.archiveRules.compactMap(\.own), time: time) : nil
        refresh = ClassRefresh(store: store, ledger: ledger, keys: keys, time: time)
        self.time = time
        self.logger = logger
    }

    /// One round. What fails is logged, and tried again with the next one.
    /// - Returns: what was moved to another class.
    /// - Throws: ``LedgerError``, `CancellationError`.
    @discardableResult
    package func run() async throws -> TierMover.Result {
        try await unlessStoreFails("take back what interrupted uploads have left") { try await store.tidy() }
        try await unlessStoreFails("ask for the classes of all objects") {
            let last = try await ledger { try $0.classesRefreshedAt() }
            let now = time.now()
            // A moment in the future is one from before the clock was set back.
            if let last, last <= now, now.timeIntervalSince(last) < Self.refreshEvery { return }
            let result = try await refresh.run()
            for problem in result.problems.prefix(Self.problemsTold) {
                logger.warning("cannot be looked at in the store: \(problem.key): \(problem.reason)")
            }
            if result.problemCount > Self.problemsTold {
                logger.warning("\(result.problemCount) objects cannot be looked at in the store")
            }
            if result.changed > 0 { logger.info("the store reports changes of \(result.changed) objects") }
        }
        let moved = try await unlessStoreFails("move old photos to the archive") { try await mover?.run() }
        guard let result = moved ?? nil else { return TierMover.Result() }
        if result.moved > 0 { logger.notice("\(result.moved) photos were moved to the archive") }
        for failure in result.failures { logger.warning("not moved to the archive: \(failure)") }
        return result
    }

    private func unlessStoreFails<Value>(_ what: String, _ work: () async throws -> Value) async throws -> Value? {
        do {
            return try await work()
        } catch let error as StoreError {
            logger.warning("cannot \(what): \(error)")
            return nil
        }
    }
}

/// ``StoreUpkeep`` as a service: at the start, then every hour.
package struct UpkeepService: Service {
    private static let interval = Duration.seconds(3_600)

    private let upkeep: StoreUpkeep
    private let patience: LedgerPatience
    private let time: TimeSource

    package init(_ upkeep: StoreUpkeep, patience: LedgerPatience, time: TimeSource) {
        self.upkeep = upkeep
        self.patience = patience
        self.time = time
    }

    package func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                while true {
                    try await patience.riding("the upkeep of the store") { _ = try await upkeep.run() }
                    try await time.sleep(Self.interval)
                }
            }
        } catch is CancellationError {
            // A copy in place is one request: it has happened or not, and the next round sees which.
        }
    }
}
