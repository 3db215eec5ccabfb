import SyncCore

extension S3Client {
    /// Sends a request that stores something, with those of the wanted features that the store is known to take; what it
    /// turns out to refuse is left out, at once and from then on.
    /// - Parameter beforeUnconditional: called before the condition is left out, to find out by other means.
    func store(
        _ context: S3RequestContext, wanting wanted: PutFeatures, storageClass: StorageClass,
        beforeUnconditional: () async throws -> Void, _ make: (S3Requests, PutFeatures) throws -> HTTPRequest
    ) async throws -> HTTPResponse {
        var features = wanted.intersection(knowledge.capabilities.features(for: storageClass))
        while true {
            let sent = features
            let response = try await send(context) { try make($0, sent) }
            if sent.contains(.condition) {
                learn { $0.capabilities.noteConditionalPut(status: response.status) }
            }
            guard let refused = sent.refused(by: response) else { return response }
            learn { $0.capabilities.noteRefusal(of: refused, storageClass: storageClass) }
            if refused == .condition { try await beforeUnconditional() }
            features.remove(refused)
        }
    }
}
