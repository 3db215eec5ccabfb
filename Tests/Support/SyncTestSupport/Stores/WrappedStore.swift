package import FoundationEssentials
package import SyncCore
import SyncSystem

/// A store in front of another: a test's own answers stand in its type, all other calls go on to the one behind.
package protocol WrappedStore: ObjectStore {
    var base: any ObjectStore { get }
}

extension WrappedStore {
    package var identity: StoreIdentity { base.identity }
    package var capabilities: StoreCapabilities { base.capabilities }

    package func check() async throws { try await base.check() }
    package func clockOffset() async throws -> TimeInterval { try await base.clockOffset() }

    package func close() async { await base.close() }

    package func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        try await base.put(body, at: key, attributes: attributes, condition: condition)
    }

    package func head(_ key: ObjectKey) async throws -> ObjectInfo? { try await base.head(key) }

    package func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        try await base.get(key, range: range, into: sink)
    }

    package func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        try await base.list(prefix: prefix, after: after, limit: limit)
    }

    package func delete(_ key: ObjectKey) async throws { try await base.delete(key) }

    package func copy(
        _ source: ObjectKey, to key: ObjectKey, storageClass: StorageClass, metadata: [String: String]?,
        condition: PutCondition
    ) async throws {
        try await base.copy(source, to: key, storageClass: storageClass, metadata: metadata, condition: condition)
    }

    package func restore(_ key: ObjectKey, _ request: RestoreRequest) async throws -> RestoreAnswer {
        try await base.restore(key, request)
    }

    package func lifecycle() async throws -> LifecycleConfiguration { try await base.lifecycle() }

    package func setLifecycle(_ configuration: LifecycleConfiguration) async throws {
        try await base.setLifecycle(configuration)
    }

    package func link(to key: ObjectKey, lasting duration: Duration) async throws -> StoreLink {
        try await base.link(to: key, lasting: duration)
    }

    package func uploadForm(
        for keys: [ObjectKey], _ rules: UploadRules, lasting duration: Duration
    ) async throws -> UploadForm {
        try await base.uploadForm(for: keys, rules, lasting: duration)
    }

    package func removeLeftovers() async throws { try await base.removeLeftovers() }
    package func takeBackUploads(below prefix: String) async throws { try await base.takeBackUploads(below: prefix) }
}

/// A store whose clock is another one.
package final class OtherClock: WrappedStore {
    package let base: any ObjectStore
    private let offset: TimeInterval
    private let asked = Lock(0)

    /// How often it was asked for its time.
    package var timesAsked: Int { asked.withLock { $0 } }

    package init(base: any ObjectStore, offset: TimeInterval) {
        (self.base, self.offset) = (base, offset)
    }

    package func clockOffset() async throws -> TimeInterval {
        asked.withLock { $0 += 1 }
        return offset
    }
}
