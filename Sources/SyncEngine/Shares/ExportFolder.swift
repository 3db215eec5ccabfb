import Foundation
import Glibc
import SyncCore
import SyncSystem
import SystemPackage

/// The hidden folder in which an export is put together, beside its destination and locked while this lives. It goes away
/// with the value, unless it has got the destination's name. All functions block.
final class ExportFolder: Sendable {
    private static let suffix = ".sync-agent-export"
    /// Bytes of the destination's name in that of the hidden folder.
    private static let longestName = 200

    /// Leads to it, as long as this lives.
    let held: FilePath
    /// What the destination is called, without `.zip`: a text.
    let stem: String
    private let path: FilePath
    private let destination: FilePath
    private let descriptor: FileDescriptor

    /// - Throws: ``DownloadError``, `.inUse` while another process exports to the same place, `.notAllowed` where others may
    ///   write to it.
    init(for destination: FilePath) throws {
        self.destination = destination
        var name = destination.lastComponent?.text ?? ""
        while name.utf8.count > Self.longestName { name.removeLast() }
        path = destination.removingLastComponent().appending(".\(name)\(Self.suffix)")
        stem = name.lowercased().hasSuffix(".zip") && name.count > 4 ? String(name.dropLast(4)) : name
        let descriptor: FileDescriptor
        let isNew: Bool
        do {
            isNew = try Self.make(path)
            descriptor = try FileDescriptor.opened(path, .readOnly, [.directory, .noFollow, .closeOnExec])
        } catch {
            if let found = try? FileStatus(at: path), found.kind != .folder { throw Self.foreign(path) }
            throw DownloadError(error, destination)
        }
        guard Self.isOurs(descriptor, isNew: isNew) else {
            try? descriptor.close()
            throw Self.foreign(path)
        }
        // One that has got its name meanwhile is nobody's to clear.
        guard descriptor.tryLock(), Self.isStill(descriptor, at: path) else {
            try? descriptor.close()
            throw DownloadError(.inUse, destination, "another sync-agent exports to this place; wait for it")
        }
        // Not before: what is another's would be removed with this.
        self.descriptor = descriptor
        held = descriptor.heldPath(else: path)
        clear()
    }

    /// - Returns: `false` where something has its name: what a killed process has left, or another one is at.
    private static func make(_ path: FilePath) throws(Errno) -> Bool {
        do {
            try path.makeFolder(.readableFolder)
            return true
        } catch Errno.fileExists {
            return false
        }
    }

    /// Whether nobody else may write to it. A file system that keeps no permissions tells those that it was mounted with, also
    /// of a folder that was just made.
    private static func isOurs(_ folder: FileDescriptor, isNew: Bool) -> Bool {
        guard let status = try? FileStatus(of: folder), status.user == geteuid() else { return false }
        return isNew || status.permissions.isDisjoint(with: [.groupWrite, .otherWrite])
    }

    private static func foreign(_ path: FilePath) -> DownloadError {
        DownloadError(
            .notAllowed, path, "somebody else may write to it, or it is a link; remove it, or name another place")
    }

    private static func isStill(_ folder: FileDescriptor, at path: FilePath) -> Bool {
        guard let own = try? FileStatus(of: folder), let found = try? FileStatus(at: path) else { return false }
        return own.isSameFile(as: found)
    }

    private func clear() {
        for entry in (try? Folder.names(in: held)) ?? [] {
            try? FileManager.default.removeItem(atPath: held.appending(entry).string)
        }
    }

    deinit {
        remove()
        try? descriptor.close()
    }

    /// Nothing of it stays. After ``place()`` there is nothing to remove.
    func remove() {
        guard Self.isStill(descriptor, at: path) else { return }
        clear()
        try? path.removeFolder()
    }

    /// A file below it, on the disk for good.
    /// - Throws: `Errno`; ``PhotoError`` when the file that its bytes come from is another one by now.
    func write(_ body: ObjectBody, to name: String) throws {
        let file = held.appending(name)
        switch body.source {
        case .bytes(let bytes): try NewFile.make(bytes, at: file, permissions: .readableFile)
        case .file(let source, let stamp): try copy(source, stamp, body, to: file)
        }
    }

    func write(_ text: String, to name: String) throws {
        try NewFile.make(text.utf8, at: held.appending(name), permissions: .readableFile)
    }

    /// Gives it the destination's name. An empty folder there is replaced; anything else is not.
    /// - Throws: `Errno`; ``DownloadError``.
    func place() throws {
        try sync(held)
        guard Self.isStill(descriptor, at: path) else { throw Self.foreign(path) }
        try Folder.rename(path, to: destination)
    }

    private func sync(_ folder: FilePath) throws {
        for entry in try Folder.names(in: folder) ?? [] {
            let place = folder.appending(entry)
            if try FileStatus(at: place).kind == .folder { try sync(place) }
        }
        try Folder.sync(folder)
    }

    private func copy(_ source: FilePath, _ stamp: FileStamp, _ body: ObjectBody, to file: FilePath) throws {
        let input = try ofSource {
            try FileDescriptor.opened(source, .readOnly, [.noFollow, .nonBlocking, .closeOnExec])
        }
        defer { try? input.close() }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
        defer { buffer.deallocate() }
        try NewFile.make([UInt8](), at: file, permissions: .readableFile) { output in
            var offset: Int64 = 0
            while case let count = try ofSource({ try input.read(into: buffer) }), count > 0 {
                let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
                body.patches.apply(to: piece, at: offset)
                try output.writeAll(UnsafeRawBufferPointer(piece))
                offset += Int64(count)
            }
            guard offset == body.size, FileStamp.ofFile(source) == stamp else {
                throw PhotoError(.changed, "the file has changed")
            }
        }
    }
}

/// What is wrong with the file that is copied is no fault of the place that it is copied to.
private func ofSource<Value>(_ body: () throws -> Value) throws -> Value {
    do {
        return try body()
    } catch let error as Errno {
        throw PhotoError(error == .noSuchFileOrDirectory ? .missing : .unreadable, "\(error)")
    }
}
