package import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// A share that another machine of the user has, as its catalogue tells.
package struct OtherShare: Hashable, Sendable {
    /// The one that has it: its id, and what people call it.
    package let machine: String
    package let machineName: String
    package let id: ShareID
    package let location: String
    package let startDate: CalendarDay
    package let endDate: CalendarDay
    package let sharedBy: String?
    package let quality: String
    package let createdAt: Date
    package let expiresAt: Date
    package internal(set) var state: ShareState
    package internal(set) var endedAt: Date?
    /// `nil` where nobody tells: of what is over.
    package let photoCount: Int?
    /// When the first of the links inside its page ends; `nil` when they have no end of their own.
    package let linksEndAt: Date?
    /// What people call the machine on which it was taken back, where that is not the one that has it.
    package internal(set) var endedBy: String?
    /// As the catalogue of its machine has it, and the folders that are watched there.
    let line: CatalogShare
    let folders: [CatalogFolder]

    /// `nil` for a line that makes no sense.
    init?(_ line: CatalogShare, of machine: String, _ name: String, folders: [CatalogFolder]) {
        guard let id = ShareID(line.share), let state = ShareState(rawValue: line.state),
            let start = CalendarDay(line.start), let end = CalendarDay(line.end)
        else { return nil }
        self.machine = machine
        (self.line, self.folders) = (line, folders)
        machineName = name
        self.id = id
        self.state = state
        (location, startDate, endDate) = (line.location, start, end)
        (sharedBy, quality) = (line.sharedBy, line.quality)
        createdAt = Date(milliseconds: line.createdAt)
        expiresAt = Date(milliseconds: line.expiresAt)
        endedBy = line.endedBy
        endedAt = line.endedAt.map(Date.init(milliseconds:))
        linksEndAt = line.linksEndAt.map(Date.init(milliseconds:))
        let isPublished = state == .live && line.step != ShareStep.publish.rawValue
        photoCount =
            state.isOver ? nil : line.photos.count { $0.position != nil && (!isPublished || $0.sha256 != nil) }
    }
}

/// The shares of the user's other machines. Nothing is noted of them but that one that had expired is gone.
package struct OtherShares: Sendable {
    private static let listsInFlight = 8

    private let store: any ReadableStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let states: OtherStates
    private let notes: ShareNoteReader
    private let time: TimeSource

    /// - Parameters:
    ///   - spool: a file of this process's.
    ///   - pool: for what waits for the disk.
    package init(
        store: any ReadableStore, ledger: LedgerQueue, keys: KeyLayout, spool: FilePath, pool: BlockingPool,
        time: TimeSource
    ) {
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.time = time
        notes = ShareNoteReader(store: store, ledger: ledger, keys: keys)
        states = OtherStates(
            reader: CatalogReader(store: store, ledger: ledger, keys: keys, spool: spool, pool: pool, time: time))
    }

    /// What the store itself has of a share of which no catalogue tells that can be read.
    package struct Stray: Hashable, Sendable {
        /// `nil` where its manifest does not tell.
        package let location: String?
        package let expiresAt: Date
    }

    /// No share lasts longer than these ten years. Seconds.
    package static let longestLife: TimeInterval = 3_650 * 86_400

    /// - Returns: `nil` when nothing of it is in the store.
    /// - Throws: ``StoreError`` when the store cannot be used; `CancellationError`.
    package func stray(_ id: ShareID) async throws -> Stray? {
        guard try await store.hasObjects(below: ShareKeys(id).folder) else { return nil }
        do {
            let manifest = try await store.manifest(of: id).manifest
            return Stray(location: manifest.locationName, expiresAt: manifest.expiresAt)
        } catch let error as StoreError where error.mayConcernOneObject {
        } catch is ShareRefusal {
        }
        return Stray(location: nil, expiresAt: time.now().addingTimeInterval(Self.longestLife))
    }

    /// Those that this ledger does not have: by machine, the newest first.
    /// - Returns: also what could not be read, in plain words.
    /// - Throws: ``StoreError`` when the store cannot be used; ``LedgerError``, `CancellationError`.
    package func run() async throws -> (shares: [OtherShare], problems: [String]) {
        var (shares, problems) = try await readAll()
        let ids = shares.map(\.id)
        let known = try await ledger { ledger in try Set(ids.filter { try ledger.share($0) != nil }) }
        shares.removeAll { known.contains($0.id) }
        let removals = try await ledger { ledger in try ids.compactMap { try ledger.shareRemoval($0) } }
        for removal in removals where removal.goneAt == nil {
            for index in shares.indices where shares[index].id == removal.id && !shares[index].state.isOver {
                shares[index].state = .revoking
            }
        }
        // Of what is over nothing has to be asked.
        let statuses = shares.allSatisfy(\.state.isOver) ? [:] : try await notes.statuses()
        problems += try await leaveToOwners(&shares, statuses)
        for index in shares.indices where !shares[index].state.isOver && statuses[shares[index].id]?.isEnded == true {
            do {
                try await noteEnd(&shares[index])
            } catch let damage as ShareNoteDamage {
                shares[index].state = .revoking
                problems.append("\(try keys.shareEnd(shares[index].id)): \(damage)")
            } catch let error as StoreError where error.mayConcernOneObject {
                shares[index].state = .revoking
                problems.append("\(error)")
            }
        }
        if let problem = try await noteExpiries(&shares) { problems.append(problem) }
        return (shares, problems)
    }

    /// Another machine may have removed them for one that is silent, and writes no catalogue any more. What was found gone is
    /// not asked for again.
    /// - Returns: what the store did not tell, in plain words: of such a share, what its catalogue says stays.
    private func noteExpiries(_ shares: inout [OtherShare]) async throws -> String? {
        let (listed, now) = (shares, time.now())
        let over = listed.indices.filter { index in
            let share = listed[index]
            return !share.state.isOver && share.state != .revoking && share.expiresAt <= now
        }
        if over.isEmpty { return nil }
        let known = try await ledger { ledger in
            try Set(over.filter { try ledger.isShareGone(listed[$0].id, expiredAt: listed[$0].expiresAt) })
        }
        let asked = over.filter { !known.contains($0) }
        let answers = try await asked.concurrently(Self.listsInFlight) { [store] index -> (Bool, StoreError?) in
            do {
                return (try await !store.hasObjects(below: ShareKeys(listed[index].id).folder), nil)
            } catch let error as StoreError where error.mayConcernOneObject {
                return (false, error)
            }
        }
        let gone = zip(asked, answers).filter { $0.1.0 }.map(\.0)
        for index in known.union(gone) {
            shares[index].state = .expired
            shares[index].endedAt = shares[index].expiresAt
        }
        if !gone.isEmpty {
            do {
                let ends = gone.map { (id: listed[$0].id, expiresAt: listed[$0].expiresAt) }
                try await ledger { try $0.noteGoneShares(ends) }
            } catch is LedgerError {
                // They are asked for again.
            }
        }
        let failures = answers.compactMap { $0.1 }
        return failures.first.map {
            "whether shares that have expired are gone cannot be told (\(failures.count.counted("share"))): \($0)"
        }
    }

    /// A machine that was off when another one took its share over has it in its catalogue still.
    /// - Returns: whose owner the store did not tell, in plain words.
    private func leaveToOwners(
        _ shares: inout [OtherShare], _ statuses: [ShareID: ShareNoteReader.Status]
    ) async throws -> [String] {
        var problems: [String] = []
        let tellers = Dictionary(grouping: shares, by: \.id).filter { $0.value.count > 1 }
        for (id, lines) in tellers {
            var owner = lines[0].machine
            do {
                if statuses[id].map({ $0.owner > 0 }) == true,
                    case .success(let note) = try await notes.lastOwner(of: id).last,
                    lines.contains(where: { $0.machine == note.machine })
                {
                    owner = note.machine
                }
            } catch let error as StoreError where error.mayConcernOneObject {
                problems.append("\(error)")
            }
            shares.removeAll { $0.id == id && $0.machine != owner }
        }
        return problems
    }

    /// The machine that has it may not know yet. Over it is when nothing of it is in the store.
    private func noteEnd(_ share: inout OtherShare) async throws {
        guard let end = try await notes.end(of: share.id) else { return }
        let isGone = try await !store.hasObjects(below: ShareKeys(share.id).folder)
        share.state = isGone ? .revoked : .revoking
        share.endedAt = isGone ? end.endedAt : nil
        share.endedBy = end.machine == share.machine ? nil : end.name
    }

    private func readAll() async throws -> (shares: [OtherShare], problems: [String]) {
        let found = try await states.read()
        let shares = found.machines.flatMap { machine in
            machine.state.shares.reversed().compactMap {
                OtherShare($0, of: machine.header.machine, machine.header.name, folders: machine.folders)
            }
        }
        // Of which machines there should be a catalogue, and is none, or not all of it.
        let consequence = ", and shares of it may be unknown"
        let (missing, problems) = try await MissingCatalogs(reader: states.reader).check(
            listed: found.listed, replaced: found.replaced, consequences: (consequence, consequence))
        return (shares, found.unread.map { $0.words(missing.names) } + problems)
    }
}

/// Takes a share of another machine of the user over: the ledger has it first, and this machine's catalogue, so that nobody
/// loses sight of it; then the store tells all machines whose it is, and then it is published from here. The machine that
/// had it leaves it alone as soon as it looks (``ShareNotes``). Whoever is killed between these goes on with it: the agent,
/// the next `sync`, or another attempt.
package struct ShareTakeOver: Sendable {
    private let ledger: LedgerQueue
    private let notes: ShareNotes
    private let watched: [WatchedFolder]

    /// - Parameter watched: by which the folder of the share is found here.
    package init(ledger: LedgerQueue, notes: ShareNotes, watched: [WatchedFolder]) {
        self.ledger = ledger
        self.notes = notes
        self.watched = watched
    }

    /// - Parameter writeCatalog: brings this machine's catalogue up to date.
    /// - Returns: what of it could not be held against its manifest, in plain words.
    /// - Throws: ``ShareError/over(_:)``, ``ShareError/unseen(_:)``, ``ShareError/sharedHere(_:)``; ``StoreError``, ``LedgerError``, `CancellationError`.
    package func run(_ share: OtherShare, writeCatalog: () async throws -> Void) async throws -> String? {
        let id = share.id
        guard share.state.isOpen else { throw ShareError.over(id) }
        // Without one it counts as taken back by whoever could not tell so.
        if share.state == .live { try await notes.requireSeen(id) }
        let isTaken = try await ledger { ledger in
            let places = FolderPlaces.moves(of: share.folders, to: try ledger.register(watched))
            return try ledger.takeShareUp(share.line, movedTo: places)
        }
        guard isTaken else { throw ShareError.sharedHere(id) }
        try await writeCatalog()
        let (fate, problem) = try await notes.takeUp(id)
        if let fate { throw ShareError(fate, of: id) }
        guard try await ledger({ try $0.share(id) }) != nil else { throw ShareError.takenOver(id) }
        // The machine that had it may be writing its page at this moment.
        try await ledger { try $0.noteShareOverwritten(id) }
        return problem
    }
}
