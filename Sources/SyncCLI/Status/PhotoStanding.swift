import FoundationEssentials
import SyncCore
import SyncLedger

/// One photo as `status` tells of it: what the ledger knows, and what is expected.
struct PhotoStanding {
    let photo: PhotoStatus
    /// `nil` for a photo that is not stored as it is.
    let expected: ExpectedClass?
    let badge: Badge?

    /// - Parameter restore: the open one of its object.
    init(_ photo: PhotoStatus, policy: TierPolicy, restore: RestoreItem?, now: Date) {
        self.photo = photo
        expected = photo.object.map { object in
            // What is archived stays so, whatever the configuration says by now.
            object.storageClass.isArchive
                ? .archived(object.storageClass)
                : policy.expectedClass(of: object.key, size: object.size, storedAt: object.storedAt, now: now)
        }
        badge = Badge(photo, restore: restore)
    }

    /// Looks the photo's restore up where there is one.
    init(_ photo: PhotoStatus, policy: TierPolicy, in ledger: Ledger, now: Date) throws(LedgerError) {
        var restore: RestoreItem?
        if photo.restore == .inProgress, let key = photo.key { restore = try ledger.openRestoreItem(for: key) }
        self.init(photo, policy: policy, restore: restore, now: now)
    }

    /// `due for the archive`, `stays: too small`; `nil` where there is nothing to say.
    var expectation: String? {
        guard let expected, photo.storageClass?.isArchive == false else { return nil }
        return switch expected {
        case .archived: "due for the archive"
        case .standard(.tooSmall(let limit)): "stays: smaller than \(Quantities.bytes(limit))"
        case .standard(.tooYoung(let date)): "archived from \(Quantities.day(date)) on"
        case .standard(.notCovered), .standard(.archivingIsOff), .standard(.neverPays): nil
        }
    }
}

/// What a photo's listing shows at a glance.
enum Badge: String, Encodable {
    case archived, retrieving, restored, rush, error

    init?(_ photo: PhotoStatus, restore: RestoreItem?) {
        if photo.state == .failed {
            self = .error
            return
        }
        switch photo.restore {
        case .inProgress: self = restore.map { $0.isRush || $0.tier == .expedited } == true ? .rush : .retrieving
        // What is not archived is just there, whatever was asked for.
        case .restored where photo.storageClass?.isArchive == true: self = .restored
        case .restored: return nil
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
        case .rush: "⭐"
        case .error: "⚠️"
        }
    }
}
