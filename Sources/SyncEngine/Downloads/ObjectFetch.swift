package import SyncCore
import SyncSystem
import SystemPackage

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
        let bytes = Mutex<[UInt8]>([])
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
        let failure = Mutex<(any Error)?>(nil)
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
