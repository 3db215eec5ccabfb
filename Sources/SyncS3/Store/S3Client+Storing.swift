import SyncCore

extension S3Client {
    /// Sends a request that stores something, with those of the wanted features that the store is known to take; what it
    /// turns out to refuse is left out, unless it is demanded: at once, and from then on where it was stored without.
    /// - Parameter beforeUnconditional: called before the condition is left out, to find out by other means.
    /// - Throws: ``StoreError`` `.settingRefused` for what is demanded and refused.
    func store(
        _ context: S3RequestContext, wanting wanted: PutFeatures, storageClass: StorageClass,
        beforeUnconditional: () async throws -> Void, _ make: (S3Requests, PutFeatures) throws -> HTTPRequest
    ) async throws -> HTTPResponse {
        let capabilities = await capabilities()
        // A class that the configuration names is not left out either.
        let ownClass: PutFeatures =
            storageClass != .standard && storageClass == settings.storageClass ? .storageClass : []
        let demanded = capabilities.demanded.union(ownClass)
        var features = wanted.intersection(capabilities.features(for: storageClass).union(ownClass))
        if features.contains(.encryption), capabilities.ignoresEncryption { throw unencrypted(context) }
        // The caller may have counted on the condition, and a request beside it have learned meanwhile that it is refused.
        if wanted.contains(.condition), !features.contains(.condition) { try await beforeUnconditional() }
        var leftOut: [PutFeatures] = []
        while true {
            let sent = features
            let response = try await send(context) { try make($0, sent) }
            if sent.contains(.condition) {
                await learn { $0.capabilities.noteConditionalPut(status: response.status) }
            }
            guard let refused = sent.refused(by: response, demanded: demanded) else {
                if response.tookTheRequest { await note(leftOut, storageClass) }
                return response
            }
            if let demand = refused.intersection(demanded).demand {
                throw refusal(of: demand.header, demandedBy: demand.key, response, context)
            }
            features.remove(refused)
            leftOut.append(refused)
            if refused == .condition { try await beforeUnconditional() }
        }
    }

    private func note(_ refused: [PutFeatures], _ storageClass: StorageClass) async {
        if refused.isEmpty { return }
        await learn { knowledge in
            for feature in refused { knowledge.capabilities.noteRefusal(of: feature, storageClass: storageClass) }
        }
    }

    /// For a reply of success to a request that asked for encryption: whether the store did as it was told. Where it did
    /// not, it is not asked again while this process lives.
    /// - Returns: the error; `nil` when all is well.
    func encryptionFailure(_ response: HTTPResponse, _ context: S3RequestContext) async -> StoreError? {
        if encryption.isConfirmed(by: response.headers) { return nil }
        await learn { $0.capabilities.ignoresEncryption = true }
        return unencrypted(context)
    }

    func unencrypted(_ context: S3RequestContext) -> StoreError {
        error(
            .settingRefused, context,
            "\(knowledge.address.endpoint) does not encrypt as store.encryption asks, and nothing is to be stored "
                + "unencrypted; correct store.encryption, or take it out to leave encryption to the store")
    }

    private func refusal(
        of header: String, demandedBy key: String, _ response: HTTPResponse, _ context: S3RequestContext
    ) -> StoreError {
        var error = failure(response, context)
        let words = ErrorReply(response).message.map { ": \($0.escapingControls)" } ?? ""
        error.code = .settingRefused
        error.message =
            "\(context.address.endpoint) does not take \(header), which \(key) asks for\(words); correct \(key)"
        return error
    }
}

extension HTTPResponse {
    /// Whether the store found nothing wrong with the request itself. Any other failure does not tell whether what was left
    /// out on a guess was what it minded.
    fileprivate var tookTheRequest: Bool {
        (200..<300).contains(status) && !isErrorDocument || status == 412
    }
}
