import FoundationEssentials
import SyncCore
import SyncDigest
import SyncSystem
package import SystemPackage

/// The folder that a share is mirrored into, locked while this lives. It stays the same folder, whatever has its path
/// meanwhile. All functions block and throw `Errno`, unless they say otherwise; links in the folder are replaced or left
/// alone, never followed.
final class MirrorFolder: Sendable {
    static let stateName: FilePath.Component = ".sync-agent-mirror.json"
    static let manifestName: FilePath.Component = "vacation.json"
    /// Bytes. Of 10,000 photos it has less than ten million.
    static let largestManifest: Int64 = 64 << 20
    /// Bytes. Of 10,000 photos it has five million; where each has changed eight times, more than twenty, and with long names
    /// forty. One that is longer would be none at all.
    private static let stateLimit = 64 << 20

    /// For people.
    let path: FilePath
    /// Leads to the folder that was locked, as long as this lives.
    let held: FilePath
    private let descriptor: FileDescriptor

    /// Opens the folder.
    /// - Throws: ``MirrorError``; `Errno`, `.noSuchFileOrDirectory` when there is none.
    init(_ path: FilePath) throws {
        self.path = path
        do {
            descriptor = try FileDescriptor.open(path, .readOnly, options: [.directory, .closeOnExec])
        } catch Errno.notDirectory {
            throw MirrorError(
                code: .notAFolder, folder: path, message: "there is something else in the place of this folder")
        } catch Errno.permissionDenied {
            throw MirrorError.notAllowed(path)
        }
        let held = descriptor.heldPath(else: path)
        do {
            // One that can be listed and not entered would look as if nothing were in it.
            try held.requireAccess(.execute)
        } catch {
            try? descriptor.close()
            if error.isRefusal { throw MirrorError.notAllowed(path) }
            throw error
        }
        // Where there are no such locks (some network mounts), the last to write wins.
        if !descriptor.tryLock() {
            try? descriptor.close()
            throw MirrorError(
                code: .inUse, folder: path, message: "another sync-agent mirrors into this folder just now")
        }
        self.held = held
    }

    var identity: FolderIdentity? { FolderIdentity(at: held) }

    /// Whether anything at all can be written into it, as far as rights go.
    var isWritable: Bool { held.allows(.write) }

    /// For the next, at once: a thread that has just done its work may still hold this for a moment.
    func unlock() {
        descriptor.unlock()
    }

    deinit {
        unlock()
        try? descriptor.close()
    }

    /// What the folder knows of itself; `nil` where there is nothing, or nothing that can be read. Damaged is also what can be
    /// read in part.
    /// - Throws: ``MirrorError`` `.newerState`; ``DownloadError`` where it is there, and nobody can read it.
    func state() throws -> (state: MirrorState?, isDamaged: Bool) {
        struct Version: Decodable {
            let version: Int
        }
        guard let bytes = try hiddenBytes() else { return (nil, false) }
        guard let version = try? JSONDecoder().decode(Version.self, from: Data(bytes)).version else {
            return (nil, true)
        }
        guard version <= MirrorState.currentVersion else {
            throw MirrorError(
                code: .newerState, folder: path, message: "a newer sync-agent mirrors into this folder; update this one"
            )
        }
        guard let state = try? JSONDecoder().decode(MirrorState.self, from: Data(bytes)) else { return (nil, true) }
        return (state, state.isDamaged)
    }

    private func hiddenBytes() throws -> [UInt8]? {
        do {
            return try read(Self.stateName, limit: Self.stateLimit)
        } catch let errno as Errno {
            throw DownloadError.unreadable(errno, path.appending(Self.stateName))
        }
    }

    /// The share that was mirrored here, as its manifest in the folder tells it; `nil` where there is none, or it is no
    /// such manifest.
    /// - Parameter id: of the share that it has to be about, where that is known.
    func share(_ id: ShareID?) -> CheckedShare? {
        guard let bytes = try? read(Self.manifestName, limit: Int(Self.largestManifest)) else { return nil }
        return try? ShareManifestRules(asked: id, limit: Int(Self.largestManifest)).check(bytes, foundAt: nil)
    }

    /// Whether its manifest is the one with this SHA-256, in hexadecimal digits.
    func hasManifest(_ sha256: String) -> Bool {
        guard let bytes = try? read(Self.manifestName, limit: Int(Self.largestManifest)) else { return false }
        return SHA256Digest(of: bytes).description == sha256
    }

    /// Writes a file of ours in one step: whoever reads it sees the old one or the new one, also after a power failure.
    /// - Parameter isPrivate: whether only its owner may read it.
    func write(_ bytes: [UInt8], to name: FilePath.Component, isPrivate: Bool, _ calls: DownloadCalls) throws {
        try calls.save(bytes, held.appending(name), FilePermissions(rawValue: isPrivate ? 0o600 : 0o666))
    }

    /// Size and time of a regular file; `nil` when nothing has the name.
    /// - Throws: `Errno.tooManySymbolicLinkLevels` for a link, `.fileExists` for anything else that is no file.
    func attributes(of name: FilePath.Component) throws -> (size: Int64, modified: Int64)? {
        guard let status = try FileStatus.find(held.appending(name)) else { return nil }
        guard status.kind == .file else {
            throw status.kind == .link ? Errno.tooManySymbolicLinkLevels : .fileExists
        }
        return (status.stamp.size, status.stamp.modified)
    }

    /// `nil` when nothing has the name, or what is not ours: something that is no file, or a longer one.
    private func read(_ name: FilePath.Component, limit: Int) throws -> [UInt8]? {
        do {
            guard let found = try attributes(of: name), found.size <= limit else { return nil }
            let file = try FileDescriptor.open(
                held.appending(name), .readOnly, options: [.noFollow, .nonBlocking, .closeOnExec])
            return try file.closeAfter { try file.bytes(atMost: Int(found.size)) }
        } catch Errno.tooManySymbolicLinkLevels, Errno.fileExists {
            return nil
        }
    }
}

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
        /// It may not be entered, or not be read.
        case notAllowed
        /// It was mirrored into, and knows nothing of that.
        case lost
    }

    package let code: Code
    package let folder: FilePath
    /// The reason, and the next step.
    package let message: String

    package var description: String { "\(folder.string.escapingControls): \(message)" }

    static func notAllowed(_ folder: FilePath) -> MirrorError {
        MirrorError(
            code: .notAllowed, folder: folder,
            message: "no permission to look into it; change its owner or mode (chmod u+rwx), or name another folder")
    }

    static func lost(_ folder: FilePath) -> MirrorError {
        MirrorError(
            code: .lost, folder: folder,
            message:
                "this is not the folder that was mirrored into: its drive is not mounted, or it was moved or emptied. "
                + "Nothing is fetched until it is back; to begin anew here, start the mirror again")
    }

    static func otherShare(_ folder: FilePath, _ id: String) -> MirrorError {
        MirrorError(
            code: .otherShare, folder: folder,
            message: "this is the mirror of another share, \(id.escapingControls); name another folder")
    }
}
