import FoundationEssentials
import SyncCore

/// Projects for people, in 80 columns: two lines each.
struct ProjectView {
    let terminal: Terminal

    private var width: Int { terminal.textWidth }

    func list(_ projects: [ProjectReport], of total: Int) -> [String] {
        if total == 0 { return ["No projects."] }
        if projects.isEmpty { return ["None of \(Quantities.counted(total, "project")) is meant."] }
        var lines = projects.flatMap(lines)
        let shown = projects.count < total ? "\(Quantities.count(projects.count)) of " : ""
        lines.append(terminal.styled("\(shown)\(Quantities.counted(total, "project"))", .dim))
        return lines
    }

    private func lines(_ project: ProjectReport) -> [String] {
        let first =
            TextLayout.fitted(project.id.escapingControls, to: 38)
            + TextLayout.fitted(Quantities.time(project.createdAt), to: 18)
            + TextLayout.fitted(project.status, to: 12)
            + terminal.styled(project.state, style(of: project.state))
        var notes = [project.templateName.isEmpty ? project.templateId : project.templateName]
        if let bytes = project.bytes { notes.append(Quantities.bytes(bytes)) }
        if project.versions > 0 { notes.append(Quantities.counted(project.versions, "earlier image")) }
        if let reason = project.reason { notes.append(reason) }
        let second = "  " + notes.map(\.escapingControls).joined(separator: " · ")
        return [first, terminal.styled(TextLayout.shortened(second, to: width), .dim)]
    }

    func details(_ details: ProjectDetails) -> [String] {
        let project = details.project
        var rows: [(String, String)] = [
            ("id", project.id), ("template", "\(project.templateName) (\(project.templateId))"),
            ("created", Quantities.time(project.createdAt)), ("status", project.status),
            ("state", project.state + (project.reason.map { ": \($0)" } ?? "")),
        ]
        if let request = project.requestId { rows.append(("request", request)) }
        if let thumbnail = project.thumbnailURL { rows.append(("thumbnail", thumbnail)) }
        rows.append(("image", details.image ?? "not on this machine"))
        if let metadata = details.metadata { rows.append(("metadata", metadata)) }
        if let stored = details.stored { rows.append(("stored", description(of: stored))) }
        var lines = rows.map { TextLayout.fitted($0.0, to: 11) + $0.1.escapingControls }
        if !details.history.isEmpty {
            lines += ["", terminal.styled("Earlier images", .bold)]
            lines += details.history.map { "  " + description(of: $0).escapingControls }
            lines.append(
                terminal.styled("  bring one back: sync-agent restore --wait --output DIR KEY", .dim))
        }
        return lines
    }

    private func description(of version: ProjectDetails.Version) -> String {
        let storageClass = version.storageClass == StorageClass.standard.rawValue ? "" : "  \(version.storageClass)"
        return "\(Quantities.time(version.storedAt))  \(Quantities.bytes(version.bytes))\(storageClass)  \(version.key)"
    }

    private func style(of state: String) -> Terminal.Style {
        switch state {
        case "uploaded": .green
        case "failed": .red
        case "pending", "uploading", "deleting": .yellow
        default: .dim
        }
    }
}
