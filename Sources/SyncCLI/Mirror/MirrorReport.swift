import FoundationEssentials
import SyncCore
import SyncEngine
import SystemPackage

/// `mirror --json`: the fields are a contract (docs/design.md, section 7).
struct MirrorReport: Encodable {
    struct Kept: Encodable {
        var name: String
        /// `changed`, `deleted` or `nameTaken`.
        var reason: String
    }

    struct Failure: Encodable {
        /// `null` for what stopped all of them.
        @Nullable var name: String?
        var error: String
    }

    var shareId: String
    var destination: String
    var downloaded: Int
    var alreadyThere: Int
    var kept: Int
    var failed: Int
    var errors: [Failure]
    var keptFiles: [Kept]
    /// `expired` or `gone`; `null` while the share lives.
    @Nullable var ended: String?
    /// `null` when the manifest could not be read any more.
    @Nullable var expiresAt: Date?
    @Nullable var photoCount: Int?
    var notes: [String]

    /// - Parameter earlier: of the looks before, in one watch: what they downloaded counts, too.
    init(_ result: MirrorResult, after earlier: MirrorReport? = nil) {
        shareId = result.shareID.description
        destination = result.destination.string
        downloaded = result.downloaded.count + (earlier?.downloaded ?? 0)
        alreadyThere = earlier?.alreadyThere ?? result.alreadyThere
        kept = result.kept.count
        failed = result.failed
        errors =
            result.failures.map { Failure(name: $0.name, error: "\($0.error)") }
            + (result.obstacle.map { [Failure(name: nil, error: "\($0)")] } ?? [])
        keptFiles = result.kept.map { Kept(name: $0.name, reason: $0.reason.rawValue) }
        ended = result.end?.word
        expiresAt = result.share?.manifest.expiresAt ?? earlier?.expiresAt
        photoCount = result.share?.photos.count ?? earlier?.photoCount
        notes = result.notes
    }
}

extension MirrorResult.End {
    fileprivate var word: String {
        switch self {
        case .expired: "expired"
        case .gone: "gone"
        }
    }
}
