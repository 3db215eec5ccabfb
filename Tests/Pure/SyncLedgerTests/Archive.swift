import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage

/// A ledger with stored objects, of which photos are `/pictures/gallery/{index}.jpg`.
final class Archive {
    let world: World
    private(set) var keys: [ObjectKey] = []

    var ledger: Ledger { world.ledger }
    var now: Date { world.now }

    init(_ names: [String] = ["users/ana/photos/a.dat"], in storageClass: StorageClass = .deepArchive) throws {
        world = try World()
        for name in names { try put(name, in: storageClass) }
    }

    @discardableResult
    func put(
        _ name: String, size: Int64 = 1_000, in storageClass: StorageClass = .standard, restore: RestoreState = .none,
        storedAt: Date? = nil
    ) throws -> ObjectKey {
        let key = try ObjectKey(name)
        world.write(World.gallery.path.appending("\(keys.count).jpg"))
        try world.scan()
        for claim in try ledger.claim(limit: 1, at: now) {
            let object = ObjectRecord(
                key: key, size: size, md5: nil, sha256: nil, contentType: "image/jpeg", storageClass: storageClass,
                restore: restore, storedAt: storedAt ?? now)
            try ledger.commit(claim, outcome: .uploaded(World.digest(of: claim.stamp), object), at: now)
        }
        keys.append(key)
        return key
    }

    /// A job for some of the objects, or for all.
    func ask(
        for keys: [ObjectKey]? = nil, tier: RestoreTier = .bulk, days: Int = 7, output: FilePath? = nil
    ) throws -> (job: RestoreJob?, collided: [ObjectKey]) {
        let items = (keys ?? self.keys).map {
            RestoreJobDraft.Item(key: $0, size: 1_000, storageClass: .deepArchive, tier: tier)
        }
        return try ledger.addRestoreJob(
            RestoreJobDraft(requestedBy: "ana", tier: tier, days: days, output: output, items: items), at: now)
    }

    /// Brings an item that was just planned into a state.
    func move(_ item: Int64, to state: RestoreItemState, until: Date? = nil) throws {
        if state == .expired { try ledger.note(RestoreOutcome(state: .restored), of: [item], at: now) }
        if state == .planned { return }
        try ledger.note(RestoreOutcome(state: state, expiresAt: until), of: [item], at: now)
    }

    func items() throws -> [RestoreItem] {
        try ledger.restoreJobs(limit: .max).reversed().flatMap {
            try ledger.restoreItems(of: $0.job.id, after: 0, limit: .max)
        }
    }

    func restore(of key: ObjectKey? = nil) throws -> RestoreState? {
        try (key ?? keys.first).flatMap { try ledger.object($0) }?.restore
    }
}
