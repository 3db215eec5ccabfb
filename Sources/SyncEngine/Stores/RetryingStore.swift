package import FoundationEssentials
package import Logging
package import SyncCore
import SyncSystem

/// Sends a request again when its failure may pass: at most three attempts, full jitter, and a budget over all requests
/// so that an outage is not answered with a storm. Only ``StoreError/isTransient`` decides what may pass.
package struct RetryingStore: ObjectStore {
    private let base: any ObjectStore
    private let policy: RetryPolicy
    private let time: TimeSource
    private let logger: Logger
    private let throttling: Throttling?
    private let budget = Lock(RetryBudget())

    /// - Parameter throttling: is told of each answer that asks to slow down, of those that pass, too.
    package init(
        _ base: any ObjectStore, policy: RetryPolicy = RetryPolicy(), time: TimeSource, logger: Logger,
        throttling: Throttling? = nil
    ) {
        self.base = base
        self.policy = policy
        self.time = time
        self.logger = logger
        self.throttling = throttling
    }

    package var identity: StoreIdentity { base.identity }

    package var capabilities: StoreCapabilities { base.capabilities }

    package func close() async { await base.close() }

    package func ownID() async throws -> String? {
        try await retrying { try await base.ownID() }
    }

    package func clockOffset() async throws -> TimeInterval {
        try await retrying { try await base.clockOffset() }
    }

    package func check() async throws {
        try await retrying { try await base.check() }
    }

    package func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        // What earlier attempts have sent is told with the last one's failure: that may be that it is there.
        var sentBytes: Int64 = 0
        return try await retrying {
            do {
                return try await base.put(body, at: key, attributes: attributes, condition: condition)
            } catch var error as StoreError {
                sentBytes += error.sentBytes
                error.sentBytes = sentBytes
                throw error
            }
        }
    }

    package func head(_ key: ObjectKey) async throws -> ObjectInfo? {
        try await retrying { try await base.head(key) }
    }

    /// Sent once: the sink has had bytes by the time a read fails, and only its owner can begin anew or go on from there.
    package func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        try await base.get(key, range: range, into: sink)
    }

    package func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        try await retrying { try await base.list(prefix: prefix, after: after, limit: limit) }
    }

    package func delete(_ key: ObjectKey) async throws {
        try await retrying { try await base.delete(key) }
    }

    /// Only the keys whose failure may pass are sent again.
    package func delete(_ keys: [ObjectKey]) async throws -> [ObjectKey: StoreError] {
        var failures: [ObjectKey: StoreError] = [:]
        var open = keys
        var isAnswered = false
        do {
            try await retrying {
                isAnswered = false
                let refused = try await base.delete(open)
                isAnswered = true
                for key in open { failures[key] = refused[key] }
                open = open.filter { refused[$0]?.isTransient == true }
                if let key = open.first, let passing = refused[key] { throw passing }
            }
        } catch is StoreError where isAnswered {}
        return failures
    }

    /// An answer that was lost makes a second copy `.ifAbsent` throw `.alreadyExists`, as it does with puts.
    package func copy(
        _ source: ObjectKey, to key: ObjectKey, storageClass: StorageClass, metadata: [String: String]?,
        condition: PutCondition
    ) async throws {
        try await retrying {
            try await base.copy(
                source, to: key, storageClass: storageClass, metadata: metadata, condition: condition)
        }
    }

    /// An answer that was lost makes the second `.alreadyRetrieving`.
    package func restore(_ key: ObjectKey, _ request: RestoreRequest) async throws -> RestoreAnswer {
        try await retrying { try await base.restore(key, request) }
    }

    package func lifecycle() async throws -> LifecycleConfiguration {
        try await retrying { try await base.lifecycle() }
    }

    package func setLifecycle(_ configuration: LifecycleConfiguration) async throws {
        try await retrying { try await base.setLifecycle(configuration) }
    }

    package func link(to key: ObjectKey, lasting duration: Duration) async throws -> StoreLink {
        try await retrying { try await base.link(to: key, lasting: duration) }
    }

    package func uploadForm(
        for keys: [ObjectKey], _ rules: UploadRules, lasting duration: Duration
    ) async throws -> UploadForm {
        try await retrying { try await base.uploadForm(for: keys, rules, lasting: duration) }
    }

    package func removeLeftovers() async throws {
        try await retrying { try await base.removeLeftovers() }
    }

    package func takeBackUploads(below prefix: String) async throws {
        try await retrying { try await base.takeBackUploads(below: prefix) }
    }

    private func retrying<Result>(_ request: () async throws -> Result) async throws -> Result {
        var lastCost: Int?
        var attempt = 1
        while true {
            do {
                let result = try await request()
                budget.withLock { $0.refund(lastCost: lastCost) }
                return result
            } catch let error as StoreError where error.isTransient {
                throttling?.note(error)
                guard attempt < policy.maximumAttempts else { throw error }
                let cost = budget.withLock { $0.take(afterTimeout: error.code == .timedOut) }
                guard let cost else { throw error }
                let delay = policy.delay(afterAttempt: attempt, random: time.random())
                logger.debug("attempt \(attempt) failed, next in \(delay): \(error)")
                try await time.sleep(delay)
                lastCost = cost
                attempt += 1
            }
        }
    }
}

/// Whether a store asks to slow down (`SlowDown`, 429, 503). Those who send much look, and send less at once; what was
/// refused is sent again without them.
package final class Throttling: Sendable {
    private let isAsked = Lock(false)

    package init() {}

    func note(_ error: StoreError) {
        if error.code == .throttled { isAsked.withLock { $0 = true } }
    }

    /// Whether it has since the last call.
    func take() -> Bool {
        isAsked.withLock { isAsked in
            defer { isAsked = false }
            return isAsked
        }
    }
}
