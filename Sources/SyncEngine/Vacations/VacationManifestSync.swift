import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
import SyncDigest
package import SyncLedger
package import SyncSystem
import SystemPackage

/// Keeps the manifests of vacations in the store as the folders are: written when all photos of a vacation are stored,
/// again when they or their description change, and removed when they have another name.
package struct VacationManifestSync: Sendable {
    package struct Summary: Hashable, Sendable {
        /// Manifests that were written.
        package var stored = 0
        /// Vacations whose manifest another machine has written.
        package var found = 0
        /// Old manifests that were removed.
        package var removed = 0
        /// What of descriptions is ignored, and what was replaced in the store, for people.
        package var notes: [String] = []
        /// What has to be tried again.
        package var failures: [String] = []
        /// The revisions of vacations that were left for later.
        package var left: [VacationID: Int64] = [:]
    }

    /// At one key, when others write there at the same time.
    private static let mostTries = 3

    private let ledger: LedgerQueue
    private let reader: VacationReader
    private let manifests: ManifestStore
    private let time: TimeSource

    /// - Parameter pool: for reading descriptions.
    package init(
        ledger: LedgerQueue, store: any ObjectStore, keys: KeyLayout, pool: BlockingPool,
        descriptions: DescriptionSource = .disk, time: TimeSource
    ) {
        self.ledger = ledger
        self.time = time
        reader = VacationReader(ledger: ledger, pool: pool, descriptions: descriptions)
        manifests = ManifestStore(store: store, keys: keys)
    }

    /// One round over the vacations that changed since they were seen to, and of which no photo waits for its upload.
    /// - Parameter isQuiet: whether a vacation's turn has come; the others are left.
    /// - Throws: ``StoreError`` when the store cannot be used at all; ``LedgerError``, `CancellationError`.
    package func run(where isQuiet: @Sendable (VacationRecord) -> Bool = { _ in true }) async throws -> Summary {
        var result = Summary()
        let changed = try await ledger { try $0.vacationsToCheck() }
        let earlier = try await EarlierDenials(of: .vacations, in: ledger, time: time)
        let denied = DeniedObjects(earlier)
        // A folder that was renamed is stored under its new name before the old one goes.
        let inOrder = changed.filter(\.isOnDisk) + changed.filter { !$0.isOnDisk }
        let known = try inOrder.map { (record: $0, key: try Self.key(of: $0.id)) }
        for (record, key) in earlier.order(known, by: { $0.key }) {
            guard isQuiet(record) else {
                result.left[record.id] = record.revision
                continue
            }
            do {
                let known = result.stored + result.found
                try await sync(record.id, &result)
                if result.stored + result.found > known { try await denied.noteGiven(key) }
            } catch let error as VacationReadError {
                result.failures.append("\(error)")
            } catch let error as StoreError where error.mayConcernOneObject {
                // One that is refused holds up no other.
                try await denied.note(error, of: key, in: manifests.store)
                result.failures.append("the vacation \(record.folder.string.escapingControls): \(error)")
            }
        }
        try await removeStale(&result, earlier)
        return result
    }

    /// By what a denial is noted. Under which key a vacation goes is known once its folder was read.
    private static func key(of id: VacationID) throws -> ObjectKey { try ObjectKey("vacations/\(id.rawValue)") }

    private func sync(_ id: VacationID, _ result: inout Summary) async throws {
        guard let content = try await ledger({ try $0.vacationContent(id) }), content.record.waiting == 0 else {
            return
        }
        guard content.record.isOnDisk else { return try await syncGone(content, &result) }
        guard let vacation = try await reader.read(content) else { return }
        for problem in vacation.problems {
            let file = vacation.folder.appending(VacationDescription.fileName)
            result.notes.append("\(file.string.escapingControls) is not used as it is: \(problem)")
        }
        if vacation.photos.isEmpty {
            return try await ledger { try $0.noteChecked(id, revision: vacation.revision, details: vacation.details) }
        }
        try await store(vacation, known: content.record.stored, &result)
    }

    // MARK: What is there

    private func store(_ vacation: Vacation, known: VacationRecord.Stored?, _ result: inout Summary) async throws {
        let photos = vacation.photos.compactMap(\.md5)
        let fingerprint = SHA256Digest(of: VacationFingerprint.material(photos))
        if let known, try await isCurrent(known, vacation, fingerprint) {
            let (id, revision, details) = (vacation.id, vacation.revision, vacation.details)
            return try await ledger { try $0.noteChecked(id, revision: revision, details: details) }
        }
        for number in 1... {
            let cacheKey = VacationCacheKey.text(vacation.cacheKey, number: number)
            guard try await isFree(cacheKey, for: vacation.id, fingerprint) else { continue }
            let manifest = Self.manifest(of: vacation, as: cacheKey)
            let bytes = try manifest.encoded()
            let digest = SHA256Digest(of: bytes)
            guard let isOwn = try await upload(manifest, bytes, digest, of: vacation.id, &result) else { continue }
            let stored = VacationRecord.Stored(
                cacheKey: cacheKey, photoCount: manifest.photoCount, fingerprint: fingerprint, manifest: digest,
                isOwn: isOwn, at: time.now())
            return try await ledger.finish {
                try $0.noteStored(
                    vacation.id, revision: vacation.revision, details: vacation.details, as: stored, photos: photos)
            }
        }
    }

    private static func manifest(of vacation: Vacation, as cacheKey: String) -> VacationManifest {
        VacationManifest(
            cacheKey: cacheKey, details: vacation.details, photos: vacation.photos.compactMap(\.inManifest))
    }

    /// Whether what is stored tells the vacation as it is, under a key that it would get today.
    private func isCurrent(
        _ known: VacationRecord.Stored, _ vacation: Vacation, _ fingerprint: SHA256Digest
    ) async throws -> Bool {
        guard VacationCacheKey.isText(known.cacheKey, numbering: vacation.cacheKey),
            try await isFree(known.cacheKey, for: vacation.id, fingerprint)
        else { return false }
        return SHA256Digest(of: try Self.manifest(of: vacation, as: known.cacheKey).encoded()) == known.manifest
    }

    /// Brings a manifest into the store, unless one that tells the same is there.
    /// - Returns: whether this machine has written it; `nil` where the key has another machine's manifest of another
    ///   vacation, which stays.
    private func upload(
        _ manifest: VacationManifest, _ bytes: [UInt8], _ digest: SHA256Digest, of id: VacationID,
        _ result: inout Summary
    ) async throws -> Bool? {
        for _ in 1..<Self.mostTries {
            do {
                return try await uploadOnce(manifest, bytes, digest, of: id, &result)
            } catch let error as StoreError where error.code == .alreadyExists {
                // Another machine was quicker; or the answer to a put of ours was lost. What is there decides.
                continue
            }
        }
        return try await uploadOnce(manifest, bytes, digest, of: id, &result)
    }

    private func uploadOnce(
        _ manifest: VacationManifest, _ bytes: [UInt8], _ digest: SHA256Digest, of id: VacationID,
        _ result: inout Summary
    ) async throws -> Bool? {
        let cacheKey = manifest.cacheKey
        let ours = try await ledger { try $0.manifestsWritten(as: cacheKey) }
        var condition = PutCondition.overwrite
        switch try await manifests.find(cacheKey) {
        case .manifest(let there, let thereDigest) where there.isEquivalent(to: manifest):
            let isOwn = ours.contains(thereDigest)
            // What another machine calls the photos is left to it.
            if thereDigest == digest || !isOwn {
                result.found += isOwn ? 0 : 1
                return isOwn
            }
        case .manifest(_, let thereDigest) where !ours.contains(thereDigest):
            return nil
        case .damaged(let damage):
            result.notes.append("the manifest of \(cacheKey) in the store was replaced: \(damage)")
        case .manifest: break
        case .nothing: condition = .ifAbsent
        }
        // Noted before, so that an agent that is killed after the put knows the manifest as its own.
        let writing = StaleManifest(cacheKey: cacheKey, digest: digest)
        try await ledger { try $0.noteWriting(writing, of: id) }
        try await manifests.put(bytes, as: cacheKey, condition)
        result.stored += 1
        return true
    }

    /// Whether no other vacation of this machine, of other photos, has the key.
    private func isFree(_ cacheKey: String, for id: VacationID, _ fingerprint: SHA256Digest) async throws -> Bool {
        try await ledger { ledger in
            try !ledger.vacations(storedAs: cacheKey).contains { $0.id != id && $0.stored?.fingerprint != fingerprint }
        }
    }

    // MARK: What is gone

    private func syncGone(_ content: VacationContent, _ result: inout Summary) async throws {
        let record = content.record
        let (id, revision) = (record.id, record.revision)
        if record.stored != nil, !content.photos.contains(where: content.holds) {
            if try await isSettled(record.successor) {
                try await ledger { ledger in
                    try ledger.noteMoved(id, revision: revision)
                    try ledger.forgetEmptyVacation(id)
                }
            } else {
                result.left[id] = revision
            }
        } else if record.hasForgotten, let known = record.stored, let vacation = try await reader.read(content),
            !vacation.photos.isEmpty
        {
            // Of what is left of it, as it was, without the photos that were forgotten.
            try await store(vacation, known: known, &result)
        } else {
            // It was deleted on this disk, and nothing changes in the store; or nothing was ever there.
            try await ledger { ledger in
                try ledger.noteChecked(id, revision: revision, details: record.checkedDetails)
                try ledger.forgetEmptyVacation(id)
            }
        }
    }

    /// Whether the vacation that photos went to is stored with them; they may have gone on from there.
    private func isSettled(_ successor: VacationID?) async throws -> Bool {
        try await ledger { ledger in
            var (next, met) = (successor, Set<VacationID>())
            while let id = next, met.insert(id).inserted, let record = try ledger.vacation(id) {
                if record.isOnDisk { return !record.isChanged }
                next = record.successor
            }
            return true
        }
    }

    private func removeStale(_ result: inout Summary, _ earlier: EarlierDenials) async throws {
        let denied = DeniedObjects(earlier)
        let stale = try await ledger { try $0.staleManifests() }
        let known = try stale.map { (manifest: $0, key: try manifests.keys.vacation($0.cacheKey)) }
        for (manifest, key) in earlier.order(known, by: { $0.key }) {
            do {
                if try await manifests.remove(manifest.cacheKey, digest: manifest.digest) { result.removed += 1 }
                try await denied.noteGiven(key)
                try await ledger.finish { try $0.forget(manifest) }
            } catch let error as StoreError where error.mayConcernOneObject {
                try await denied.note(error, of: key, in: manifests.store)
                result.failures.append("the old manifest of \(manifest.cacheKey) is not removed: \(error)")
            }
        }
    }
}

extension VacationPhoto {
    fileprivate var inManifest: VacationManifest.Photo? {
        guard let object, let md5 else { return nil }
        return VacationManifest.Photo(
            key: object.key, md5: md5, sha256: object.sha256, name: name, takenAt: object.takenAt, width: object.width,
            height: object.height, size: object.size)
    }
}

/// The manifests of a user's vacations in the store.
struct ManifestStore: Sendable {
    /// What is stored under a cache key.
    enum Found: Sendable {
        case nothing
        /// With the SHA-256 of its bytes.
        case manifest(VacationManifest, SHA256Digest)
        case damaged(VacationManifest.Damage)
    }

    let store: any ObjectStore
    let keys: KeyLayout

    func find(_ cacheKey: String) async throws -> Found {
        do {
            guard let bytes = try await bytes(of: cacheKey) else { return .nothing }
            return .manifest(try VacationManifest(parsing: bytes), SHA256Digest(of: bytes))
        } catch let damage as VacationManifest.Damage {
            return .damaged(damage)
        }
    }

    /// - Throws: ``StoreError``, also when the store does not hold what it took.
    func put(_ bytes: [UInt8], as cacheKey: String, _ condition: PutCondition) async throws {
        try await ShareStorage(store: store).put(
            text: bytes, type: VacationManifest.contentType, at: try keys.vacation(cacheKey), condition)
    }

    /// Removes what is stored under a cache key, when these are its bytes.
    /// - Returns: whether it was.
    func remove(_ cacheKey: String, digest: SHA256Digest) async throws -> Bool {
        do {
            guard let bytes = try await bytes(of: cacheKey), SHA256Digest(of: bytes) == digest else { return false }
        } catch is VacationManifest.Damage {
            return false
        }
        try await store.delete(try keys.vacation(cacheKey))
        return true
    }

    /// - Returns: `nil` when there is nothing.
    private func bytes(of cacheKey: String) async throws -> [UInt8]? {
        do {
            return try await store.bytes(of: try keys.vacation(cacheKey), limit: VacationManifest.maximumSize)
        } catch let error as StoreError where error.code == .notFound {
            return nil
        } catch let error as StoreError where error.code == .badDigest || error.code == .tooLarge {
            throw VacationManifest.Damage.unreadable
        }
    }
}

/// ``VacationManifestSync`` as a service: it looks when photos were stored, and now and then for what was renamed or deleted.
package struct VacationService: Service {
    /// How long a vacation has to stay as it is before it is stored: a folder that is being filled is stored once.
    private static let quiet = Duration.seconds(10)
    private static let interval = Duration.seconds(60)

    private let keeper: VacationManifestSync
    private let work: Wakeup
    private let loop: ServiceLoop
    private let logger: Logger

    /// - Parameter work: signalled when a photo is done with.
    package init(
        _ keeper: VacationManifestSync, work: Wakeup, patience: LedgerPatience, time: TimeSource, logger: Logger
    ) {
        self.keeper = keeper
        self.work = work
        loop = ServiceLoop(name: "vacations", interval: Self.quiet, patience: patience, time: time)
        self.logger = logger
    }

    /// One round over all vacations, for a pass.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used, or takes none; ``LedgerError``,
    ///   `CancellationError`. What else it has against one is logged, and tried again with the next pass.
    package func round() async throws {
        var rounds = Rounds()
        try await runRound(&rounds, where: { _ in true })
    }

    /// The same for one vacation, where a store that is away is logged, too.
    package func round(of vacation: VacationID) async throws {
        var rounds = Rounds()
        try await roundUnlessAway(&rounds, where: { $0.id == vacation })
    }

    package func run() async throws {
        try await loop.run(Rounds()) { rounds in
            let glance = await loop.glance()
            let seen = rounds.seen
            guard try await roundUnlessAway(&rounds, where: { seen[$0.id] == $0.revision }) else {
                return .retry(atLeast: Self.quiet)
            }
            return rounds.seen.isEmpty
                ? .change(since: glance, every: Self.interval, orFor: work) : .round(after: Self.quiet)
        }
    }

    /// What one round leaves for the next.
    private struct Rounds {
        var seen: [VacationID: Int64] = [:]
        var told: Set<String> = []
    }

    /// - Returns: whether nothing failed.
    @discardableResult
    private func roundUnlessAway(
        _ rounds: inout Rounds, where isQuiet: @Sendable (VacationRecord) -> Bool
    ) async throws -> Bool {
        do {
            return try await runRound(&rounds, where: isQuiet)
        } catch let error as StoreError {
            let text = "vacations wait for the store: \(error)"
            if rounds.told.insert(text).inserted { logger.warning("\(text)") }
            return false
        }
    }

    /// - Returns: whether nothing failed.
    @discardableResult
    private func runRound(_ rounds: inout Rounds, where isQuiet: @Sendable (VacationRecord) -> Bool) async throws
        -> Bool
    {
        let result = try await keeper.run(where: isQuiet)
        rounds.seen = result.left
        for text in result.notes + result.failures where rounds.told.insert(text).inserted {
            logger.warning("\(text)")
        }
        if result.stored > 0 { logger.debug("\(result.stored) manifests of vacations were stored") }
        return result.failures.isEmpty
    }
}
