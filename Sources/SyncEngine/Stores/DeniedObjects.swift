import SyncCore
import SyncSystem

/// The rule of ``DenialStreak`` for work that asks a store for object after object, several at once. Each run of such
/// work has its own.
final class DeniedObjects: Sendable {
    private let streak = Mutex(DenialStreak())

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

    func noteGiven() { streak.withLock { $0.noteGiven() } }

    func noteGivenBefore() { streak.withLock { $0.noteGivenBefore() } }

    /// - Throws: ``StoreError`` when the store gives none.
    func note(_ error: StoreError) throws { try streak.withLock { try $0.note(error) } }

    /// The same, where the store itself is asked first whether a page in place of an answer stands before all objects.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used, or gives none; `CancellationError`.
    func note(_ error: StoreError, in store: any ObjectStore) async throws {
        if !error.concernsWholeStore, let outage = try await store.outage(behind: error) { throw outage }
        try note(error)
    }
}
