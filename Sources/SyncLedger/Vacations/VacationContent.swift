package import SyncCore

/// A vacation and its photos at one moment.
package struct VacationContent: Sendable {
    package let record: VacationRecord
    /// All but the skipped and the descriptions, in no particular order.
    package let photos: [VacationPhoto]
    /// The photos of the manifest that was stored last.
    package let storedPhotos: Set<MD5Digest>
}
