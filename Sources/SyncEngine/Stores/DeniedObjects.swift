import SyncCore
import SyncSystem

/// The rule of ``DenialStreak`` for work that asks a store for object after object, several at once. Each run of such
/// work has its own.
final class DeniedObjects: Sendable {
    private struct State {
        var streak = DenialStreak()
        var end: StoreError?
    }

    private let state = Lock(State())
    private let earlier: EarlierDenials?

    /// - Parameter earlier: where the next run of the work would begin with the same objects.
    init(_ earlier: EarlierDenials? = nil) { self.earlier = earlier }

    /// Why no more objects are asked for, once the store has given none.
    var end: StoreError? { state.withLock { $0.end } }

    /// Asks for one object.
    /// - Returns: what `ask` does; or why the store does not give this object, where it may give the next.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used, or gives none; what else `ask` throws.
    func ask<Value>(_ ask: () async throws -> Value) async throws -> Result<Value, StoreError> {
        do {
            let value = try await ask()
            noteGiven()
            return .success(value)
        } catch let error as StoreError where error.mayConcernOneObject {
            try note(error)
            return .failure(error)
        }
    }

    /// As well, for the next run, too.
    /// - Throws: also ``LedgerError``.
    func ask<Value>(for key: ObjectKey, _ ask: () async throws -> Value) async throws -> Result<Value, StoreError> {
        do {
            let value = try await ask()
            try await noteGiven(key)
            return .success(value)
        } catch let error as StoreError where error.mayConcernOneObject {
            try await note(error, of: key)
            return .failure(error)
        }
    }

    func noteGiven() { state.withLock { $0.streak.noteGiven() } }

    /// As well, for the next run, too.
    /// - Throws: ``LedgerError``.
    func noteGiven(_ key: ObjectKey) async throws {
        noteGiven()
        try await earlier?.noteGiven(key)
    }

    func noteGivenBefore() { state.withLock { $0.streak.noteGivenBefore() } }

    /// - Throws: ``StoreError`` when the store gives none.
    func note(_ error: StoreError) throws {
        try state.withLock { state in
            do throws(StoreError) {
                try state.streak.note(error)
            } catch {
                state.end = state.end ?? error
                throw error
            }
        }
    }

    /// As well, for the next run, too.
    /// - Throws: ``StoreError`` when the store gives none; ``LedgerError``.
    func note(_ error: StoreError, of key: ObjectKey) async throws {
        try await earlier?.note(error, of: key)
        try note(error)
    }

    /// The same, where the store itself is asked first whether a page in place of an answer stands before all objects.
    /// - Parameter key: for the next run, where it would begin with it.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used, or gives none; ``LedgerError``,
    ///   `CancellationError`.
    func note(_ error: StoreError, of key: ObjectKey? = nil, in store: any ObjectStore) async throws {
        guard error.mayConcernOneObject else { throw error }
        if !error.concernsWholeStore, let outage = try await store.outage(behind: error) { throw outage }
        if let key { try await note(error, of: key) } else { try note(error) }
    }

    /// The same for whoever tells what ends the work in another way.
    /// - Returns: what does; `nil` where the others may go on.
    /// - Throws: ``LedgerError``, `CancellationError`.
    func outage(
        behind error: StoreError, of key: ObjectKey? = nil, in store: any ObjectStore
    ) async throws -> StoreError? {
        do {
            try await note(error, of: key, in: store)
            return nil
        } catch let outage as StoreError {
            return outage
        }
    }
}
