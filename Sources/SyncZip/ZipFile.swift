import CSyncArchive
import FoundationEssentials
package import SyncCore
import SyncSystem
package import SystemPackage

/// A ZIP file on the disk, written by libarchive: stored, not compressed, with names in UTF-8 and ZIP64 where a file, the
/// archive or the number of entries is too large without.
///
/// It grows in a hidden file beside its path. That one goes away with the value, and when the process was killed, with the
/// next archive that is written to the same path.
package final class ZipFile: ZipWriter {
    private struct State: ~Copyable {
        var stream: ZipStream
        var names: Set<String> = []
        /// Bytes that the entry under way still has to get; `nil` between two.
        var missing: Int64?
        /// What every call throws from now on.
        var failure: ZipError?
        var isFinished = false
    }

    private static let pieceLength = 1 << 20

    private let path: FilePath
    private let part: NewFile
    private let state: Lock<State>

    /// - Throws: ``ZipError``; `.nameTaken` when something has the path, `.inUse` while another writes to it.
    package convenience init(at path: FilePath) throws(ZipError) {
        try self.init(at: path, link: NewFile.link)
    }

    init(at path: FilePath, link: @escaping NewFile.Link) throws(ZipError) {
        self.path = path
        if let missing = CSyncArchive_Missing() {
            throw ZipError(
                .ioFailed, path.string,
                "libarchive, which writes it, cannot be opened; install it (\(String(cString: missing)))")
        }
        do throws(Errno) {
            if try FileStatus.find(path) != nil { throw Errno.fileExists }
            // As the person's umask wants it: it becomes the archive.
            part = try NewFile(for: path, permissions: FilePermissions(rawValue: 0o666), link: link)
            state = Lock(State(stream: try ZipStream(to: part.descriptor)))
        } catch {
            throw error == .wouldBlock
                ? ZipError(.inUse, path.string, "it is being written already, here or by another process")
                : ZipError(error, path)
        }
    }

    package func begin(_ entry: ZipEntry) throws(ZipError) {
        try whileOpen { (state) throws(ZipError) in
            guard state.missing == nil else { throw unfinished() }
            guard state.names.insert(entry.name).inserted else {
                throw ZipError(.badName, entry.name, "another file in the archive has this name")
            }
            try call { () throws(Errno) in try state.stream.begin(entry) }
            state.missing = entry.size
        }
    }

    package func append(_ bytes: UnsafeRawBufferPointer) throws(ZipError) {
        try whileOpen { (state) throws(ZipError) in
            guard let missing = state.missing, bytes.count <= missing else {
                throw ZipError(.wrongSize, path.string, "a file got longer while it was added; try again")
            }
            try call { () throws(Errno) in try state.stream.append(bytes) }
            state.missing = missing - Int64(bytes.count)
        }
    }

    package func end() throws(ZipError) {
        try whileOpen { (state) throws(ZipError) in
            guard state.missing == 0 else { throw unfinished() }
            state.missing = nil
        }
    }

    package func add(_ entry: ZipEntry, from file: FilePath) throws(ZipError) {
        let source = try ZipSource(file, size: entry.size)
        try begin(entry)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceLength, alignment: 4_096)
        defer { buffer.deallocate() }
        while true {
            let piece: UnsafeRawBufferPointer
            do {
                piece = try source.read(into: buffer)
            } catch {
                // The entry has begun: nothing takes it out again.
                let lost = ZipError(.ioFailed, file.string, "it could not be read to its end: \(error)")
                abandon(lost)
                throw lost
            }
            if piece.isEmpty { break }
            try append(piece)
        }
        try end()
    }

    package func finish() throws(ZipError) {
        try whileOpen { (state) throws(ZipError) in
            guard state.missing == nil else { throw unfinished() }
            try call { () throws(Errno) in
                try state.stream.finish()
                guard try part.place(overwrites: false) else { throw Errno.fileExists }
            }
            state.isFinished = true
        }
    }

    package func cancel() {
        abandon(ZipError(.cancelled, path.string, "the archive was given up"))
    }

    private func abandon(_ error: ZipError) {
        let isOver = state.withLock { state in
            if state.failure == nil, !state.isFinished { state.failure = error }
            return state.failure != nil
        }
        if isOver { try? part.remove() }
    }

    /// Gives `body` the state, unless the archive is lost or finished; it is lost with the first error that is not about
    /// one entry.
    private func whileOpen(_ body: (inout State) throws(ZipError) -> Void) throws(ZipError) {
        try state.withLock { (state) throws(ZipError) in
            if let failure = state.failure { throw failure }
            precondition(!state.isFinished, "\(path) is finished, and takes nothing any more")
            do throws(ZipError) {
                try body(&state)
            } catch {
                if !error.isAboutOneEntry {
                    state.failure = error
                    try? part.remove()
                }
                throw error
            }
        }
    }

    private func call(_ body: () throws(Errno) -> Void) throws(ZipError) {
        do throws(Errno) { try body() } catch { throw ZipError(error, path) }
    }

    private func unfinished() -> ZipError {
        ZipError(.wrongSize, path.string, "a file got shorter while it was added; try again")
    }
}

extension ZipError {
    init(_ errno: Errno, _ path: FilePath) {
        let fault = FileFault(
            errno, or: "write the archive to another disk", nameTaken: "name another file, or move it away")
        self.init(Code(rawValue: fault.code.rawValue) ?? .ioFailed, path.string, fault.message)
    }
}

/// A file that is to be added to an archive, opened, and as long as was announced.
///
/// Closed with its last reference, or when it is refused: all that it stores is set by then, so that it is let go of.
final class ZipSource {
    private let descriptor: FileDescriptor

    /// - Throws: ``ZipError``, `.badSource`.
    init(_ path: FilePath, size: Int64) throws(ZipError) {
        do {
            // A pipe in its place does not make the call hang.
            descriptor = try FileDescriptor.open(path, .readOnly, options: [.nonBlocking, .closeOnExec])
        } catch {
            throw ZipError(.badSource, path.string, "it cannot be read: \(error)")
        }
        guard let status = try? FileStatus(of: descriptor), status.kind == .file else {
            throw ZipError(.badSource, path.string, "it is no file")
        }
        guard status.stamp.size == size else {
            throw ZipError(.badSource, path.string, "it has \(status.stamp.size) bytes, and \(size) were expected")
        }
    }

    deinit {
        try? descriptor.close()
    }

    /// The next bytes, in `buffer`; none at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: buffer.prefix(try descriptor.read(into: buffer)))
    }
}

/// A handle of libarchive that writes a ZIP file to a descriptor, which has to outlive it.
///
/// Not copyable. After a failure it can only be let go.
struct ZipStream: ~Copyable {
    private let handle: OpaquePointer

    init(to descriptor: FileDescriptor) throws(Errno) {
        guard let handle = CSyncArchive_ZipCreate(descriptor.rawValue) else { throw Errno.noMemory }
        self.handle = handle
    }

    deinit {
        CSyncArchive_ZipFree(handle)
    }

    mutating func begin(_ entry: ZipEntry) throws(Errno) {
        let seconds = entry.modified.timeIntervalSince1970.rounded(.down)
        try check(CSyncArchive_ZipBegin(handle, entry.name, entry.size, Int64(seconds)))
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        try check(CSyncArchive_ZipAppend(handle, bytes.baseAddress, bytes.count))
    }

    mutating func finish() throws(Errno) {
        try check(CSyncArchive_ZipFinish(handle))
    }

    private func check(_ code: CInt) throws(Errno) {
        if code != 0 { throw Errno(rawValue: code) }
    }
}

// One owner at a time (not copyable), and every use needs exclusive access (mutating): the handle is never shared.
extension ZipStream: @unchecked Sendable {}
