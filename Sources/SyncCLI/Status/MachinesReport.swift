import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger

/// `status --machines --json`.
struct MachinesReport: Encodable {
    struct Machine: Encodable {
        var id: String
        @Nullable var name: String?
        var isThis: Bool
        @Nullable var lastSyncAt: Date?
        @Nullable var pending: Int?
        @Nullable var failed: Int?
        @Nullable var lost: Int?
        @Nullable var version: String?

        init(_ machine: MachineNotes.Machine) {
            (id, name, isThis) = (machine.id, machine.name, false)
            (lastSyncAt, version) = (machine.note?.lastSyncAt, machine.note?.version)
            (pending, failed, lost) = (machine.note?.pending, machine.note?.failed, machine.note?.lost)
        }

        /// This machine, as it is at this moment.
        init(this id: String, name: String, _ overview: Overview) {
            (self.id, self.name, isThis) = (id, name, true)
            (lastSyncAt, version) = (overview.lastSyncAt, SyncAgentCommand.version)
            (pending, failed, lost) = (overview.totals.waiting, overview.totals[.failed].files, overview.lostHere)
        }
    }

    var machines: [Machine]

    /// - Parameter found: what the store tells.
    init(_ found: [MachineNotes.Machine], _ installation: Installation, _ ledger: Ledger) throws {
        let own = try ledger.catalogStanding().machine
        let this = Machine(this: own, name: installation.machineName, try ledger.overview())
        machines = [this] + found.map { Machine($0) }
    }
}

/// `status --machines`, for people.
struct MachinesView {
    private static let table = Table(.left(22, gap: 2), .left(20, gap: 2), .right(9, gap: 2), .right(8, gap: 2), .rest)
    /// After so many days without a pass, somebody should look.
    private static let silence: TimeInterval = 7 * 86_400
    /// Of clocks.
    private static let tolerance: TimeInterval = 86_400

    let terminal: Terminal
    let now: Date

    func lines(_ report: MachinesReport) -> [String] {
        if terminal.isNarrow(for: 80) { return report.machines.flatMap(entry) }
        let head = Self.table.row("machine", "last whole pass", "waiting", "failed", "")
        return [terminal.styled(head, .bold)]
            + report.machines.map { machine in
                Self.table.row(
                    name(machine), age(machine), machine.pending.map(Quantities.count) ?? "-",
                    machine.failed.map(Quantities.count) ?? "-", remark(machine))
            }
    }

    private func entry(_ machine: MachinesReport.Machine) -> [String] {
        let counts = [("waiting", machine.pending), ("failed", machine.failed)]
            .compactMap { name, count in count.map { "\(Quantities.count($0)) \(name)" } }
        return terminal.wrapped(name(machine))
            + terminal.wrapped(
                ([age(machine)] + counts + [remark(machine)]).filter { !$0.isEmpty }.joined(separator: ", "), indent: 2)
    }

    private func name(_ machine: MachinesReport.Machine) -> String {
        (machine.name ?? machine.id).escapingControls
    }

    private func age(_ machine: MachinesReport.Machine) -> String {
        machine.lastSyncAt.map { Quantities.ago($0, now: now) } ?? (machine.isThis ? "none yet" : "not told")
    }

    private func remark(_ machine: MachinesReport.Machine) -> String {
        if machine.isThis { return "this machine" }
        guard let last = machine.lastSyncAt else { return "" }
        if last.timeIntervalSince(now) > Self.tolerance {
            return terminal.styled("its clock is ahead of this one", .yellow)
        }
        guard now.timeIntervalSince(last) > Self.silence else { return "" }
        return terminal.styled("silent: is it on?", .yellow)
    }
}
