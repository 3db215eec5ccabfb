import SyncCore
import SyncLedger

/// Machines that tell that the store has a catalogue of theirs, and of which it has none, or none that goes up to the write
/// that they tell of. One that has just begun tells nothing of the kind, and neither does one that keeps none.
struct MissingCatalogs: Sendable {
    /// What follows from a catalogue that is gone, and from one whose last writes are, as the ends of clauses.
    typealias Consequences = (gone: String, cut: String)

    /// For who reads what there is. Nobody tells of it any more where that machine's place is taken.
    static let ofRebuild: Consequences = (
        gone: ", and what it shares is not known here",
        cut: ": what only they told of is under recovered/, but for its shares, which are not known here: "
            + unknownShares
    )
    static let unknownShares =
        "sync-agent shares --revoke ID ends one, by the name of a folder below shares/ in the store that "
        + "sync-agent shares does not list"

    /// A catalogue whose last writes are gone.
    struct Cut: Sendable {
        let note: MachineNote
        let lacks: ClosedRange<Int>
    }

    struct Findings: Sendable {
        /// Notes of those machines, by their ids.
        fileprivate(set) var missing: [MachineNote] = []
        fileprivate(set) var cut: [Cut] = []
        fileprivate var replaced: Replacements
        /// Notes that tell of no catalogue, as those of version 1.0 do, of machines that have none.
        fileprivate var silent: [MachineNote] = []
        /// Of those whose notes tell it, or whose catalogues were listed.
        fileprivate var lastWrites: [String: Int] = [:]
        fileprivate var reasons: [String: String] = [:]

        /// Machines of which nothing says whether there should be a catalogue.
        var untold: [MachineNote] { silent.filter { !isReplaced($0.id) } }

        /// Up to which write there should be those catalogues whose last ones are gone, by machine.
        var promised: [String: Int] {
            Dictionary(cut.map { ($0.note.id, $0.lacks.upperBound) }) { first, _ in first }
        }

        /// Whether all notes could be read.
        var isWhole: Bool { isListed && reasons.isEmpty }
        fileprivate var isListed = true

        /// Whether this machine has left a note.
        fileprivate(set) var hasOwnNote = false

        /// What people call the machines whose notes were read, by their ids.
        fileprivate(set) var names: [String: String] = [:]

        /// Machines of the missing ones whose name another machine has, too.
        fileprivate var namesakes: Set<String> = []

        /// Why of some of these machines it is not known, in plain words.
        fileprivate func unread(of isMeant: (String) -> Bool) -> [String] {
            reasons.filter { !isReplaced($0.key) && isMeant($0.key) }.sorted { $0.key < $1.key }.map(\.value)
        }

        fileprivate func isReplaced(_ id: String) -> Bool { replaced.covers(id, last: lastWrites[id]) }
    }

    let reader: CatalogReader

    /// By all notes but that of this machine.
    /// - Parameters:
    ///   - listed: the last write of each machine of which a catalogue was listed before this.
    ///   - replaced: what those tell of it, and this machine.
    /// - Returns: also what is told of it, in plain words.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``LedgerError``, `CancellationError`.
    func check(
        listed: [String: Int], replaced: Replacements, consequences: Consequences
    ) async throws -> (found: Findings, problems: [String]) {
        do {
            let own = try await reader.ledger { try $0.catalogStatus().machine }
            let notes = try await OtherMachines(store: reader.store, keys: reader.keys).listing(reader.keys.machines)
            let ids = Set(notes.compactMap { reader.keys.machineID(of: $0.key) })
            var found = try await check(ids.subtracting([own]), listed: listed, replaced: replaced)
            found.hasOwnNote = ids.contains(own)
            return (found, try problems(found, consequences))
        } catch let error as StoreError where error.mayConcernOneObject {
            return (Findings(replaced: replaced, isListed: false), ["which machines there are: \(error)"])
        }
    }

    /// The same for these machines alone: one GET for each of them.
    /// - Parameter names: what people call machines, as was read before this.
    func check(
        _ ids: Set<String>, listed: [String: Int], replaced: Replacements, names: [String: String] = [:]
    ) async throws -> Findings {
        var found = Findings(replaced: replaced, lastWrites: listed)
        var doubtful: [(note: MachineNote, write: Int)] = []
        for id in ids.sorted() {
            guard let note = try await self.note(of: id, &found) else { continue }
            found.names[id] = note.name
            found.replaced.add(note)
            found.lastWrites[id] = [note.catalogWrite, listed[id]].compactMap(\.self).max()
            if let write = note.catalogWrite {
                if listed[id].map({ $0 < write }) ?? true { doubtful.append((note, write)) }
            } else if listed[id] == nil {
                found.silent.append(note)
            }
        }
        for (note, write) in doubtful where !found.isReplaced(note.id) {
            // A catalogue comes before the note that tells of it, and goes after one that does not: between two that
            // tell of it, it is there, up to that write.
            do {
                var last = try await lastListed(note.id)
                if let last, last >= write { continue }
                guard let second = try await self.note(of: note.id, &found)?.catalogWrite else { continue }
                // While a segment takes the place of another one, a listing may have neither.
                let again = try await lastListed(note.id)
                last = [last, again].compactMap(\.self).max()
                if let last, last >= write { continue }
                guard let last else {
                    found.missing.append(note)
                    continue
                }
                // Whoever has written since has seen what is gone, and has written all of it anew.
                if second == write { found.cut.append(Cut(note: note, lacks: (last + 1)...write)) }
            } catch let error as StoreError where error.mayConcernOneObject {
                found.reasons[note.id] = "\(Self.catalog(of: note)): \(error)"
            }
        }
        if !found.missing.isEmpty {
            found.namesakes = try await namesakes(of: found.missing, names.merging(found.names) { $1 })
        }
        return found
    }

    /// What this machine's own note tells of and the store lacks, where a later ledger told it. One GET.
    /// - Parameter listed: the last write of each machine of which a catalogue was listed.
    /// - Returns: the last write that it tells of, `nil` where this ledger knows that one; and what is lacking.
    func readOwn(
        listed: [String: Int], _ consequences: Consequences
    ) async throws -> (told: Int?, problems: [String]) {
        let status = try await reader.ledger { try $0.catalogStatus() }
        let key = try reader.keys.machine(status.machine)
        let told: Int?
        do {
            told = try await OwnNote(store: reader.store, ledger: reader.ledger, keys: reader.keys).laterWrite()
        } catch let error as StoreError where error.mayConcernOneObject {
            return (nil, ["\(key): \(error)"])
        }
        guard let told else { return (nil, []) }
        let loss: String
        if let last = listed[status.machine] {
            if last >= told { return (told, []) }
            loss = "lacks its writes \(last + 1) to \(told)\(consequences.cut)"
        } else {
            // Of the writes before these the ledger knows what they told.
            loss =
                "is missing from the store, and the ledger does not know its writes \(status.next) to \(told)"
                + consequences.cut
        }
        let remedy = "the next sync-agent sync writes it anew, unless store.catalog is off"
        return (told, ["the catalogue of this machine \(loss); \(remedy)"])
    }

    /// By a listing of its own; `nil` where there is none.
    private func lastListed(_ machine: String) async throws -> Int? {
        CatalogChain(try await reader.segments(of: machine)[machine] ?? []).segments.last?.to
    }

    /// - Parameter names: of other machines. What this one is called, its note tells.
    private func namesakes(of missing: [MachineNote], _ names: [String: String]) async throws -> Set<String> {
        let own = try await reader.ledger { try $0.catalogStatus().machine }
        var (names, aside) = (names, Findings(replaced: Replacements()))
        names[own] = try await note(of: own, &aside)?.name
        for note in missing { names[note.id] = nil }
        let others = Set(names.values)
        return Set(missing.filter { others.contains($0.name) }.map(\.id))
    }

    /// - Returns: `nil` where there is none, or none that can be read.
    private func note(of id: String, _ found: inout Findings) async throws -> MachineNote? {
        let key = try reader.keys.machine(id)
        do {
            let bytes = try await reader.store.bytes(of: key, limit: MachineNote.maximumSize)
            return try MachineNote(parsing: bytes, of: id)
        } catch let error as StoreError where error.code == .notFound {
            return nil
        } catch let error as StoreError where error.mayConcernOneObject {
            found.reasons[id] = "\(key): \(error)"
        } catch let damage as MachineNote.Damage {
            found.reasons[id] = "\(key): \(damage)"
        }
        return nil
    }

    /// What is missing, and what could not be looked at, in plain words.
    /// - Parameter isMeant: the machines that count.
    func problems(
        _ found: Findings, _ consequences: Consequences = ("", ""), of isMeant: (String) -> Bool = { _ in true }
    ) throws -> [String] {
        let gone = try found.missing.filter { isMeant($0.id) }.map { note in
            let key = try reader.keys.machine(note.id)
            let loss = "\(Self.catalog(of: note)) is missing from the store\(consequences.gone); "
            if found.namesakes.contains(note.id) {
                return "\(loss)another machine has that name. Where it is the same one, which has lost its state and "
                    + "begun anew, delete the note of before from the store after a sync-agent rebuild there: \(key). "
                    + "Else \(Self.remedy)"
            }
            return "\(loss)\(Self.remedy). Where the machine is gone for good, delete its note from the store: \(key)"
        }
        let cut = try found.cut.filter { isMeant($0.note.id) }.map { cut in
            let (key, lacks) = (try reader.keys.machine(cut.note.id), cut.lacks)
            return "\(Self.catalog(of: cut.note)) lacks its writes \(lacks.lowerBound) to \(lacks.upperBound)"
                + "\(consequences.cut); \(Self.remedy). Where the machine is gone for good, delete its note from the "
                + "store after a sync-agent rebuild: \(key)"
        }
        return gone + cut + found.unread(of: isMeant)
    }

    fileprivate static let remedy =
        "sync-agent sync on that machine writes it anew at once, a running agent within a day"

    private static func catalog(of note: MachineNote) -> String {
        "the catalogue of the machine \(note.name.escapingControls)"
    }
}

/// A catalogue of another machine that is there, and cannot be read, or not all of it.
struct UnreadCatalog: Sendable, CustomStringConvertible {
    let machine: String
    /// What people call it; `nil` where that could not be read.
    private let name: String?
    private let reason: String
    /// What the store says now, where it may say something else later.
    let passing: StoreError?
    /// Whether only its machine can bring it back.
    private let isDamaged: Bool

    /// `nil` for what concerns all catalogues, and, but for the last try, for what is to be looked for again.
    init?(of machine: String, _ name: String?, _ error: any Error, _ reader: CatalogReader, isLastTry: Bool) {
        guard let reason = reader.reason(error, isLastTry: isLastTry) else { return nil }
        (self.machine, self.name, self.reason) = (machine, name, reason)
        let said = error as? StoreError
        let isLasting = said.map { $0.code == .archived || $0.code == .badDigest } ?? true
        passing = isLasting ? nil : said
        if case .damaged? = error as? CatalogError { isDamaged = true } else { isDamaged = said?.code == .badDigest }
    }

    /// Of which writes are missing before the last one.
    init(withGapsOf machine: String, _ name: String?) {
        (self.machine, self.name, reason) = (machine, name, "writes of it are missing")
        (passing, isDamaged) = (nil, true)
    }

    var description: String { words([:]) }

    /// - Parameter names: what the machines' notes tell.
    func words(_ names: [String: String]) -> String {
        let name = (name ?? names[machine]).map { "the machine \($0.escapingControls)" } ?? "machine \(machine)"
        let remedy =
            isDamaged
            ? "; \(MissingCatalogs.remedy). Where the machine is gone for good, sync-agent rebuild --machine \(machine) "
                + "on another one takes its place with what can still be read" : ""
        return "the catalogue of \(name): \(reason)\(remedy)"
    }
}

/// Machines in whose place others go on, and up to which write of their catalogues. One that wrote later lives on.
struct Replacements: Sendable {
    private var writes: [String: Int]
    /// What catalogues tell, by the machine that does.
    private var told: [String: [String: Int]] = [:]

    /// - Parameter own: what this machine has taken over.
    init(_ own: [String: Int] = [:]) {
        writes = own
    }

    /// What the catalogue of a machine tells.
    /// - Parameter machine: it goes on in no place of its own.
    mutating func add(_ replaces: [String: Int], by machine: String) {
        told[machine] = replaces
        merge(replaces, by: machine)
    }

    private mutating func merge(_ replaces: [String: Int], by machine: String) {
        writes.merge(replaces.filter { $0.key != machine }) { max($0, $1) }
    }

    /// What the note of a machine tells, after its catalogue.
    mutating func add(_ note: MachineNote) {
        // Version 1.0 does not tell up to which write. Its catalogue does.
        let known = note.replacedUpTo ?? told[note.id] ?? [:]
        merge(Dictionary(note.replaces.map { ($0, known[$0] ?? Int.max) }) { first, _ in first }, by: note.id)
    }

    /// - Parameter last: the last write of the machine; `nil` where nobody tells it: then it counts as one before.
    func covers(_ machine: String, last: Int?) -> Bool {
        guard let write = writes[machine] else { return false }
        return last.map { $0 <= write } ?? true
    }
}
