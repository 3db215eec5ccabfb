import SyncCore

/// Whether an endpoint honours `If-None-Match: *`. While nobody knows, each put has a HEAD before it.
extension S3Store {
    /// What is put a second time to find out. Photos and thumbnails are; a film is not sent twice, and what machines tell each
    /// other by (claims, notes) may be another one's by then.
    private static let largestProof: Int64 = 1 << 20
    private static let provingType = "image/"

    /// Puts once more what was stored a moment ago, to see it refused (RFC 9110, 13.1.2): a 412 is a proof, and from then on
    /// no put has a HEAD before it. Where the header is ignored, the same bytes take the place of themselves, once in the time
    /// for which facts are remembered; a bucket with versions has one more then. Nothing is asked of Amazon, which documents
    /// it, nor where the configuration decides, nor in a class that bills each object for a while, nor where the answer
    /// would be forgotten.
    ///
    /// Whatever goes wrong with it, the photo is stored.
    func proveCondition(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, _ context: S3RequestContext
    ) async {
        guard body.size <= Self.largestProof, attributes.contentType.hasPrefix(Self.provingType),
            attributes.storageClass == .standard, await client.beginProof()
        else { return }
        defer { client.endProof() }
        let response = try? await client.store(
            context, wanting: [.checksum, .encryption, .tags, .condition], storageClass: attributes.storageClass,
            beforeUnconditional: { throw CancellationError() }
        ) { try $0.put(body, at: key, attributes: attributes, features: $1) }
        if response?.status == 200 { await client.learn { $0.capabilities.noteIgnoredCondition() } }
    }
}
