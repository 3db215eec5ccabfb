import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger

/// Projects in numbers, for people and as JSON.
struct ProjectStatistics: Report {
    struct Template: Encodable, Hashable {
        var templateId: String
        var templateName: String
        var projects: Int
    }

    struct Month: Encodable, Hashable {
        /// `2026-05`, UTC.
        var month: String
        var projects: Int
    }

    var projects: Int
    var byStatus: [String: Int]
    var byState: [String: Int]
    /// The most used first.
    var byTemplate: [Template]
    /// The latest first.
    var byMonth: [Month]
    var duplicates: Int
    /// Earlier images that are stored.
    var versions: Int
    /// Of the images on this machine.
    var bytesLocal: Int64
    /// Of the images that count; earlier ones not included.
    var bytesStored: Int64

    init(_ entries: [ProjectEntry]) {
        projects = entries.count
        byStatus = entries.reduce(into: [:]) { $0[$1.record.status.rawValue, default: 0] += 1 }
        byState = entries.reduce(into: [:]) { $0[$1.state.rawValue, default: 0] += 1 }
        byTemplate = Dictionary(grouping: entries, by: \.record.templateID.inBytes).map { id, entries in
            Template(templateId: id.string, templateName: entries[0].record.templateName, projects: entries.count)
        }.sorted { ($1.projects, $0.templateId) < ($0.projects, $1.templateId) }
        byMonth = Dictionary(grouping: entries) { String(CalendarDay($0.record.createdAt).description.prefix(7)) }
            .map { Month(month: $0, projects: $1.count) }.sorted { $0.month > $1.month }
        duplicates = entries.count { $0.project.duplicateOf != nil }
        versions = entries.reduce(0) { $0 + $1.versions }
        bytesLocal = entries.reduce(0) { $0 + ($1.image?.bytesLocal ?? 0) }
        bytesStored = entries.reduce(0) { $0 + ($1.object?.size ?? 0) }
    }

    func lines(on terminal: Terminal) -> [String] {
        var lines = [
            "\(Quantities.counted(projects, "project")), \(Quantities.bytes(bytesLocal)) on this machine, "
                + "\(Quantities.bytes(bytesStored)) stored"
        ]
        if versions > 0 { lines.append("\(Quantities.counted(versions, "earlier image")) stored") }
        lines += block("Status", byStatus.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, terminal)
        lines += block("State", byState.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, terminal)
        lines += block(
            "Template",
            byTemplate.prefix(10).map { ($0.templateName.isEmpty ? $0.templateId : $0.templateName, $0.projects) },
            terminal)
        lines += block("Month", byMonth.prefix(12).map { ($0.month, $0.projects) }, terminal)
        return lines
    }

    private func block(_ title: String, _ rows: [(String, Int)], _ terminal: Terminal) -> [String] {
        guard !rows.isEmpty else { return [] }
        return ["", terminal.styled(title, .bold)]
            + rows.map { name, count in
                Table(indent: 2, .left(40), .right(10)).row(name.escapingControls, Quantities.count(count))
            }
    }
}
