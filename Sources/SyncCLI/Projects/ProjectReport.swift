import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

/// One project in `projects list --json`. The fields are a contract (docs/commands.md).
struct ProjectReport: Encodable {
    var id: String
    var templateId: String
    var templateName: String
    @Nullable var thumbnailURL: String?
    var createdAt: Date
    var status: String
    @Nullable var requestId: String?
    var state: String
    /// Why it is not stored; `null` when it is.
    @Nullable var reason: String?
    @Nullable var key: String?
    /// Of the stored image.
    @Nullable var bytes: Int64?
    @Nullable var bytesLocal: Int64?
    /// How many earlier images of it are stored.
    var versions: Int
    @Nullable var duplicateOf: String?
    /// The projects folder.
    var folder: String
}

extension ProjectReport {
    init(_ entry: ProjectEntry) {
        let (record, object) = (entry.record, entry.object)
        self.init(
            id: record.id, templateId: record.templateID, templateName: record.templateName,
            thumbnailURL: record.thumbnailURL, createdAt: record.createdAt, status: record.status.rawValue,
            requestId: record.requestID, state: entry.state.rawValue, reason: entry.reason, key: object?.key.rawValue,
            bytes: object?.size, bytesLocal: entry.image?.bytesLocal, versions: entry.versions,
            duplicateOf: entry.project.duplicateOf, folder: entry.folder.text)
    }
}

/// `projects show ID --json`: as in the list, and what is stored of it.
struct ProjectDetails: Encodable {
    struct Version: Encodable {
        var key: String
        var storedAt: Date
        var bytes: Int64
        var storageClass: String
        @Nullable var sha256: String?

        init(_ object: ObjectRecord) {
            key = object.key.rawValue
            storedAt = object.storedAt
            bytes = object.size
            storageClass = object.storageClass.rawValue
            sha256 = object.sha256?.description
        }
    }

    struct Files: Encodable {
        /// On this machine.
        @Nullable var image: String?
        @Nullable var metadata: String?
        @Nullable var metadataKey: String?
        /// The image that counts; `null` when none is stored.
        @Nullable var stored: Version?
        /// Earlier images, the latest first.
        var history: [Version]
    }

    var project: ProjectReport
    var files: Files

    init(_ entry: ProjectEntry, versions: [ObjectRecord]) {
        project = ProjectReport(entry)
        files = Files(
            image: entry.image.flatMap { $0.bytesLocal == nil ? nil : $0.path.text },
            metadata: entry.metadata.flatMap { $0.bytesLocal == nil ? nil : $0.path.text },
            metadataKey: entry.metadata?.key?.rawValue, stored: entry.object.map { Version($0) },
            history: versions.map { Version($0) })
    }

    /// In one object.
    func encode(to encoder: any Encoder) throws {
        try project.encode(to: encoder)
        try files.encode(to: encoder)
    }
}

/// Projects for people, in 80 columns: two lines each.
struct ProjectView {
    let terminal: Terminal

    private var width: Int { terminal.textWidth }

    func list(_ projects: [ProjectReport], of total: Int) -> [String] {
        if total == 0 { return ["No projects."] }
        if projects.isEmpty { return ["None of \(Quantities.counted(total, "project")) matches."] }
        var lines = projects.flatMap(lines)
        let shown = projects.count < total ? "\(Quantities.count(projects.count)) of " : ""
        lines.append(terminal.styled("\(shown)\(Quantities.counted(total, "project"))", .dim))
        return lines
    }

    private func lines(_ project: ProjectReport) -> [String] {
        let first = Table(.left(38), .left(18), .left(12), .rest).row(
            project.id.escapingControls, Quantities.time(project.createdAt), project.status,
            terminal.styled(project.state, style(of: project.state)))
        var notes = [project.templateName.isEmpty ? project.templateId : project.templateName]
        if let bytes = project.bytes { notes.append(Quantities.bytes(bytes)) }
        if project.versions > 0 { notes.append(Quantities.counted(project.versions, "earlier image")) }
        if let reason = project.reason { notes.append(reason) }
        let second = "  " + notes.map(\.escapingControls).joined(separator: " · ")
        return [first, terminal.styled(TextLayout.shortened(second, to: width), .dim)]
    }

    func details(_ details: ProjectDetails) -> [String] {
        let (project, files) = (details.project, details.files)
        var rows: [(String, String)] = [
            ("id", project.id), ("template", "\(project.templateName) (\(project.templateId))"),
            ("created", Quantities.time(project.createdAt)), ("status", project.status),
            ("state", project.state + (project.reason.map { ": \($0)" } ?? "")),
        ]
        if let request = project.requestId { rows.append(("request", request)) }
        if let thumbnail = project.thumbnailURL { rows.append(("thumbnail", thumbnail)) }
        rows.append(("image", files.image ?? "not on this machine"))
        if let metadata = files.metadata { rows.append(("metadata", metadata)) }
        if let stored = files.stored { rows.append(("stored", description(of: stored))) }
        var lines = rows.map { Table(.left(11), .rest).row($0.0, $0.1.escapingControls) }
        if !files.history.isEmpty {
            lines += ["", terminal.styled("Earlier images", .bold)]
            lines += files.history.map { "  " + description(of: $0).escapingControls }
            lines.append(terminal.styled("  bring one back: sync-agent restore --wait --output DIR KEY", .dim))
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

/// What `projects delete` did, or would do, as JSON and for people.
struct ProjectDeletionReport: Report {
    struct Project: Encodable {
        var id: String
        var folder: String
        /// `deleted`, `kept`, or `planned` with `--dry-run`.
        var state: String
        var files: [String]
        var keys: [String]
        /// What stays in the store, whatever becomes of the project here.
        var kept: [Kept]
        var errors: [String]

        init(_ target: ProjectRemover.Target, state: String, errors: [String] = []) {
            id = target.id
            folder = target.folder.text
            self.state = state
            files = target.files.map(\.text)
            keys = target.keys.map(\.rawValue)
            kept = target.needed.map { Kept(key: $0.rawValue) }
            self.errors = errors
        }

        fileprivate var isPlanned: Bool { state == "planned" }

        /// What is told of it on standard error.
        fileprivate var complaints: [String] { isPlanned ? errors : errors + kept.map(\.line) }

        /// What is told below it.
        fileprivate var details: [String] {
            isPlanned ? (files + keys).map(\.escapingControls) + kept.map(\.line) : []
        }
    }

    /// An object that another machine needs.
    struct Kept: Encodable {
        var key: String
        var reason = "stays in the store: by its catalogue, another machine has this project, and may need it"

        var line: String { "\(key.escapingControls): \(reason)" }
    }

    var projects: [Project]
    /// Ids that nobody knows.
    var unknown: [String]

    init(planned targets: [ProjectRemover.Target], unknown: [String]) {
        projects = targets.map { Project($0, state: "planned", errors: [$0.doubt].compactMap(\.self)) }
        self.unknown = unknown
    }

    init(_ outcomes: [ProjectRemover.Outcome], unknown: [String]) {
        projects = outcomes.map {
            Project($0.target, state: $0.failures.isEmpty ? "deleted" : "kept", errors: $0.failures)
        }
        self.unknown = unknown
    }

    var status: ExitStatus {
        if projects.isEmpty, !unknown.isEmpty { return .noSuchPath }
        return unknown.isEmpty && projects.allSatisfy(\.complaints.isEmpty) ? .done : .partlyDone
    }

    /// What of it is an error, for standard error; `nil` when there is none.
    var failure: CommandFailure? {
        let told =
            unknown.map { "\($0.escapingControls): no such project; sync-agent projects list names them" }
            + projects.flatMap { project in project.complaints.map { "\(project.id.escapingControls): \($0)" } }
        return told.isEmpty ? nil : CommandFailure(status, told.joined(separator: "\n"))
    }

    func lines(on terminal: Terminal) -> [String] {
        projects.flatMap { project in
            ["\(project.state)  \(project.id.escapingControls)  in \(project.folder.escapingControls)"]
                + project.details.map { "  \($0)" }
        }
    }

    /// What would go, for the question.
    static func plan(_ targets: [ProjectRemover.Target]) -> [String] {
        targets.flatMap { target -> [String] in
            let name = target.record.map { $0.templateName.isEmpty ? $0.templateID : $0.templateName }
            let parts = [
                name ?? "no record", Quantities.counted(target.files.count, "file"),
                Quantities.counted(target.keys.count, "stored object"),
            ]
            let line = "\(target.id.escapingControls)  " + parts.map(\.escapingControls).joined(separator: " · ")
            var notes = target.needed.map { Kept(key: $0.rawValue).line }
            if let doubt = target.doubt { notes.append(doubt) }
            return [line] + notes.map { "  \($0)" }
        }
    }
}

/// Projects of one folder that somebody asked to delete, and of which something is left.
struct HalfDeletedProjects {
    /// How many of them are named to people.
    private static let shown = 3

    let ids: [String]
    private let isFolderSeen: Bool

    /// - Parameter isFolderSeen: whether the last look at their folder saw all of it. Before that nothing is deleted:
    ///   what is not seen may come back with its drive.
    init(_ ids: [String], isFolderSeen: Bool = true) {
        self.ids = ids
        self.isFolderSeen = isFolderSeen
    }

    /// For people, with the next step; `nil` where there are none.
    var problem: String? {
        if ids.isEmpty { return nil }
        let names = ids.prefix(Self.shown).map(\.escapingControls).joined(separator: " ")
        let projects = Quantities.counted(ids.count, "project is", plural: "projects are")
        let rest = ids.count > Self.shown ? "; sync-agent projects list names the others" : ""
        let first = isFolderSeen ? "" : "once all of its folder is seen again, "
        return "\(projects) half deleted: \(first)give sync-agent projects delete \(names) again\(rest)"
    }
}

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
