import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage

/// `status PATH… --json`: one entry for each photo. The fields are a contract (docs/design.md, section 7).
struct PhotoReport: Encodable {
    var path: String
    var state: String
    @Nullable var key: String?
    @Nullable var md5: String?
    @Nullable var sha256: String?
    @Nullable var storageClass: String?
    @Nullable var badge: Badge?
    @Nullable var restoredUntil: Date?
    @Nullable var uploadedAt: Date?
    @Nullable var bytesLocal: Int64?
    @Nullable var bytesStored: Int64?
    @Nullable var width: Int?
    @Nullable var height: Int?
    @Nullable var takenAt: Date?
    @Nullable var error: String?

    init(_ photo: PhotoStatus) {
        path = photo.path.string
        state = photo.state.rawValue
        key = photo.key?.rawValue
        md5 = photo.md5?.description
        sha256 = photo.sha256?.description
        storageClass = photo.storageClass?.rawValue
        badge = Badge(photo)
        restoredUntil = photo.restoredUntil
        uploadedAt = photo.uploadedAt
        bytesLocal = photo.bytesLocal
        bytesStored = photo.bytesStored
        width = photo.width
        height = photo.height
        takenAt = photo.takenAt
        error = photo.error
    }
}

/// What a photo's listing shows at a glance.
enum Badge: String, Encodable {
    case archived, retrieving, restored, error

    init?(_ photo: PhotoStatus) {
        if photo.state == .failed {
            self = .error
            return
        }
        switch photo.restore {
        case .inProgress: self = .retrieving
        case .restored: self = .restored
        case .none:
            guard photo.storageClass?.isArchive == true else { return nil }
            self = .archived
        }
    }

    var symbol: String {
        switch self {
        case .archived: "❄️"
        case .retrieving: "⏳"
        case .restored: "✨"
        case .error: "⚠️"
        }
    }
}
