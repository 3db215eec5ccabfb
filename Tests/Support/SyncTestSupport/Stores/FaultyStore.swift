package import FoundationEssentials
package import SyncCore
import SyncSystem

/// A store in front of another that fails by script: "the third put answers `.throttled` after its body".
///
/// A fault counts the calls that match it, from 1. Which call is the n-th is certain where calls come one after another,
/// or where the fault names a key.
package final class FaultyStore: ObjectStore {
    package struct Call: Hashable, Sendable {
        package var operation: StoreOperation
        /// The key, of a copy the one that it goes to, or a listing's prefix; else empty.
        package var key: String
    }

    private struct State {
        var faults: [(fault: StoreFault, seen: Int)]
        var calls: [Call] = []
        var inFlight: [StoreOperation: Int] = [:]
        var mostInFlight: [StoreOperation: Int] = [:]
    }

    private let base: any ObjectStore
    private let script: @Sendable (Call) -> [StoreFault.Effect]
    private let state: Lock<State>

    /// - Parameter script: what happens to a call, beside what `faults` say; asked for one call at a time.
    package init(
        _ base: any ObjectStore, faults: [StoreFault] = [],
        script: @escaping @Sendable (Call) -> [StoreFault.Effect] = { _ in [] }
    ) {
        self.base = base
        self.script = script
        state = Lock(State(faults: faults.map { ($0, 0) }))
    }

    /// Every call so far, in the order in which they began.
    package var calls: [Call] { state.withLock { $0.calls } }

    package func count(_ operation: StoreOperation) -> Int { calls.count { $0.operation == operation } }

    /// The most calls of an operation that were ever under way at the same moment.
    package func mostInFlight(_ operation: StoreOperation) -> Int { state.withLock { $0.mostInFlight[operation] ?? 0 } }

    /// Adds a fault; it counts calls from now on.
    package func add(_ fault: StoreFault) {
        state.withLock { $0.faults.append((fault, 0)) }
    }

    package var identity: StoreIdentity { base.identity }

    package var capabilities: StoreCapabilities { base.capabilities }

    package func close() async { await base.close() }
    package func clockOffset() async throws -> TimeInterval { try await base.clockOffset() }

    package func check() async throws {
        try await run(.check, "") { try await self.base.check() }
    }

    package func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        try await run(.put, key.rawValue) {
            try await self.base.put(body, at: key, attributes: attributes, condition: condition)
        }
    }

    package func head(_ key: ObjectKey) async throws -> ObjectInfo? {
        do {
            return try await run(.head, key.rawValue) { try await self.base.head(key) }
        } catch is SaidAbsent {
            return nil
        }
    }

    package func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        try await run(.get, key.rawValue) { try await self.base.get(key, range: range, into: sink) }
    }

    package func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        try await run(.list, prefix) { try await self.base.list(prefix: prefix, after: after, limit: limit) }
    }

    package func delete(_ key: ObjectKey) async throws {
        try await run(.delete, key.rawValue) { try await self.base.delete(key) }
    }

    package func delete(_ keys: [ObjectKey]) async throws -> [ObjectKey: StoreError] {
        try await run(.deleteMany, "") { try await self.base.delete(keys) }
    }

    package func copy(
        _ source: ObjectKey, to key: ObjectKey, storageClass: StorageClass, metadata: [String: String]?,
        condition: PutCondition
    ) async throws {
        try await run(.copy, key.rawValue) {
            try await self.base.copy(
                source, to: key, storageClass: storageClass, metadata: metadata, condition: condition)
        }
    }

    package func restore(_ key: ObjectKey, _ request: RestoreRequest) async throws -> RestoreAnswer {
        try await run(.restore, key.rawValue) { try await self.base.restore(key, request) }
    }

    package func lifecycle() async throws -> LifecycleConfiguration {
        try await run(.lifecycle, "") { try await self.base.lifecycle() }
    }

    package func setLifecycle(_ configuration: LifecycleConfiguration) async throws {
        try await run(.setLifecycle, "") { try await self.base.setLifecycle(configuration) }
    }

    package func link(to key: ObjectKey, lasting duration: Duration) async throws -> StoreLink {
        try await run(.link, key.rawValue) { try await self.base.link(to: key, lasting: duration) }
    }

    package func uploadForm(
        for keys: [ObjectKey], _ rules: UploadRules, lasting duration: Duration
    ) async throws -> UploadForm {
        try await run(.uploadForm, keys.first?.rawValue ?? "") {
            try await self.base.uploadForm(for: keys, rules, lasting: duration)
        }
    }

    package func removeLeftovers() async throws {
        try await run(.removeLeftovers, "") { try await self.base.removeLeftovers() }
    }

    package func takeBackUploads(below prefix: String) async throws {
        try await run(.takeBackUploads, prefix) { try await self.base.takeBackUploads(below: prefix) }
    }

    private func run<Answer: Sendable>(
        _ operation: StoreOperation, _ key: String, _ call: () async throws -> Answer
    ) async throws -> Answer {
        let effects = begin(operation, key)
        defer { state.withLock { $0.inFlight[operation, default: 0] -= 1 } }
        for effect in effects {
            switch effect {
            case .failBefore(let code, let isOfThisMachine, let isOfRecord):
                var error = scripted(code, operation, key)
                (error.isOfThisMachine, error.isOfRecord) = (isOfThisMachine, isOfRecord)
                throw error
            case .hold(let gate): await gate.pass()
            case .meanwhile(let action): action()
            case .sayAbsent: throw SaidAbsent()
            case .failAfter, .afterwards: break
            }
        }
        let answer = try await call()
        for effect in effects {
            switch effect {
            case .afterwards(let action): action()
            case .failAfter(let code): throw scripted(code, operation, key)
            case .failBefore, .hold, .meanwhile, .sayAbsent: break
            }
        }
        return answer
    }

    /// Notes the call and says what happens to it.
    private func begin(_ operation: StoreOperation, _ key: String) -> [StoreFault.Effect] {
        state.withLock { state in
            let call = Call(operation: operation, key: key)
            state.calls.append(call)
            let running = state.inFlight[operation, default: 0] + 1
            state.inFlight[operation] = running
            state.mostInFlight[operation] = max(state.mostInFlight[operation] ?? 0, running)
            var effects = script(call)
            for index in state.faults.indices where state.faults[index].fault.matches(operation, key) {
                state.faults[index].seen += 1
                if state.faults[index].fault.numbers.contains(state.faults[index].seen) {
                    effects.append(state.faults[index].fault.effect)
                }
            }
            return effects
        }
    }

    private func scripted(_ code: StoreError.Code, _ operation: StoreOperation, _ key: String) -> StoreError {
        StoreError(
            code, operation: operation.rawValue, key: key.isEmpty ? nil : key, message: "scripted by the test")
    }

    private struct SaidAbsent: Error {}
}
