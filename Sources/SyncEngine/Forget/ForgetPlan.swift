package import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// What it comes to when photos are forgotten for good.
package struct ForgetPlan: Sendable {
    /// Why a photo stays known.
    package enum Refusal: Hashable, Sendable {
        /// It would be stored again at once.
        case stillHere
        /// Nobody could look whether it is there.
        case unseen(String)
        /// Nobody knows whether it is there: its folder is not.
        case away(String)
        /// Of events, `cleanup` decides; or it has, of all that the file held.
        case events(areArchived: Bool)
        /// It is being stored at this moment.
        case inHand
        case needed(StoredReference)
        /// It was changed while somebody was asked.
        case changed
    }

    /// What is forgotten: paths.
    package var photos: [PhotoStatus] = []
    /// What is forgotten by its key: lost, and of no file.
    package var objects: [ObjectKey] = []
    /// What goes with them, and what is damaged of that which goes by its key.
    package var deleted: [ForgottenObject] = []
    /// What stays in the store, and for what.
    package var shared: [(object: ForgottenObject, reference: StoredReference)] = []
    package var refused: [(photo: PhotoStatus, refusal: Refusal)] = []
    /// What was named by its key and stays known, and for what.
    package private(set) var held: [(key: ObjectKey, reference: StoredReference)] = []
    /// Rows of photos of which nothing is left that anybody could have back.
    fileprivate var lost: Set<Int64> = []

    /// Whether nobody could have any of the photos back.
    package var isOfLost: Bool { photos.allSatisfy { lost.contains($0.id) } }

    package var bytes: Int64 { deleted.reduce(0) { $0 + $1.record.size } }

    fileprivate mutating func leaveOut(_ holds: [(key: ObjectKey, reference: StoredReference)]) {
        held += holds
        let keys = Set(holds.map(\.key))
        objects.removeAll { keys.contains($0) }
        deleted.removeAll { $0.photos.isEmpty && keys.contains($0.record.key) }
    }

    /// - Parameter time: now.
    package func cost(_ prices: PriceTable, at time: Date) -> DeletionCost {
        DeletionCost(
            of: deleted.map {
                DeletionCost.Item(
                    storageClass: $0.record.storageClass, bytes: $0.record.size,
                    age: .seconds(time.timeIntervalSince($0.since)))
            }, prices: prices)
    }
}

/// Makes plans of it, and carries them out up to the deletion of objects (``ObjectDeletions``).
package struct ForgetPlanner: Sendable {
    private static let pageSize = 500

    private let ledger: LedgerQueue
    private let others: OtherReferences
    private let scanner: any TreeScanner
    private let watched: Set<FilePath>
    private let pool: BlockingPool
    private let time: TimeSource

    /// - Parameters:
    ///   - watched: the folders that are watched now.
    ///   - pool: for looks at the disk.
    package init(
        ledger: LedgerQueue, others: OtherReferences, scanner: any TreeScanner, watched: [FilePath], pool: BlockingPool,
        time: TimeSource
    ) {
        self.ledger = ledger
        self.others = others
        self.scanner = scanner
        self.watched = Set(watched)
        self.pool = pool
        self.time = time
    }

    /// - Parameters:
    ///   - found: what was named.
    ///   - objects: keys of what is lost and of no file.
    ///   - gone: leaves out what is still here, and files of events, and tells nothing of them.
    ///   - since: leaves out what was there after this moment, likewise.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``LedgerError``, `CancellationError`.
    package func plan(
        _ found: [PhotoStatus], objects: [ObjectKey] = [], onlyGone gone: Bool, since: Date? = nil
    ) async throws -> ForgetPlan {
        var plan = ForgetPlan()
        var candidates: [PhotoStatus] = []
        let (scanner, watched, queue) = (scanner, watched, ledger.ledger)
        let lost = try await ledger { try $0.lost(among: found) }
        plan.lost = lost
        let events = try await ledger { try $0.eventFiles(among: found.map(\.id)) }
        // A file that a cleanup has emptied is gone on purpose, and no photo that anybody misses, wherever it was.
        let named = gone ? found.filter { events[$0.id] == nil || lost.contains($0.id) } : found
        let unseen = try await ledger { try $0.unseen(among: named.map(\.id)) }
        let refusals = try await pool.run {
            var folders = FilesHere(
                scanner: scanner, watched: watched, ledger: queue, unseen: unseen,
                directories: EmptyDirectories(scanner: scanner))
            return try named.map { try ($0, lost.contains($0.id) ? nil : folders.refusal($0)) }
        }
        for (photo, refusal) in refusals {
            if gone, refusal == .stillHere { continue }
            if let since, photo.missingSince.map({ $0 > since }) ?? true { continue }
            if let refusal {
                plan.refused.append((photo, refusal))
            } else if photo.state == .uploading {
                plan.refused.append((photo, .inHand))
            } else if let areArchived = events[photo.id], !lost.contains(photo.id) {
                plan.refused.append((photo, .events(areArchived: areArchived)))
            } else {
                candidates.append(photo)
            }
        }
        try await weigh(candidates, &plan)
        try await weigh(objects, &plan)
        return plan
    }

    /// Who else needs the objects. What is held is left out with all of its paths, and what then shares with these counts.
    private func weigh(_ candidates: [PhotoStatus], _ plan: inout ForgetPlan) async throws {
        var photos = candidates
        var elsewhere: OtherReferences.Findings?
        while true {
            let ids = photos.map(\.id)
            let objects = try await ledger { try $0.objectsToForget(ids) }
            let due = objects.filter(\.record.isInStore)
            let found: OtherReferences.Findings
            if let elsewhere {
                found = elsewhere
            } else {
                found = try await others.references(to: due.map(\.record.key))
                elsewhere = found
            }
            let references = due.map { object in
                (object, object.references.decisive ?? found.reference(to: object.record.key))
            }
            var held: [Int64: StoredReference] = [:]
            // Nobody could have a lost photo back: it is forgotten though what is left of it stays.
            for case (let object, let reference?) in references where reference.holdsPath {
                for photo in object.photos where reference.holdsRuin || !plan.lost.contains(photo) {
                    held[photo] = reference
                }
            }
            if held.isEmpty {
                plan.photos = photos
                plan.deleted = references.filter { $0.1 == nil }.map(\.0)
                plan.shared = references.compactMap { object, reference in reference.map { (object, $0) } }
                return
            }
            plan.refused += photos.compactMap { photo in held[photo.id].map { (photo, .needed($0)) } }
            photos.removeAll { held[$0.id] != nil }
        }
    }

    /// What is damaged of that which is of no file goes where no other machine needs it, and stays known while a share
    /// or a restore does.
    private func weigh(_ named: [ObjectKey], _ plan: inout ForgetPlan) async throws {
        if named.isEmpty { return }
        plan.objects = named
        plan.leaveOut(try await ledger { try $0.holds(on: named) })
        let objects = plan.objects
        let found = try await others.references(to: objects)
        let unneeded = Set(objects.filter { found.reference(to: $0) == nil })
        let known = Set(plan.deleted.map(\.record.key))
        plan.deleted += try await ledger { try $0.ruins(of: objects, unneeded: unneeded) }
            .filter { !known.contains($0.record.key) }
    }

    /// Forgets what a plan names, and notes what is to be deleted. What was changed meanwhile stays, and is among the
    /// refused of the plan that comes back, or the held.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func begin(_ plan: ForgetPlan) async throws -> ForgetPlan {
        var done = plan
        let kept = Set(plan.shared.map(\.object.record.key.named))
        var forgotten: Set<Int64> = []
        for photos in plan.photos.grouped(atMost: Self.pageSize) {
            let (page, now) = (photos.map { ($0.id, $0.state) }, time.now())
            forgotten.formUnion(try await ledger { try $0.beginForget(page, keeping: kept, at: now) })
        }
        let (objects, ruins, now) = (plan.objects, Set(plan.deleted.map(\.record.key)), time.now())
        if !objects.isEmpty {
            let holds = try await ledger { ledger in
                _ = try ledger.forget(photos: [], objects: objects, deleting: ruins, at: now)
                // What began while somebody was asked.
                return try ledger.holds(on: objects)
            }
            done.leaveOut(holds)
        }
        let gone = forgotten
        done.photos = plan.photos.filter { gone.contains($0.id) }
        done.refused += plan.photos.filter { !gone.contains($0.id) }.map { ($0, .changed) }
        return done
    }
}

/// Whether files are where they were, as far as anybody can tell. Each folder is looked at once.
private struct FilesHere {
    let scanner: any TreeScanner
    let watched: Set<FilePath>
    let ledger: Ledger
    /// Rows of photos that no scan has met.
    let unseen: Set<Int64>
    var directories: EmptyDirectories
    var seen: [FolderID: FolderPresence.Findings] = [:]

    /// `nil` where the file is gone, or in no folder that is watched.
    mutating func refusal(_ photo: PhotoStatus) throws -> ForgetPlan.Refusal? {
        guard watched.contains(photo.folder.path) else { return nil }
        do throws(ScanError) {
            if try scanner.stamp(of: photo.path) != nil { return .stillHere }
        } catch {
            if error.code != .missing { return .unseen(error.message) }
        }
        let presence = FolderPresence(ledger: ledger, scanner: scanner)
        let state = try seen[photo.folder.id] ?? presence.check(photo.folder, isForGood: true)
        seen[photo.folder.id] = state
        if let reason = try state.whyKept(photo.relativePath) { return .away(reason) }
        guard unseen.contains(photo.id) else { return nil }
        return directories.whyAway(photo.relativePath, in: photo.folder.path).map { .away($0) }
    }
}
