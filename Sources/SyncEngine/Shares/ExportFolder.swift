import Foundation
import SyncCore
import SyncSystem
import SystemPackage

/// The hidden folder in which an export is put together, beside its destination and locked while this lives. It goes away
/// with the value, unless it has got the destination's name. All functions block.
final class ExportFolder: Sendable {
    private static let suffix = ".sync-agent-export"
    /// Bytes of the destination's name in that of the hidden folder.
    private static let longestName = 200
    private static let readable: FilePermissions = [
        .ownerReadWriteExecute, .groupReadExecute, .otherReadExecute,
    ]

    let path: FilePath
    /// What the destination is called, without `.zip`: a text.
    let stem: String
    private let destination: FilePath
    private let descriptor: FileDescriptor

    /// - Throws: ``DownloadError``, `.inUse` while another process exports to the same place.
    init(for destination: FilePath) throws {
        self.destination = destination
        var name = destination.lastComponent?.text ?? ""
        while name.utf8.count > Self.longestName { name.removeLast() }
        path = destination.removingLastComponent().appending(".\(name)\(Self.suffix)")
        stem = name.lowercased().hasSuffix(".zip") && name.count > 4 ? String(name.dropLast(4)) : name
        do {
            do {
                try path.makeFolder(Self.readable)
            } catch Errno.fileExists {
                // What a killed process has left, or another one is at.
            }
            descriptor = try FileDescriptor.opened(path, .readOnly, [.directory, .noFollow, .closeOnExec])
        } catch {
            throw DownloadError(error, destination)
        }
        // One that has got its name meanwhile is nobody's to clear.
        guard descriptor.tryLock(), let own = try? FileStatus(of: descriptor),
            (try? FileStatus(at: path)).map(own.isSameFile) == true
        else {
            try? descriptor.close()
            throw DownloadError(.inUse, destination, "another sync-agent exports to this place; wait for it")
        }
        for entry in (try? Folder.names(in: path)) ?? [] {
            try? FileManager.default.removeItem(atPath: path.appending(entry).string)
        }
    }

    deinit {
        remove()
        try? descriptor.close()
    }

    /// Nothing of it stays. After ``place()`` there is nothing to remove.
    func remove() {
        guard let own = try? FileStatus(of: descriptor), (try? FileStatus(at: path)).map(own.isSameFile) == true else {
            return
        }
        try? FileManager.default.removeItem(atPath: path.string)
    }

    /// A file below it, on the disk for good.
    /// - Throws: `Errno`; ``PhotoError`` when the file that its bytes come from is another one by now.
    func write(_ body: ObjectBody, to name: String) throws {
        let file = path.appending(name)
        switch body.source {
        case .bytes(let bytes): try NewFile.make(bytes, at: file, permissions: .readableFile)
        case .file(let source, let stamp): try copy(source, stamp, body, to: file)
        }
    }

    func write(_ text: String, to name: String) throws {
        try NewFile.make(text.utf8, at: path.appending(name), permissions: .readableFile)
    }

    /// Gives it the destination's name. An empty folder there is replaced; anything else is not.
    /// - Throws: `Errno`.
    func place() throws {
        try sync(path)
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

extension FilePermissions {
    /// As a person's umask wants it.
    fileprivate static let readableFile: FilePermissions = [.ownerReadWrite, .groupRead, .otherRead]
}
