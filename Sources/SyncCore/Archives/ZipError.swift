/// Why a ZIP file could not be written.
package struct ZipError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable, CaseIterable {
        case noSpace, tooLarge, folderMissing, notAllowed, nameTaken, ioFailed
        /// Another process, or another task of this one, writes the same file.
        case inUse
        /// An entry got fewer or more bytes than were announced.
        case wrongSize
        /// The archive was given up.
        case cancelled
        /// An entry cannot have this name, or another one has it.
        case badName
        /// A file that was to be added cannot be read, or is not what was announced.
        case badSource
    }

    package var code: Code
    /// Of the ZIP file, or of what was to go into it.
    package var name: String
    /// The reason, and the next step.
    package var message: String

    package init(_ code: Code, _ name: String, _ message: String) {
        self.code = code
        self.name = name
        self.message = message
    }

    /// Whether the archive is as good as before, without this entry.
    package var isAboutOneEntry: Bool { code == .badName || code == .badSource }

    package var description: String { "\(name.escapingControls): \(message)" }
}
