/// Where a share is read from, by those it was shared with.
package protocol ShareSource: Sendable {
    /// The share as it is now, held against ``ShareManifestRules``.
    /// - Parameter remembered: a link to the manifest that an earlier reading told, for when the reference itself leads
    ///   nowhere any more.
    /// - Throws: ``ShareRefusal``; `StoreError`, `.notFound` when there is no such share, or none any more.
    func read(remembered: WebLink?) async throws -> ReadShare
}

/// A share, and how to read its photos.
package struct ReadShare: Sendable {
    package let share: CheckedShare
    /// Has the photos under the keys of the share, and ends every reading at the size that the manifest tells.
    package let photos: any ObjectSource
    /// Where the manifest is found next time, where that is a link.
    package let manifestLink: WebLink?

    package init(share: CheckedShare, photos: any ObjectSource, manifestLink: WebLink?) {
        self.share = share
        self.photos = photos
        self.manifestLink = manifestLink
    }
}
