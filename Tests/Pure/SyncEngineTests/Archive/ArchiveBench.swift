import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncTestSupport

/// An archive in memory, as cleanups leave it.
struct ArchiveBench {
    let time = ManualTime()
    let memory: InMemoryStore
    let store: FaultyStore
    let keys: KeyLayout
    var index: ArchiveIndex?

    init(restoresInLists: Bool = true) throws {
        memory = InMemoryStore(now: time.source.now, restoresInLists: restoresInLists)
        store = FaultyStore(memory)
        keys = try KeyLayout(user: "ana")
    }

    var list: ArchiveListing { ArchiveListing(store: store, keys: keys, index: index) }

    static func date(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

    /// - Parameter created: `2025-03-10T08:00:00Z`.
    @discardableResult
    func put(
        _ id: String, _ created: String, profile: String = "p1", type: String? = "taskResponse", title: String? = nil,
        class storageClass: StorageClass = .standard, restore: RestoreState = .none, noting: Bool = true,
        contentType: String = "image/jpeg"
    ) async throws -> ObjectKey {
        let date = try Self.date(created)
        let key = try keys.archivedPhoto(profile: profile, month: CalendarDay(date), event: id)
        let bytes = Array("photo of \(id)".utf8)
        var metadata = [
            MetadataName.profile: profile, MetadataName.eventID: id, MetadataName.originalCreatedAt: created,
            MetadataName.archivedAt: "2025-12-31T03:00:00Z", MetadataName.sha256: "\(SHA256Digest(of: bytes))",
            MetadataName.width: "40", MetadataName.height: "30",
        ]
        metadata[MetadataName.eventType] = type
        metadata[MetadataName.taskTitle] = title
        _ = try await memory.put(
            ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes)), at: key,
            attributes: ObjectAttributes(contentType: contentType, metadata: noting ? metadata : [:]),
            condition: .ifAbsent)
        memory.setClass(storageClass, restore: restore, of: key)
        return key
    }

    func ids(
        _ filter: ArchiveFilter = ArchiveFilter(), after last: ObjectKey? = nil, limit: Int? = nil
    ) async throws -> [String] {
        try await list.page(filter, after: last, limit: limit).photos.map(\.place.eventID)
    }
}
