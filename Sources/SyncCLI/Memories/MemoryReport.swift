import FoundationEssentials
import SyncCore
import SyncEngine

/// `archive list --json`: the fields are a contract (docs/design.md, section 7).
struct MemoryReport: Encodable {
    struct Photo: Encodable {
        var key: String
        var profile: String
        var eventId: String
        @Nullable var eventType: String?
        var createdAt: Date
        @Nullable var archivedAt: Date?
        var size: Int64
        var storageClass: String
        @Nullable var badge: Badge?
        @Nullable var title: String?
        @Nullable var width: Int?
        @Nullable var height: Int?
    }

    var photos: [Photo]
    /// What `--after` takes for the next page; `null` on the last.
    @Nullable var next: String?
    /// What is in the archive and could not be looked at.
    var problems: [Problem]

    struct Problem: Encodable {
        var key: String
        var reason: String
    }

    init(_ page: MemoryPage) {
        problems = page.problems.map { Problem(key: $0.key.rawValue, reason: $0.reason) }
        photos = page.photos.map { Photo($0) }
        next = page.next?.rawValue
    }
}

extension MemoryReport.Photo {
    init(_ memory: ArchivedMemory) {
        self.init(
            key: memory.key.rawValue, profile: memory.place.profile, eventId: memory.eventID,
            eventType: memory.type?.rawValue, createdAt: memory.createdAt, archivedAt: memory.archivedAt,
            size: memory.size, storageClass: memory.storageClass.rawValue, badge: Badge(memory), title: memory.title,
            width: memory.width, height: memory.height)
    }
}

extension Badge {
    init?(_ memory: ArchivedMemory) {
        switch memory.standing {
        case .readable: return nil
        case .archived: self = .archived
        case .retrieving: self = .retrieving
        case .restored: self = .restored
        }
    }
}
