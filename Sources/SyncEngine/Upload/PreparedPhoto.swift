import FoundationEssentials
package import SyncCore
package import SyncLedger

/// A photo that is ready to be sent: its claim, the place it goes to, and the bytes to store.
package struct PreparedPhoto: Sendable {
    package let claim: Claim
    package let examined: PhotoExamination
    package let plan: PlannedUpload
    package let copy: StoredCopy

    /// The bytes with their digests; a copy that is the file itself is sent from the disk.
    package var body: ObjectBody {
        switch copy.content {
        case .reduced(let bytes): ObjectBody(bytes: bytes, digest: copy.digest)
        case .unchanged: ObjectBody(file: claim.file, stamp: examined.stamp, digest: copy.digest)
        }
    }

    package var attributes: ObjectAttributes {
        var metadata = [
            MetadataName.sha256: "\(copy.digest.sha256)",
            MetadataName.md5: "\(examined.id)",
        ]
        metadata[MetadataName.width] = copy.width.map(String.init)
        metadata[MetadataName.height] = copy.height.map(String.init)
        metadata[MetadataName.takenAt] = copy.takenAt?.formatted(.iso8601)
        return ObjectAttributes(contentType: copy.type.name, metadata: metadata)
    }
}
