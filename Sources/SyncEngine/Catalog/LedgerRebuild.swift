package import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// Makes the ledger of what is in the store: names, vacations, shares and restores from the catalogue, and what it lacks from
/// a listing. Nothing is stored, and no photo is read but what is known to be damaged, and is told otherwise now.
///
/// It may be stopped at any moment and run again: what is known stays, what is on the disk is right.
package struct LedgerRebuild: Sendable {
    package struct Machine: Hashable, Sendable {
        package enum Role: String, Hashable, Sendable {
            /// This machine, by its own id.
            case this
            /// This machine goes on in its place.
            case takenOver
            case other
            /// Another machine in the list goes on in its place.
            case replaced
            /// Nothing of it could be read.
            case unreadable
        }

        package var id: String
        package var name: String
        package var role: Role
        package var writtenAt: Date?
        /// Where its folders are in the ledger, when it is another one.
        package var place: FilePath?
    }

    package struct Summary: Hashable, Sendable {
        package var photos = 0
        package var fromCatalog = 0
        package var recovered = 0
        package var vacations = 0
        package var shares = 0
        package var requests = 0
        package var machines: [Machine] = []
        /// What could not be read, in plain words.
        package var unread = ProblemList<String>()
        /// Those that are named.
        package var problems: [String] { unread.first }
        /// Photos that a catalogue tells of and the store does not have.
        package var lost = 0
        /// Photos of restores that were still to be saved, nobody knows where.
        package var unsaved = 0
        /// Objects that are not what was told of them, or that could not be looked at or read.
        package var unclear = 0
        /// Objects that are to be read, and of which nothing else is said: see ``Ledger/unclearObjects()``.
        package var toBeRead = 0
    }

    package enum Step: Hashable, Sendable {
        /// Objects that were listed by now.
        case listed(Int)
        /// Lines of the catalogue that were read.
        case named(Int)
        /// Photos without a name that were asked for, of so many.
        case recovered(Int, of: Int)
    }

    private static let headsInFlight = 8
    private static let pageSize = 1_000

    let store: CountingStore
    let ledger: LedgerQueue
    let keys: KeyLayout
    private let folders: [FolderRecord]
    let machineName: String
    let reader: CatalogReader
    private let scanner: any TreeScanner
    private let pool: BlockingPool
    private let verification: VerificationRule
    private let audit: ObjectAudit
    let time: TimeSource

    /// - Parameters:
    ///   - folders: those that are configured.
    ///   - machineName: of this machine.
    ///   - spool: a file of the lock holder's.
    ///   - verification: what reading costs, and may cost.
    ///   - moves: finds archived photos that another machine has moved.
    ///   - pruned: tells which earlier images of projects another machine has removed.
    package init(
        store: any ReadableStore, ledger: LedgerQueue, keys: KeyLayout, folders: [FolderRecord], machineName: String,
        spool: FilePath, scanner: any TreeScanner, pool: BlockingPool, verification: VerificationRule = .none,
        moves: MergedPhotos? = nil, pruned: PrunedVersions? = nil, time: TimeSource
    ) {
        let store = CountingStore(base: store)
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.folders = folders
        self.machineName = machineName
        self.scanner = scanner
        self.pool = pool
        self.verification = verification
        audit = ObjectAudit(
            store: store, ledger: ledger, moves: moves?.reading(store), pruned: pruned?.reading(store), time: time)
        self.time = time
        reader = CatalogReader(store: store, ledger: ledger, keys: keys, spool: spool, pool: pool, time: time)
    }

    /// - Parameter machine: whose place this machine takes, by name or id; `nil` where that is plain.
    /// - Parameter takesOver: `false`: other machines stay others.
    /// - Throws: ``UnknownMachine``, ``SharedName``, ``StoreError``, ``LedgerError``, `CancellationError`, `Errno`.
    package func run(
        inPlaceOf machine: String? = nil, takesOver: Bool = true, onStep: @escaping @Sendable (Step) -> Void = { _ in }
    ) async throws -> Summary {
        var summary = Summary()
        let found = try await reader.segments()
        let (plan, told) = try await self.plan(found, machine, takesOver: takesOver, &summary)
        if takesOver {
            let taken = plan.last { $0.machine.role == .takenOver }?.machine.id
            try await ledger { try $0.beginRebuild(of: taken ?? "") }
        }
        var signs: [String: Date]?
        let left = try await forgetLeftToOthers(&signs)
        let denied = DeniedObjects()
        let listing = RebuiltListing(
            store: store, ledger: ledger, keys: keys, damaged: left.damaged, denied: denied, audit: audit,
            time: time)
        let listed = try await listing.run { onStep(.listed($0)) }
        summary.unread.note(contentsOf: listed.problems)
        // With what the listing lacks of others: their catalogues are read next, and name it or do not.
        let unowned = try await forgetLeftToOthers(&signs).unowned
        if takesOver { try await noteVanished() }
        try await ledger { try $0.forgetOtherMachines() }
        let lines = Lock(0)
        var isOwnRead = true
        for entry in plan {
            let isRead = try await read(entry, denied, &summary) { count in
                onStep(.named(lines.add(count)))
            }
            if entry.machine.role == .this { isOwnRead = isRead }
        }
        try await noteTakenOver(plan)
        try await leaveFilesToLiving(&signs)
        summary.unread.note(contentsOf: try await RebuiltShares(store: store, ledger: ledger, keys: keys).run())
        summary.unread.note(contentsOf: try await recover(denied, onStep))
        try await nameLost(unowned)
        let hasOthers = summary.machines.contains { $0.role == .other || $0.role == .unreadable }
        try await RebuiltVersions(store: store, ledger: ledger, keys: keys, asks: hasOthers).run()
        let archive = RebuiltArchive(store: store, ledger: ledger, keys: keys, denied: denied)
        summary.unread.note(contentsOf: try await archive.run())
        let damage = RebuiltDamage(store: store, ledger: ledger, verification: verification, time: time)
        summary.unread.note(contentsOf: try await damage.read(listed.ruins, since: left))
        if takesOver {
            let own = plan.first { $0.machine.role == .this }
            if isOwnRead { try await ledger.noteOwnCatalogRead(upTo: max(own?.last ?? 0, told ?? 0)) }
            try await ledger { try $0.endRebuild() }
        }
        let (photos, counts, lost, unclear) = try await ledger { ledger in
            let lost = try ledger.overview().lost
            let unclear = (named: try ledger.namedUnclearObjects(), all: try ledger.unclearObjects())
            return (try ledger.rebuiltPhotos(), try ledger.rebuiltCounts(), lost, unclear)
        }
        summary.photos = photos.photos
        summary.recovered = photos.recovered
        summary.fromCatalog = photos.photos - photos.recovered
        summary.vacations = counts.vacations
        summary.shares = counts.shares
        summary.lost = lost
        summary.unclear = unclear.named
        summary.toBeRead = unclear.all - unclear.named
        summary.requests = store.requests
        return summary
    }

    /// Finds out whose place this machine would take. Nothing of it is written down.
    /// - Throws: as ``run(inPlaceOf:takesOver:onStep:)``, where that would refuse it.
    package func checkChoice(inPlaceOf machine: String?) async throws {
        var summary = Summary()
        _ = try await plan(try await reader.segments(), machine, takesOver: true, &summary)
    }

    // MARK: What is here

    /// A ledger that was put back knows files that are not here: of those, the catalogue has the last word. One that is only
    /// out of sight is found again by the next scan; what is on a drive that is away, below a folder, stays as it is, and
    /// so does what was found on one that takes turns with the drive that is there.
    private func noteVanished() async throws {
        let (queue, scanner, folders, now) = (ledger.ledger, scanner, folders, time.now())
        let drives = FolderDrives(ledger: queue, scanner: scanner)
        try await pool.run {
            for folder in folders {
                let findings = try drives.check(folder)
                let others = findings.strangers.map(\.place).filter { !$0.isEmpty }
                let away = try (drives.absentMounts(of: folder) + others).map { folder.path.pushing($0) }
                var gone: Set<FilePath> = []
                try queue.photos(at: folder.path) { photo in
                    guard photo.state.isOnDisk, photo.folder.id == folder.id,
                        !away.contains(where: { photo.path.starts(with: $0) }), !scanner.isFile(photo.path)
                    else { return }
                    gone.insert(Self.highestGone(photo.path, below: folder.path, besides: away, scanner))
                }
                // Where the whole folder is on another drive for certain, as of a new machine, all that is not seen
                // counts as gone; not where nothing tells whether it is another one.
                let drive: (FilePath) -> SeenDrive = { path in
                    findings.stranger(above: path)?.isCertain == true ? .known : findings.seen(at: path)
                }
                for path in gone { _ = try queue.markGone(folder.id, path: path, drive: drive, at: now) }
            }
        }
    }

    /// The file itself, or the folder above it that went with all that was in it: there may be many files.
    private static func highestGone(
        _ file: FilePath, below root: FilePath, besides away: [FilePath], _ scanner: any TreeScanner
    ) -> FilePath {
        var gone = file
        while case let parent = gone.removingLastComponent(), parent != root,
            !away.contains(where: { $0.starts(with: parent) }), !scanner.isFolder(parent)
        {
            gone = parent
        }
        return gone
    }

    // MARK: Names

    /// - Returns: `false` where segments of it are left that may be read another time.
    private func read(
        _ entry: Entry, _ denied: DeniedObjects, _ summary: inout Summary,
        onLines: @escaping @Sendable (Int) -> Void
    ) async throws -> Bool {
        for gap in entry.chain.gaps {
            summary.unread.note(
                """
                the catalogue of \(entry.machine.name.escapingControls) lacks its writes \(gap.lowerBound) to \
                \(gap.upperBound): what only they told of is under recovered/
                """)
        }
        let places = FolderPlaces(machine: entry.machine, configured: folders, ledger: ledger.ledger)
        let machine = entry.machine.role == .other ? nil : entry.machine.name
        var state = CatalogState()
        var known: [Int64: FolderID] = [:]
        var drives: [FolderID: [CatalogDrive]] = [:]
        var replaced: Set<CatalogPlace> = []
        var isRead = true
        let count = Lock(0)
        for segment in entry.chain.segments {
            do {
                let before = count.withLock { $0 }
                let read = try await reader.read(
                    segment, of: machine, state: state, places: { try places.places(of: $0) }
                ) { lines in
                    count.add(lines)
                    onLines(lines)
                }
                // Of photos it asks only for those without a name: they may all be such that it does not give.
                denied.noteGivenBefore()
                state = read.state
                known.merge(read.folders) { $1 }
                // Each segment tells of all drives.
                drives.merge(read.drives) { $1 }
                replaced = replaced.subtracting(read.gone).union(read.replaced)
                if let damage = read.damage {
                    let rest =
                        count.withLock { $0 } == before
                        ? "no photo's name could be read of it: those are under recovered/"
                        : "what could be read of it counts as far as the store has it"
                    let ends = "its last lines, which tell of shares, are not known: \(MissingCatalogs.unknownShares)"
                    summary.unread.note(problem(segment, entry, "\(damage); \(rest); \(ends)"))
                }
            } catch let error where error.concernsOneSegment {
                isRead = false
                summary.unread.note(problem(segment, entry, "\(error)"))
            }
        }
        let (whole, folders, mounted, moves, now) = (state, known, drives, places.moves, time.now())
        guard entry.machine.role != .other else {
            try await ledger { try $0.noteOthersProfiles(whole.profiles) }
            return isRead
        }
        summary.unread.note(contentsOf: try await unstored(replaced, in: known))
        summary.unsaved += try await ledger { ledger in
            try ledger.noteCatalogDrives(mounted, at: now)
            return try ledger.noteCatalog(whole, in: folders, movedTo: moves, at: now)
        }
        return isRead
    }

    /// What a catalogue told to be stored under the name of a file, and nobody has any more: another machine has put a file
    /// of that name in its place since. What is on the disk is stored by the next pass.
    /// - Returns: which photos those are, in plain words.
    private func unstored(_ places: Set<CatalogPlace>, in known: [Int64: FolderID]) async throws -> [String] {
        if places.isEmpty { return [] }
        let (queue, scanner, folders) = (ledger.ledger, scanner, folders)
        return try await pool.run {
            var problems: [String] = []
            for place in places {
                guard let folder = folders.first(where: { $0.id == known[place.folder] }) else { continue }
                let path = folder.path.pushing(place.path)
                var isKnown = false
                try queue.photos(at: path) { _ in isKnown = true }
                if isKnown || scanner.isFile(path) { continue }
                problems.append(
                    """
                    \(path.text.escapingControls): its file is not here, another one is stored under its key by now, and \
                    the store has no version of it: it is gone, unless you have the file elsewhere
                    """)
            }
            return problems.sorted()
        }
    }

    func problem(_ segment: CatalogSegment, _ entry: Entry, _ reason: String) -> String {
        let key = (try? segment.key(keys).rawValue) ?? ""
        return "the catalogue of \(entry.machine.name.escapingControls), \(key): \(reason)"
    }

    // MARK: What has no name

    /// - Returns: which objects cannot be looked at, in plain words: the next rebuild asks for them again.
    private func recover(
        _ denied: DeniedObjects, _ onStep: @escaping @Sendable (Step) -> Void
    ) async throws -> ProblemList<String> {
        var problems = ProblemList<String>()
        let prefixes = [keys.photos, keys.originals, keys.projects]
        for prefix in prefixes {
            var done = 0
            let pages = LedgerPages(ledger: ledger, place: \ObjectRecord.key) {
                try $0.namelessPhotos(below: prefix, after: $1, limit: Self.pageSize)
            }
            for try await page in pages {
                let others = page.filter { !$0.key.isProjectVersion }
                let wanted = try await ledger { try $0.leavingOutOriginals(among: others) }
                let (before, count) = (done, Lock(0))
                let told = try await store.heads(of: wanted.map(\.key), atOnce: Self.headsInFlight, denied) {
                    onStep(.recovered(before + count.add(), of: before + wanted.count))
                }
                problems.note(contentsOf: told.problems)
                let found = Dictionary(told.found.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
                done += wanted.count
                try await noteRecovered(
                    wanted.compactMap { object in
                        found[object.key].map { RecoveredPhoto.photo(object, $0, of: keys) }
                    })
            }
        }
        return problems
    }

    /// What is gone or damaged, and has no name any more, can be told and forgotten under one that is made for it.
    private func nameLost(_ objects: [ObjectRecord]) async throws {
        let lost = try await ledger {
            try $0.leavingOutOriginals(among: $0.brokenAndNameless(among: objects))
        }
        try await noteRecovered(
            lost.filter { !$0.key.isProjectVersion }.map { RecoveredPhoto.photo($0, nil, of: keys) })
    }

    private func noteRecovered(_ photos: [CatalogPhoto]) async throws {
        if photos.isEmpty { return }
        let now = time.now()
        try await ledger { ledger in
            let folder = try ledger.folderForCatalog(.gallery, at: Self.recoveredFolder, of: .recovered)
            try ledger.noteCatalog(photos, in: [0: folder], at: now)
        }
    }
}
