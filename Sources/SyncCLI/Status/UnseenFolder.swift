import SyncCore
import SyncLedger

/// A watched folder of which nothing that the ledger tells is of what it holds now, by its configuration.
enum UnseenFolder {
    case notYet
    case changed

    /// - Parameter record: `nil` where it is none of those that were watched last.
    /// - Returns: `nil` once all of it was looked at.
    init?(_ folder: WatchedFolder, _ record: FolderRecord?) {
        let isSeen = record?.scannedAt != nil
        if isSeen, record?.isWatched(as: folder) == true { return nil }
        self = isSeen ? .changed : .notYet
    }

    var words: String {
        switch self {
        case .notYet: "it was not looked at yet"
        case .changed: "it was not looked at since its kind or filter was changed"
        }
    }
}
