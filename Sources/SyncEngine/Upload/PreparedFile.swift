package import SyncLedger

/// A claimed file that is ready to be sent.
package struct PreparedFile: Sendable {
    package enum Content: Sendable {
        case photo(PreparedPhoto)
        /// Photos inside of the file, made ready one after the other.
        case events(PreparedEvents)
    }

    package let claim: Claim
    package let content: Content
}
