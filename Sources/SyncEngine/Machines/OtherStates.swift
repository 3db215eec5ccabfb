import FoundationEssentials
import SyncCore
import SyncLedger
import SyncSystem
import SystemPackage

/// What the user's other machines tell besides photos: the last write of each tells all of it. Nothing is noted of it.
struct OtherStates: Sendable {
    struct Machine: Sendable {
        let header: CatalogHeader
        let state: CatalogState
        let folders: [CatalogFolder]
    }

    struct Findings: Sendable {
        /// By their ids, without those in whose place another one goes on: it tells what was theirs.
        var machines: [Machine] = []
        /// Machines whose last writes cannot be read.
        var unread: [UnreadCatalog] = []
        /// The last writes of all of which there is a catalogue, by their ids.
        var listed: [String: Int] = [:]
        /// By the first lines of all, also of those that cannot be read to their end.
        var replaced = Replacements()

        /// Why something of them may be read later, and not now.
        var passing: StoreError? { unread.lazy.compactMap(\.passing).first }
    }

    let reader: CatalogReader

    /// - Throws: ``StoreError`` when the store cannot be used; ``LedgerError``, `CancellationError`.
    func read() async throws -> Findings {
        try await reader.alone { try await reader.rereading { try await readAll(isLastTry: $0) } }
    }

    private func readAll(isLastTry: Bool) async throws -> Findings {
        let status = try await reader.ledger { try $0.catalogStatus() }
        var found = Findings()
        found.replaced = Replacements(status.replaces)
        // Only who can be read tells what was another one's.
        var told = found.replaced
        for (id, segments) in try await reader.segments().sorted(by: { $0.key < $1.key })
        where id != status.machine {
            guard let segment = CatalogChain(segments).segments.last else { continue }
            found.listed[id] = segment.to
            var name: String?
            do {
                let header = try await reader.header(of: segment)
                name = header.name
                found.replaced.add(header.replaces ?? [:], by: id)
                found.machines.append(try await machine(segment, header))
                told.add(header.replaces ?? [:], by: id)
            } catch {
                guard let unread = UnreadCatalog(of: id, name, error, reader, isLastTry: isLastTry) else { throw error }
                found.unread.append(unread)
            }
        }
        let last = found.listed
        found.machines.removeAll { told.covers($0.header.machine, last: last[$0.header.machine]) }
        found.unread.removeAll { told.covers($0.machine, last: last[$0.machine]) }
        return found
    }

    private func machine(_ segment: CatalogSegment, _ header: CatalogHeader) async throws -> Machine {
        let found = Lock((state: CatalogState(), folders: [CatalogFolder]()))
        try await reader.lines(of: segment) { line in
            found.withLock { found in
                if case .folder(let folder) = line { found.folders.append(folder) }
                _ = found.state.take(line)
            }
        }
        let (state, folders) = found.withLock { $0 }
        return Machine(header: header, state: state, folders: folders)
    }
}

/// The user's machines, by what they leave in the store.
struct OtherMachines: Sendable {
    typealias Listed = (key: ObjectKey, modified: Date?)

    /// Seconds without a sign after which a machine counts as gone.
    private static let silence: TimeInterval = 2 * 86_400

    let store: any ReadableStore
    let keys: KeyLayout

    /// When each machine has stored its note, or something of its catalogue, last; one of which that is not known is here.
    func lastSigns() async throws -> [String: Date] {
        var signs: [String: Date] = [:]
        for (key, modified) in try await listing(keys.machines) + listing(keys.catalog) {
            guard let id = CatalogSegment(key, keys)?.machine ?? keys.machineID(of: key) else { continue }
            signs[id] = max(signs[id] ?? .distantPast, modified ?? .distantFuture)
        }
        return signs
    }

    /// Whether there is another one than this. One whose place this one has taken counts where its catalogue has been
    /// written since.
    /// - Parameter status: this machine's.
    func exist(beside status: CatalogStatus) async throws -> Bool {
        let taken = Replacements(status.replaces)
        for (key, _) in try await listing(keys.machines) + listing(keys.catalog) {
            let segment = CatalogSegment(key, keys)
            guard let id = segment?.machine ?? keys.machineID(of: key), id != status.machine else { continue }
            if !taken.covers(id, last: segment?.to) { return true }
        }
        return false
    }

    /// - Parameter now: by the store's clock.
    static func isSilent(since sign: Date, now: Date) -> Bool { now.timeIntervalSince(sign) >= silence }

    /// Of few objects.
    func listing(_ prefix: String) async throws -> [Listed] {
        let found = try await store.all(below: prefix)
        return found.objects.map { ($0.key, $0.modified) } + found.problems.map { ($0.key, nil) }
    }
}
