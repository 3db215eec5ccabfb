import SyncCore
import SyncDigest
import SyncSystem

/// Counts and hashes the bytes of one object on their way to the reader's sink.
final class ReadCheck: Sendable {
    private struct State: ~Copyable {
        var count: Int64 = 0
        var hasher: ContentHasher?
    }

    private let state: Mutex<State>

    /// - Parameter isWhole: a part has no digest to compare with, and is only counted.
    init(isWhole: Bool) {
        state = Mutex(State(hasher: isWhole ? ContentHasher() : nil))
    }

    func update(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { state in
            state.count += Int64(bytes.count)
            state.hasher?.update(bytes)
        }
    }

    var count: Int64 { state.withLock { $0.count } }

    /// Whether the bytes are those of the object: by the SHA-256 of the store or of its writer, else by the store's MD5. An
    /// object with none of them cannot be told from another.
    func matches(_ info: ObjectInfo) -> Bool {
        guard let digest = state.withLock({ $0.hasher?.finalize() }) else { return true }
        if let stored = info.sha256, stored != digest.sha256 { return false }
        if let claimed = info.claimedSHA256 { return claimed == digest.sha256 }
        return info.md5.map { $0 == digest.md5 } ?? true
    }
}
