import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

/// How an item of the stream stands: a symbol, and the same in words.
struct StreamBadge: Sendable {
    let symbol: String?
    let words: String

    init(_ item: TimelineItem, policy: TierPolicy, in ledger: Ledger, now: Date) throws {
        let badge: Badge?
        switch item.source {
        case .photo(let photo):
            badge = try PhotoStatusText(photo, policy: policy, in: ledger, now: now).badge
            switch photo.state {
            case .pending, .uploading:
                (symbol, words) = (nil, "waits for its upload")
                return
            case .failed, .lost:
                // Why, its page tells.
                (symbol, words) = (
                    Badge.error.symbol, photo.state == .lost ? "nothing is left of it" : "cannot be stored"
                )
                return
            case .skipped:
                (symbol, words) = (nil, "not stored")
                return
            case .uploaded, .missing: break
            }
        case .event(let picture): badge = Badge(picture.object)
        }
        if item.object?.problem != nil {
            (symbol, words) = (Badge.error.symbol, "what was stored of it is gone or damaged")
            return
        }
        symbol = badge?.symbol
        words =
            switch badge {
            case .archived: "archived"
            case .retrieving: "on its way back from the archive"
            case .rush: "on its way back, as fast as it goes"
            case .restored: "restored"
            case .error: "cannot be stored"
            case nil: "stored"
            }
    }
}

extension Badge {
    /// Of what is no file.
    fileprivate init?(_ object: ObjectRecord) {
        switch (object.restore, object.storageClass.isArchive) {
        case (.inProgress, _): self = .retrieving
        case (.restored, true): self = .restored
        case (.none, true): self = .archived
        default: return nil
        }
    }
}

extension TimelineItem {
    var name: String {
        switch source {
        case .photo(let photo): photo.path.lastComponent?.string.escapingControls ?? ""
        case .event(let picture): "\(picture.type), \(picture.eventID)".escapingControls
        }
    }

    /// Without what stands above the watched folder.
    var place: String {
        switch source {
        case .photo(let photo):
            (photo.folder.path.lastComponent.map { "\($0.string)/" } ?? "") + photo.relativePath.text.escapingControls
                + (photo.state.isOnDisk ? "" : " (no longer on this disk)")
        case .event(let picture):
            "event of \(CalendarDay(picture.createdAt))\(picture.isArchived ? ", archive of memories" : "")"
        }
    }
}
