import SyncCore

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
