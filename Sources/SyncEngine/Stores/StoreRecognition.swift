import FoundationEssentials
package import SyncCore
package import SyncLedger
import SyncSystem

/// Tells whether a store is the one that the ledger knows, however it is reached now: by another path, host or endpoint.
package struct StoreRecognition: Sendable {
    package enum Kinship: String, Hashable, Sendable {
        /// It has the id that the ledger knows.
        case same
        /// It says that it was made from the one that the ledger knows.
        case copy
        /// Nothing tells by an id; it has most of what the ledger knows.
        case alike
        /// Another one.
        case other
    }

    package struct Finding: Hashable, Sendable {
        package var kinship: Kinship
        package var id: String?
        /// Objects that the ledger knows, and how many of them the store has.
        package var known = 0
        package var found = 0
        /// What is there, and was forgotten for good since the store was left, or copied.
        package var forgotten: [ObjectInfo] = []
    }

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout

    package init(store: any ObjectStore, ledger: LedgerQueue, keys: KeyLayout) {
        self.store = store
        self.ledger = ledger
        self.keys = keys
    }

    /// The store's id; `nil` when it has none.
    /// - Throws: ``StoreError``, `CancellationError`.
    package func id() async throws -> String? {
        if let id = try await store.ownID() { return id }
        guard let bytes = try await optionalBytes(try ObjectKey(StoreMarker.name), StoreMarker.maximumSize) else {
            return nil
        }
        return (try? StoreMarker(parsing: bytes))?.id
    }

    /// Whether the ledger is about another store than this one, as the ids of both prove. The same store under another name is
    /// not left, and neither is one of which no id tells.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    func isLeft() async throws -> Bool {
        guard let known = try await ledger({ try $0.storeID() }), let own = try await id() else { return false }
        return own != known
    }

    /// Sees that the store has an id, and that the ledger knows it: once in a ledger's life. Where the rights do not allow
    /// it, the store is known by its address alone, and by what is in it.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func makeKnown() async throws {
        guard try await ledger({ try $0.storeID() }) == nil else { return }
        do {
            guard let id = try await found() else { return }
            _ = try await ledger { try $0.bindStoreID(id) }
        } catch is StoreError {
            // The next start asks again; whatever is wrong, those that need the store meet it, too.
        }
    }

    /// The store's id; one that has none gets one, where the rights allow it.
    /// - Throws: ``StoreError``, `CancellationError`.
    package func found() async throws -> String? {
        if let id = try await id() { return id }
        // The embedded store gives itself one.
        guard store.identity.type == "s3" else { return nil }
        let marker = StoreMarker(
            id: StoreMarker.makeID(),
            about: "sync-agent stores photos in this bucket. This tells it from every other one; leave it where it is.")
        do {
            try await ShareStorage(store: store).put(
                text: marker.encoded(), at: try ObjectKey(StoreMarker.name), .ifAbsent)
        } catch let error as StoreError where error.code == .alreadyExists {
        } catch let error as StoreError where error.code == .accessDenied {
            return nil
        }
        // Of two machines the first one decides; where conditions are not kept, the last.
        return try await id()
    }

    /// What the ids say, without a look at what is in the store.
    package func kinship() async throws -> Finding {
        let id = try await id()
        guard let known = try await ledger({ try $0.storeID() }) else { return Finding(kinship: .alike, id: id) }
        if id == known { return Finding(kinship: .same, id: id) }
        if try await origin().continues.contains(known) { return Finding(kinship: .copy, id: id) }
        return Finding(kinship: id == nil ? .alike : .other, id: id)
    }

    /// The same, and how much of what the ledger knows is there: one request for a thousand objects.
    /// - Parameter onPage: told how many objects were seen by now.
    package func compare(onPage: (Int) -> Void = { _ in }) async throws -> Finding {
        var finding = try await kinship()
        finding.known = try await ledger { try $0.knownObjects() }
        var seen = 0
        for prefix in keys.ownPrefixes {
            for try await objects in store.pages(prefix: prefix) {
                let (found, forgotten) = try await ledger {
                    (try $0.known(among: objects), try $0.forgotten(among: objects))
                }
                finding.found += found
                finding.forgotten += forgotten
                seen += objects.count
                onPage(seen)
            }
        }
        // Some photos may be in two stores.
        if finding.kinship == .alike, finding.found * 2 < finding.known { finding.kinship = .other }
        return finding
    }

    /// Notes that a store was made from another one, and from what that one was made from. It is written again each time: it
    /// tells when that was (``movedAt()``).
    /// - Parameter id: of the other one.
    /// - Throws: ``StoreError``, `CancellationError`.
    package func noteOrigin(_ id: String, _ other: StoreRecognition) async throws {
        var origin = try await self.origin()
        let own = try await self.id()
        for id in try await other.origin().continues + [id] where id != own { origin.note(id) }
        if origin.continues.isEmpty { return }
        try await ShareStorage(store: store).put(text: origin.encoded(), at: try keys.storeOrigin())
    }

    /// Whether a move has made the store what it is: it says which one it continues.
    /// - Throws: ``StoreError``, `CancellationError`.
    package func isMoved() async throws -> Bool { try await !origin().continues.isEmpty }

    /// When the last move has made the store what it is, by the store's clock: what it has of before, that one has copied.
    /// - Returns: `nil` where none has, as far as the store tells.
    /// - Throws: ``StoreError``, `CancellationError`.
    func movedAt() async throws -> Date? {
        do {
            return try await store.head(try keys.storeOrigin())?.modified
        } catch let error as StoreError where error.code == .accessDenied || error.code == .badDigest {
            return nil
        }
    }

    /// What the store says that it was made from.
    func origin() async throws -> StoreOrigin {
        let bytes = try await optionalBytes(try keys.storeOrigin(), StoreOrigin.maximumSize)
        return bytes.flatMap { StoreOrigin(parsing: $0) } ?? StoreOrigin()
    }

    private func optionalBytes(_ key: ObjectKey, _ limit: Int) async throws -> [UInt8]? {
        do {
            return try await store.bytes(of: key, limit: limit)
        } catch let error as StoreError where [.notFound, .tooLarge, .badDigest, .accessDenied].contains(error.code) {
            // Who may not list the place of a key is told that it may not be read, where there is nothing.
            return nil
        }
    }
}
