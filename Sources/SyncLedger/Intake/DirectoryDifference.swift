package import SyncCore

/// The ledger's number for a directory in a watched folder.
package struct DirectoryID: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }
}

/// What one look at a directory changed in the ledger. Counts are of files.
package struct DirectoryDifference: Hashable, Sendable {
    /// New ones, now pending.
    package var added = 0
    /// Changed ones, pending again.
    package var changed = 0
    /// Known ones that have a new name or place.
    package var moved = 0
    /// Missing ones that are back, unchanged.
    package var returned = 0
    /// Known ones that are no longer there: missing when something of them is stored, else forgotten.
    package var missing = 0
    /// Of those that moved or are back, how many are pending now.
    package var requeued = 0
    package var unchanged = 0
    /// New or changed, and not whole yet. The ledger knows nothing of them: look again later.
    package var unsettled: [ScannedFile] = []
    /// The directory, for ``Ledger/finishScan(_:below:visited:unread:stillThere:)``; `nil` when nothing is known in it.
    package var directoryID: DirectoryID?

    /// Whether anything was written.
    package var isEmpty: Bool { added + changed + moved + returned + missing == 0 }
}
