package import SyncCore
package import SyncLedger

/// A file of gallery events that was read, and noted in the ledger.
package struct PreparedEvents: Sendable {
    package struct Entry: Sendable {
        package let event: GalleryEvent
        /// What is known of its id; the id may have been seen elsewhere first.
        package let record: EventRecord
        /// Whether its id came earlier in the file. It is here because it has a photo, which may be another one.
        package let isRepeat: Bool
    }

    /// Of the file.
    package let examined: PhotoExamination
    /// In the order of the file.
    package let entries: [Entry]
    package let malformed: [MalformedEvent]
}
