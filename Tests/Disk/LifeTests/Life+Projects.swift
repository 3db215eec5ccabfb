import SyncCore
import SyncTestSupport
import SystemPackage

/// What another app does with its projects, and what the person deletes of them.
extension Life {
    func workOnProjects() async throws -> String {
        switch dice.below(6) {
        case 0, 1: return try addProject()
        case 2...4: return try replaceImage()
        default: return try await deleteProject()
        }
    }

    private func addProject() throws -> String {
        let id = "p\(count)"
        try makeProject(id)
        return "make project \(id)"
    }

    func makeProject(_ id: String) throws {
        let text = "image \(id)."
        try projectsFolder.add(id, text)
        projects.write(text, of: id)
    }

    /// By a new one, or by one that it had before.
    private func replaceImage() throws -> String {
        guard let id = dice.pick(projects.current) else { return try addProject() }
        let old = dice.oneIn(4) ? dice.pick(projects.images(of: id)) : nil
        let text = old ?? "image \(id) \(count)."
        try projectsFolder.replace(id, by: text)
        projects.write(text, of: id)
        return "replace the image of \(id) by \(text)"
    }

    private func deleteProject() async throws -> String {
        guard let id = dice.pick(projects.current) else { return "no project to delete" }
        projects.ask(for: id)
        var isGone = false
        let what = try await work("delete project \(id)", trouble()) { process in
            let failures = try await process.deleteProject(id)
            isGone = failures.isEmpty && process.isAlive()
        }
        try projectsFolder.setTimeOfList()
        if isGone { projects.end(id) }
        return what
    }

    /// Asks once more for what is half done, as its error says.
    /// - Returns: what fails, though nothing is in the way.
    func endDeletions(_ process: AgentProcess) async throws -> [String] {
        if projects.half.isEmpty { return [] }
        var failed: [String] = []
        for id in projects.half {
            let failures = try await process.deleteProject(id)
            if failures.isEmpty { projects.end(id) }
            failed += failures.map { "\(id) cannot be deleted: \($0)" }
        }
        try projectsFolder.setTimeOfList()
        return failed
    }
}
