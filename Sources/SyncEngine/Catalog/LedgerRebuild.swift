package import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// Makes the ledger of what is in the store: names, vacations, shares and restores from the catalogue, and what it lacks from
/// a listing. Nothing is stored, and no photo is read.
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
        package var problems: [String] = []
        /// Photos that a catalogue tells of and the store does not have.
        package var lost = 0
        /// Photos of restores that were still to be saved, nobody knows where.
        package var unsaved = 0
    }

    package enum Step: Hashable, Sendable {
        /// Objects that were listed by now.
        case listed(Int)
        /// Lines of the catalogue that were read.
        case named(Int)
        /// Photos without a name that were asked for, of so many.
        case recovered(Int, of: Int)
    }

    /// No machine has the name that was given, or it could not be told which one is meant.
    package struct UnknownMachine: Error, Hashable, Sendable, CustomStringConvertible {
        package var name: String
        package var known: [String]

        package var description: String {
            let list = known.isEmpty ? "there is none" : "there are " + known.joined(separator: ", ")
            return "no machine in the store's catalogue is called \(name.escapingControls): \(list)"
        }
    }

    private static let headsInFlight = 8
    private static let pageSize = 1_000

    private let store: CountingStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let folders: [FolderRecord]
    private let machineName: String
    private let reader: CatalogReader
    private let scanner: any TreeScanner
    private let pool: BlockingPool
    private let time: TimeSource

    /// - Parameters:
    ///   - folders: those that are configured.
    ///   - machineName: of this machine.
    ///   - spool: a file of the lock holder's.
    package init(
        store: any ReadableStore, ledger: LedgerQueue, keys: KeyLayout, folders: [FolderRecord], machineName: String,
        spool: FilePath, scanner: any TreeScanner, pool: BlockingPool, time: TimeSource
    ) {
        let store = CountingStore(base: store)
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.folders = folders
        self.machineName = machineName
        self.scanner = scanner
        self.pool = pool
        self.time = time
        reader = CatalogReader(store: store, ledger: ledger, keys: keys, spool: spool, pool: pool, time: time)
    }

    /// - Parameter machine: whose place this machine takes, by name or id; `nil` where that is plain.
    /// - Parameter takesOver: `false`: other machines stay others.
    /// - Throws: ``UnknownMachine``, ``StoreError``, ``LedgerError``, `CancellationError`, `Errno`.
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
        summary.problems += try await RebuiltListing(store: store, ledger: ledger, keys: keys, time: time).run {
            onStep(.listed($0))
        }
        if takesOver { try await noteVanished() }
        try await ledger { try $0.forgetOtherMachines() }
        let lines = Mutex(0)
        var isOwnRead = true
        for entry in plan {
            let isRead = try await read(entry, &summary) { count in
                onStep(.named(lines.add(count)))
            }
            if entry.machine.role == .this { isOwnRead = isRead }
        }
        try await noteTakenOver(plan)
        summary.problems += try await RebuiltShares(store: store, ledger: ledger, keys: keys).run()
        try await recover(onStep)
        try await RebuiltMemories(store: store, ledger: ledger, keys: keys).run()
        if takesOver {
            let own = plan.first { $0.machine.role == .this }
            if isOwnRead { try await ledger.noteOwnCatalogRead(upTo: max(own?.last ?? 0, told ?? 0)) }
            try await ledger { try $0.endRebuild() }
        }
        let (photos, counts, lost) = try await ledger { ledger in
            (try ledger.rebuiltPhotos(), try ledger.rebuiltCounts(), try ledger.overview().lost)
        }
        summary.photos = photos.photos
        summary.recovered = photos.recovered
        summary.fromCatalog = photos.photos - photos.recovered
        summary.vacations = counts.vacations
        summary.shares = counts.shares
        summary.lost = lost
        summary.requests = store.requests
        return summary
    }

    // MARK: Which machines

    /// One machine's catalogue, and what is to become of it.
    fileprivate struct Entry: Sendable {
        var machine: Machine
        var chain: CatalogChain
        var replaces: [String: Int]
        var last: Int
    }

    /// Those that are to be read, this one first; the others are in the summary alone. And the last write of this machine's
    /// that its note tells of, and its ledger does not know.
    private func plan(
        _ found: [String: [CatalogSegment]], _ wanted: String?, takesOver: Bool, _ summary: inout Summary
    ) async throws -> (entries: [Entry], told: Int?) {
        let standing = try await ledger { try $0.catalogStanding() }
        let own = standing.machine
        var entries: [Entry] = []
        for (id, segments) in found.sorted(by: { $0.key < $1.key }) {
            let chain = CatalogChain(segments)
            guard let last = chain.segments.last else { continue }
            var entry = Entry(
                machine: Machine(id: id, name: id, role: .other), chain: chain, replaces: [:], last: last.to)
            for segment in chain.segments.reversed() where entry.machine.writtenAt == nil {
                do {
                    let header = try await reader.header(of: segment)
                    entry.machine.name = header.name
                    entry.machine.writtenAt = header.written
                    entry.replaces = header.replaces ?? [:]
                } catch let error where error.concernsOneSegment {
                    summary.problems.append(problem(segment, entry, "\(error)"))
                    if case .newer? = error as? CatalogError { entry.machine.role = .unreadable }
                }
            }
            entries.append(entry)
        }
        for index in entries.indices {
            let (id, last) = (entries[index].machine.id, entries[index].last)
            // One that has written since then lives on.
            if entries.contains(where: { $0.machine.id != id && $0.replaces[id].map { last <= $0 } ?? false }) {
                entries[index].machine.role = .replaced
            }
        }
        // Those whose place this machine has taken before, whether its own catalogue says so yet or not.
        let before = entries.filter { entry in
            entry.machine.role == .other && standing.replaces[entry.machine.id].map { entry.last <= $0 } ?? false
        }.map(\.machine.id)
        let isPlain = before.isEmpty || wanted != nil
        // One that was ended has chosen already, whatever this machine has written since.
        let begun = entries.first { $0.machine.role == .other && $0.machine.id == standing.rebuildOf }?.machine.id
        let choice = takesOver && isPlain ? try choose(among: entries, own, wanted ?? begun) : nil
        for index in entries.indices {
            let id = entries[index].machine.id
            if id == own {
                entries[index].machine.role = .this
            } else if id == choice {
                entries[index].machine.role = .takenOver
            } else if before.contains(id) {
                entries[index].machine.role = takesOver ? .takenOver : .replaced
            }
        }
        placeOthers(&entries)
        let missing = try await withoutCatalog(&entries, standing, takesOver: takesOver)
        summary.problems += missing.problems
        summary.machines = entries.map(\.machine)
        let order: [Machine.Role] = [.this, .takenOver, .other]
        return (order.flatMap { role in entries.filter { $0.machine.role == role } }, missing.told)
    }

    /// What there should be of other machines, and of this one, and is not, in plain words.
    private func withoutCatalog(
        _ entries: inout [Entry], _ standing: CatalogStanding, takesOver: Bool
    ) async throws -> (problems: [String], told: Int?) {
        var replaced = Replacements(standing.replaces)
        for entry in entries { replaced.add(entry.replaces, by: entry.machine.id) }
        let missing = MissingCatalogs(reader: reader)
        let listed = Dictionary(entries.map { ($0.machine.id, $0.last) }) { first, _ in first }
        let ends = MissingCatalogs.ofRebuild
        let (found, problems) = try await missing.look(listed: listed, replaced: replaced, consequences: ends)
        // Whose place is taken is not missed any more for what nobody can bring back.
        for index in entries.indices {
            entries[index].last = found.promised[entries[index].machine.id] ?? entries[index].last
        }
        guard takesOver, found.hasOwnNote else { return (problems, nil) }
        let own = try await missing.lookAtOwn(listed: listed, ends)
        return (problems + own.problems, own.told)
    }

    /// The id of the machine whose place this one takes: the one that was named; else none where this one is known by its
    /// own id; else the one of its name; else the only one.
    private func choose(among entries: [Entry], _ own: String, _ wanted: String?) throws -> String? {
        let living = entries.filter { $0.machine.role == .other }.sorted { $0.isNewer(than: $1) }
        if let wanted {
            // One that has this machine's own id has its place already; what is meant is the one of that name before it.
            let named =
                living.first { $0.machine.id == wanted }
                ?? living.first { $0.machine.name == wanted && $0.machine.id != own }
                ?? living.first { $0.machine.name == wanted }
                ?? entries.first {
                    [$0.machine.id, $0.machine.name].contains(wanted) && $0.machine.role != .unreadable
                }
            guard let named else {
                throw UnknownMachine(
                    name: wanted, known: entries.map { "\($0.machine.name.escapingControls) (\($0.machine.id))" })
            }
            return named.machine.id
        }
        if living.contains(where: { $0.machine.id == own }) { return nil }
        return (living.first { $0.machine.name == machineName } ?? (living.count == 1 ? living.first : nil))?.machine.id
    }

    /// Each gets a folder by its name; two of one name are told apart by their ids.
    private func placeOthers(_ entries: inout [Entry]) {
        let others = entries.indices.filter { entries[$0].machine.role == .other }
        let names = others.map { Self.fileName(entries[$0].machine.name) }
        for (index, name) in zip(others, names) {
            let isOnly = names.count { $0 == name } == 1
            let text = isOnly ? name : "\(name)-\(entries[index].machine.id)"
            entries[index].machine.place = FilePath.Component(text).map { Self.machinesFolder.appending($0) }
        }
    }

    private func noteTakenOver(_ plan: [Entry]) async throws {
        let taken = plan.filter { $0.machine.role == .takenOver }
        let machines = taken.reduce(into: [String: Int]()) { machines, entry in
            machines.merge(entry.replaces) { max($0, $1) }
            machines[entry.machine.id] = entry.last
        }
        try await ledger { try $0.noteTakenOver(machines) }
    }

    // MARK: What is here

    /// A ledger that was put back knows files that are not here: of those, the catalogue has the last word. One that is only
    /// out of sight is found again by the next scan.
    private func noteVanished() async throws {
        let (queue, scanner, folders, now) = (ledger.ledger, scanner, folders, time.now())
        try await pool.run {
            for folder in folders {
                var gone: Set<FilePath> = []
                try queue.photos(at: folder.path) { photo in
                    guard photo.state.isOnDisk, photo.folder.id == folder.id, !scanner.isFile(photo.path) else {
                        return
                    }
                    gone.insert(Self.highestGone(photo.path, below: folder.path, scanner))
                }
                for path in gone { _ = try queue.markGone(folder.id, path: path, at: now) }
            }
        }
    }

    /// The file itself, or the folder above it that went with all that was in it: there may be many files.
    private static func highestGone(_ file: FilePath, below root: FilePath, _ scanner: any TreeScanner) -> FilePath {
        var gone = file
        while case let parent = gone.removingLastComponent(), parent != root, !scanner.isFolder(parent) {
            gone = parent
        }
        return gone
    }

    // MARK: Names

    /// - Returns: `false` where segments of it are left that may be read another time.
    private func read(
        _ entry: Entry, _ summary: inout Summary, onLines: @escaping @Sendable (Int) -> Void
    ) async throws -> Bool {
        for gap in entry.chain.gaps {
            summary.problems.append(
                """
                the catalogue of \(entry.machine.name.escapingControls) lacks its writes \(gap.lowerBound) to \
                \(gap.upperBound): what only they told of is under recovered/
                """)
        }
        let places = FolderPlaces(machine: entry.machine, configured: folders, ledger: ledger.ledger)
        let machine = entry.machine.role == .other ? nil : entry.machine.name
        var state = CatalogState()
        var known: [Int64: FolderID] = [:]
        var isRead = true
        let count = Mutex(0)
        for segment in entry.chain.segments {
            do {
                let before = count.withLock { $0 }
                let read = try await reader.read(
                    segment, of: machine, state: state, places: { try places.places(of: $0) }
                ) { lines in
                    count.add(lines)
                    onLines(lines)
                }
                state = read.state
                known.merge(read.folders) { $1 }
                if let damage = read.damage {
                    let rest =
                        count.withLock { $0 } == before
                        ? "no photo's name could be read of it: those are under recovered/"
                        : "what could be read of it counts as far as the store has it"
                    summary.problems.append(problem(segment, entry, "\(damage); \(rest)"))
                }
            } catch let error where error.concernsOneSegment {
                isRead = false
                summary.problems.append(problem(segment, entry, "\(error)"))
            }
        }
        let (whole, folders, moves, now) = (state, known, places.moves, time.now())
        guard entry.machine.role != .other else {
            try await ledger { try $0.noteOthersProfiles(whole.profiles) }
            return isRead
        }
        summary.unsaved += try await ledger { try $0.noteCatalog(whole, in: folders, movedTo: moves, at: now) }
        return isRead
    }

    private func problem(_ segment: CatalogSegment, _ entry: Entry, _ reason: String) -> String {
        let key = (try? segment.key(keys).rawValue) ?? ""
        return "the catalogue of \(entry.machine.name.escapingControls), \(key): \(reason)"
    }

    // MARK: What has no name

    private func recover(_ onStep: @escaping @Sendable (Step) -> Void) async throws {
        let prefixes = [keys.photos, keys.originals, "users/\(keys.user)/projects/"]
        for prefix in prefixes {
            var done = 0
            let pages = LedgerPages(ledger: ledger, place: \ObjectRecord.key) {
                try $0.namelessPhotos(below: prefix, after: $1, limit: Self.pageSize)
            }
            for try await page in pages {
                let others = page.filter { !$0.key.rawValue.contains("/versions/") }
                let wanted = try await ledger { try $0.leavingOutOriginals(among: others) }
                let (before, count) = (done, Mutex(0))
                let photos = try await wanted.concurrently(Self.headsInFlight) { [store, prefix] object in
                    let info = try await store.head(object.key)
                    onStep(.recovered(before + count.add(), of: before + wanted.count))
                    return info.map { RecoveredPhoto.photo(object, $0, below: prefix) }
                }
                done += wanted.count
                let (found, now) = (photos.compactMap(\.self), time.now())
                if found.isEmpty { continue }
                try await ledger { ledger in
                    let folder = try ledger.folderForCatalog(.gallery, at: Self.recoveredFolder, of: .recovered)
                    try ledger.noteCatalog(found, in: [0: folder], at: now)
                }
            }
        }
    }
}

extension LedgerRebuild.Entry {
    fileprivate func isNewer(than other: LedgerRebuild.Entry) -> Bool {
        (machine.writtenAt ?? .distantPast, machine.id) > (other.machine.writtenAt ?? .distantPast, other.machine.id)
    }
}
