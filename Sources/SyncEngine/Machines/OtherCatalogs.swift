import FoundationEssentials
import SyncCore
import SyncLedger
import SyncSystem
import SystemPackage

/// Reads what the user's other machines name into the ledger's table of it: the last word about each path. A thousand lines
/// are in memory.
struct OtherCatalogs: Sendable {
    struct Findings: Sendable {
        /// What people call each machine, by its id.
        var names: [String: String] = [:]
        /// What could not be read of machines that are silent, in plain words.
        var problems: [String] = []
        /// Whether that nobody names an object says something: all that silent machines may name was read.
        var isAllRead = false
        /// What people call the machines whose catalogues were read whole.
        var whole: Set<String> = []
        /// The ids of machines whose catalogues go up to what their notes tell, and were read whole: what such a machine
        /// does not name, it needs no more.
        var complete: Set<String> = []
        /// What people call silent machines without a catalogue whose notes do not say that there should be one. What one of
        /// them named before, it may need still.
        var untold: Set<String> = []
    }

    private static let batch = 1_000

    let reader: CatalogReader
    let ledger: LedgerQueue
    /// Of this user. What a catalogue names elsewhere is none of it.
    let prefixes: [String]

    /// - Parameters:
    ///   - machines: the user's other ones, by id, and whether each is silent. The rest see to what they name.
    ///   - asksAll: whether the notes of those that give signs are read, too, for ``Findings/complete``.
    /// - Throws: ``StoreError`` when the store cannot be used; ``LedgerError``, `CancellationError`.
    func read(_ machines: [String: Bool], asksAll: Bool = false) async throws -> Findings {
        try await reader.alone {
            try await reader.rereading { isLastTry in
                try await ledger { try $0.beginOtherPlaces() }
                return try await readAll(machines, asksAll: asksAll, isLastTry: isLastTry)
            }
        }
    }

    private func readAll(_ others: [String: Bool], asksAll: Bool, isLastTry: Bool) async throws -> Findings {
        let status = try await ledger { try $0.catalogStatus() }
        let silent = Set(others.filter(\.value).keys)
        var findings = Findings()
        var machines: [(id: String, chain: CatalogChain, last: Int)] = []
        var replaced = Replacements(status.replaces)
        var headless: Set<String> = []
        var unread: [UnreadCatalog] = []
        let listed = try await reader.segments()
        for (id, segments) in listed.sorted(by: { $0.key < $1.key }) where id != status.machine {
            let chain = CatalogChain(segments)
            guard let last = chain.segments.last else { continue }
            do {
                let header = try await reader.header(of: last)
                findings.names[id] = header.name
                replaced.add(header.replaces ?? [:], by: id)
            } catch {
                guard let problem = UnreadCatalog(of: id, nil, error, reader, isLastTry: isLastTry) else { throw error }
                headless.insert(id)
                // What comes before it may be whole, but for one of a later version. It is told when it is read.
                if case .newer? = error as? CatalogError {
                    unread.append(problem)
                    continue
                }
            }
            machines.append((id, chain, last.to))
        }
        for machine in machines {
            // Another one goes on in its place, and names what was its.
            if replaced.covers(machine.id, last: machine.last) { continue }
            let (isSilent, name) = (silent.contains(machine.id), findings.names[machine.id])
            if !machine.chain.gaps.isEmpty { unread.append(UnreadCatalog(withGapsOf: machine.id, name)) }
            for segment in machine.chain.segments {
                do {
                    try await read(segment, lives: !isSilent)
                } catch {
                    guard let problem = UnreadCatalog(of: machine.id, name, error, reader, isLastTry: isLastTry) else {
                        throw error
                    }
                    unread.append(problem)
                }
            }
        }
        let missing = MissingCatalogs(reader: reader)
        // Of one that gives signs the note may tell whose place it has taken.
        let last = listed.compactMapValues { CatalogChain($0).segments.last?.to }
        let asked = Set(others.keys)
        let absent = try await missing.check(
            asksAll ? asked : asked.subtracting(last.keys).union(headless).union(silent), listed: last,
            replaced: replaced, names: findings.names)
        findings.names.merge(absent.names) { header, _ in header }
        findings.problems = unread.filter { silent.contains($0.machine) }.map { $0.words(absent.names) }
        findings.problems += try missing.problems(absent, of: silent.contains)
        let broken = Set(unread.map(\.machine)).union(absent.promised.keys)
        findings.whole = Set(machines.filter { !broken.contains($0.id) }.compactMap { findings.names[$0.id] })
            .subtracting(absent.missing.map(\.name))
        if asksAll, absent.isWhole {
            let read = machines.filter { !replaced.covers($0.id, last: $0.last) }.map(\.id)
            findings.complete = asked.intersection(read).subtracting(broken)
        }
        findings.isAllRead = findings.problems.isEmpty
        findings.untold = Set(absent.untold.filter { silent.contains($0.id) }.map(\.name))
        return findings
    }

    /// What could be read counts where its checksum proves it.
    /// - Throws: also why it is not whole: ``CatalogError``.
    private func read(_ segment: CatalogSegment, lives: Bool) async throws {
        let lines = Lines(ledger.ledger, segment.machine, lives: lives, prefixes)
        do {
            try await reader.lines(of: segment) { try lines.take($0, atOnce: Self.batch) }
        } catch let error as CatalogError {
            try await ledger { _ in try lines.flush() }
            throw error
        }
        try await ledger { _ in try lines.flush() }
    }
}

/// The lines of one segment on their way.
private final class Lines: Sendable {
    private struct State {
        /// By the numbers of the segment.
        var folders: [Int64: FilePath] = [:]
        var waiting: [(path: FilePath, photo: CatalogPhoto?)] = []
    }

    private let ledger: Ledger
    private let machine: String
    private let lives: Bool
    private let prefixes: [String]
    private let state = Lock(State())

    init(_ ledger: Ledger, _ machine: String, lives: Bool, _ prefixes: [String]) {
        self.ledger = ledger
        self.machine = machine
        self.lives = lives
        self.prefixes = prefixes
    }

    /// - Parameter count: so many wait at most.
    func take(_ line: CatalogLine, atOnce count: Int) throws {
        let isFull = state.withLock { state in
            switch line {
            case .folder(let folder): state.folders[folder.folder] = folder.path.path
            case .photo(let photo):
                guard let folder = state.folders[photo.place.folder] else { break }
                let isOurs = prefixes.contains { photo.key.rawValue.utf8.starts(with: $0.utf8) }
                state.waiting.append((folder.pushing(photo.place.path), isOurs ? photo : nil))
            case .gone(let gone):
                guard let folder = state.folders[gone.folder] else { break }
                state.waiting.append((folder.pushing(gone.path), nil))
            default: break
            }
            return state.waiting.count >= count
        }
        if isFull { try flush() }
    }

    func flush() throws {
        let places = state.withLock { exchange(&$0.waiting, with: []) }
        if !places.isEmpty { try ledger.noteOtherPlaces(places, of: machine, lives: lives) }
    }
}
