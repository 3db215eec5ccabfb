import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SystemPackage

/// A photo that is ready to be sent: the place it goes to, and the bytes to store.
package struct PreparedPhoto: Sendable {
    /// The photo; its stamp is that of the file that it is or stands in.
    package let examined: PhotoExamination
    package var plan: PlannedUpload
    package let copy: StoredCopy
    /// The bytes of the copy with their digests.
    package let body: ObjectBody
    /// What the ledger knew under its key before it was prepared: it is looked up once.
    package let known: ObjectRecord?
    /// User metadata beside what is told of every photo.
    package var metadata: [String: String] = [:]

    /// A photo that is a file; a copy that is the file itself is sent from the disk.
    package init(
        _ file: FilePath, examined: PhotoExamination, plan: PlannedUpload, copy: StoredCopy, known: ObjectRecord? = nil
    ) {
        self.init(
            examined: examined, plan: plan, copy: copy, known: known,
            unchanged: ObjectBody(file: file, stamp: examined.stamp, digest: copy.digest))
    }

    /// A photo in memory.
    package init(
        _ bytes: [UInt8], examined: PhotoExamination, plan: PlannedUpload, copy: StoredCopy, known: ObjectRecord? = nil
    ) {
        self.init(
            examined: examined, plan: plan, copy: copy, known: known,
            unchanged: ObjectBody(bytes: bytes, digest: copy.digest))
    }

    private init(
        examined: PhotoExamination, plan: PlannedUpload, copy: StoredCopy, known: ObjectRecord?, unchanged: ObjectBody
    ) {
        self.examined = examined
        self.plan = plan
        self.copy = copy
        self.known = known
        body =
            switch copy.content {
            case .reduced(let bytes): ObjectBody(bytes: bytes, digest: copy.digest)
            case .unchanged: unchanged
            }
    }

    package var attributes: ObjectAttributes {
        var metadata = [
            MetadataName.sha256: "\(copy.digest.sha256)",
            MetadataName.md5: "\(examined.id)",
            MetadataName.storedMD5: "\(copy.digest.md5)",
        ]
        metadata[MetadataName.width] = copy.width.map(String.init)
        metadata[MetadataName.height] = copy.height.map(String.init)
        metadata[MetadataName.takenAt] = copy.takenAt?.description
        metadata.merge(self.metadata) { own, _ in own }
        return ObjectAttributes(contentType: copy.type.name, metadata: metadata)
    }
}
