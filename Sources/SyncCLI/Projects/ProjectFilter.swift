import SyncCore
import SyncEngine

/// Which projects are meant.
struct ProjectFilter {
    /// Found in id, template, name or request, in any case.
    var text: String?
    var status: ProjectRecord.Status?

    func accepts(_ record: ProjectRecord) -> Bool {
        if let status, record.status != status { return false }
        guard let text = text?.lowercased(), !text.isEmpty else { return true }
        return [record.id, record.templateID, record.templateName, record.requestID ?? ""].contains {
            $0.lowercased().contains(text)
        }
    }

    /// The project that a person means by its id, or by a beginning of it that no other has.
    /// - Throws: ``CommandFailure``.
    static func project(_ id: String, in entries: [ProjectEntry]) throws -> ProjectEntry {
        if let exact = entries.first(where: { $0.record.id.inBytes == id.inBytes }) { return exact }
        let found = entries.filter { !id.isEmpty && $0.record.id.lowercased().hasPrefix(id.lowercased()) }
        guard let first = found.first else {
            throw CommandFailure(
                .noSuchPath, "\(id.escapingControls): no such project; sync-agent projects list names them")
        }
        guard found.count == 1 else {
            throw CommandFailure(
                .noSuchPath,
                "\(id.escapingControls): \(found.count) projects begin with it: "
                    + found.prefix(5).map(\.record.id.escapingControls).joined(separator: ", "))
        }
        return first
    }
}
