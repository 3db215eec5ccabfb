/// The storage class that a store reports for an object (S3 API, `StorageClass`). Open-ended: a store may have names of
/// its own, and those are shown, not refused.
package struct StorageClass: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    package static let standard = StorageClass(rawValue: "STANDARD")
    package static let standardIA = StorageClass(rawValue: "STANDARD_IA")
    package static let intelligentTiering = StorageClass(rawValue: "INTELLIGENT_TIERING")
    package static let glacierInstantRetrieval = StorageClass(rawValue: "GLACIER_IR")
    package static let glacier = StorageClass(rawValue: "GLACIER")
    package static let deepArchive = StorageClass(rawValue: "DEEP_ARCHIVE")

    /// Whether an object of this class must be restored before it can be read.
    package var isArchive: Bool { self == .glacier || self == .deepArchive }

    package var description: String { rawValue }
}
