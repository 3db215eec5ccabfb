package import FoundationEssentials
package import Logging
package import SyncCore
import SyncDigest
package import SyncLedger
package import SyncSystem
import SystemPackage

/// Tells the other machines of a user how this one stands: one small object, written when something in it has changed, and
/// once an hour as long as passes end well. It holds up no photo, and fails none. With the first one, the store gets an id.
package struct MachineNoteWriter: Sendable {
    /// Seconds after which a pass is told in which nothing else has changed.
    private static let interval: TimeInterval = 3_600

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let name: String
    private let version: String
    let keepsCatalog: Bool
    private let time: TimeSource
    private let logger: Logger

    /// - Parameters:
    ///   - name: what people call this machine.
    ///   - version: of the program.
    ///   - keepsCatalog: `false`: no catalogue is wanted, and none is told of, also as long as the store has one.
    package init(
        store: any ObjectStore, ledger: LedgerQueue, keys: KeyLayout, name: String, version: String, keepsCatalog: Bool,
        time: TimeSource, logger: Logger
    ) {
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.name = name
        self.version = version
        self.keepsCatalog = keepsCatalog
        self.time = time
        self.logger = logger
    }

    /// - Parameter passEndedAt: when a whole pass has just ended.
    /// - Returns: why nothing is told until somebody does what it says.
    /// - Throws: ``LedgerError``, `CancellationError`. What the store has against it is in the log, and tried again.
    @discardableResult
    package func run(passEndedAt: Date? = nil) async throws -> OlderLedger? {
        do {
            try await announce(passEndedAt: passEndedAt)
        } catch let error as OlderLedger {
            try await error.note(in: ledger, leaving: "what this machine tells the others", logger)
            return error
        } catch let error as HiddenNote {
            try await error.note(in: ledger, logger)
        } catch let error as StoreError {
            logger.warning(
                "the other machines are not told how this one stands: \(error); the next pass makes up for it")
        }
        return nil
    }

    /// - Parameters:
    ///   - passEndedAt: when a whole pass has just ended.
    ///   - always: whatever was told last: the store may have taken a note since, and its answer was lost.
    /// - Throws: ``OlderLedger`` where a later ledger has told of later writes, ``HiddenNote`` where nobody knows that;
    ///   ``StoreError`` when the store does not take it; ``LedgerError``, `CancellationError`.
    func announce(passEndedAt: Date? = nil, always: Bool = false) async throws {
        let now = time.now()
        let (written, noted, isBegunAnew) = try await ledger { [self] ledger in
            let written = try ledger.writtenMachineNote()
            let note = try self.note(ledger, isFirst: written == nil, passEndedAt)
            return (written, note, try ledger.catalogStatus().segments.isEmpty)
        }
        guard var note = noted else { return }
        let own = OwnNote(store: store, ledger: ledger, keys: keys)
        var early: OwnNote.Reading?
        if isBegunAnew, keepsCatalog {
            let reading = try await own.read()
            // What is lacking of it is told until it is written anew. Numbers of writes that did not come to the store
            // are none that anybody is to look for.
            note.catalogWrite = reading.catalogWrite ?? note.catalogWrite
            early = reading
        }
        if !always, let written, try written.digest == note.digest() {
            // A moment in the future is one from before the clock was set back.
            let isFresh = written.at <= now && now.timeIntervalSince(written.at) < Self.interval
            if isFresh || note.lastSyncAt.map({ $0 <= written.at && written.at <= now }) ?? true { return }
        }
        let told: OwnNote.Reading
        if let early { told = early } else { told = try await own.read() }
        if try await own.isOfLaterLedger(told) { throw OlderLedger() }
        if case .refused(let error) = told, error.code != .archived {
            let isInDoubt = isBegunAnew && note.catalogWrite != nil
            let isKnown = try await isInDoubt ? false : own.isCatalogAsKnown()
            if !isKnown { throw HiddenNote(reason: error) }
        }
        if let known = note.catalogWrite, let write = told.catalogWrite, !isBegunAnew {
            // A write that was interrupted may have been told by a ledger that has noted it.
            note.catalogWrite = max(known, write)
        }
        let (text, digest) = (try note.encoded(), try note.digest())
        try await StoreRecognition(store: store, ledger: ledger, keys: keys).makeKnown()
        try await ShareStorage(store: store).put(text: text, at: keys.machine(note.id))
        try await ledger.finish { try $0.noteMachineNote(digest, at: now) }
    }

    /// `nil` until something is stored: then there is nothing to tell.
    private func note(_ ledger: Ledger, isFirst: Bool, _ passEndedAt: Date?) throws -> MachineNote? {
        let overview = try ledger.overview()
        guard !isFirst || overview.tiers.contains(where: { $0.objects > 0 }) else { return nil }
        let status = try ledger.catalogStatus()
        let last = status.segments.last?.to ?? status.next - 1
        return MachineNote(
            id: status.machine, name: name, version: version, lastSyncAt: passEndedAt ?? overview.lastSyncAt,
            pending: overview.totals[.pending].files + overview.totals[.uploading].files,
            failed: overview.totals[.failed].files, lost: overview.lostHere,
            replaces: status.replaces, catalogWrite: keepsCatalog && status.writtenAt != nil ? last : nil)
    }
}

extension MachineNote {
    /// By which it is known what was told last, whenever that was.
    fileprivate func digest() throws -> String {
        var status = self
        status.lastSyncAt = nil
        return "\(SHA256Digest(of: try status.encoded()))"
    }
}

/// Holds what this machine has told the others against what the store has of it.
struct OwnNote: Sendable {
    enum Finding: Hashable, Sendable {
        case asTold
        /// It is gone, or another thing than was told last, and counts as not told: it is stored again at once.
        case lost
        /// It tells of a write that this ledger does not know: ``OlderLedger``.
        case ofLaterLedger
    }

    /// What the store gives of it.
    enum Reading: Hashable, Sendable {
        case note(MachineNote)
        /// It is gone, or damaged.
        case nothing
        /// It may be there: who may not read it, or has it archived, is told the same by the next request.
        case refused(StoreError)

        /// The last write that it tells of.
        var catalogWrite: Int? { if case .note(let note) = self { note.catalogWrite } else { nil } }
    }

    let store: any ReadableStore
    let ledger: LedgerQueue
    let keys: KeyLayout

    /// One GET.
    /// - Throws: ``StoreError`` when the store does not tell it now; ``LedgerError``, `CancellationError`.
    func read() async throws -> Reading {
        let machine = try await ledger { try $0.catalogStatus().machine }
        do {
            let text = try await store.bytes(of: keys.machine(machine), limit: MachineNote.maximumSize)
            return .note(try MachineNote(parsing: text, of: machine))
        } catch let error as StoreError where [.notFound, .badDigest, .tooLarge].contains(error.code) {
            return .nothing
        } catch let error as StoreError where [.accessDenied, .archived].contains(error.code) {
            return .refused(error)
        } catch is MachineNote.Damage {
            return .nothing
        }
    }

    /// One GET.
    /// - Throws: ``StoreError`` when the store does not tell; ``LedgerError``, `CancellationError`.
    func check() async throws -> Finding {
        let digest = try await ledger { try $0.writtenMachineNote()?.digest }
        let told = try await read()
        if try await isOfLaterLedger(told) { return .ofLaterLedger }
        guard let digest else { return .asTold }
        switch told {
        case .note(let note): if try note.digest() == digest { return .asTold }
        case .nothing: break
        case .refused(let error):
            // Nobody can read an archived one: it is stored again.
            if error.code != .archived { throw error }
        }
        let isNews = try await ledger { try $0.forgetMachineNote(digest) }
        return isNews ? .lost : .asTold
    }

    /// The last write that it tells of, where only a later ledger than this one can have made that. One GET.
    /// - Returns: `nil` also where it is gone, or damaged.
    /// - Throws: ``StoreError`` when the store does not tell, now or ever; ``LedgerError``, `CancellationError`.
    func laterWrite() async throws -> Int? {
        let told = try await read()
        if case .refused(let error) = told { throw error }
        return try await laterWrite(in: told)
    }

    /// The same of what was read.
    func laterWrite(in told: Reading) async throws -> Int? {
        guard let write = told.catalogWrite else { return nil }
        // After the note: what this ledger has written meanwhile it knows by now.
        let status = try await ledger { try $0.catalogStatus() }
        // What this ledger has begun is its own, also where the store has lost it since.
        return status.isOlder(than: write) && write != status.begun?.segment.to ? write : nil
    }

    /// Whether a later ledger than this one has told it. Where it is gone, the segments of the catalogue say so: one listing.
    fileprivate func isOfLaterLedger(_ told: Reading) async throws -> Bool {
        guard case .nothing = told else { return try await laterWrite(in: told) != nil }
        let found = try await segments()
        let status = try await ledger { try $0.catalogStatus() }
        return found.contains { status.isOlder(than: $0) && $0.to != status.begun?.segment.to }
    }

    private func segments() async throws -> [CatalogSegment] {
        let machine = try await ledger { try $0.catalogStatus().machine }
        return try await store.all(below: keys.catalog + machine + "/").keys.compactMap { CatalogSegment($0, keys) }
    }

    /// Whether the store has of this machine's catalogue what the ledger knows of it. One listing.
    fileprivate func isCatalogAsKnown() async throws -> Bool {
        let found = try await segments()
        let status = try await ledger { try $0.catalogStatus() }
        return status.leftovers(among: found) != nil
    }
}

/// The other machines of a user, as the store tells of them.
package struct MachineNotes: Sendable {
    package struct Machine: Hashable, Sendable {
        package var id: String
        /// `nil` where nothing but its catalogue is there, and cannot be read.
        package var name: String?
        /// `nil` where it has left none.
        package var note: MachineNote?
    }

    private let store: any ReadableStore
    private let keys: KeyLayout
    private let reader: CatalogReader

    /// - Parameter ledger: nothing is written to it.
    package init(store: any ReadableStore, ledger: LedgerQueue, keys: KeyLayout, pool: BlockingPool, time: TimeSource) {
        self.store = store
        self.keys = keys
        // Headers alone are read, and those in memory.
        reader = CatalogReader(store: store, ledger: ledger, keys: keys, spool: "/dev/null", pool: pool, time: time)
    }

    /// All that are there, but for those in whose place another one has come; in the order of their ids.
    /// - Returns: also what could not be read, or is missing, in plain words.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``LedgerError``, `CancellationError`.
    package func run() async throws -> (machines: [Machine], problems: [String]) {
        var (found, problems): ([String: Machine], [String]) = ([:], [])
        let own = try await reader.ledger { try $0.catalogStatus() }
        for key in try await store.all(below: keys.machines).keys {
            // This one's note and catalogue are stored anew by itself.
            guard let id = keys.machineID(of: key), id != own.machine else { continue }
            found[id] = Machine(id: id)
            do {
                let bytes = try await store.bytes(of: key, limit: MachineNote.maximumSize)
                let note = try MachineNote(parsing: bytes, of: id)
                found[id] = Machine(id: id, name: note.name, note: note)
            } catch let error as StoreError where error.mayConcernOneObject {
                problems.append("\(key): \(error)")
            } catch let damage as MachineNote.Damage {
                problems.append("\(key): \(damage)")
            }
        }
        let names = found.compactMapValues(\.name)
        let catalogs = try await reader.rereading { isLastTry in
            try await self.catalogs(besides: own.machine, isLastTry: isLastTry)
        }
        for id in catalogs.listed.keys where found[id]?.note == nil {
            found[id] = Machine(id: id, name: catalogs.headers[id]?.name)
        }
        var replaced = Replacements(own.replaces)
        for (id, header) in catalogs.headers { replaced.add(header.replaces ?? [:], by: id) }
        for machine in found.values { if let note = machine.note { replaced.add(note) } }
        let listed = catalogs.listed
        let doubtful = found.values.filter { machine in
            guard let write = machine.note?.catalogWrite else { return false }
            return listed[machine.id].map { $0 < write } ?? true
        }
        let living = found.values.filter { machine in
            let writes = [machine.note?.catalogWrite, listed[machine.id]].compactMap(\.self)
            return !replaced.covers(machine.id, last: writes.max())
        }
        let ids = Set(living.map(\.id))
        problems += catalogs.unread.filter { ids.contains($0.machine) }.map { $0.words(names) }
        let missing = MissingCatalogs(reader: reader)
        let absent = try await missing.check(
            Set(doubtful.map(\.id)), listed: listed, replaced: replaced, names: found.compactMapValues(\.name))
        problems += try missing.problems(absent)
        return (living.sorted { $0.id < $1.id }, problems)
    }

    private struct Catalogs {
        /// The last write of each, by machine.
        var listed: [String: Int] = [:]
        var headers: [String: CatalogHeader] = [:]
        var unread: [UnreadCatalog] = []
    }

    /// Of all other machines. One GET for each of them.
    private func catalogs(besides own: String, isLastTry: Bool) async throws -> Catalogs {
        var found = Catalogs()
        for (id, segments) in try await reader.segments().sorted(by: { $0.key < $1.key }) where id != own {
            guard let last = CatalogChain(segments).segments.last else { continue }
            found.listed[id] = last.to
            do {
                found.headers[id] = try await reader.header(of: last)
            } catch {
                guard let unread = UnreadCatalog(of: id, nil, error, reader, isLastTry: isLastTry) else { throw error }
                found.unread.append(unread)
            }
        }
        return found
    }
}
