package import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage

/// Which machines there are, and whose place this one takes.
extension LedgerRebuild {
    /// No machine has the name that was given, or it could not be told which one is meant.
    package struct UnknownMachine: Error, Hashable, Sendable, CustomStringConvertible {
        package var name: String
        package var known: [String]

        package var description: String {
            let list = known.isEmpty ? "there is none" : "there are " + known.joined(separator: ", ")
            return "no machine in the store's catalogue is called \(name.escapingControls): \(list)"
        }
    }

    /// Several machines have the name that was given, or that of this machine. One of them may live, whose place is not
    /// to be taken by chance.
    package struct SharedName: Error, Hashable, Sendable, CustomStringConvertible {
        package struct Candidate: Hashable, Sendable {
            package var id: String
            /// When it stored its note, or something of its catalogue, last; `nil` where the store does not tell.
            package var lastSign: Date?

            fileprivate var words: String {
                let sign = lastSign.map { "last sign of life \($0.formatted(.iso8601))" } ?? "no sign of life"
                return "\(id) (\(sign))"
            }
        }

        package var name: String
        package var candidates: [Candidate]

        package var description: String {
            let list = candidates.map(\.words).joined(separator: ", ")
            let count = "\(candidates.count) machines in the store's catalogue"
            return "\(count) are called \(name.escapingControls): \(list). Name the one whose place is "
                + "to be taken by its id: sync-agent rebuild --machine ID"
        }
    }

    /// One machine's catalogue, and what is to become of it.
    struct Entry: Sendable {
        var machine: Machine
        var chain: CatalogChain
        var replaces: [String: Int]
        var last: Int
    }

    /// Those that are to be read, this one first; the others are in the summary alone. And the last write of this machine's
    /// that its note tells of, and its ledger does not know.
    func plan(
        _ found: [String: [CatalogSegment]], _ wanted: String?, takesOver: Bool, _ summary: inout Summary
    ) async throws -> (entries: [Entry], told: Int?) {
        let status = try await ledger { try $0.catalogStatus() }
        let own = status.machine
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
                    summary.unread.note(problem(segment, entry, "\(error)"))
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
        let missing = try await findMissing(entries, status)
        summary.unread.note(contentsOf: missing.problems)
        // Those whose place this machine has taken before, whether its own catalogue says so yet or not.
        let before = entries.filter { entry in
            entry.machine.role == .other && status.replaces[entry.machine.id].map { entry.last <= $0 } ?? false
        }.map(\.machine.id)
        let isPlain = before.isEmpty || wanted != nil
        // One that was ended has chosen already, whatever this machine has written since.
        let begun = entries.first { $0.machine.role == .other && $0.machine.id == status.rebuildOf }?.machine.id
        let hasName = try await isKnown(to: missing.found) || entries.contains { $0.machine.role == .unreadable }
        let choice =
            takesOver && isPlain ? try await choose(among: entries, own, wanted ?? begun, hasName: hasName) : nil
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
        // Whose place is taken is not missed any more for what nobody can bring back.
        for index in entries.indices {
            entries[index].last = missing.found.promised[entries[index].machine.id] ?? entries[index].last
        }
        var told: Int?
        if takesOver, missing.found.hasOwnNote {
            let own = try await MissingCatalogs(reader: reader)
                .readOwn(listed: missing.listed, MissingCatalogs.ofRebuild)
            summary.unread.note(contentsOf: own.problems)
            told = own.told
        }
        summary.machines = entries.map(\.machine)
        let order: [Machine.Role] = [.this, .takenOver, .other]
        return (order.flatMap { role in entries.filter { $0.machine.role == role } }, told)
    }

    /// What there should be of other machines and is not, also in plain words.
    private func findMissing(
        _ entries: [Entry], _ status: CatalogStatus
    ) async throws -> (found: MissingCatalogs.Findings, listed: [String: Int], problems: [String]) {
        var replaced = Replacements(status.replaces)
        for entry in entries { replaced.add(entry.replaces, by: entry.machine.id) }
        let listed = Dictionary(entries.map { ($0.machine.id, $0.last) }) { first, _ in first }
        let (found, problems) = try await MissingCatalogs(reader: reader)
            .check(listed: listed, replaced: replaced, consequences: MissingCatalogs.ofRebuild)
        return (found, listed, problems)
    }

    /// Whether this machine, or one of its name, may have told the others of itself.
    private func isKnown(to found: MissingCatalogs.Findings) async throws -> Bool {
        let hasTold = try await ledger { try $0.writtenMachineNote() != nil || $0.catalogStatus().writtenAt != nil }
        return hasTold || found.hasOwnNote || !found.isWhole || found.names.values.contains(machineName)
    }

    /// The id of the machine whose place this one takes: the one that was named; else none where this one is known by its
    /// own id; else the one of its name; else the only one. A name that several have names none of them.
    /// - Parameter hasName: whether the store may know this machine without a catalogue: that was lost, or it keeps none. The
    ///   place of another one, which may live, is not its to take then, unless somebody says so.
    private func choose(
        among entries: [Entry], _ own: String, _ wanted: String?, hasName: Bool
    ) async throws -> String? {
        let readable = entries.filter { $0.machine.role != .unreadable }
        let living = entries.filter { $0.machine.role == .other }
        if let wanted {
            if let named = readable.first(where: { $0.machine.id == wanted }) { return named.machine.id }
            // One that has this machine's own id has its place already; what is meant is the one of that name before it.
            for candidates in [living.filter { $0.machine.id != own }, living, readable] {
                let named = candidates.filter { $0.machine.name == wanted }
                if !named.isEmpty { return try await only(of: named, called: wanted) }
            }
            throw UnknownMachine(
                name: wanted, known: entries.map { "\($0.machine.name.escapingControls) (\($0.machine.id))" })
        }
        if living.contains(where: { $0.machine.id == own }) { return nil }
        let namesakes = living.filter { $0.machine.name == machineName }
        if !namesakes.isEmpty { return try await only(of: namesakes, called: machineName) }
        return !hasName && living.count == 1 ? living.first?.machine.id : nil
    }

    /// - Throws: ``SharedName`` when it is not the only one.
    private func only(of named: [Entry], called name: String) async throws -> String? {
        if named.count == 1 { return named[0].machine.id }
        let signs = try await OtherMachines(store: store, keys: keys).lastSigns()
        let candidates = named.map { entry in
            // One of which the store does not tell when is in the far future.
            let sign = signs[entry.machine.id].flatMap { $0 == .distantFuture ? nil : $0 }
            return SharedName.Candidate(id: entry.machine.id, lastSign: sign ?? entry.machine.writtenAt)
        }
        throw SharedName(name: name, candidates: candidates)
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

    /// What is known to be gone or damaged of others, before their catalogues are read.
    /// - Parameter known: the signs that machines give, once they were asked for: that is done once, where it is needed.
    func forgetLeftToOthers(_ known: inout [String: Date]?) async throws -> LeftBehind {
        let overview = try await ledger { try $0.overview() }
        if overview.broken + overview.leftToOthers == 0 { return LeftBehind() }
        let machines = Set(try await self.signs(&known).keys)
        return try await ledger { try $0.forgetLeft(to: machines) }
    }

    /// A machine that has deleted a project writes its catalogue with its next pass, and names it until then.
    /// - Parameter known: as of ``forgetLeftToOthers(_:)``.
    func leaveFilesToLiving(_ known: inout [String: Date]?) async throws {
        if try await ledger({ try $0.overview().lost }) == 0 { return }
        let now = time.now()
        let signs = try await self.signs(&known)
        let living = Set(signs.filter { !OtherMachines.isSilent(since: $0.value, now: now) }.keys)
        try await ledger { try $0.leaveFiles(to: living) }
    }

    private func signs(_ known: inout [String: Date]?) async throws -> [String: Date] {
        if let known { return known }
        let found = try await OtherMachines(store: store, keys: keys).lastSigns()
        known = found
        return found
    }

    func noteTakenOver(_ plan: [Entry]) async throws {
        let taken = plan.filter { $0.machine.role == .takenOver }
        let machines = taken.reduce(into: [String: Int]()) { machines, entry in
            machines.merge(entry.replaces) { max($0, $1) }
            machines[entry.machine.id] = entry.last
        }
        try await ledger { try $0.noteTakenOver(machines) }
    }
}
