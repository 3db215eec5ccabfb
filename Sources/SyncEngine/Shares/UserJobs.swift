import FoundationEssentials
package import SyncCore
package import SyncLedger

/// What one machine a day does for all machines of a user: shares that have expired on a machine that is gone are removed, and
/// what tells of shares that nobody can publish any more goes. Who stores the day's claim first does it; a machine that dies
/// over it holds it up until the next day. What belongs to a ledger or a disk (proofs, classes, tiers, cleanup) is each
/// machine's own.
///
/// Times are those of the store: a machine whose clock is wrong removes nothing of others.
package struct UserJobs: Sendable {
    /// Seconds without a sign after which a machine counts as gone.
    private static let silence: TimeInterval = 2 * 86_400
    /// Seconds after its end in which a share is left to its own machine.
    private static let grace: TimeInterval = 86_400
    /// Seconds after which the end of a share is forgotten: since it was told, and since the share would have ended.
    private static let memory: TimeInterval = 100 * 86_400
    /// So many claims stay.
    private static let claimsKept = 3

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let others: OtherShares
    private let time: TimeSource

    package init(store: any ObjectStore, ledger: LedgerQueue, keys: KeyLayout, others: OtherShares, time: TimeSource) {
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.others = others
        self.time = time
    }

    /// Asks for today's jobs, once a day, and does them when they are this machine's. Nothing is stored where there is neither
    /// another machine nor a share that was taken back on another one.
    /// - Returns: what was done, in plain words.
    /// - Throws: ``StoreError``; ``LedgerError``, `CancellationError`.
    package func run() async throws -> [String] {
        let day = CalendarDay(time.now())
        let (last, own) = try await ledger { (try $0.userJobsDay(), try $0.catalogStanding().machine) }
        if last == day { return [] }
        let signs = try await lastSigns().filter { $0.key != own }
        let ends = try await listing(keys.shareNotes)
        var done: [String] = []
        if !signs.isEmpty || !ends.isEmpty, let now = try await claim(day, own) {
            try await ledger { try $0.noteUserJobs(on: day) }
            done += try await removeExpired(signs, now: now)
            try await forget(ends, now: now)
            try await removeClaims()
        }
        try await ledger { try $0.noteUserJobs(on: day) }
        return done
    }

    /// - Returns: what time it is for the store; `nil` when another machine has the day.
    private func claim(_ day: CalendarDay, _ machine: String) async throws -> Date? {
        let claim = JobClaim(machine: machine, startedAt: time.now())
        let key = try keys.jobClaim(day)
        do {
            try await ShareStorage(store: store).put(
                text: claim.encoded(), type: MediaType.json.name, at: key, .ifAbsent)
        } catch let error as StoreError where error.code == .alreadyExists {
            return nil
        }
        return try await store.head(key)?.modified
    }

    private func removeClaims() async throws {
        let claims = try await listing(keys.jobs).map(\.key).filter { keys.day(ofJobClaim: $0) != nil }.sorted()
        if claims.count > Self.claimsKept { _ = try await store.delete(Array(claims.dropLast(Self.claimsKept))) }
    }

    private func listing(_ prefix: String) async throws -> [(key: ObjectKey, modified: Date?)] {
        var found: [(key: ObjectKey, modified: Date?)] = []
        for try await page in store.listing(prefix: prefix) {
            found += page.objects.map { ($0.key, $0.modified) } + page.problems.map { ($0.key, nil) }
        }
        return found
    }

    // MARK: Shares of machines that are gone

    /// When each machine has stored its note, or something of its catalogue, last; one of which that is not known is here.
    private func lastSigns() async throws -> [String: Date] {
        var signs: [String: Date] = [:]
        for (key, modified) in try await listing(keys.machines) + listing(keys.catalog) {
            guard let id = CatalogSegment(key, keys)?.machine ?? keys.machineID(of: key) else { continue }
            signs[id] = max(signs[id] ?? .distantPast, modified ?? .distantFuture)
        }
        return signs
    }

    private func removeExpired(_ signs: [String: Date], now: Date) async throws -> [String] {
        let silent = signs.filter { now.timeIntervalSince($0.value) >= Self.silence }
        if silent.isEmpty { return [] }
        var done: [String] = []
        for share in try await others.run().shares where silent[share.machine] != nil && !share.state.isOver {
            guard share.state == .revoking || now.timeIntervalSince(share.expiresAt) >= Self.grace else { continue }
            if share.state != .revoking, try await !isOver(share, now: now) { continue }
            let keys = ShareKeys(share.id)
            guard try await store.hasObjects(below: keys.folder) else { continue }
            for key in [keys.manifest, keys.page] { try await store.delete(key) }
            try await ShareStorage(store: store).removeAll(keys)
            done.append(
                """
                share \(share.id) of \(share.location.escapingControls) has ended, and was removed for the machine \
                \(share.machineName.escapingControls), which is silent
                """)
        }
        return done
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
        } catch let error as StoreError where !error.concernsWholeStore {
            return false
        } catch is ShareRefusal {
            return false
        }
    }

    // MARK: What is told of shares

    private func forget(_ notes: [(key: ObjectKey, modified: Date?)], now: Date) async throws {
        var gone: [ObjectKey] = []
        let old = notes.filter { $0.modified.map { now.timeIntervalSince($0) >= Self.memory } ?? false }.map(\.key)
        for key in old {
            if let id = keys.shareID(ofEnd: key), try await isForgettable(key, EndedShare.self, of: id, now: now) {
                gone.append(key)
            }
        }
        // All take-overs of a share, or none: the last one counts, and it is found by their numbers.
        let owners = notes.compactMap { note in keys.shareOwner(of: note.key).map { (id: $0.id, number: $0.number) } }
        for (id, owners) in Dictionary(grouping: owners, by: \.id) {
            let numbers = owners.map(\.number).sorted()
            guard let last = try numbers.last.map({ try keys.shareOwner(id, $0) }), old.contains(last),
                try await isForgettable(last, ShareOwner.self, of: id, now: now),
                // Its end may have been put off since.
                try await !store.hasObjects(below: ShareKeys(id).folder)
            else { continue }
            gone += try numbers.map { try keys.shareOwner(id, $0) }
        }
        if !gone.isEmpty { _ = try await store.delete(gone) }
    }

    private func isForgettable<Note: ShareNote>(
        _ key: ObjectKey, _ kind: Note.Type, of id: ShareID, now: Date
    ) async throws -> Bool {
        let bytes = try await store.bytes(of: key, limit: ShareNoteLimits.maximumSize)
        guard let note = try? Note(parsing: bytes, of: id) else { return false }
        return now.timeIntervalSince(note.expiresAt) >= Self.memory
    }
}
