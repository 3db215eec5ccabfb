import FoundationEssentials
package import SyncCore
import SyncDigest
package import SyncSystem
package import SystemPackage

/// Fills a part with the bytes of its object: from where it ends as long as that can be proven, else anew.
struct ObjectFetch: Sendable {
    /// Bytes. An attempt that brought so many was no failure: a large file on a bad line gets there.
    static let worthwhile: Int64 = 1 << 20

    let store: any ObjectSource
    let pool: BlockingPool
    let policy: RetryPolicy
    let time: TimeSource
    let task: DownloadTask
    let part: PartFile
    let progress: @Sendable (Int64) -> Void

    /// - Returns: the digests of the whole object, whether they were held against others, and what the store tells of it.
    func run() async throws -> (digest: ContentDigest, isVerified: Bool, info: ObjectInfo) {
        try await pool.runChecking { [part] in try part.takeUp($0) }
        progress(part.position)
        var failures = 0
        var hasBegunAnew = false
        while true {
            let start = part.position
            do {
                let info = try await transfer()
                let digest = part.digest()
                let proof = DownloadProof(expected: task.sha256, info: info).accepts(digest)
                guard proof != false else {
                    throw failure(
                        .badDigest, "the bytes that arrived have SHA-256 \(digest.sha256), another was expected")
                }
                return (digest, proof == true, info)
            } catch let error as StoreError where error.code == .badDigest || error.code == .invalidRange {
                guard !hasBegunAnew else {
                    try await pool.run { [part] in try part.remove() }
                    throw error
                }
                hasBegunAnew = true
                try await beginAnew()
            } catch let error as StoreError where error.isTransient {
                failures = part.position - start >= Self.worthwhile ? 1 : failures + 1
                guard failures < policy.maximumAttempts else { throw error }
                try await time.sleep(policy.delay(afterAttempt: failures, random: time.random()))
            }
        }
    }

    /// Brings what is missing.
    private func transfer() async throws -> ObjectInfo {
        guard part.position > 0 else { return try checkLength(try await get(nil)) }
        guard let info = try await store.head(task.key) else {
            throw failure(.notFound, "nothing is stored under this key any more")
        }
        guard info.size >= part.position, DownloadProof(expected: task.sha256, info: info).isPossible else {
            try await beginAnew()
            return try checkLength(try await get(nil))
        }
        if part.position < info.size {
            let other = try await get(part.position..<info.size)
            guard other.size == info.size, other.modified == info.modified else {
                throw failure(.badDigest, "the object was replaced while it was read")
            }
        }
        return try checkLength(info)
    }

    private func checkLength(_ info: ObjectInfo) throws(StoreError) -> ObjectInfo {
        guard part.position == info.size else {
            throw failure(
                part.position < info.size ? .connectionLost : .badDigest,
                "\(part.position) of \(info.size) bytes arrived")
        }
        return info
    }

    private func get(_ range: Range<Int64>?) async throws -> ObjectInfo {
        try await store.read(task.key, range: range) { [part, progress, task] bytes in
            do {
                try part.append(bytes)
            } catch let error as Errno {
                throw DownloadError(error, task.destination)
            }
            progress(part.position)
        }
    }

    private func beginAnew() async throws {
        try await pool.run { [part] in try part.reset() }
        progress(0)
    }

    private func failure(_ code: StoreError.Code, _ message: String) -> StoreError {
        StoreError(code, operation: "get", key: task.key.rawValue, message: message)
    }
}

/// What is known of an object's bytes before they are here: our own digest, which alone decides; else all that the store
/// and the writer told.
struct DownloadProof {
    let expected: SHA256Digest?
    let info: ObjectInfo?

    /// Whether anything is known at all.
    var isPossible: Bool { expected != nil || info?.sha256 != nil || info?.claimedSHA256 != nil || info?.md5 != nil }

    /// Whether these are the bytes; `nil` when nothing is known.
    func accepts(_ digest: ContentDigest) -> Bool? {
        if let expected { return expected == digest.sha256 }
        guard isPossible else { return nil }
        return [info?.sha256, info?.claimedSHA256].allSatisfy { $0 ?? digest.sha256 == digest.sha256 }
            && info?.md5 ?? digest.md5 == digest.md5
    }
}

/// Reads whole objects into memory. A read that was cut is begun anew.
struct ObjectReader: Sendable {
    let store: any ObjectSource
    /// Bytes. Larger objects are refused.
    let limit: Int
    var policy = RetryPolicy()
    let time: TimeSource

    /// - Throws: ``StoreError``, `.tooLarge` for one beyond the limit; `CancellationError`.
    func read(_ key: ObjectKey) async throws -> [UInt8] {
        try await policy.retrying(time) { try await store.bytes(of: key, limit: limit) }
    }
}

extension RetryPolicy {
    /// Reads anew as long as what failed may pass.
    func retrying<Value>(_ time: TimeSource, _ read: () async throws -> Value) async throws -> Value {
        var attempt = 1
        while true {
            do {
                return try await read()
            } catch let error as StoreError where error.isTransient && attempt < maximumAttempts {
                try await time.sleep(delay(afterAttempt: attempt, random: time.random()))
                attempt += 1
            }
        }
    }
}

extension ObjectSource {
    /// A whole object, by one request.
    /// - Throws: ``StoreError``, `.tooLarge` for one of more than `limit` bytes, of which no more are read.
    package func bytes(of key: ObjectKey, limit: Int) async throws -> [UInt8] {
        let bytes = Lock<[UInt8]>([])
        _ = try await read(key, range: nil) { piece in
            try bytes.withLock { bytes in
                guard bytes.count + piece.count <= limit else {
                    throw StoreError(
                        .tooLarge, operation: "get", key: key.rawValue,
                        message: "it has more than \(limit >> 20) MiB, and is not read into memory")
                }
                bytes.append(contentsOf: piece)
            }
        }
        return bytes.withLock { $0 }
    }

    /// As `get`. What the sink throws is thrown: what a store makes of an error of its sink is its own affair.
    func read(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        let failure = Lock<(any Error)?>(nil)
        do {
            return try await get(key, range: range) { bytes in
                do {
                    try sink(bytes)
                } catch {
                    failure.withLock { $0 = error }
                    throw error
                }
            }
        } catch {
            throw failure.withLock { $0 } ?? error
        }
    }
}

/// The file that a download grows in, for its owner only: whatever ends the process leaves it for the next to go on from.
///
/// Bytes are appended by one thread at a time. All functions block.
final class PartFile: Sendable {
    private struct State: ~Copyable {
        var position: Int64 = 0
        var hasher = ContentHasher()
    }

    private let file: NewFile
    private let state = Lock(State())
    private let calls: DownloadCalls

    /// Opens the part of a destination, or makes it.
    /// - Throws: ``DownloadError``, `.inUse` while somebody else has it; `Errno`.
    init(for destination: FilePath, calls: DownloadCalls) throws {
        do {
            file = try NewFile(for: destination, leftover: .kept, link: calls.link, syncFolder: calls.syncFolder)
        } catch Errno.wouldBlock {
            throw DownloadError(.inUse, destination, "it is being downloaded already, here or by another process")
        }
        self.calls = calls
    }

    /// Leaves the part to a later run, which may begin at once. An empty one is nothing to go on from.
    func leave(isUseless: Bool = false) {
        file.leave(isUseless: isUseless)
    }

    /// The hidden one, where the bytes are until it is placed.
    var path: FilePath { file.path }

    /// How many bytes are known to be in it, from its beginning.
    var position: Int64 { state.withLock { $0.position } }

    /// Hashes what an earlier run left, and goes on behind it.
    func takeUp(_ flag: CancellationFlag) throws {
        try file.descriptor.eachPiece(flag) { piece in
            state.withLock { state in
                state.hasher.update(piece)
                state.position += Int64(piece.count)
            }
        }
    }

    /// Begins anew, with nothing in it.
    func reset() throws {
        try file.descriptor.cut()
        state.withLock { state in
            state.position = 0
            _ = state.hasher.finalize()
        }
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        let end = try calls.writeAll(bytes, to: file.descriptor, at: position)
        state.withLock { state in
            state.hasher.update(bytes)
            state.position = end
        }
    }

    /// The digests of all bytes in it. Asked once: afterwards it can only be reset or placed.
    func digest() -> ContentDigest {
        state.withLock { $0.hasher.finalize() }
    }

    /// Puts what is made of all bytes in it in their place.
    /// - Parameter make: reads the bytes, so many, and fills an empty file.
    /// - Returns: the digests of the new ones.
    func replaceBytes(by make: (FileDescriptor, Int64, FileDescriptor) throws -> Void) throws -> ContentDigest {
        let made = try MemoryFile(named: "original")
        try make(file.descriptor, position, made.descriptor)
        try reset()
        let size = try made.size()
        while position < size {
            let piece = try made.bytes(from: position, Int(min(size - position, Self.pieceLength)))
            try piece.withUnsafeBytes { try append($0) }
        }
        return digest()
    }

    private static let pieceLength: Int64 = 1 << 20

    func remove() throws {
        try file.remove()
    }

    /// Gives the whole and verified file its time, its mode and its name, and sees to it that a power failure takes none of
    /// them back.
    /// - Returns: `false`, with nothing changed at the destination, when something has the name and is not to be replaced.
    func place(modified: Date?, overwrites: Bool) throws -> Bool {
        // File systems without times or modes of their own (FAT, SMB) refuse; the bytes count.
        if let modified { try? FileTimes(modified).set(on: file.descriptor) }
        try? file.descriptor.setPermissions(Self.ordinaryPermissions())
        return try file.place(overwrites: overwrites)
    }

    /// What open(2) gives to a new file of mode 0666. umask(2) cannot be asked without changing it for all threads;
    /// proc(5) tells it.
    private static func ordinaryPermissions() -> FilePermissions {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("Umask:") }
        let mask = line?.split(whereSeparator: \.isWhitespace).last.flatMap { CInterop.Mode($0, radix: 8) }
        return FilePermissions(rawValue: 0o666 & ~(mask ?? 0o077))
    }
}

extension FileTimes {
    fileprivate init(_ date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        let rest = (date.timeIntervalSince1970 - seconds) * 1e9
        self.init(seconds: Int64(seconds), nanoseconds: min(Int(rest), 999_999_999))
    }
}

/// The system calls that fail on some disks only. Tests script them.
package struct DownloadCalls: Sendable {
    /// pwrite(2): writes some of the bytes at an offset, and tells how many.
    package var write: @Sendable (FileDescriptor, Int64, UnsafeRawBufferPointer) throws -> Int = {
        try $0.write(toAbsoluteOffset: $1, $2)
    }
    /// link(2): gives a file a second name, if nothing has it.
    package var link: NewFile.Link = NewFile.link
    /// fsync(2) of the folder that a file gets its name in.
    package var syncFolder: NewFile.SyncFolder = NewFile.syncFolder
    /// Writes a small file beside what is downloaded, in one step, in place of what has its name.
    package var save: @Sendable ([UInt8], FilePath, FilePermissions) throws -> Void = { bytes, path, permissions in
        _ = try NewFile.save(bytes, to: path, permissions: permissions, overwrites: true)
    }

    package init() {}

    /// - Returns: where the bytes end.
    func writeAll(_ bytes: UnsafeRawBufferPointer, to file: FileDescriptor, at offset: Int64) throws -> Int64 {
        var offset = offset
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try write(file, offset, UnsafeRawBufferPointer(rebasing: rest))
            offset += Int64(count)
            rest = rest.dropFirst(count)
        }
        return offset
    }
}

/// Reads files for their digests, with one buffer.
enum FileDigest {
    /// The digests of a regular file; `nil` when there is something else, or a file of another length than `size`.
    /// - Throws: `Errno`; `CancellationError`.
    static func of(_ path: FilePath, size: Int64?, _ flag: CancellationFlag) throws -> ContentDigest? {
        // Before it is opened: a socket cannot be, and a device may act on it.
        guard try FileStatus(at: path).kind == .file else { return nil }
        let file: FileDescriptor
        do {
            file = try FileDescriptor.open(path, .readOnly, options: [.noFollow, .nonBlocking, .closeOnExec])
        } catch Errno.tooManySymbolicLinkLevels {
            return nil
        }
        defer { try? file.close() }
        let status = try FileStatus(of: file)
        guard status.kind == .file, size.map({ $0 == status.stamp.size }) ?? true else { return nil }
        var hasher = ContentHasher()
        try file.eachPiece(flag) { hasher.update($0) }
        return hasher.finalize()
    }
}

extension FileDescriptor {
    private static let pieceLength = 256 << 10

    /// Reads a file from its beginning to its end, piece by piece.
    /// - Throws: `Errno`, `.ioError` when fewer bytes came than there are; `CancellationError`; what `body` throws.
    func eachPiece(_ flag: CancellationFlag, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceLength, alignment: 4_096)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while true {
            try flag.check()
            let count = try read(at: offset, into: buffer)
            if count == 0 { return }
            try body(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
            offset += Int64(count)
        }
    }
}
