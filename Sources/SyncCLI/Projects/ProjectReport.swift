import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

/// One project in `projects list --json`. The fields are a contract (docs/design.md, section 7).
struct ProjectReport: Encodable {
    var id: String
    var templateId: String
    var templateName: String
    @Nullable var thumbnailURL: String?
    var createdAt: Date
    var status: String
    @Nullable var requestId: String?
    var state: String
    /// Why it is not stored; `null` when it is.
    @Nullable var reason: String?
    @Nullable var key: String?
    /// Of the stored image.
    @Nullable var bytes: Int64?
    @Nullable var bytesLocal: Int64?
    /// How many earlier images of it are stored.
    var versions: Int
    @Nullable var duplicateOf: String?
    /// The projects folder.
    var folder: String

    init(_ entry: ProjectEntry) {
        let record = entry.record
        id = record.id
        templateId = record.templateID
        templateName = record.templateName
        thumbnailURL = record.thumbnailURL
        createdAt = record.createdAt
        status = record.status.rawValue
        requestId = record.requestID
        state = entry.state.rawValue
        reason = entry.reason
        key = entry.object?.key.rawValue
        bytes = entry.object?.size
        bytesLocal = entry.image?.bytesLocal
        versions = entry.versions
        duplicateOf = entry.project.duplicateOf
        folder = entry.folder.string
    }
}

struct ProjectListReport: Encodable {
    var projects: [ProjectReport]
}

/// `projects show ID --json`: as in the list, and what is stored of it.
struct ProjectDetails: Encodable {
    struct Version: Encodable {
        var key: String
        var storedAt: Date
        var bytes: Int64
        var storageClass: String
        @Nullable var sha256: String?

        init(_ object: ObjectRecord) {
            key = object.key.rawValue
            storedAt = object.storedAt
            bytes = object.size
            storageClass = object.storageClass.rawValue
            sha256 = object.sha256?.description
        }
    }

    var project: ProjectReport
    /// On this machine.
    @Nullable var image: String?
    @Nullable var metadata: String?
    @Nullable var metadataKey: String?
    /// The image that counts; `null` when none is stored.
    @Nullable var stored: Version?
    /// Earlier images, the latest first.
    var history: [Version]

    private enum CodingKeys: CodingKey {
        case image, metadata, metadataKey, stored, history
    }

    init(_ entry: ProjectEntry, versions: [ObjectRecord]) {
        project = ProjectReport(entry)
        image = entry.image.flatMap { $0.bytesLocal == nil ? nil : $0.path.string }
        metadata = entry.metadata.flatMap { $0.bytesLocal == nil ? nil : $0.path.string }
        metadataKey = entry.metadata?.key?.rawValue
        stored = entry.object.map { Version($0) }
        history = versions.map { Version($0) }
    }

    func encode(to encoder: any Encoder) throws {
        try project.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(_image, forKey: .image)
        try container.encode(_metadata, forKey: .metadata)
        try container.encode(_metadataKey, forKey: .metadataKey)
        try container.encode(_stored, forKey: .stored)
        try container.encode(history, forKey: .history)
    }
}
