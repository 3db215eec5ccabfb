package import FoundationEssentials
package import SystemPackage

/// One ZIP file that is written in one pass, its entries one after the other. Its calls block: the caller gives them a
/// thread, one at a time.
///
/// Promises:
/// - The file gets its name with ``finish()``, whole and durable. Until then, and after any failure, nothing has it.
/// - Nothing is overwritten.
/// - Memory: a few hundred bytes an entry, whatever its size.
///
/// A failure loses the archive, and every later call throws it again, unless ``ZipError/isAboutOneEntry`` says that only
/// the one entry is left out.
package protocol ZipWriter: Sendable {
    /// Begins an entry, of which exactly `entry.size` bytes have to follow.
    func begin(_ entry: ZipEntry) throws(ZipError)

    /// The next bytes of the entry that was begun, in order; on any thread. Fits the sink of ``ObjectStore``.
    func append(_ bytes: UnsafeRawBufferPointer) throws(ZipError)

    /// Ends the entry that was begun.
    /// - Throws: `.wrongSize` when bytes are missing.
    func end() throws(ZipError)

    /// Adds a file of exactly `entry.size` bytes.
    func add(_ entry: ZipEntry, from file: FilePath) throws(ZipError)

    /// Closes the archive and gives it its name.
    /// - Throws: `.nameTaken` when something has got the name meanwhile.
    func finish() throws(ZipError)

    /// Gives the archive up: nothing of it stays. After ``finish()`` there is nothing to give up.
    func cancel()
}

/// A file in a ZIP file.
package struct ZipEntry: Hashable, Sendable {
    /// Relative, `/`-separated.
    package let name: String
    /// Bytes.
    package let size: Int64
    package let modified: Date

    /// - Throws: ``ZipError``, `.badName`, for a name by which unpacking would write outside of its folder, or that some
    ///   systems take for another: absolute, with `..`, an empty segment, a backslash or a control character.
    package init(name: String, size: Int64, modified: Date) throws(ZipError) {
        if let reason = Self.objection(to: name) {
            throw ZipError(.badName, name, "it cannot be the name of a file in an archive: \(reason)")
        }
        precondition(size >= 0, "a file has no negative size")
        self.name = name
        self.size = size
        self.modified = modified
    }

    /// A name of one segment with `_` in the place of each scalar that no entry's name may have.
    package static func plain(_ name: String) -> String {
        name.escaping({ objection(to: $0) != nil }) { _ in "_" }
    }

    private static func objection(to scalar: Unicode.Scalar) -> String? {
        if scalar == "\\" { return "Windows takes a backslash for the end of a folder's name" }
        return scalar.properties.generalCategory == .control ? "it contains a control character" : nil
    }

    private static func objection(to name: String) -> String? {
        // Of the 65,535 bytes that the format has room for, what path_resolution(7) takes.
        if name.utf8.count > 4_095 { return "it is longer than 4,095 bytes" }
        if let reason = name.unicodeScalars.lazy.compactMap({ objection(to: $0) }).first { return reason }
        for segment in name.split(separator: "/", omittingEmptySubsequences: false) {
            switch segment {
            case "": return "it begins or ends with /, or has nothing between two"
            case ".", "..": return "\(segment) is not a name"
            default: if segment.utf8.count > 255 { return "a part of it is longer than 255 bytes" }
            }
        }
        return nil
    }
}

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
