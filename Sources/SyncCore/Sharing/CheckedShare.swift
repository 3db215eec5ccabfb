/// A share whose manifest keeps to ``ShareManifestRules``: what is in here can be worked with.
package struct CheckedShare: Hashable, Sendable {
    package struct Photo: Hashable, Sendable {
        /// 0 to 999,999; no two are equal.
        package let orderIndex: Int
        /// Bytes, from 1.
        package let size: Int64
        package let sha256: SHA256Digest
        package let takenAt: CaptureTime?
        /// Where the manifest says that it is, of the origin that the person trusts.
        package let link: WebLink?
    }

    package let id: ShareID
    /// As it can be kept on a disk: texts for one line of a terminal, and no links.
    package let manifest: ShareManifest
    /// In the order in which they are to be seen.
    package let photos: [Photo]
    /// A newer link to the manifest, of the same origin.
    package let manifestLink: WebLink?
}

/// Why a share is not read: what was found is no manifest, or one that no honest sharer writes.
package struct ShareRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason, with the next step where there is one.
    package let reason: String

    package init(_ reason: String) {
        self.reason = reason
    }

    package static let manifestTooLong = ShareRefusal(
        "its manifest is longer than \(ShareManifestRules.maximumBytes >> 20) MiB")

    package var description: String { "this share is refused: \(reason)" }
}
