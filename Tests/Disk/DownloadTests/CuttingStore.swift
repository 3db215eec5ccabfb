import SyncCore
import SyncSystem
import SyncTestSupport

/// A store in memory whose reads break off by script.
final class CuttingStore: WrappedStore {
    private struct State {
        /// For each read, in their order: after how many bytes the connection is lost, `nil` for never.
        var cuts: [Int64?]
        var ranges: [Range<Int64>?] = []
        var heads = 0
        /// Takes every digest out of what the store tells.
        var knowsDigests = true
    }

    let memory = InMemoryStore()
    private let state: Lock<State>
    private let atCut: @Sendable (Int) async -> Void

    /// - Parameter atCut: runs before the n-th read, from 1, breaks off.
    init(cuts: [Int64?] = [], atCut: @escaping @Sendable (Int) async -> Void = { _ in }) {
        state = Lock(State(cuts: cuts))
        self.atCut = atCut
    }

    /// What was asked for by all reads so far.
    var ranges: [Range<Int64>?] { state.withLock { $0.ranges } }
    var heads: Int { state.withLock { $0.heads } }

    func forgetDigests() {
        state.withLock { $0.knowsDigests = false }
    }

    var base: any ObjectStore { memory }

    func head(_ key: ObjectKey) async throws -> ObjectInfo? {
        state.withLock { $0.heads += 1 }
        return try await memory.head(key).map(told)
    }

    func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        let (number, cut) = state.withLock { state in
            state.ranges.append(range)
            let number = state.ranges.count
            return (number, number <= state.cuts.count ? state.cuts[number - 1] : nil)
        }
        guard let cut else { return told(try await memory.get(key, range: range, into: sink)) }
        let start = range?.lowerBound ?? 0
        if cut > 0 { _ = try await memory.get(key, range: start..<start + cut, into: sink) }
        await atCut(number)
        try Task.checkCancellation()
        throw StoreError(.connectionLost, operation: "get", key: key.rawValue, message: "cut by the test")
    }

    private func told(_ info: ObjectInfo) -> ObjectInfo {
        guard !state.withLock({ $0.knowsDigests }) else { return info }
        var info = info
        info.md5 = nil
        info.sha256 = nil
        info.metadata = [:]
        return info
    }
}
