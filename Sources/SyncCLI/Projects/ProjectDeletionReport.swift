import SyncCore
import SyncEngine
import SystemPackage

/// What `projects delete` did, or would do, as JSON and for people.
struct ProjectDeletionReport: Report {
    struct Project: Encodable {
        var id: String
        var folder: String
        /// `deleted`, `kept`, or `planned` with `--dry-run`.
        var state: String
        var files: [String]
        var keys: [String]
        var errors: [String]

        init(_ target: ProjectRemover.Target, state: String, errors: [String] = []) {
            id = target.id
            folder = target.folder.text
            self.state = state
            files = target.files.map(\.text)
            keys = target.keys.map(\.rawValue)
            self.errors = errors
        }
    }

    var projects: [Project]
    /// Ids that nobody knows.
    var unknown: [String]

    init(planned targets: [ProjectRemover.Target], unknown: [String]) {
        projects = targets.map { Project($0, state: "planned") }
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
        return unknown.isEmpty && projects.allSatisfy(\.errors.isEmpty) ? .done : .partlyDone
    }

    /// What of it is an error, for standard error; `nil` when there is none.
    var failure: CommandFailure? {
        let told =
            unknown.map { "\($0.escapingControls): no such project; sync-agent projects list names them" }
            + projects.flatMap { project in project.errors.map { "\(project.id.escapingControls): \($0)" } }
        return told.isEmpty ? nil : CommandFailure(status, told.joined(separator: "\n"))
    }

    func lines(on terminal: Terminal) -> [String] {
        projects.flatMap { project in
            ["\(project.state)  \(project.id.escapingControls)  in \(project.folder.escapingControls)"]
                + (project.state == "planned" ? project.files + project.keys : []).map { "  \($0.escapingControls)" }
        }
    }

    /// What would go, for the question.
    static func plan(_ targets: [ProjectRemover.Target]) -> [String] {
        targets.map { target in
            let name = target.record.map { $0.templateName.isEmpty ? $0.templateID : $0.templateName }
            let parts = [
                name ?? "no record", Quantities.counted(target.files.count, "file"),
                Quantities.counted(target.keys.count, "stored object"),
            ]
            return "\(target.id.escapingControls)  " + parts.map(\.escapingControls).joined(separator: " · ")
        }
    }
}
