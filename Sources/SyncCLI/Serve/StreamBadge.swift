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
        if case .photo(let photo) = item.source, let badge = Self.unstored(photo) {
            self = badge
        } else if item.object?.problem != nil {
            self.init(symbol: Badge.error.symbol, words: "what was stored of it is gone or damaged")
        } else if case .photo(let photo) = item.source {
            self.init(try PhotoStatusText(photo, policy: policy, in: ledger, now: now).badge)
        } else {
            self.init(item.object.flatMap { Badge($0) })
        }
    }

    /// Of what is stored beside the copies of photos.
    init(_ object: ObjectRecord) {
        self.init(Badge(object))
    }

    private init(symbol: String?, words: String) {
        self.symbol = symbol
        self.words = words
    }

    private static func unstored(_ photo: PhotoStatus) -> StreamBadge? {
        switch photo.state {
        case .pending, .uploading: StreamBadge(symbol: nil, words: "waits for its upload")
        // Why, its page tells.
        case .failed: StreamBadge(symbol: Badge.error.symbol, words: "cannot be stored")
        case .lost: StreamBadge(symbol: Badge.error.symbol, words: "nothing is left of it")
        case .skipped: StreamBadge(symbol: nil, words: "not stored")
        case .uploaded, .missing: nil
        }
    }

    private init(_ badge: Badge?) {
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
        case .photo(let photo), .version(_, of: let photo): photo.path.lastComponent?.string.escapingControls ?? ""
        case .event(let picture): "\(picture.type), \(picture.eventID)".escapingControls
        }
    }

    private static func place(of photo: PhotoStatus) -> String {
        (photo.folder.path.lastComponent.map { "\($0.string)/" } ?? "") + photo.relativePath.text.escapingControls
    }

    /// Without what stands above the watched folder.
    var place: String {
        switch source {
        case .photo(let photo):
            Self.place(of: photo) + (photo.state.isOnDisk ? "" : " (no longer on this disk)")
        case .version(let version, of: let photo):
            Self.place(of: photo) + " until \(Quantities.time(version.replacedAt)); the file is another one now"
        case .event(let picture):
            "event of \(CalendarDay(picture.createdAt))\(picture.isArchived ? ", archive of memories" : "")"
        }
    }
}
