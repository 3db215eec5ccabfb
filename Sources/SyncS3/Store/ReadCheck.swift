import SyncCore
import SyncDigest
import SyncSystem

/// Counts and hashes the bytes of one object on their way to the reader's sink.
final class ReadCheck: Sendable {
    private struct State: ~Copyable {
        var count: Int64 = 0
        var md5: ContentHasher?
        var sha256: SHA256Hasher?
    }

    private let isWhole: Bool
    private let state = Lock(State())

    /// - Parameter isWhole: a part has no digest to compare with, and is only counted.
    init(isWhole: Bool) {
        self.isWhole = isWhole
    }

    /// Called before the first byte. An MD5 is made only where nothing else tells the object from another.
    func begin(_ info: ObjectInfo?) {
        guard isWhole else { return }
        let hasSHA256 = info?.sha256 != nil || info?.claimedSHA256 != nil
        state.withLock { state in
            state.md5 = hasSHA256 ? nil : ContentHasher()
            state.sha256 = hasSHA256 ? SHA256Hasher() : nil
        }
    }

    func update(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { state in
            state.count += Int64(bytes.count)
            state.md5?.update(bytes)
            state.sha256?.update(bytes)
        }
    }

    var count: Int64 { state.withLock { $0.count } }

    /// Whether the bytes are those of the object: by the SHA-256 of the store and of its writer, else by the store's MD5. An
    /// object with none of them cannot be told from another.
    func matches(_ info: ObjectInfo) -> Bool {
        // Of an empty reply no first byte has come.
        if count == 0 { begin(info) }
        return state.withLock { state in
            if let digest = state.sha256?.finalize() {
                return [info.sha256, info.claimedSHA256].allSatisfy { $0 == nil || $0 == digest }
            }
            guard let digest = state.md5?.finalize() else { return true }
            return info.md5.map { $0 == digest.md5 } ?? true
        }
    }
}
