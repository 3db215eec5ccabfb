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
        var status = stat()
        guard lstat(destination.string, &status) == 0 else {
            guard errno == ENOENT else { throw Errno(rawValue: errno) }
            return nil
        }
        // One file under two names, or met through a link: to remove one would be to lose it.
        if let mine = FileStamp.ofFile(source), let other = FileStamp.ofFile(destination),
            (mine.device, mine.inode) == (other.device, other.inode)
        {
            return .conflict
        }
        let digest = try FileDigest.of(source, size: nil, flag)
        guard let digest, let other = try FileDigest.of(destination, size: nil, flag) else { return .conflict }
        return digest == other ? .alreadyThere : .conflict
    }

    /// Time and mode are kept, as far as the file system can.
    /// - Throws: ``DownloadError`` `.inUse` while somebody else makes the same file; `Errno`, ``Mismatch``,
    ///   `CancellationError`.
    func run(_ source: FilePath, to destination: FilePath, _ flag: CancellationFlag) throws -> Outcome {
        // A run that was killed leaves its part: half of the file, or another name of it.
        try PartFile.discard(for: destination)
        if let outcome = try standing(of: source, at: destination, flag) { return outcome }
        let part = PartFile.path(for: destination)
        let output: FileDescriptor
        do {
            output = try FileDescriptor.open(
                part, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec], permissions: .ownerReadWrite)
        } catch Errno.fileExists {
            throw DownloadError(.inUse, destination, "it is being written already, here or by another process")
        }
        // Until it has its name: nobody else takes it for one that was left.
        flock(output.rawValue, LOCK_EX | LOCK_NB)
        defer { try? output.close() }
        do {
            let expected = try write(source, to: output, flag)
            guard try FileDigest.of(part, size: nil, flag) == expected else {
                throw Mismatch(description: "the copy was read back and has other bytes; check the disk")
            }
            guard try FreeName.take(destination, for: part, calls) else {
                unlink(part.string)
                return try standing(of: source, at: destination, flag) ?? .conflict
            }
        } catch {
            unlink(part.string)
            throw error
        }
        unlink(part.string)
        try Folder.sync(destination.removingLastComponent())
        return .copied
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
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = try calls.write(output, offset, UnsafeRawBufferPointer(rebasing: rest))
                    offset += Int64(count)
                    rest = rest.dropFirst(count)
                }
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
