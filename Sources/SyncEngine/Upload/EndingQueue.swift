import SyncLedger
import SyncSystem

/// The endings of claims on their way into the ledger (group commit): one transaction takes all that came while the one
/// before it was written. Where photos end one by one, each is written at once; where they are small and end faster than the
/// ledger writes, the groups grow.
struct EndingQueue: Sendable {
    /// So many may be under way: a kill repeats what is not written.
    static let capacity = 64

    private struct State {
        var pending: [ClaimEnding] = []
        /// How many were added, and of these, how many are written.
        var added = 0
        var written = 0
        var isWriting = false
        var failure: (any Error)?
        /// Go on once so many are written.
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, any Error>)] = []
    }

    let ledger: LedgerQueue
    private let state = Mutex(State())
    /// Called when one could not be written: nobody may be adding or waiting, and the failure is told to whoever asks.
    var onFailure: @Sendable () -> Void = {}
    /// Called for each one that is written, in their order.
    let onWritten: @Sendable (ClaimEnding) -> Void

    /// - Throws: ``LedgerError`` of an ending that could not be written.
    func check() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// After a failure: what was not written is forgotten, and writing begins anew.
    func reset() {
        state.withLock { state in
            state.added -= state.pending.count
            state.pending = []
            state.failure = nil
        }
    }

    /// Returns once it is on its way; when many are, once they are fewer.
    /// - Throws: ``LedgerError`` of this ending or of one before it.
    func add(_ ending: ClaimEnding) async throws {
        let count = append([ending])
        try await wait(untilWritten: count - Self.capacity)
    }

    /// Returns once they are written, and all that came before them.
    /// - Throws: ``LedgerError``.
    func write(_ endings: [ClaimEnding]) async throws {
        try await wait(untilWritten: append(endings))
    }

    /// - Returns: how many have been added by now.
    private func append(_ endings: [ClaimEnding]) -> Int {
        let (count, begins) = state.withLock { state in
            state.pending += endings
            state.added += endings.count
            return (state.added, !exchange(&state.isWriting, with: true))
        }
        // Whoever comes first does not wait for what comes after it: the writing is nobody's task.
        if begins { Task { await writePending() } }
        return count
    }

    private func wait(untilWritten count: Int) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let answer: Result<Void, any Error>? = state.withLock { state in
                if let failure = state.failure { return .failure(failure) }
                if state.written >= count { return .success(()) }
                state.waiters.append((count, continuation))
                return nil
            }
            if let answer { continuation.resume(with: answer) }
        }
    }

    private func writePending() async {
        while let group = takePending() {
            let result = await Result {
                try await ledger.finish { try $0.commit(group) }
                for ending in group { onWritten(ending) }
            }
            let waiters = state.withLock { state in
                state.written += group.count
                if case .failure(let error) = result { state.failure = error }
                let isOver = { [state] (count: Int) in state.failure != nil || count <= state.written }
                defer { state.waiters.removeAll { isOver($0.count) } }
                return state.waiters.filter { isOver($0.count) }
            }
            for waiter in waiters { waiter.continuation.resume(with: result) }
            if case .failure = result { onFailure() }
        }
    }

    private func takePending() -> [ClaimEnding]? {
        state.withLock { state in
            if state.pending.isEmpty || state.failure != nil {
                state.isWriting = false
                return nil
            }
            return exchange(&state.pending, with: [])
        }
    }
}
