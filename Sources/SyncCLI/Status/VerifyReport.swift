import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

/// `verify --json`: the fields are a contract (docs/commands.md).
struct VerifyReport: Encodable {
    struct Damaged: Encodable {
        @Nullable var path: String?
        var key: String
        var reason: String
    }

    struct Missing: Encodable {
        @Nullable var path: String?
        var key: String
    }

    /// Objects that were looked at.
    var checked: Int
    /// Bytes that were read.
    var bytes: Int64
    var ok: Int
    var damaged: [Damaged]
    var missing: [Missing]
    /// Of the damaged and missing ones, those that were stored again in this run.
    var repaired: Int
    var costUSD: Double
    /// When the object that waits longest was proved last.
    @Nullable var oldestUnverified: Date?
    /// Objects of which the store could not tell now, and why.
    var undecided: Int
    var errors: [String]
    /// `budget` when the money was over before the objects were.
    @Nullable var stoppedBy: String?
    /// Photos that are neither on this machine nor in the store.
    var lost: Int

    /// Who stores again what is broken, when this command could not.
    var leftToAgent = false

    private enum CodingKeys: CodingKey {
        case checked, bytes, ok, damaged, missing, repaired, costUSD, oldestUnverified, undecided, errors, stoppedBy
        case lost
    }

    init(_ result: Verifier.Summary, repaired: Int, oldest: Date?, lost: Int) {
        checked = result.checked
        bytes = result.bytes
        ok = result.intact
        damaged = result.broken.compactMap { broken in
            guard case .damaged(let reason) = broken.problem else { return nil }
            return Damaged(path: broken.path?.text, key: broken.key.rawValue, reason: reason)
        }
        missing = result.broken.compactMap { broken in
            guard broken.problem == .missing else { return nil }
            return Missing(path: broken.path?.text, key: broken.key.rawValue)
        }
        self.repaired = repaired
        costUSD = result.costUSD.roundedUSD
        oldestUnverified = oldest
        undecided = result.undecided
        errors = result.failures.map(\.description)
        stoppedBy = result.isOverBudget ? "budget" : nil
        self.lost = lost
    }

    /// Whether all that was looked at is as it was stored, and nothing is lost.
    var status: ExitStatus {
        damaged.isEmpty && missing.isEmpty && undecided == 0 && lost == 0 ? .done : .partlyDone
    }

    func lines(now: Date) -> [String] {
        var lines = damaged.map { "damaged: \(Self.name($0.path, $0.key)): \($0.reason.escapingControls)" }
        lines += missing.map { "missing: \(Self.name($0.path, $0.key))" }
        lines += errors.map { "not known: \($0)".escapingControls }
        var line = "\(Quantities.counted(checked, "object")) checked (\(Quantities.bytes(bytes)) read), "
        line += ok == checked ? "all as they were stored" : "\(Quantities.count(ok)) as they were stored"
        if !damaged.isEmpty { line += ", \(Quantities.count(damaged.count)) damaged" }
        if !missing.isEmpty { line += ", \(Quantities.count(missing.count)) missing" }
        if repaired > 0 { line += ", \(Quantities.count(repaired)) stored again" }
        if undecided > 0 { line += "; of \(Quantities.count(undecided)) the store could not tell" }
        if costUSD > 0 { line += "; about \(Quantities.dollars(costUSD))" }
        lines.append(line)
        if stoppedBy != nil {
            lines.append(
                "It stopped at the budget: --budget USD sets another one, verify.max_usd_per_month the month's.")
        }
        if leftToAgent { lines.append("The agent that is running stores again what it can, within the hour.") }
        if lost > 0 {
            lines.append(
                "\(Quantities.counted(lost, "photo")) \(lost == 1 ? "is" : "are") lost: sync-agent status names them.")
        }
        if let oldestUnverified {
            lines.append("The object that waits longest was proved \(Quantities.ago(oldestUnverified, now: now)).")
        }
        return lines
    }

    private static func name(_ path: String?, _ key: String) -> String {
        path.map { "\($0.escapingControls) (\(key))" } ?? key
    }
}

/// `retry --json`: the fields are a contract (docs/commands.md).
struct RetryReport: Report {
    var retried: Int
    /// Of them: those that had failed.
    var failed: Int
    /// Of them: those that waited for their next try.
    var waiting: Int
    var agentRunning: Bool

    func lines(on terminal: Terminal) -> [String] {
        guard retried > 0 else { return ["Nothing failed, and nothing waits for another try."] }
        let next = agentRunning ? "the agent tries them now" : "no agent is running: sync-agent sync tries them"
        return [
            "\(Quantities.counted(retried, "photo")) to try again (\(Quantities.count(failed)) had failed, "
                + "\(Quantities.count(waiting)) waited); \(next)"
        ]
    }
}
