package import SyncCore
import SyncSystem

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
        let tooLarge = StoreError(
            .tooLarge, operation: "get", key: key.rawValue,
            message: "it has more than \(limit >> 20) MiB, and is not read into memory")
        let isTooLarge = Mutex(false)
        do {
            _ = try await get(key, range: nil) { piece in
                try bytes.withLock { bytes in
                    guard bytes.count + piece.count <= limit else {
                        isTooLarge.withLock { $0 = true }
                        throw tooLarge
                    }
                    bytes.append(contentsOf: piece)
                }
            }
        } catch {
            // What a store makes of an error of its sink is its own affair.
            throw isTooLarge.withLock { $0 } ? tooLarge : error
        }
        return bytes.withLock { $0 }
    }
}
