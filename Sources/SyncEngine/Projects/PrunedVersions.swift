package import SyncCore
package import SyncLedger
import SyncSystem

/// Earlier states of files in projects folders that this ledger knows, and that another machine of the user has removed
/// from the store: by the same rule as ``ProjectVersions``, or with their project. That is no loss. Where no other
/// machine stores for the user, or by our catalogue we have the project, nobody has deleted it but by mistake.
package struct PrunedVersions: Sendable {
    fileprivate let store: any ReadableStore
    fileprivate let ledger: LedgerQueue
    fileprivate let machines: OtherMachines
    fileprivate let kept: Int

    /// - Parameter kept: how many earlier states of a file stay reachable.
    package init(store: any ReadableStore, ledger: LedgerQueue, keys: KeyLayout, kept: Int) {
        self.store = store
        self.ledger = ledger
        machines = OtherMachines(store: store, keys: keys)
        self.kept = kept
    }

    /// The same by way of a store that sees what is asked.
    func reading(_ store: any ReadableStore) -> PrunedVersions {
        PrunedVersions(store: store, ledger: ledger, keys: machines.keys, kept: kept)
    }

    /// A look at versions that are gone, one after the other or at once: whether there are other machines is asked with the
    /// first of them for which that counts.
    func lookup() -> PrunedVersionsLookup { PrunedVersionsLookup(versions: self) }
}

/// What ``PrunedVersions/lookup()`` gives.
struct PrunedVersionsLookup: Sendable {
    fileprivate let versions: PrunedVersions
    private let others = Lock<Bool?>(nil)
    private let asking = Slots(1)

    private var store: any ReadableStore { versions.store }
    private var ledger: LedgerQueue { versions.ledger }

    /// Forgets an object that the store no longer has, where it is such a version and no file is stored as it.
    /// - Returns: whether it is forgotten.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    func forget(_ gone: ObjectRecord) async throws -> Bool {
        guard let file = VersionedFile(ofVersion: gone.key) else { return false }
        // What becomes of another machine's, that one tells.
        if try await ledger({ try $0.maker(ofVersion: gone.key) }) == .other {
            return try await ledger.finish { try $0.forgetPrunedVersion(gone) }
        }
        let stored = try await store.all(below: file.versions).objects
        if !ProjectVersions.mayHavePruned(gone, of: file, beside: stored, kept: versions.kept) {
            guard let project = file.project, try await !ledger({ try $0.hasToldOfProject(project) }),
                try await mayBeDeleted(file, beside: gone.key), try await areThereOthers()
            else { return false }
        }
        return try await ledger.finish { try $0.forgetPrunedVersion(gone) }
    }

    private func areThereOthers() async throws -> Bool {
        try await asking.withSlot {
            if let known = others.withLock({ $0 }) { return known }
            let status = try await ledger { try $0.catalogStatus() }
            let found = try await versions.machines.exist(beside: status)
            others.withLock { $0 = found }
            return found
        }
    }

    /// Whether what is left of the project is what a deletion by another machine leaves: of its image, its metadata,
    /// and their versions the store has only what stays then, and none of ours. What files of this machine are stored
    /// as is ours, and so are versions that this ledger knows, but for those that another machine has stored, or has a
    /// file that is stored as them.
    private func mayBeDeleted(_ file: VersionedFile, beside gone: ObjectKey) async throws -> Bool {
        let inUse = try await ledger { try $0.projectVersionsInUse(below: file.versions) }
        let beginning = String(Substring(file.versions.utf8.dropLast("/versions/".utf8.count)))
        let left = try await store.all(below: beginning).objects.map(\.key).filter { key in
            guard key != gone, let other = key.versionedFile else { return false }
            return other.versions.inBytes == file.versions.inBytes && other.project != nil
        }
        return try await ledger { ledger in
            try left.allSatisfy { key in
                if try ledger.isOfOwnFile(key) { return false }
                if !key.isProjectVersion || inUse.contains(key) { return true }
                return try ledger.maker(ofVersion: key) == .other || ledger.object(key) == nil
            }
        }
    }
}
