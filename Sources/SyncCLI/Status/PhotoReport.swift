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
    /// The class that it should be in by now.
    @Nullable var expectedClass: String?
    /// Why it is not to be archived: `tooSmall`, `tooYoung`, `notCovered`, `archivingIsOff`, `neverPays`.
    @Nullable var staysBecause: String?
    @Nullable var badge: Badge?
    @Nullable var restoredUntil: Date?
    @Nullable var uploadedAt: Date?
    @Nullable var bytesLocal: Int64?
    @Nullable var bytesStored: Int64?
    @Nullable var width: Int?
    @Nullable var height: Int?
    @Nullable var takenAt: CaptureTime?
    @Nullable var error: String?
    /// What a file of gallery events holds; of other files, what is to be known of the stored copy.
    @Nullable var note: String?
    /// What the photo has and its stored copy has not: `xmp`, `gainMap`, `secondPicture`, `motion`, …
    var dropped: [String]
    /// What is stored of earlier contents of the file, the latest first.
    var versions: [Version]

    struct Version: Encodable {
        /// What `restore --version` takes.
        var number: Int
        var key: String
        var storedAt: Date
        var replacedAt: Date
        var bytesStored: Int64
        var storageClass: String

        init(_ version: PhotoVersion) {
            number = version.number
            key = version.object.key.rawValue
            storedAt = version.storedAt
            replacedAt = version.replacedAt
            bytesStored = version.object.size
            storageClass = version.object.storageClass.rawValue
        }
    }

    init(_ photo: PhotoStanding, versions: [PhotoVersion] = []) {
        self.versions = versions.map(Version.init)
        let (badge, expected) = (photo.badge, photo.expected)
        let photo = photo.photo
        path = photo.path.string
        state = photo.state.rawValue
        key = photo.key?.rawValue
        md5 = photo.md5?.description
        sha256 = photo.sha256?.description
        storageClass = photo.storageClass?.rawValue
        expectedClass = expected?.storageClass.rawValue
        staysBecause = expected?.reason?.code
        self.badge = badge
        restoredUntil = photo.restoredUntil
        uploadedAt = photo.uploadedAt
        bytesLocal = photo.bytesLocal
        bytesStored = photo.bytesStored
        width = photo.width
        height = photo.height
        takenAt = photo.takenAt
        error = photo.error
        note = photo.note
        dropped = photo.dropped.map(\.rawValue)
    }
}

extension ExpectedClass {
    var reason: Reason? {
        if case .standard(let reason) = self { reason } else { nil }
    }
}

extension ExpectedClass.Reason {
    var code: String {
        switch self {
        case .tooSmall: "tooSmall"
        case .tooYoung: "tooYoung"
        case .notCovered: "notCovered"
        case .archivingIsOff: "archivingIsOff"
        case .neverPays: "neverPays"
        }
    }
}
