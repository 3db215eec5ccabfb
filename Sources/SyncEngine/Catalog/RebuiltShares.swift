import SyncCore
import SyncLedger

/// Holds the shares that a catalogue tells of against what the store has of them: what became of them after its last write
/// is in their manifests, and, of those that a person took back elsewhere, beside the catalogue.
struct RebuiltShares: Sendable {
    private let store: any ReadableStore
    private let ledger: LedgerQueue
    private let notes: ShareNoteReader

    init(store: any ReadableStore, ledger: LedgerQueue, keys: KeyLayout) {
        self.store = store
        self.ledger = ledger
        notes = ShareNoteReader(store: store, ledger: ledger, keys: keys)
    }

    /// One request for each share that is called live, and one for what was taken back elsewhere.
    /// - Returns: which could not be held against their manifests, and what is not known of others, in plain words.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``LedgerError``, `CancellationError`.
    func run() async throws -> [String] {
        var problems: [String] = []
        _ = try await notes.notice()
        for share in try await ledger({ try $0.unendedShares() }) where share.state == .live {
            if let problem = try await look(at: share) {
                problems.append("the share of \(share.folder.text.escapingControls) (\(share.id)): \(problem)")
            }
        }
        return problems
    }

    /// Holds one against its manifest.
    /// - Returns: why that cannot be done, or what is not known, in plain words.
    func look(at share: ShareRecord) async throws -> String? {
        let id = share.id
        let manifest: CheckedShare
        do {
            let bytes = try await store.bytes(of: share.keys.manifest, limit: ShareManifestRules.maximumBytes)
            manifest = try ShareManifestRules(asked: id).check(bytes, foundAt: nil)
        } catch let error as StoreError where error.code == .notFound {
            // It goes first when a share ends. What else is left of it is removed, and proven to be gone.
            _ = try await ledger { try $0.endShare(id, .revoked) }
            return nil
        } catch let error as StoreError where !error.concernsWholeStore {
            return "its manifest cannot be read: \(error)"
        } catch let error as ShareRefusal {
            return "its manifest is none: \(error)"
        }
        // One that was about to change is published anew, whatever it was.
        guard share.step != .publish else { return nil }
        let unknown = try await ledger { [manifest] in try $0.holdShare(id, against: manifest) }
        if unknown == 0 { return nil }
        return
            "it was changed later: \(unknown.counted("photo")) of it \(unknown == 1 ? "is" : "are") seen, of which nothing "
            + "else is known here; share it again to bring it up to date"
    }
}
