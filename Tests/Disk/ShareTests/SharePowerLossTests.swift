import Foundation
import GRDB
import SyncCore
import SyncEngine
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncLedger

/// The states that a power failure leaves while something is shared. The store is elsewhere and keeps what it has
/// answered; of the ledger, all that was committed since its last sync may be gone, from any commit on.
@Suite struct SharePowerLossTests {
    private let tree: TemporaryTree
    private let time = ManualTime()

    init() throws {
        // What a disk keeps of it is reckoned, and not left to one.
        tree = try TemporaryTree(in: .memory)
    }

    /// Shares photos, then others of the same vacation, and takes the share back.
    private func timeline() async throws -> Timeline {
        let names = (0..<4).map { "\($0).jpg" }
        for (number, name) in names.enumerated() { try tree.write(try SmallPhoto.numbered(number), to: "trip/\(name)") }
        let ledger = try Ledger(at: tree.path("state/ledger.sqlite"))
        let memory = InMemoryStore(now: { [time] in time.now })
        let timeline = try Timeline(of: tree, memory)
        ledger.database.add(transactionObserver: timeline, extent: .databaseLifetime)
        let queue = LedgerQueue(ledger)
        let workshop = ShareWorkshop(store: RecordedStore(memory, timeline), ledger: queue, time: time)
        let id = try await workshop.share(order(workshop, Array(names.prefix(3)))).id
        #expect(try await workshop.share(order(workshop, Array(names.suffix(3)))).id == id)
        try await workshop.remover.run(id, .revoked)
        #expect(memory.keysOfShares.isEmpty)
        ledger.database.remove(transactionObserver: timeline)
        try ledger.close()
        return timeline
    }

    private func order(_ workshop: ShareWorkshop, _ names: [String]) throws -> ShareOrder {
        try workshop.order(names, in: tree.path("trip"), taken: "2024-06-15")
    }

    @Test func `after a power failure at any step, what others can see is known, published again, and can be revoked`()
        async throws
    {
        let timeline = try await timeline()
        let states = timeline.states
        #expect(states.count > 50)
        var failed: [String] = []
        for (number, state) in states.enumerated() {
            do {
                let unknown = try timeline.unknown(state)
                if !unknown.isEmpty { failed.append("state \(number): nobody knows \(unknown)") }
                try await revoke(state, "revoke-\(number)")
                try await goOn(state, "publish-\(number)")
            } catch {
                failed.append("state \(number): \(error)")
            }
        }
        print("power loss while sharing: \(states.count) states replayed, \(failed.count) failed")
        #expect(failed == [])
    }

    @Test func `were the ledger not synced before the store is asked, objects would be left that nobody knows`()
        async throws
    {
        let timeline = try await timeline()
        let states = timeline.statesWithoutSyncs
        let failed = try states.filter { try !timeline.unknown($0).isEmpty }
        print("the same without any sync: \(states.count) states, \(failed.count) with objects that nobody knows")
        #expect(!failed.isEmpty)
    }

    /// The next process takes everything back.
    private func revoke(_ state: Timeline.State, _ name: String) async throws {
        try await withNext(state, name) { workshop, memory, ledger in
            for share in try ledger.unendedShares() { try await workshop.remover.run(share.id, .revoked) }
            #expect(memory.keysOfShares.isEmpty, "\(name)")
        }
    }

    /// The agent goes on: what is shared is there as a whole, what has ended is not.
    private func goOn(_ state: Timeline.State, _ name: String) async throws {
        try await withNext(state, name) { workshop, memory, ledger in
            try await workshop.service.round()
            var wanted: Set<ObjectKey> = []
            for share in try ledger.unendedShares() {
                #expect(share.state == .live && share.step == .done, "\(name)")
                wanted.formUnion([share.keys.manifest, share.keys.page])
                for photo in try ledger.sharePhotos(share.id) {
                    wanted.formUnion([share.keys.photo(photo.slot), share.keys.thumbnail(photo.slot)])
                }
            }
            #expect(memory.keysOfShares == wanted, "\(name)")
        }
        try await revoke(state, "\(name)-revoke")
    }

    private func withNext(
        _ state: Timeline.State, _ name: String, _ body: (ShareWorkshop, InMemoryStore, Ledger) async throws -> Void
    ) async throws {
        let folder = tree.path(name)
        try FileManager.default.copyItem(atPath: state.ledger.string, toPath: folder.string)
        let ledger = try Ledger(at: folder.appending("ledger.sqlite"), connections: .single)
        let memory = state.store.copy()
        let queue = LedgerQueue(ledger)
        try await body(ShareWorkshop(store: memory, ledger: queue, time: time, owner: "next"), memory, ledger)
        try ledger.close()
        try FileManager.default.removeItem(atPath: folder.string)
    }
}

extension InMemoryStore {
    /// What others may see. That one was taken back is told elsewhere.
    fileprivate var keysOfShares: Set<ObjectKey> { Set(keys.filter { $0.rawValue.hasPrefix(ShareKeys.prefix) }) }
}

/// What changed in the store and in the ledger, in order. Its lock is held while it looks at both.
private final class Timeline: TransactionObserver, Sendable {
    struct State {
        let store: InMemoryStore
        /// A copy of the ledger's folder.
        let ledger: FilePath
    }

    private struct Moments {
        var ledgers: [FilePath] = []
        /// The last of them that a power failure cannot take back.
        var synced = 0
        var stores: [InMemoryStore] = []
        /// Of both, by their numbers.
        var states: [(store: Int, ledger: Int)] = []
        var statesWithoutSyncs: [(store: Int, ledger: Int)] = []
        var failure: (any Error)?
    }

    private let tree: TemporaryTree
    private let memory: InMemoryStore
    private let moments = Lock(Moments())
    private let known = Lock<[FilePath: Set<String>]>([:])

    init(of tree: TemporaryTree, _ memory: InMemoryStore) throws {
        (self.tree, self.memory) = (tree, memory)
        moments.withLock { $0.stores.append(memory.copy()) }
        noteCommit(isSynced: true)
    }

    var states: [State] { resolved(\.states) }
    /// As if no commit were ever synced.
    var statesWithoutSyncs: [State] { resolved(\.statesWithoutSyncs) }

    private func resolved(_ path: KeyPath<Moments, [(store: Int, ledger: Int)]>) -> [State] {
        moments.withLock { moments in
            if let failure = moments.failure { Issue.record(failure) }
            return moments[keyPath: path].map {
                State(store: moments.stores[$0.store], ledger: moments.ledgers[$0.ledger])
            }
        }
    }

    func noteChange() {
        moments.withLock { moments in
            moments.stores.append(memory.copy())
            let store = moments.stores.count - 1
            for ledger in moments.ledgers.indices {
                moments.statesWithoutSyncs.append((store, ledger))
                if ledger >= moments.synced { moments.states.append((store, ledger)) }
            }
        }
    }

    private func noteCommit(isSynced: Bool) {
        moments.withLock { moments in
            let number = moments.ledgers.count
            let copy = tree.path("commit-\(number)")
            do {
                try FileManager.default.copyItem(atPath: tree.path("state").string, toPath: copy.string)
            } catch {
                moments.failure = error
            }
            moments.ledgers.append(copy)
            if isSynced { moments.synced = number }
            moments.states.append((moments.stores.count - 1, number))
            moments.statesWithoutSyncs.append((moments.stores.count - 1, number))
        }
    }

    /// Objects of shares that the ledger does not know to be there.
    func unknown(_ state: State) throws -> [String] {
        let known = try known.withLock { cache in
            if let found = cache[state.ledger] { return found }
            let found = try Self.known(in: state.ledger)
            cache[state.ledger] = found
            return found
        }
        return state.store.keysOfShares.map(\.rawValue).filter { !known.contains($0) }
    }

    private static func known(in folder: FilePath) throws -> Set<String> {
        let ledger = try Ledger(at: folder.appending("ledger.sqlite"), connections: .single)
        defer { try? ledger.close() }
        return try ledger.unendedShares().reduce(into: []) { known, share in
            known.formUnion([share.keys.manifest, share.keys.page].map(\.rawValue))
            for photo in try ledger.sharePhotos(share.id) {
                known.formUnion([share.keys.photo(photo.slot), share.keys.thumbnail(photo.slot)].map(\.rawValue))
            }
        }
    }

    // MARK: TransactionObserver

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidRollback(_ db: Database) {}

    func databaseDidCommit(_ db: Database) {
        // `PRAGMA synchronous`: 2 is FULL, which syncs the log with this commit and all before it.
        noteCommit(isSynced: (try? Int.fetchOne(db, sql: "PRAGMA synchronous")) == 2)
    }
}

/// Tells the timeline of each change, once it has been made.
private final class RecordedStore: WrappedStore {
    let base: any ObjectStore
    private let timeline: Timeline

    init(_ base: InMemoryStore, _ timeline: Timeline) {
        (self.base, self.timeline) = (base, timeline)
    }

    func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        let receipt = try await base.put(body, at: key, attributes: attributes, condition: condition)
        timeline.noteChange()
        return receipt
    }

    func delete(_ key: ObjectKey) async throws {
        try await base.delete(key)
        timeline.noteChange()
    }

    func copy(
        _ source: ObjectKey, to key: ObjectKey, storageClass: StorageClass, metadata: [String: String]?,
        condition: PutCondition
    ) async throws {
        try await base.copy(source, to: key, storageClass: storageClass, metadata: metadata, condition: condition)
        timeline.noteChange()
    }
}
