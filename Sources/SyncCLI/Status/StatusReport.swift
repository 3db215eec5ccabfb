import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

/// `status --json` without a path: its fields and their names are a contract (docs/commands.md).
struct StatusReport: Encodable {
    struct Agent: Encodable {
        var running: Bool
        @Nullable var pid: Int32?
        @Nullable var since: Date?
    }

    struct Store: Encodable {
        var type: String
        var location: String
        var reachable: Bool
        /// Why it is not reachable.
        @Nullable var error: String?
        /// Why it took no photos when it was tried last, though it answers now; `null` where no photo waits.
        @Nullable var refusal: String?
        /// Since when it is not reachable, or takes no photos, as far as the agent has met it.
        @Nullable var since: Date?
        /// What it does otherwise than the configuration says.
        @Nullable var note: String?
        /// When the ledger was held against its listing last: what it has lost since is not known.
        @Nullable var comparedAt: Date?
        /// Objects that it could not tell of then.
        var unclearObjects = 0
    }

    /// One that the agent writes to.
    struct Disk: Encodable {
        /// The folder on it.
        var place: String
        var freeBytes: Int64
        /// Whether too little is free for the agent to go on for long.
        var isFull: Bool

        init(place: String, freeBytes: Int64) {
            (self.place, self.freeBytes) = (place, freeBytes)
            isFull = freeBytes < TroubleAnnouncer.room.lowerBound
        }

        /// What is wrong with it; `nil` while there is room.
        var words: String? { isFull ? "the disk of \(place) is full (\(Quantities.bytes(freeBytes)) free)" : nil }
    }

    struct Folder: Encodable {
        var path: String
        var kind: String
        @Nullable var profile: String?
        /// `inotify` or `polling`; `null` while no agent runs.
        @Nullable var watching: String?
        var files: Int
        var uploaded: Int
        var pending: Int
        var failed: Int
        var skipped: Int
        /// Neither on the disk nor in the store any more.
        var lost: Int
        /// When all of it was looked at last; `null` when never.
        @Nullable var scannedAt: Date?
        /// What is wrong with watching it, and the remedy.
        @Nullable var note: String?
        /// What its last scan could not see, that there was none, or which projects are half deleted, and the remedy.
        @Nullable var problem: String?

        mutating func add(note more: String) { note = note.map { "\($0); \(more)" } ?? more }
        mutating func add(problem more: String) { problem = problem.map { "\($0); \(more)" } ?? more }
    }

    struct Totals: Encodable {
        var files: Int
        var uploaded: Int
        var pending: Int
        var failed: Int
        var skipped: Int
        var missing: Int
        var lost: Int
        /// Files and event elements that are not stored on purpose: ``notes`` names them.
        var leftOut: Int
        /// Files that the filters of their folders leave out.
        var filtered: Int
        var bytesLocal: Int64
        var bytesStored: Int64
    }

    struct Tier: Encodable {
        var storageClass: String
        var objects: Int
        var bytes: Int64
        /// Objects that should be archived by now, and are not.
        var due = 0
        /// Objects that are never archived, because it would cost more than it saves.
        var tooSmall = 0
    }

    /// Photos of restore jobs.
    struct Restores: Encodable {
        /// Planned or asked for.
        var inProgress: Int
        /// Can be read.
        var ready: Int
        /// Ever.
        var failed: Int
    }

    /// A photo that was tried and waits for its next try.
    struct Delayed: Encodable {
        var path: String
        var since: Date
        var why: String
        var attempts: Int
        /// `null` when it is due.
        @Nullable var nextTryAt: Date?
        /// Since when it is tried in vain, as far as that is remembered.
        @Untold var triedSince: Date? = nil
    }

    /// Whether the bytes of what is stored are what they were.
    struct Verification: Encodable {
        /// When the bytes of the object that waits longest were proved last.
        @Nullable var oldest: Date?
        /// Objects that were looked at, ever.
        var checked: Int
        /// Objects that are known to be damaged, or gone, now.
        var damaged: Int
        var missing: Int
        /// Files that are known by size and time alone.
        var unread: Int
    }

    /// An object of a machine that is silent, which is gone or damaged.
    struct Elsewhere: Encodable {
        /// What people call the machine; `null` where no catalogue names the object.
        @Nullable var machine: String?
        /// There.
        @Nullable var path: String?
        var key: String
        var why: String
        var since: Date
        /// When it was looked at last.
        var seenAt: Date

        init(_ damage: OtherDamage) {
            (machine, path, key) = (damage.machine, damage.path?.text, damage.key.rawValue)
            (why, since, seenAt) = (damage.words, damage.foundAt, damage.seenAt)
        }
    }

    /// The catalogue of names in the store, by which it brings everything back.
    struct Catalog: Encodable {
        var enabled = true
        /// This machine in it.
        var machineId = ""
        var machine = ""
        @Nullable var writtenAt: Date?
        /// Changes that are not in it yet.
        var waiting = 0
        /// Why it is not up to date.
        @Nullable var problem: String?
    }

    /// The bytes of photos, kept beside their copies.
    struct Originals: Encodable {
        /// `false`, `true` or `jxl`: photos.keep_originals.
        var keep = OriginalsPolicy.off.rawValue
        var kept = 0
        /// Stored bytes.
        var bytes: Int64 = 0
        /// Stored photos whose original is not.
        var waiting = 0
        /// Bytes of their files.
        var waitingBytes: Int64 = 0
        /// Of those that wait: begun, and not kept.
        @Untold var begun = 0
    }

    /// The cleanup of old gallery events.
    struct Retention: Encodable {
        /// All that are known, and those that have their text still.
        var events = 0
        var kept = 0
        /// Those that a daily cleanup should have deleted.
        var overdue = 0
        /// The last daily one; `null` before the first.
        @Nullable var lastRunAt: Date?
        @Nullable var nextRunAt: Date?
    }

    /// Photos that guests have added to shares.
    struct Guests: Encodable {
        var waiting = 0
        /// Why more cannot be taken in.
        @Nullable var problem: String?
    }

    struct Unsynced: Encodable {
        var path: String
        var since: Date
        var why: String
    }

    var agent: Agent
    var store: Store
    var disks: [Disk] = []
    var folders: [Folder]
    var totals: Totals
    /// What is left out on purpose; at most ``notesNamed``.
    var notes: [PathRemark]
    var tiers: [Tier]
    var restores: Restores
    var vacations: [Vacation]
    /// The oldest of them; they count as pending.
    var delayed: [Delayed]
    var verification: Verification
    var catalog: Catalog
    var originals = Originals()
    var guests = Guests()
    var shares = Shares()
    var retention = Retention()
    /// What is damaged of machines that are silent, as far as this one has found it.
    var elsewhere: [Elsewhere]
    @Nullable var oldestUnsynced: Unsynced?
    @Nullable var lastSyncAt: Date?
}

extension StatusReport {
    static let notesNamed = 1_000

    /// Stored objects that are known to be damaged or gone, whosever: while there is one, not everything is safe.
    var broken: Int { verification.damaged + verification.missing + elsewhere.count }

    /// What is wrong with watching the folder, and what is mounted below it.
    private static func note(_ folder: Overview.Folder) -> String? {
        let mounts = folder.mounts.map { mount in
            let place = folder.record.path.pushing(mount.path).string.escapingControls
            let since = mount.since.formatted(.iso8601)
            return mount.isMounted
                ? "a file system is mounted at \(place) since \(since)"
                : "no file system is mounted at \(place) since \(since)"
        }
        let notes = [folder.record.note].compactMap(\.self) + mounts
        return notes.isEmpty ? nil : notes.joined(separator: "; ")
    }

    /// Why nothing is known of a folder, and the remedy; `nil` once all of it was looked at.
    /// - Parameter record: `nil` where it is none of those that were watched last.
    private static func unseen(_ folder: WatchedFolder, _ record: FolderRecord?, agentRuns: Bool) -> String? {
        guard let unseen = UnseenFolder(folder, record) else { return nil }
        let isCurrent = record?.isWatched(as: folder) ?? false
        let remedy: String
        if !agentRuns {
            remedy = "run sync-agent sync"
        } else if let record, isCurrent {
            // A sync watches nothing, and other commands than the agent's take folders into the ledger, too.
            remedy =
                record.watching == nil
                ? "what is at work is about to, else start the agent again" : "the agent is about to"
        } else {
            remedy = "start the agent again, it does not know this folder" + (record == nil ? "" : " as it is now")
        }
        return "\(folder.path.text.escapingControls): \(unseen.words); \(remedy)"
    }

    /// - Parameters:
    ///   - leftOut: of the active folders.
    ///   - backlog: of the objects of each class.
    ///   - vacations: all of them, in any order.
    ///   - delayed: photos that were tried and wait, the oldest first.
    ///   - sharedVacations: those that others can see now, by their folders.
    ///   - elsewhere: what is damaged of machines that are silent.
    ///   - watched: the folders of the configuration; those that no agent has met yet have no files.
    init(
        _ overview: Overview, leftOut: LeftOutSummary = LeftOutSummary(), backlog: [StorageClass: ArchiveBacklog] = [:],
        vacations: [VacationRecord] = [], sharedVacations: [FilePath: SharedVacation] = [:],
        delayed: [PhotoStatus] = [],
        verification: VerificationStatus = VerificationStatus(), catalog: Catalog = Catalog(),
        elsewhere: [OtherDamage] = [], watched: [WatchedFolder],
        holder: AgentLock.Holder?, store: StoreIdentity, storeError: String?, storeNote: String? = nil
    ) {
        agent = Agent(running: holder != nil, pid: holder?.pid, since: holder?.since)
        let refusal = storeError == nil ? overview.refusal : nil
        self.store = Store(
            type: store.type, location: store.location, reachable: storeError == nil, error: storeError,
            refusal: refusal, since: (storeError ?? refusal) == nil ? nil : overview.store?.since, note: storeNote)
        folders = watched.map { folder in
            let known = overview.folders.first { $0.record.path == folder.path }
            let current = known.map(\.record).flatMap { $0.isWatched(as: folder) ? $0 : nil }
            let tallies = known?.tallies ?? PhotoTallies()
            return Folder(
                path: folder.path.text, kind: folder.kind.rawValue, profile: folder.profile,
                watching: holder == nil ? nil : known?.record.watching?.rawValue, files: tallies.onDisk.files,
                uploaded: tallies[.uploaded].files, pending: tallies.waiting, failed: tallies[.failed].files,
                skipped: tallies[.skipped].files, lost: tallies[.lost].files,
                scannedAt: current?.scannedAt, note: known.flatMap(Self.note),
                problem: current?.problem ?? Self.unseen(folder, known?.record, agentRuns: holder != nil))
        }
        totals = Totals(overview, leftOut: leftOut)
        notes = leftOut.items.map { PathRemark($0.path, $0.reason) }
        tiers = overview.storedTiers.filter { $0.objects > 0 }.map { tier in
            let waiting = backlog[tier.storageClass] ?? ArchiveBacklog()
            return Tier(
                storageClass: tier.storageClass.rawValue, objects: tier.objects, bytes: tier.bytes, due: waiting.due,
                tooSmall: waiting.tooSmall)
        }
        restores = Restores(
            inProgress: overview.restores.inProgress, ready: overview.restores.ready, failed: overview.restores.failed)
        self.verification = Verification(
            oldest: verification.oldest, checked: verification.checked, damaged: verification.damaged,
            missing: verification.missing, unread: verification.unread)
        self.catalog = catalog
        self.elsewhere = elsewhere.map(Elsewhere.init)
        self.vacations = Self.vacations(vacations, shared: sharedVacations)
        self.delayed = delayed.map { photo in
            Delayed(
                path: photo.path.text, since: photo.queuedAt, why: photo.why ?? "", attempts: photo.attempts,
                nextTryAt: photo.nextTry)
        }
        oldestUnsynced = overview.oldestUnsynced.map { oldest in
            // While the store is away, that is what everything in the queue waits for. What it has said of one photo is
            // no reason of another.
            let isTried = delayed.contains { $0.path == oldest.path }
            let refused: String? = refusal == nil || isTried ? nil : "the store took no photos when it was tried last"
            let outage = oldest.state == .pending ? storeError ?? refused : nil
            return Unsynced(path: oldest.path.text, since: oldest.since, why: outage ?? oldest.why)
        }
        lastSyncAt = overview.lastSyncAt
    }
}

extension StatusReport.Catalog {
    init(_ status: CatalogStatus, isKept: Bool, name: String) {
        self.init(
            enabled: isKept, machineId: status.machine, machine: name, writtenAt: status.writtenAt,
            waiting: status.unwritten, problem: isKept ? status.problem : nil)
    }
}

extension StatusReport.Retention {
    init(_ status: RetentionStatus) {
        self.init(
            events: status.events, kept: status.kept, overdue: status.overdue, lastRunAt: status.lastRunAt,
            nextRunAt: status.nextRunAt)
    }

    /// For people; `nil` where no events are known.
    func sentence(now: Date) -> String? {
        guard events > 0, let nextRunAt else { return nil }
        let last = lastRunAt.map { "last cleanup \(Quantities.ago($0, now: now))" } ?? "no daily cleanup yet"
        let late = overdue == 0 ? "none overdue" : "\(Quantities.count(overdue)) overdue (sync-agent cleanup --report)"
        return "\(late); \(last), the next one at \(Quantities.time(nextRunAt))"
    }
}

extension StatusReport.Totals {
    init(_ overview: Overview, leftOut: LeftOutSummary) {
        let totals = overview.totals
        self.init(
            files: totals.onDisk.files, uploaded: totals[.uploaded].files, pending: totals.waiting,
            failed: totals[.failed].files, skipped: totals[.skipped].files, missing: totals[.missing].files,
            lost: overview.lost, leftOut: leftOut.count, filtered: leftOut.filtered, bytesLocal: totals.onDisk.bytes,
            bytesStored: overview.bytesStored)
    }
}

extension StatusReport {
    /// When the folders were looked at last, where no agent looks at them, and that is later than the clock of this
    /// machine: how old it is, nobody can tell.
    func passAhead(of now: Date) -> Date? {
        if agent.running { return nil }
        let latest = ([lastSyncAt] + folders.map(\.scannedAt)).compactMap(\.self).max()
        return latest.flatMap { $0.isAhead(of: now) ? $0 : nil }
    }
}
