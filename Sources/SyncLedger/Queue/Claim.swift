package import SyncCore
package import SystemPackage

/// One photo taken from the queue: whoever holds it works on that file, as it was then, and commits the outcome.
package struct Claim: Hashable, Sendable {
    package let photoID: Int64
    package let attemptID: Int64
    /// The generation of the file that was claimed. When it changes meanwhile, ``Ledger/commit(_:outcome:at:)`` sees it.
    package let generation: Int64
    package let folder: FolderRecord
    /// Below the folder.
    package let relativePath: FilePath
    /// The file as intake saw it.
    package let stamp: FileStamp
    /// The number of this attempt at this content of the file, from 1.
    package let attempts: Int
    /// Whether an agent has ended uncleanly while it had this photo in hand.
    package let isSuspect: Bool

    /// Absolute.
    package var file: FilePath { folder.path.pushing(relativePath) }
}
