import SyncCore
import SyncLedger

/// Machines that tell that the store has a catalogue of theirs, and of which it has none. One that has just begun tells
/// nothing of the kind, and neither does one that keeps none.
struct MissingCatalogs: Sendable {
    struct Findings: Sendable {
        /// Notes of those machines, by their ids.
        fileprivate(set) var missing: [MachineNote] = []
        fileprivate var replaced: Replacements
        /// Notes that tell of no catalogue, as those of version 1.0 do.
        fileprivate var silent: [MachineNote] = []
        /// Of those whose notes tell.
        fileprivate var lastWrites: [String: Int] = [:]
        fileprivate var reasons: [String: String] = [:]

        /// Machines of which nothing says whether there should be a catalogue.
        var untold: [MachineNote] { silent.filter { !isReplaced($0.id) } }

        /// Why of some it is not known, in plain words.
        var unread: [String] { unread(of: { _ in true }) }

        /// The same, of these machines alone.
        func unread(of isMeant: (String) -> Bool) -> [String] {
            reasons.filter { !isReplaced($0.key) && isMeant($0.key) }.sorted { $0.key < $1.key }.map(\.value)
        }

        fileprivate func isReplaced(_ id: String) -> Bool { replaced.covers(id, last: lastWrites[id]) }
    }

    let reader: CatalogReader

    /// By all notes but those of this machine and of those that were read.
    /// - Parameters:
    ///   - read: ids of machines of which a catalogue was read before this.
    ///   - replaced: what those tell of it, and this machine.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``LedgerError``, `CancellationError`.
    func look(besides read: Set<String>, replaced: Replacements) async throws -> Findings {
        let own = try await reader.ledger { try $0.catalogStanding().machine }
        let notes = try await OtherMachines(store: reader.store, keys: reader.keys).listing(reader.keys.machines)
        let ids = notes.compactMap { reader.keys.machineID(of: $0.key) }
        return try await look(at: Set(ids).subtracting(read).subtracting([own]), replaced: replaced)
    }

    /// The same for these machines alone.
    func look(at ids: Set<String>, replaced: Replacements) async throws -> Findings {
        var found = Findings(replaced: replaced)
        var doubtful: [MachineNote] = []
        for id in ids.sorted() {
            guard let note = try await self.note(of: id, &found) else { continue }
            found.replaced.add(note)
            found.lastWrites[id] = note.catalogWrite
            if note.catalogWrite != nil { doubtful.append(note) } else { found.silent.append(note) }
        }
        for note in doubtful where !found.isReplaced(note.id) {
            // A catalogue comes before the note that tells of it, and goes after one that does not: between two that
            // tell of it, it is there.
            do {
                guard try await reader.segments(of: note.id).isEmpty else { continue }
            } catch let error as StoreError where error.mayConcernOneObject {
                found.reasons[note.id] = "the catalogue of the machine \(note.name.escapingControls): \(error)"
                continue
            }
            if try await self.note(of: note.id, &found)?.catalogWrite != nil { found.missing.append(note) }
        }
        return found
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

    /// - Parameter consequence: what follows from it, as the end of a clause.
    func loss(of note: MachineNote, _ consequence: String = "") throws -> String {
        let key = try reader.keys.machine(note.id)
        return "the catalogue of the machine \(note.name.escapingControls) is missing from the store\(consequence); "
            + "sync-agent sync on that machine writes it anew at once, a running agent within a day. Where the machine "
            + "is gone for good, delete its note from the store: \(key)"
    }
}

/// Machines in whose place others go on, and up to which write of their catalogues. One that wrote later lives on.
struct Replacements: Sendable {
    private var writes: [String: Int]

    /// - Parameter own: what this machine has taken over.
    init(_ own: [String: Int] = [:]) {
        writes = own
    }

    /// - Parameter machine: which tells it. It goes on in no place of its own.
    mutating func add(_ replaces: [String: Int], by machine: String) {
        writes.merge(replaces.filter { $0.key != machine }) { max($0, $1) }
    }

    /// What the note of a machine tells.
    mutating func add(_ note: MachineNote) {
        let known = note.replacedUpTo ?? [:]
        // Version 1.0 does not tell up to which write.
        add(Dictionary(note.replaces.map { ($0, known[$0] ?? Int.max) }) { first, _ in first }, by: note.id)
    }

    /// - Parameter last: the last write of the machine; `nil` where nobody tells it: then it counts as one before.
    func covers(_ machine: String, last: Int?) -> Bool {
        guard let write = writes[machine] else { return false }
        return last.map { $0 <= write } ?? true
    }
}
