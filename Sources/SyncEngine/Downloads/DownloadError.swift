import SyncCore
import SyncSystem
package import SystemPackage

/// Why a download failed on this side. What the store has against it is a `StoreError`.
package struct DownloadError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable, CaseIterable {
        case noSpace, tooLarge, folderMissing, notAllowed, nameTaken, ioFailed
        /// Another process, or another task of this one, downloads the same file.
        case inUse
    }

    package var code: Code
    package var path: FilePath
    /// The reason, and the next step.
    package var message: String

    package init(_ code: Code, _ path: FilePath, _ message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    /// Whether the next file would meet the same.
    package var concernsAll: Bool { code == .noSpace }

    package var description: String { "\(path.string.escapingControls): \(message)" }
}

extension DownloadError {
    package init(_ errno: Errno, _ path: FilePath) {
        let fault = FileFault(errno, or: "name another folder")
        self.init(Code(rawValue: fault.code.rawValue) ?? .ioFailed, path, fault.message)
    }
}
