package import SyncCore
package import SyncLedger

/// A claimed file that is ready to be sent.
package struct PreparedFile: Sendable {
    package enum Content: Sendable {
        case photo(PreparedPhoto)
        /// The same bytes are stored, as far as the ledger knows: the store is asked whether that is so.
        case known(ContentDigest, ObjectRecord)
        /// Photos inside of the file, made ready one after the other.
        case events(PreparedEvents)
    }

    package let claim: Claim
    package let content: Content
}
