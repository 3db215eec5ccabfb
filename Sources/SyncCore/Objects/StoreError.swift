/// What went wrong between us and a store. One type for every store; each adapter maps its own failures to it.
package struct StoreError: Error, Hashable, Sendable {
    package enum Code: String, Hashable, Sendable, CaseIterable {
        // The object
        case notFound, alreadyExists, archived, notArchived, tierUnavailable, invalidRange, badDigest, tooLarge
        // The link to it leads there no more, or somebody on the way does not let it.
        case linkEnded
        // The source file was changed while it was sent, or cannot be read now, or its disk does not answer.
        case sourceChanged, sourceUnreadable, sourceSilent
        // The store as a whole
        case storeMissing, accessDenied, credentialsMissing, credentialsRejected, noSpace, wrongRegion
        case clockSkew
        // The configuration demands what the store does not do: nothing is stored until one of them changes.
        case settingRefused
        // The way to it
        case unreachable, timedOut, connectionLost, throttled, serverFailed, conflict
        // The answer makes no sense, or the store does not know the operation.
        case invalidResponse, unsupported, invalidRequest
    }

    package var code: Code
    /// `put`, `head`, `get`, `list`, `delete`, `check`, `copy`, `restore`, `lifecycle`, `link`, `form`, `create`, `tidy`
    /// (what interrupted puts have left), `verify`; before there is a store, `configure`, `read` and `credentials`.
    package var operation: String
    /// The key or prefix that was asked for, when there was one.
    package var key: String?
    /// The reason in plain words, with the next step where there is one. No secrets.
    package var message: String
    /// The HTTP status, S3 error code and request id, where there are any: `403 SignatureDoesNotMatch, request 4442587FB7D0A2F9`.
    package var detail: String?
    /// Bytes of an object that went to the store for nothing.
    package var sentBytes: Int64 = 0
    /// Whether this machine's file system said it, and no server.
    package var isOfThisMachine = false
    /// Of `.badDigest`: whether the store's own record of the object cannot be read. Its bytes may be whole.
    package var isOfRecord = false

    package init(_ code: Code, operation: String, key: String? = nil, message: String, detail: String? = nil) {
        self.code = code
        self.operation = operation
        self.key = key
        self.message = message
        self.detail = detail
    }

    /// Whether the same request may succeed if it is simply sent again. The one place that decides it.
    package var isTransient: Bool {
        switch code {
        case .unreachable, .timedOut, .connectionLost, .throttled, .serverFailed, .conflict, .invalidResponse,
            .clockSkew, .sourceUnreadable:
            true
        // Other bytes may be right; a record that makes no sense says the same each time.
        case .badDigest: !isOfRecord
        // Each attempt at a disk that does not answer may cost a thread.
        case .notFound, .alreadyExists, .archived, .notArchived, .tierUnavailable, .invalidRange, .tooLarge,
            .linkEnded, .sourceChanged, .sourceSilent, .storeMissing,
            .accessDenied, .credentialsMissing, .credentialsRejected, .noSpace, .wrongRegion, .unsupported,
            .invalidRequest, .settingRefused:
            false
        }
    }

    /// Whether the failure is the store's as a whole, so that the next photo would meet it too and the queue has to wait.
    package var concernsWholeStore: Bool {
        switch code {
        case .unreachable, .timedOut, .storeMissing, .accessDenied, .credentialsMissing, .credentialsRejected,
            .noSpace, .wrongRegion, .clockSkew, .settingRefused:
            true
        default:
            false
        }
    }

    /// Whether the next object might meet it too. Of a server that answers, only asking tells: see
    /// ``ObjectStore/outage(behind:)``. A page in place of an answer is a proxy's or a login's, which may stand before
    /// all objects.
    package var mayConcernWholeStore: Bool {
        concernsWholeStore || code == .unsupported || code == .invalidResponse
    }

    /// Of a request for one object, where a listing or others are answered: whether it need not be the whole store. One
    /// that denies an object may give all others.
    package var mayConcernOneObject: Bool { !concernsWholeStore || code == .accessDenied }
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        var text = key.map { "\(operation) \($0): \(message)" } ?? "\(operation): \(message)"
        if let detail { text += " (\(detail))" }
        return text
    }
}

extension ObjectStore {
    /// What keeps all objects from being sent, when one of them met this. Where the answer to that one does not tell,
    /// the store is asked.
    /// - Returns: `nil` where the others may go on.
    /// - Throws: `CancellationError`.
    package func outage(behind error: StoreError) async throws -> StoreError? {
        if error.concernsWholeStore { return error }
        guard error.mayConcernWholeStore else { return nil }
        do {
            try await check()
            return nil
        } catch let answer as StoreError {
            return answer
        }
    }
}
