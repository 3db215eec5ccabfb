import FoundationEssentials
import SyncCore
import SyncLedger
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

/// What the store denied to earlier runs of a work that begins with the same objects each time. It is asked for last,
/// longest ago first: a run that ends by it (``DenialStreak``) has reached the others before.
struct EarlierDenials: Sendable {
    /// Seconds. What comes last may never have its turn, where there is always something else; after this it has.
    private static let life: TimeInterval = 7 * 86_400
    /// How many of them have it in one run. Where all had, a daily run would end by them each time, once there are more
    /// than are denied again within a week.
    private static let turnsPerRun = DenialStreak.mostAtFirst / 2

    private let work: RecurringWork
    private let ledger: LedgerQueue
    private let time: TimeSource
    private let known: [ObjectKey: Date]

    /// Whose turn it is has had it by that: a dry run works with a copy of the ledger.
    /// - Throws: ``LedgerError``, `CancellationError`.
    init(of work: RecurringWork, in ledger: LedgerQueue, time: TimeSource) async throws {
        let now = time.now()
        let start = now.addingTimeInterval(-Self.life)
        let noted = try await ledger { try $0.denials(of: work) }
        // One that is still to come was noted by a clock that was ahead: its week would not end.
        let over = noted.filter { $0.value <= start || $0.value > now }
        let next = over.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.prefix(Self.turnsPerRun).map(\.key)
        known = noted.filter { !next.contains($0.key) }
        if !next.isEmpty { try await ledger.finish { try $0.endDenials(next, of: work) } }
        self.work = work
        self.ledger = ledger
        self.time = time
    }

    /// - Returns: what is asked for now, and what comes behind all others: see ``longestAgoFirst(_:by:)``.
    func split<Item>(_ items: [Item], by key: (Item) -> ObjectKey) -> (now: [Item], last: [Item]) {
        if known.isEmpty { return (items, []) }
        return (items.filter { known[key($0)] == nil }, items.filter { known[key($0)] != nil })
    }

    /// Whether it is asked for behind all others.
    func comesLast(_ key: ObjectKey) -> Bool { known[key] != nil }

    /// The order of what comes last: those that were denied a moment ago are behind those whose turn did not come.
    func longestAgoFirst<Item>(_ items: [Item], by key: (Item) -> ObjectKey) -> [Item] {
        let turns = items.enumerated().map { (at: known[key($1)] ?? .distantPast, place: $0, item: $1) }
        return turns.sorted { ($0.at, $0.place) < ($1.at, $1.place) }.map(\.item)
    }

    /// All of them in the order in which they are asked for.
    func order<Item>(_ items: [Item], by key: (Item) -> ObjectKey) -> [Item] {
        let (now, last) = split(items, by: key)
        return now + longestAgoFirst(last, by: key)
    }

    /// - Throws: ``LedgerError``.
    func note(_ error: StoreError, of key: ObjectKey) async throws {
        guard error.isDenial else { return }
        let (work, now) = (work, time.now())
        try await ledger.finish { try $0.noteDenial(key, of: work, at: now) }
    }

    /// - Throws: ``LedgerError``.
    func noteGiven(_ key: ObjectKey) async throws {
        guard known[key] != nil else { return }
        try await ledger.finish { [work] in try $0.endDenials([key], of: work) }
    }
}
