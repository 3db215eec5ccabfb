package import FoundationEssentials
package import SyncCore
package import SyncLedger
import SyncSystem

/// Stores photos, each of them once: what has the same key waits for its turn, and then finds the photo stored.
package struct PhotoSender: Sendable {
    private let ledger: LedgerQueue
    private let uploader: Uploader
    private let examiner: ObjectExaminer
    private let now: @Sendable () -> Date
    private let keys = KeyedLock<ObjectKey>()
    private let underWay = ObjectsUnderWay()

    package init(
        ledger: LedgerQueue, store: any ObjectStore, uploader: Uploader, now: @escaping @Sendable () -> Date
    ) {
        self.ledger = ledger
        self.uploader = uploader
        examiner = ObjectExaminer(store)
        self.now = now
    }

    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    package func send(_ photo: PreparedPhoto) async throws -> Uploader.Receipt {
        try await keys.withKey(photo.plan.key) {
            let known = try await object(photo.plan.key) ?? underWay.object(photo.plan.key)
            // Its twin may have been stored while this one was prepared; or somebody has mended what was broken.
            if let known, known.md5 == photo.examined.digest.md5, let object = try await confirm(known) {
                return Uploader.Receipt(object: object, wasSent: false)
            }
            let problem = try await object(photo.plan.key)?.problem
            let receipt = try await uploader.upload(photo, replacing: problem?.isDamage == true)
            underWay.note(receipt.object)
            return receipt
        }
    }

    /// Asks the store about what the ledger knows: what has got lost there is not "already stored". Then the ledger learns
    /// it, too.
    /// - Returns: `nil` when it has to be sent.
    package func confirm(_ known: ObjectRecord) async throws -> ObjectRecord? {
        switch try await examiner.look(at: known, reading: .inDoubt) {
        case .intact(let object, _): return object
        case .broken(let problem):
            let time = now()
            _ = try await ledger { try $0.markBroken([BrokenObject(known, problem)], at: time) }
            return nil
        }
    }

    private func object(_ key: ObjectKey) async throws -> ObjectRecord? {
        try await ledger { try $0.object(key) }
    }
}

/// Objects that were proved a moment ago, and that the ledger does not know yet: whoever sent them commits them after the
/// key is free again.
private final class ObjectsUnderWay: Sendable {
    /// More than can be in flight.
    private static let capacity = 64
    private let objects = Mutex<[ObjectRecord]>([])

    func object(_ key: ObjectKey) -> ObjectRecord? {
        objects.withLock { objects in objects.first { $0.key == key } }
    }

    func note(_ object: ObjectRecord) {
        objects.withLock { objects in
            objects.removeAll { $0.key == object.key }
            objects.append(object)
            if objects.count > Self.capacity { objects.removeFirst() }
        }
    }
}
