import SyncCore
package import SystemPackage

/// A vacation's folder cannot be read, so that nothing is known of its description.
package struct VacationReadError: Error, Hashable, Sendable, CustomStringConvertible {
    package var path: FilePath
    package var message: String

    package init(path: FilePath, message: String) {
        self.path = path
        self.message = message
    }

    package var description: String { "\(path.string.escapingControls): \(message)" }
}
