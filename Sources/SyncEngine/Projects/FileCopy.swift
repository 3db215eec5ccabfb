import FoundationEssentials
import Glibc
import SyncCore
import SyncDigest
import SyncSystem
import SystemPackage

/// Copies one file so that nothing is lost by it: never over another file, and only proven bytes get the name.
struct FileCopy: Sendable {
    enum Outcome: Hashable, Sendable {
        case copied
        /// A file with the same bytes has the name.
        case alreadyThere
        /// Something else has the name.
        case conflict
    }

    /// The copy that was read back has other bytes than the file.
    struct Mismatch: Error, CustomStringConvertible {
        let description: String
    }

    let calls: DownloadCalls

    /// What is in the place of a copy; `nil` when nothing is.
    func standing(of source: FilePath, at destination: FilePath, _ flag: CancellationFlag) throws -> Outcome? {
        guard let other = try FileStatus.find(destination) else { return nil }
        // One file under two names, or met through a link: to remove one would be to lose it.
        if let mine = try? FileStatus(at: source), mine.kind == .file, mine.isSameFile(as: other) { return .conflict }
        let digest = try FileDigest.of(source, size: nil, flag)
        guard let digest, let other = try FileDigest.of(destination, size: nil, flag) else { return .conflict }
        return digest == other ? .alreadyThere : .conflict
    }

    /// Time and mode are kept, as far as the file system can.
    /// - Throws: ``DownloadError`` `.inUse` while somebody else makes the same file; `Errno`, ``Mismatch``,
    ///   `CancellationError`.
    func run(_ source: FilePath, to destination: FilePath, _ flag: CancellationFlag) throws -> Outcome {
        // A run that was killed leaves its hidden file: half of it, or another name of it.
        try NewFile.discard(for: destination)
        if let outcome = try standing(of: source, at: destination, flag) { return outcome }
        let copy: NewFile
        do {
            copy = try NewFile(for: destination, link: calls.link, syncFolder: calls.syncFolder)
        } catch Errno.wouldBlock {
            throw DownloadError(.inUse, destination, "it is being written already, here or by another process")
        }
        defer { copy.leave() }
        let expected = try write(source, to: copy.descriptor, flag)
        guard try FileDigest.of(copy.path, size: nil, flag) == expected else {
            throw Mismatch(description: "the copy was read back and has other bytes; check the disk")
        }
        if try copy.place(overwrites: false) { return .copied }
        return try standing(of: source, at: destination, flag) ?? .conflict
    }

    private func write(
        _ source: FilePath, to output: FileDescriptor, _ flag: CancellationFlag
    ) throws -> ContentDigest {
        let input = try FileDescriptor.open(source, .readOnly, options: [.noFollow, .nonBlocking, .closeOnExec])
        defer { try? input.close() }
        var status = stat()
        guard fstat(input.rawValue, &status) == 0 else { throw Errno(rawValue: errno) }
        var hasher = ContentHasher()
        var offset: Int64 = 0
        var failure: (any Error)?
        try FileDigest.read(input, flag) { bytes in
            guard failure == nil else { return }
            hasher.update(bytes)
            do {
                offset = try calls.writeAll(bytes, to: output, at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        _ = futimens(output.rawValue, [status.st_atim, status.st_mtim])
        _ = fchmod(output.rawValue, status.st_mode & 0o777)
        try output.sync()
        return hasher.finalize()
    }
}
