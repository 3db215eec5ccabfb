package import SyncCore
import SyncSystem

/// Collects what `ObjectStore.get` reads.
package final class ByteSink: Sendable {
    private let collected = Lock<[UInt8]>([])

    package init() {}

    package var bytes: [UInt8] { collected.withLock { $0 } }

    package func append(_ piece: UnsafeRawBufferPointer) {
        collected.withLock { $0.append(contentsOf: piece) }
    }
}

extension ObjectSource {
    /// Reads an object, or a part of it, into memory.
    package func bytes(of key: ObjectKey, range: Range<Int64>? = nil) async throws -> [UInt8] {
        let sink = ByteSink()
        _ = try await get(key, range: range) { sink.append($0) }
        return sink.bytes
    }
}

extension ObjectStore {
    /// All keys that begin with `prefix`, page by page.
    package func keys(prefix: String = "", pageLimit: Int = 1_000) async throws -> [String] {
        var keys: [String] = []
        var token: PageToken?
        repeat {
            let page = try await list(prefix: prefix, after: token, limit: pageLimit)
            keys += page.objects.map(\.key.rawValue)
            token = page.next
        } while token != nil
        return keys
    }

    /// Stores bytes, replacing what is there.
    package func store(
        _ bytes: [UInt8], at key: ObjectKey, contentType: String = "application/octet-stream"
    ) async throws {
        _ = try await put(
            ObjectBody(bytes), at: key, attributes: ObjectAttributes(contentType: contentType), condition: .overwrite)
    }
}
