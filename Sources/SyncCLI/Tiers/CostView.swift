import FoundationEssentials
import SyncCore

/// What is stored costs, for people, in 80 columns.
struct CostView {
    let report: CostReport
    let terminal: Terminal
    let now: Date
    /// Whether all of it lies on a disk of this machine.
    let isEmbedded: Bool

    var lines: [String] {
        if report.classes.isEmpty { return ["Nothing is stored yet."] }
        let parts = [classLines, sumLines, restoreLines, hintLines, sourceLines]
        return Array(parts.filter { !$0.isEmpty }.joined(separator: [""]))
    }

    private let table = Table(.left(26), .right(16), .right(16), .right(16))

    private var classLines: [String] {
        var lines = [terminal.styled(table.row("Class", "objects", "stored", "a month"), .bold)]
        lines += report.classes.map { each in
            table.row(
                each.storageClass.escapingControls, Quantities.count(each.objects), Quantities.bytes(each.bytes),
                each.monthlyUSD.map(Quantities.dollars) ?? "not known")
        }
        if report.classes.count != 1 {
            let (objects, bytes) = report.classes.reduce((0, Int64(0))) { ($0.0 + $1.objects, $0.1 + $1.bytes) }
            lines.append(
                table.row(
                    "all", Quantities.count(objects), Quantities.bytes(bytes), Quantities.dollars(report.monthlyUSD)))
        }
        return lines
    }

    private var sumLines: [String] {
        var lines: [String] = []
        if report.savedMonthlyUSD > 0 {
            lines.append("Archiving saves \(Quantities.dollars(report.savedMonthlyUSD)) a month.")
        } else if report.savedMonthlyUSD < 0 {
            lines.append("Archiving costs \(Quantities.dollars(-report.savedMonthlyUSD)) a month more than it saves.")
        }
        if report.isBilled, report.verification.percentPerDay > 0 {
            let percent = report.verification.percentPerDay
            let part = Int(exactly: percent).map { "\($0)" } ?? "\(percent)"
            lines += terminal.wrapped(
                "Reading it back (\(part) % a day) costs about "
                    + "\(Quantities.dollars(report.verification.monthlyUSD)) a month, "
                    + "\(Quantities.dollars(report.verification.limitUSD)) at most.")
        }
        let young = report.inMinimumPeriod
        if young.objects > 0 {
            lines += terminal.wrapped(
                "\(Quantities.counted(young.objects, "object")) (\(Quantities.bytes(young.bytes))) "
                    + "\(young.objects == 1 ? "is" : "are") inside the minimum of days: to delete or overwrite "
                    + "\(young.objects == 1 ? "it" : "them") now would cost up to "
                    + "\(Quantities.dollars(report.earlyDeletionUSD)).")
        }
        return lines
    }

    private var restoreLines: [String] {
        guard !report.fullRestore.isEmpty else { return [] }
        var lines = [terminal.styled(table.row("Bring all of it back", "", "ready within", "costs about"), .bold)]
        lines += report.fullRestore.map { option in
            table.row(
                "  " + option.tier, "", option.hours.map { Quantities.span(.seconds($0 * 3_600)) } ?? "not known",
                Quantities.dollars(option.costUSD))
        }
        return lines
            + terminal.wrapped(
                "for \(Quantities.counted(report.restoreDays, "day")), with everything downloaded once", .dim)
    }

    private var hintLines: [String] {
        report.hints.flatMap { terminal.wrapped($0.sentence + ".") }
    }

    private var sourceLines: [String] {
        var text = "By Amazon's list prices in \(report.region), \(report.asOf), without tax."
        if isEmbedded {
            text += " They are for comparison: the embedded store itself costs nothing."
        } else if !report.isBilled {
            text += " They are for comparison: this store does not bill as Amazon does."
        }
        text +=
            report.classesRefreshedAt.map { " Classes as the store told them \(Quantities.ago($0, now: now))." }
            ?? " The store was not asked for the classes yet: sync-agent status --refresh."
        return terminal.wrapped(text, .dim)
    }
}
