package import SystemPackage

/// Reads folders. The scan is the truth that hints only point to. Its calls block: the caller gives them a thread.
package protocol TreeScanner: Sendable {
    /// Visits `start` and every folder below it, each once, parents first.
    ///
    /// Symbolic links are not followed, other file systems below are entered, ignored names (``IgnoredNames``) left out.
    /// Memory is bounded by the largest folder, not by the tree.
    /// - Parameters:
    ///   - root: the watched folder.
    ///   - start: where to begin: the root, or a folder below it.
    ///   - visit: gets each folder; what it throws ends the scan.
    /// - Throws: ``ScanError`` when `start` itself cannot be read. A folder below that cannot be read is visited with
    ///   its `error` set, and the scan goes on.
    func scan(root: FilePath, from start: FilePath, visit: (ScannedFolder) throws -> Void) throws

    /// The stamp of one regular file now; `nil` when it is gone, or no longer a regular file.
    func stamp(of file: FilePath) throws(ScanError) -> FileStamp?

    /// Where other file systems are mounted below a folder at the moment: relative to it, in the order of their texts.
    func mountPoints(below root: FilePath) -> [FilePath]

    /// Whether there is anything at the path; `true` where that cannot be told.
    func isThere(_ path: FilePath) -> Bool

    /// Whether some process has the file open for writing at this moment. `false` also where the system cannot tell.
    func isBeingWritten(_ file: FilePath) -> Bool

    /// Whether a file begins as a picture or a film does. For the few files whose names are left out.
    func holdsPicture(_ file: FilePath) -> Bool

    /// Whether a picture or a film is among the first files of a folder and those below it. For the few folders whose names
    /// are left out.
    func holdsPictures(_ folder: FilePath) -> Bool
}

extension TreeScanner {
    package func mountPoints(below root: FilePath) -> [FilePath] { [] }
    package func isThere(_ path: FilePath) -> Bool { true }
    package func holdsPicture(_ file: FilePath) -> Bool { false }
    package func holdsPictures(_ folder: FilePath) -> Bool { false }
}

/// One folder as it was read.
package struct ScannedFolder: Sendable {
    /// Relative to the root; empty for the root itself.
    package var path: FilePath
    /// Regular files, ignored ones left out.
    package var files: [ScannedFile]
    /// Why the folder could not be read (then `files` is empty and says nothing); `nil` when it could.
    package var error: ScanError?
    /// What is no file to be stored, and may be taken for one.
    package var others: [ScannedOther]

    package init(path: FilePath, files: [ScannedFile], others: [ScannedOther] = [], error: ScanError? = nil) {
        self.path = path
        self.files = files
        self.others = others
        self.error = error
    }
}

package struct ScannedFile: Hashable, Sendable {
    /// The last component.
    package var name: FilePath.Component
    package var stamp: FileStamp

    package init(name: FilePath.Component, stamp: FileStamp) {
        self.name = name
        self.stamp = stamp
    }
}

/// An entry of a folder that is never stored.
package struct ScannedOther: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A symbolic link to something that no other name below the root has.
        case link
        /// A file with one of ``IgnoredNames``.
        case ignoredName(FileStamp)
        /// A folder with one of them.
        case ignoredFolder
    }

    package var name: FilePath.Component
    package var kind: Kind

    package init(name: FilePath.Component, kind: Kind) {
        self.name = name
        self.kind = kind
    }
}

package struct ScanError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable {
        /// Not there, or not a folder.
        case missing
        case denied
        case failed
    }

    package var code: Code
    package var path: FilePath
    /// The reason, with the next step.
    package var message: String

    package init(_ code: Code, path: FilePath, message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    package var description: String { "\(path.string.escapingControls): \(message)" }
}
