package import FoundationEssentials

/// What the store says about a temporary copy of an archived object (S3 API, header `x-amz-restore`).
package enum RestoreState: Hashable, Sendable {
    /// Never asked for, or the copy has expired.
    case none
    case inProgress
    /// Readable until the given moment, where the store tells one.
    case restored(until: Date?)
}
