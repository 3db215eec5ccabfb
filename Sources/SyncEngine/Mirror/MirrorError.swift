import SyncCore
package import SystemPackage

/// Why a folder cannot be the mirror that it was asked to be.
package struct MirrorError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable {
        /// It is the mirror of something else.
        case otherShare
        /// Another process mirrors into it.
        case inUse
        /// It was made by a newer version of the program.
        case newerState
        case notAFolder
    }

    package let code: Code
    package let folder: FilePath
    /// The reason, and the next step.
    package let message: String

    package var description: String { "\(folder.string.escapingControls): \(message)" }

    static func otherShare(_ folder: FilePath, _ id: String) -> MirrorError {
        MirrorError(
            code: .otherShare, folder: folder,
            message: "this is the mirror of another share, \(id.escapingControls); name another folder")
    }
}
