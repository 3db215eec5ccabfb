import SyncCore
import SyncLedger

/// The vacations in the overview for people: where, when, how many photos, and how far they are.
struct VacationLines {
    private static let limit = 20
    /// Of a terminal on which there is room for a row.
    private static let columns = 76

    let lines: [String]

    init(_ vacations: [StatusReport.Vacation], terminal: Terminal, width: Int) {
        guard !vacations.isEmpty else {
            lines = []
            return
        }
        let (dateWidth, countWidth, stateWidth) = (25, 8, 24)
        let nameWidth = width - dateWidth - countWidth - stateWidth - 2
        let table = Table(
            .left(nameWidth - 1, gap: 1), .left(dateWidth), .right(countWidth, gap: 2), .left(stateWidth))
        var lines = ["", terminal.styled(table.row("Vacation", "", "photos", "state"), .bold)]
        if terminal.isNarrow(for: Self.columns) { lines = ["", terminal.styled("Vacations", .bold)] }
        for vacation in vacations.prefix(Self.limit) {
            if terminal.isNarrow(for: Self.columns) {
                let parts = [
                    Self.dates(vacation), Quantities.counted(vacation.photoCount, "photo"), Self.state(vacation),
                ]
                lines += terminal.wrapped(vacation.location.escapingControls)
                lines += terminal.wrapped(parts.filter { !$0.isEmpty }.joined(separator: ", "), indent: 2)
                continue
            }
            lines.append(
                table.row(
                    vacation.location.escapingControls, Self.dates(vacation), Quantities.count(vacation.photoCount),
                    Self.state(vacation)))
        }
        if vacations.count > Self.limit {
            lines.append("and \(Quantities.count(vacations.count - Self.limit)) earlier ones")
        }
        self.lines = lines
    }

    private static func dates(_ vacation: StatusReport.Vacation) -> String {
        guard let start = vacation.startDate, let end = vacation.endDate else { return "" }
        return start == end ? start : "\(start) – \(end)"
    }

    private static func state(_ vacation: StatusReport.Vacation) -> String {
        let waiting = vacation.photoCount - vacation.uploaded
        switch vacation.state {
        case .uploading where waiting > 0:
            return "uploading \(Quantities.count(vacation.uploaded))/\(Quantities.count(vacation.photoCount))"
        case .changed where waiting > 0: return "changed: \(Quantities.count(waiting)) to store"
        case .changed where (vacation.shareChangedBy ?? 0) > 0:
            return "changed since shared: \(Quantities.count(vacation.shareChangedBy ?? 0))"
        case .incomplete where vacation.failed > 0: return "\(Quantities.count(vacation.failed)) failed"
        case .stored where !vacation.isOnDisk: return "stored, deleted here"
        default: return vacation.state.rawValue
        }
    }
}
