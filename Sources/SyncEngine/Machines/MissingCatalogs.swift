import SyncCore
import SyncLedger

/// Machines that tell that the store has a catalogue of theirs, and of which it has none. One that has just begun tells
/// nothing of the kind, and neither does one that keeps none.
struct MissingCatalogs: Sendable {
    let reader: CatalogReader

    /// By all notes but those of machines that were listed with a catalogue.
    /// - Parameters:
    ///   - listed: ids of machines of which a catalogue was listed before this.
    ///   - replaced: ids of machines in whose place another one goes on.
    /// - Returns: which are missing, and which notes could not be read, in plain words.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used; ``LedgerError``, `CancellationError`.
    func look(
        besides listed: Set<String>, replaced: Set<String>
    ) async throws -> (missing: [String], unread: [String]) {
        let own = try await reader.ledger { try $0.catalogStanding() }
        let notes = try await OtherMachines(store: reader.store, keys: reader.keys).listing(reader.keys.machines)
        let ids = notes.compactMap { reader.keys.machineID(of: $0.key) }
        return try await look(
            at: Set(ids).subtracting(listed).subtracting([own.machine]), replaced: replaced.union(own.replaces.keys))
    }

    /// The same for these machines alone.
    func look(
        at ids: Set<String>, replaced: Set<String>
    ) async throws -> (missing: [String], unread: [String]) {
        var replaced = replaced
        var notes: [MachineNote] = []
        var unread: [String] = []
        for id in ids.sorted() {
            let key = try reader.keys.machine(id)
            do {
                let bytes = try await reader.store.bytes(of: key, limit: MachineNote.maximumSize)
                let note = try MachineNote(parsing: bytes, of: id)
                replaced.formUnion(note.replaces)
                notes.append(note)
            } catch let error as StoreError where error.code == .notFound {
                continue
            } catch let error as StoreError where error.mayConcernOneObject {
                unread.append("\(key): \(error)")
            } catch let damage as MachineNote.Damage {
                unread.append("\(key): \(damage)")
            }
        }
        var missing: [String] = []
        for note in notes where !replaced.contains(note.id) {
            if try await isMissing(note) { missing.append(Self.loss(of: note)) }
        }
        return (missing, unread)
    }

    /// - Parameter note: as it was read a moment ago: the catalogue is in the store before a note tells of it.
    func isMissing(_ note: MachineNote) async throws -> Bool {
        guard note.hasCatalog == true else { return false }
        return try await reader.segments(of: note.id).isEmpty
    }

    static func loss(of note: MachineNote) -> String {
        "the catalogue of the machine \(note.name.escapingControls) is missing from the store; sync-agent sync on that "
            + "machine writes it anew at once, a running agent within a day"
    }
}
