import SyncCore
package import SystemPackage

/// Why no vacation was found by what a person wrote.
package enum VacationLookupError: Error, Hashable, Sendable {
    /// - Parameter near: names that were perhaps meant.
    case unknown(String, near: [String])
    /// - Parameter folders: of the vacations that it may mean.
    case ambiguous(String, folders: [FilePath])
    /// It is a vacation, and nothing is in it that could be stored.
    case empty(FilePath)
}

extension VacationLookupError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknown(let name, let near):
            let hint =
                near.isEmpty
                ? "a vacation is a folder in a watched folder of the kind vacations; was it synced?"
                : "did you mean \(near.map { "\"\($0.escapingControls)\"" }.joined(separator: " or "))?"
            return "\(RawText.shown(name).escapingControls): no vacation has this name; \(hint)"
        case .ambiguous(let name, let folders):
            return "\(RawText.shown(name).escapingControls): more than one vacation has this name; name its folder:\n"
                + folders.map { "  \($0.string.escapingControls)" }.joined(separator: "\n")
        case .empty(let folder):
            return "\(folder.text.escapingControls): no photo of this vacation is stored or waits to be"
        }
    }
}
