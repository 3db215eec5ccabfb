import FoundationEssentials
import SyncCore
import SyncLedger

/// Shares that have expired on a machine that is gone, and what tells of shares that are long over.
struct ExpiredShares: Sendable {
    /// Seconds after its end in which a share is left to its own machine.
    private static let grace: TimeInterval = 86_400
    /// Seconds after which the end of a share is forgotten: since it was told, and since the share would have ended.
    private static let memory: TimeInterval = 100 * 86_400

    let store: any ObjectStore
    let keys: KeyLayout
    let others: OtherShares
    /// For what guests have sent to them.
    let guests: GuestIntake?

    /// Removes what has ended of machines that are silent.
    /// - Returns: what was removed, and what could not be, in plain words.
    func removeExpired(_ silent: Set<String>, now: Date) async throws -> (done: [String], problems: [String]) {
        var (done, problems): ([String], [String]) = ([], [])
        if silent.isEmpty { return (done, problems) }
        for share in try await others.run().shares where silent.contains(share.machine) && !share.state.isOver {
            guard share.state == .revoking || now.timeIntervalSince(share.expiresAt) >= Self.grace else { continue }
            let name = "share \(share.id) of \(share.location.escapingControls)"
            let machine = share.machineName.escapingControls
            do {
                if share.state != .revoking, try await !isOver(share, now: now) { continue }
                let keys = ShareKeys(share.id)
                guard try await store.hasObjects(below: keys.folder) else { continue }
                for key in [keys.manifest, keys.page] { try await store.delete(key) }
                try await ShareStorage(store: store).removeAll(keys, guests)
                done.append("\(name) has ended, and was removed for the machine \(machine), which is silent")
            } catch let error as StoreError where error.mayConcernOneObject {
                problems.append("\(name) has ended on the machine \(machine), which is silent, and stays: \(error)")
            }
        }
        return (done, problems)
    }

    /// Its end may have been put off since the catalogue was written: the manifest has the last word.
    private func isOver(_ share: OtherShare, now: Date) async throws -> Bool {
        do {
            let bytes = try await store.bytes(
                of: ShareKeys(share.id).manifest, limit: ShareManifestRules.maximumBytes)
            let manifest = try ShareManifestRules(asked: share.id).check(bytes, foundAt: nil).manifest
            return now.timeIntervalSince(manifest.expiresAt) >= Self.grace
        } catch let error as StoreError where error.code == .notFound {
            return true
        } catch let error as StoreError where error.mayConcernOneObject {
            return false
        } catch is ShareRefusal {
            return false
        }
    }

    // MARK: What is told of shares

    /// What tells of shares that nobody can publish any more goes.
    /// - Returns: what could not be read, in plain words.
    func forget(_ notes: [OtherMachines.Listed], now: Date) async throws -> [String] {
        var gone: [ObjectKey] = []
        var problems: [String] = []
        let old = notes.filter { $0.modified.map { now.timeIntervalSince($0) >= Self.memory } ?? false }.map(\.key)
        for key in old {
            guard let id = keys.shareID(ofEnd: key) else { continue }
            if try await isForgettable(key, EndedShare.self, of: id, now: now, &problems) { gone.append(key) }
        }
        // All take-overs of a share, or none: the last one counts, and it is found by their numbers.
        let owners = notes.compactMap { note in keys.shareOwner(of: note.key).map { (id: $0.id, number: $0.number) } }
        for (id, owners) in Dictionary(grouping: owners, by: \.id) {
            let numbers = owners.map(\.number).sorted()
            guard let last = try numbers.last.map({ try keys.shareOwner(id, $0) }), old.contains(last),
                try await isForgettable(last, ShareOwner.self, of: id, now: now, &problems),
                // Its end may have been put off since.
                try await !store.hasObjects(below: ShareKeys(id).folder)
            else { continue }
            gone += try numbers.map { try keys.shareOwner(id, $0) }
        }
        if !gone.isEmpty { _ = try await store.delete(gone) }
        return problems
    }

    private func isForgettable<Note: ShareNote>(
        _ key: ObjectKey, _ kind: Note.Type, of id: ShareID, now: Date, _ problems: inout [String]
    ) async throws -> Bool {
        do {
            let bytes = try await store.bytes(of: key, limit: ShareNoteLimits.maximumSize)
            guard let note = try? Note(parsing: bytes, of: id) else { return false }
            return now.timeIntervalSince(note.expiresAt) >= Self.memory
        } catch let error as StoreError where error.mayConcernOneObject {
            // Another machine may have been faster.
            if error.code != .notFound { problems.append("whether a share can be forgotten is not known: \(error)") }
            return false
        }
    }
}
