package import SyncCore

/// What an endpoint can do beyond plain S3, as far as we know: at first by its kind, then by what it answers.
package struct S3Capabilities: Hashable, Sendable {
    /// What the endpoint makes of `If-None-Match: *` on a put.
    package enum ConditionalPut: Hashable, Sendable {
        /// It answers 412 where something is stored: no other check is needed.
        case honoured
        /// Unknown, and a 200 proves nothing: some stores ignore the header and overwrite.
        case unproven
        /// It does not take the header.
        case refused
    }

    package private(set) var conditionalPut: ConditionalPut
    /// Whether it takes `x-amz-checksum-sha256`, keeps it, and tells it when asked.
    package private(set) var checksums: Bool
    /// Storage classes that it does not have. What was to go there is stored in its standard class.
    package private(set) var refusedClasses: Set<StorageClass> = []

    /// Amazon documents conditional writes and checksums. Any other endpoint has to prove the first, and we do not ask it
    /// to by writing something twice: until a 412 is seen in passing, each conditional put has a HEAD before it and carries
    /// the header too. That costs a round trip; a probe would cost a second upload of an object that may be billed or
    /// versioned. Checksums prove nothing there that the signed SHA-256 and Content-MD5 do not, and have been refused.
    package init(isAmazon: Bool) {
        conditionalPut = isAmazon ? .honoured : .unproven
        checksums = isAmazon
    }

    /// What a put into a class may ask for.
    package func features(for storageClass: StorageClass) -> PutFeatures {
        var features: PutFeatures = []
        if conditionalPut != .refused { features.insert(.condition) }
        if checksums { features.insert(.checksum) }
        if !refusedClasses.contains(storageClass) { features.insert(.storageClass) }
        return features
    }

    /// Learns from the status of a put that carried the condition.
    package mutating func noteConditionalPut(status: Int) {
        if status == 412 { conditionalPut = .honoured }
    }

    /// - Parameter storageClass: that of the put that was refused.
    package mutating func noteRefusal(of feature: PutFeatures, storageClass: StorageClass) {
        if feature.contains(.condition) { conditionalPut = .refused }
        if feature.contains(.checksum) { checksums = false }
        if feature.contains(.storageClass) { refusedClasses.insert(storageClass) }
    }
}
