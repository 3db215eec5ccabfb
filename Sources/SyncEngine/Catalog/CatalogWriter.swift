import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
import SyncDigest
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// Keeps the store's catalogue as the ledger is: what this machine has stored under which path, so that the store alone
/// brings it back.
///
/// A write is a segment of its own, under a number that is given once. The ledger notes it when the store has proved it; a
/// write that was not noted is met again by the next one. Over what a later ledger has written nothing is: ``OlderLedger``.
/// Nothing here holds up a photo, or fails one.
package struct CatalogWriter: Sendable {
    package enum Outcome: Hashable, Sendable {
        /// Nothing is new.
        case unchanged
        case written(CatalogStatus.Segment)
        /// In plain words: it is made up for by the next pass.
        case failed(String)
        /// In plain words: nothing is written until somebody does what it says.
        case refused(String)
    }

    static let contentType = "application/gzip"
    private static let pageSize = 1_000
    /// Lines that a segment has for nothing: header, folders, state, end.
    private static let frame = 4

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let name: String
    private let spool: FilePath
    private let hold: CatalogHold
    private let pool: BlockingPool
    private let time: TimeSource
    private let logger: Logger

    /// - Parameters:
    ///   - name: what people call this machine.
    ///   - spool: a file of the lock holder's, for the segment while it is made.
    ///   - hold: takes the lock of the catalogue: commands write beside an agent.
    ///   - pool: for what waits for the disk.
    package init(
        store: any ObjectStore, ledger: LedgerQueue, keys: KeyLayout, name: String, spool: FilePath,
        hold: @escaping CatalogHold = { nil }, pool: BlockingPool, time: TimeSource, logger: Logger
    ) {
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.name = name
        self.spool = spool
        self.hold = hold
        self.pool = pool
        self.time = time
        self.logger = logger
    }

    /// Writes what is new, if anything is.
    /// - Throws: ``LedgerError``, `CancellationError`.
    @discardableResult
    package func run() async throws -> Outcome {
        try await reportingProblems {
            if try await !isDue() { return .unchanged }
            let lock = try await hold()
            defer { withExtendedLifetime(lock) {} }
            // Whoever had it may have written what was new.
            if try await !isDue() { return .unchanged }
            var found = try await reconcile()
            let written: CatalogStatus.Segment
            do {
                written = try await write(skipsNumber: found.isNoteHidden)
            } catch let error as StoreError where error.code == .alreadyExists {
                // Somebody else has this number, or it is our own of an earlier run.
                found = try await reconcile()
                written = try await write(skipsNumber: found.isNoteHidden)
            }
            try await delete(found.stale)
            return .written(written)
        }
    }

    /// Takes this machine's catalogue out of the store, and keeps none.
    /// - Parameter publish: tells the others, before anything goes. What it throws leaves the catalogue where it is.
    /// - Throws: ``LedgerError``, `CancellationError`.
    @discardableResult
    package func remove(after publish: () async throws -> Void) async throws -> Outcome {
        try await reportingProblems {
            let status = try await ledger { try $0.catalogStatus() }
            guard status.isTracking || status.problem != nil else { return .unchanged }
            let lock = try await hold()
            defer { withExtendedLifetime(lock) {} }
            let found = try await readOwn().segments
            try await publish()
            try await delete(found)
            try await ledger { try $0.endCatalog() }
            return .unchanged
        }
    }

    /// How many changes wait.
    /// - Throws: ``LedgerError``, `CancellationError`.
    func waiting() async throws -> (changes: Int, writtenAt: Date?) {
        let status = try await ledger { try $0.catalogStatus() }
        let isFirst = status.segments.isEmpty
        return (isFirst ? try await isDue() ? .max : 0 : status.unwritten, status.writtenAt)
    }

    private var reader: CatalogReader {
        CatalogReader(store: store, ledger: ledger, keys: keys, spool: spool, pool: pool, time: time)
    }

    private func reportingProblems(_ work: () async throws -> Outcome) async throws -> Outcome {
        let reason: String
        do {
            return try await work()
        } catch let error as OlderLedger {
            try await error.note(in: ledger, leaving: "the catalogue in the store", logger)
            return .refused(error.description)
        } catch let error as HiddenNote {
            try await error.note(in: ledger, logger)
            return .failed("what this machine tells the others: \(error)")
        } catch  where error is StoreError || error is CatalogError || error is AgentLock.Held {
            reason = "\(error)"
        } catch let error as Errno {
            reason = "\(spool.string.escapingControls): \(FileFault(error, or: "check the state folder").message)"
        }
        logger.warning(
            "the catalogue in the store was not brought up to date: \(reason); the next pass makes up for it")
        try await ledger { try $0.noteCatalogProblem(reason) }
        return .failed(reason)
    }

    private func isDue() async throws -> Bool {
        try await ledger { [self] ledger in
            let status = try ledger.catalogStatus()
            let state = try ledger.catalogState()
            // Whoever has taken over another machine says so, also where nothing is left of what it took over.
            if status.segments.isEmpty { return try !state.isEmpty || !status.replaces.isEmpty || !ledger.isNew() }
            if status.unwritten > 0 || status.problem != nil { return true }
            return try status.stateDigest != digest(of: state, ledger.catalogFolders(), replacing: status.replaces)
        }
    }

    private func digest(
        of state: [CatalogLine], _ folders: [CatalogFolder], replacing taken: [String: Int]
    ) throws -> String {
        let coding = CatalogCoding(keys: keys)
        // Other folders are new with their photos.
        let drives = folders.filter { $0.drives != nil }.map(CatalogLine.folder)
        let lines = try (state + drives).map { try coding.data($0.lasting) }
        // Of the header, too: who renames the machine wants to see it, and whose place it has taken nobody else tells when
        // its note is gone.
        let header = name + taken.sorted { $0.key < $1.key }.map { "\n\($0.key) \($0.value)" }.joined()
        return "\(SHA256Digest(of: lines.reduce(Array(header.utf8)) { $0 + $1 }))"
    }

    // MARK: What is in the store

    /// Sees that the store has what the ledger believes it has. Where it does not, the next write is a full one.
    /// - Returns: what a full one stands for when it is proven; and whether this machine's note cannot be read.
    /// - Throws: ``OlderLedger``.
    private func reconcile() async throws -> (stale: [CatalogSegment], isNoteHidden: Bool) {
        let (status, found, isNoteHidden) = try await readOwn()
        if let leftovers = status.leftovers(among: found) {
            try await delete(leftovers)
            return ([], isNoteHidden)
        }
        let last = found.map(\.to).max() ?? 0
        let isGone = status.problem == nil && !Set(found).isSuperset(of: status.ownSegments)
        try await ledger { ledger in
            if isGone { try ledger.noteCatalogProblem(ObjectFault.missing.lossOfCatalog) }
            try ledger.restartCatalog(from: last + 1, keepsProblem: true)
        }
        return (found, isNoteHidden)
    }

    /// What the store has of this machine's catalogue, and whether the note beside it cannot be read. The lock is held.
    /// - Throws: ``OlderLedger`` where a later ledger has written of it; ``StoreError`` when the store does not tell.
    private func readOwn() async throws -> (status: CatalogStatus, segments: [CatalogSegment], isHidden: Bool) {
        let machine = try await ledger { try $0.catalogStatus().machine }
        let found = try await reader.segments(of: machine)[machine] ?? []
        // After the list: what was interrupted and is in it is noted by now.
        try await InterruptedCatalogWrite(store: store, ledger: ledger, keys: keys, hold: { nil })
            .finish(at: time.now())
        let status = try await ledger { try $0.catalogStatus() }
        if found.contains(where: { status.isOlder(than: $0) }) { throw OlderLedger() }
        // Where the segments of a later ledger are gone, its note alone tells of it.
        let note = OwnNote(store: store, ledger: ledger, keys: keys)
        let told = try await note.read()
        if try await note.laterWrite(in: told) != nil { throw OlderLedger() }
        // What nobody lets this machine read holds up no write for ever.
        if case .refused = told { return (status, found, true) }
        return (status, found, false)
    }

    /// What cannot be deleted now is met by the next write.
    private func delete(_ segments: [CatalogSegment]) async throws {
        if segments.isEmpty { return }
        let failures = try await store.delete(try segments.map { try $0.key(keys) })
        for (key, error) in failures { logger.debug("not removed: \(key): \(error)") }
    }

    // MARK: A write

    /// - Parameter skipsNumber: a later ledger may have given the next number, and the store have lost that write.
    private func write(skipsNumber: Bool) async throws -> CatalogStatus.Segment {
        let (status, state, folders) = try await ledger {
            (try $0.beginCatalogWrite(skipsNumber: skipsNumber), try $0.catalogState(), try $0.catalogFolders())
        }
        let taken = CatalogCompaction.absorbed(
            status.segments.map(\.lines), new: status.unwritten + state.count + Self.frame)
        let absorbed = Array(status.segments.suffix(taken))
        let from = absorbed.first?.from ?? status.segments.last.map { $0.to + 1 } ?? 1
        // What was begun before and is not in the store may still come there, in its own place: this number is another.
        let to = status.next
        let segment = CatalogSegment(machine: status.machine, from: from, to: to)
        let header = CatalogHeader(
            user: keys.user, machine: status.machine, name: name, from: from, to: to, written: time.now(),
            replaces: status.replaces)
        let (body, lines) = try await make(header, state)
        // What stays is written over by the next write.
        defer { _ = try? spool.unlink() }
        let attributes = ObjectAttributes(
            contentType: Self.contentType,
            metadata: [
                MetadataName.sha256: "\(body.digest.sha256)", MetadataName.storedMD5: "\(body.digest.md5)",
            ])
        let key = try segment.key(keys)
        let written = CatalogStatus.Segment(from: from, to: to, lines: lines, size: body.size)
        let digest = try digest(of: state, folders, replacing: status.replaces)
        let begun = CatalogStatus.Begun(segment: written, sha256: "\(body.digest.sha256)", stateDigest: digest)
        try await ledger { try $0.noteCatalogWrite(begun) }
        let etag: String?
        switch try await ProvenPut(store).whereNothingElseIs(body, at: key, attributes) {
        case .holds(let mark, _): etag = mark
        case .lacks, .holdsOther:
            throw StoreError(
                .invalidResponse, operation: "verify", key: key.rawValue,
                message: "the store took the catalogue and does not have it as it was sent")
        }
        let now = time.now()
        guard try await ledger.finish({ try $0.commitCatalogWrite(begun, etag: etag, at: now) }) else {
            throw StoreError(
                .conflict, operation: "put", key: key.rawValue,
                message: "another process has begun to write the catalogue meanwhile")
        }
        // Only now: what stands for them is proven.
        try await delete(absorbed.map { CatalogSegment(machine: status.machine, from: $0.from, to: $0.to) })
        return written
    }

    private func make(_ header: CatalogHeader, _ state: [CatalogLine]) async throws -> (body: ObjectBody, lines: Int) {
        let (spool, queue, coding) = (spool, ledger.ledger, CatalogCoding(keys: keys))
        return try await pool.runChecking { flag in
            let file = try CatalogFileWriter(at: spool, coding: coding)
            try file.write(.header(header))
            for folder in try queue.catalogFolders() { try file.write(.folder(folder)) }
            var cursor = CatalogCursor()
            while true {
                try flag.check()
                let page =
                    header.from == 1
                    ? try queue.catalogPhotos(&cursor, limit: Self.pageSize).map(CatalogLine.photo)
                    : try queue.catalogChanges(from: header.from, &cursor, limit: Self.pageSize)
                if page.isEmpty { break }
                for line in page { try file.write(line) }
            }
            try file.write(.state)
            for line in state { try file.write(line) }
            let body = try file.finish()
            return (body, file.lines)
        }
    }
}

extension CatalogLine {
    /// With what of a restore is not new: a photo that was saved since is none of what a write is due for, the end of the
    /// saving is.
    fileprivate var lasting: CatalogLine {
        guard case .restore(var restore) = self else { return self }
        guard restore.items.contains(where: { $0.unsaved == true }) else { return self }
        for index in restore.items.indices {
            guard let state = RestoreItemState(rawValue: restore.items[index].state) else { continue }
            if state.isOpen || state == .restored { restore.items[index].unsaved = true }
        }
        return .restore(restore)
    }
}

/// When the catalogue is written: not before a minute after the last write, and not for fewer than a hundred changes while
/// there are photos to store; for whatever is new when there are none. Then the other machines are told how this one stands.
package struct CatalogService: Service {
    private static let interval = Duration.seconds(60)
    private static let fewest = 100

    private let writer: CatalogWriter
    private let notes: MachineNoteWriter
    private let ledger: LedgerQueue
    private let loop: ServiceLoop
    private let time: TimeSource

    /// - Parameter notes: where they say that no catalogue is kept, what there is of this machine's is removed.
    package init(
        _ writer: CatalogWriter, notes: MachineNoteWriter, ledger: LedgerQueue, patience: LedgerPatience,
        time: TimeSource
    ) {
        self.writer = writer
        self.notes = notes
        self.ledger = ledger
        self.time = time
        loop = ServiceLoop(name: "the catalogue", interval: Self.interval, patience: patience, time: time)
    }

    package func run() async throws {
        try await loop.run {
            let glance = await loop.glance()
            if !notes.keepsCatalog { try await remove() } else if try await isItsTurn() { try await writer.run() }
            guard try await isIdle(), try await notes.run() == nil, try await writer.waiting().changes == 0 else {
                return .round(after: Self.interval)
            }
            return .change(since: glance, every: Self.interval)
        }
    }

    /// At the end of a pass.
    /// - Parameter isWhole: whether the others may rely on it.
    /// - Throws: ``LedgerError``, `CancellationError`.
    @discardableResult
    package func round(isWhole: Bool = true) async throws -> CatalogWriter.Outcome {
        let outcome = try await notes.keepsCatalog ? writer.run() : remove(passEndedAt: isWhole ? time.now() : nil)
        return try await notes.run(passEndedAt: isWhole ? time.now() : nil).map { .refused($0.description) } ?? outcome
    }

    /// Runs a pass; one that lasts has its photos in the catalogue before it ends.
    package func during(_ pass: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            if notes.keepsCatalog {
                group.addTask {
                    while true {
                        try await time.sleep(Self.interval)
                        if try await isItsTurn() { try await writer.run() }
                    }
                }
            }
            defer { group.cancelAll() }
            try await pass()
            group.cancelAll()
            // What has failed it is met again at the end of the pass.
            while await group.nextResult() != nil {}
        }
    }

    /// Nobody is to miss what goes.
    @discardableResult
    private func remove(passEndedAt: Date? = nil) async throws -> CatalogWriter.Outcome {
        try await writer.remove { try await notes.announce(passEndedAt: passEndedAt, always: true) }
    }

    private func isItsTurn() async throws -> Bool {
        let changes = try await writer.waiting().changes
        return try await changes >= Self.fewest ? true : isIdle()
    }

    /// Whether there is nothing to store.
    private func isIdle() async throws -> Bool {
        let totals = try await ledger { try $0.overview().totals }
        return totals[.pending].files + totals[.uploading].files == 0
    }
}
