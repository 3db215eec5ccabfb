import SyncCore

/// What is known of an object's bytes before they are here: our own digest, which alone decides; else all that the store
/// and the writer told.
struct DownloadProof {
    let expected: SHA256Digest?
    let info: ObjectInfo?

    /// Whether anything is known at all.
    var isPossible: Bool { expected != nil || info?.sha256 != nil || info?.claimedSHA256 != nil || info?.md5 != nil }

    /// Whether these are the bytes; `nil` when nothing is known.
    func accepts(_ digest: ContentDigest) -> Bool? {
        if let expected { return expected == digest.sha256 }
        guard isPossible else { return nil }
        return [info?.sha256, info?.claimedSHA256].allSatisfy { $0 ?? digest.sha256 == digest.sha256 }
            && info?.md5 ?? digest.md5 == digest.md5
    }
}
