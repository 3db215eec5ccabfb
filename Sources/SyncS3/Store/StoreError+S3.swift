package import SyncCore

/// What a request was about: the words for its error.
package struct S3RequestContext: Hashable, Sendable {
    package let operation: String
    package let key: String?
    package let address: S3Address
}

/// The one place where replies become ``StoreError``s.
///
/// Source: Amazon S3 API Reference, "Error responses"; botocore's retry tables for what counts as throttling.
extension StoreError {
    /// - Parameter response: one that the caller has no use for.
    package init(_ response: HTTPResponse, in context: S3RequestContext) {
        let reply = ErrorReply(response)
        let (code, message) =
            Self.named(reply, response, context) ?? Self.byStatus(reply, response, context)
        var detail = "\(response.status)"
        if let name = reply.code { detail += " \(name.escapingControls)" }
        if let id = reply.requestID { detail += ", request \(id.escapingControls)" }
        self.init(code, operation: context.operation, key: context.key, message: message, detail: detail)
    }

    /// For one of the errors in a reply that says 200 as a whole.
    package init(_ reply: ErrorReply, in context: S3RequestContext) {
        let response = HTTPResponse(status: 200)
        let (code, message) =
            Self.named(reply, response, context)
            ?? (.serverFailed, Self.failed(reply, context.address))
        self.init(
            code, operation: context.operation, key: context.key, message: message,
            detail: reply.code.map(\.escapingControls))
    }

    package init(_ invalid: InvalidReply, _ response: HTTPResponse, in context: S3RequestContext) {
        if response.isErrorDocument {
            self.init(response, in: context)
        } else {
            self.init(
                .invalidResponse, operation: context.operation, key: context.key,
                message: "\(context.address.endpoint) sent a reply that makes no sense: \(invalid.reason)",
                detail: "\(response.status)")
        }
    }

    /// By S3's own error code.
    private static func named(
        _ reply: ErrorReply, _ response: HTTPResponse, _ context: S3RequestContext
    ) -> (Code, String)? {
        let address = context.address
        switch reply.code {
        case "NoSuchKey", "NoSuchVersion":
            return (.notFound, "nothing is stored under this key")
        case "NoSuchBucket":
            return (.storeMissing, missingBucket(address))
        case "InvalidBucketName":
            return (.storeMissing, "\(address.endpoint) takes no bucket named \(address.bucket); correct store.bucket")
        case "InvalidAccessKeyId":
            return (
                .credentialsRejected,
                "\(address.endpoint) does not know the access key; correct AWS_ACCESS_KEY_ID or the profile"
            )
        case "SignatureDoesNotMatch", "InvalidSignatureException":
            return (
                .credentialsRejected,
                "the secret key does not fit the access key; correct AWS_SECRET_ACCESS_KEY or the profile"
            )
        case "ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidToken", "TokenRefreshRequired",
            "InvalidSecurity", "InvalidClientTokenId":
            return (.credentialsRejected, "the session token is invalid or has expired; get new credentials")
        case "AccessDenied", "AllAccessDisabled", "AccountProblem", "InvalidPayer", "NotSignedUp":
            return (.accessDenied, denied(context, reply))
        case let code? where code.hasPrefix("KMS."):
            return (
                .accessDenied,
                "the key of store.kms_key cannot be used\(words(reply)); correct store.kms_key, or let the credentials "
                    + "use it"
            )
        case "PreconditionFailed":
            return (.alreadyExists, "something is stored under this key already")
        case "ConditionalRequestConflict", "OperationAborted":
            return (.conflict, "another request was changing the same object; it is tried again")
        case "NoSuchUpload":
            return (.conflict, "the upload in parts was ended by somebody else; it starts again")
        case "InvalidObjectState" where context.operation == "restore", "ObjectAlreadyInActiveTierError":
            return (.notArchived, "the object is not archived; it can be read as it is")
        case "GlacierExpeditedRetrievalNotAvailable":
            return (
                .tierUnavailable,
                "\(address.endpoint) has no room for expedited restores now; ask for another tier, or later"
            )
        case "InvalidTier":
            return (.tierUnavailable, unknownTier(address))
        case _ where reply.message?.contains("Retrieval option is not supported") == true:
            // Amazon's words; the code beside them is not documented.
            return (.tierUnavailable, unknownTier(address))
        case "InvalidObjectState", "ObjectNotInActiveTierError":
            return (.archived, "the object is archived; restore it first (sync-agent restore)")
        case "RequestTimeTooSkewed":
            let date = response.headers["Date"].map { Redaction.quote($0, limit: 40) }
            let there = date.map { "it is \($0) there" } ?? "it tells another time"
            return (.clockSkew, "this machine's clock is wrong for \(address.endpoint): \(there); set the clock")
        case "PermanentRedirect", "TemporaryRedirect", "Redirect", "IllegalLocationConstraintException":
            return (.wrongRegion, elsewhere(reply, address))
        case "AuthorizationHeaderMalformed" where reply.region != nil:
            return (.wrongRegion, elsewhere(reply, address))
        case "AuthorizationHeaderMalformed" where reply.message?.lowercased().contains("region") == true:
            return (
                .wrongRegion,
                "\(address.endpoint) does not take region \(address.region)\(words(reply)); correct store.region"
            )
        case "AuthorizationHeaderMalformed":
            return (
                .credentialsRejected,
                "\(address.endpoint) cannot read the access key\(words(reply)); correct AWS_ACCESS_KEY_ID or the profile"
            )
        case "SlowDown", "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled",
            "RequestThrottledException", "TooManyRequests", "TooManyRequestsException", "RequestLimitExceeded",
            "BandwidthLimitExceeded", "LimitExceededException", "ServiceUnavailable":
            return (.throttled, "\(address.endpoint) asks to slow down")
        case "RequestTimeout", "RequestTimeoutException":
            return (.timedOut, "\(address.endpoint) waited too long for the bytes")
        case "InternalError", "PriorRequestNotComplete":
            return (.serverFailed, failed(reply, address))
        case "BadDigest", "InvalidDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch":
            return (.badDigest, "the bytes arrived damaged, and the store refused them")
        case "InvalidRange":
            return (.invalidRange, "the object ends before the bytes that were asked for")
        case "EntityTooLarge":
            return (.tooLarge, "the object is larger than \(address.endpoint) takes in one piece")
        case "QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "InsufficientCapacity":
            return (.noSpace, "\(address.endpoint) has no space left for bucket \(address.bucket)")
        case "InvalidStorageClass":
            return (.unsupported, "\(address.endpoint) does not have the storage class; correct the tiers section")
        case "NotImplemented", "MethodNotAllowed":
            return (.unsupported, "\(address.endpoint) does not know this operation")
        default:
            return nil
        }
    }

    /// By the status, where there is no code (HEAD has no body) or one that we do not know.
    private static func byStatus(
        _ reply: ErrorReply, _ response: HTTPResponse, _ context: S3RequestContext
    ) -> (Code, String) {
        let address = context.address
        let said = reply.message.map { "\(address.endpoint) says: \($0.escapingControls)" }
        if isOfAnother(response, context) { return (.invalidResponse, said ?? foreign(response, address)) }
        switch response.status {
        case 200 where response.isErrorDocument: return (.serverFailed, failed(reply, address))
        case 301, 302, 307, 308: return (.wrongRegion, elsewhere(reply, address))
        case 400 where reply.code == nil && reply.region.map({ $0 != address.region }) == true:
            return (.wrongRegion, elsewhere(reply, address))
        case 401: return (.credentialsRejected, said ?? "\(address.endpoint) does not accept the credentials")
        case 403: return (.accessDenied, said ?? denied(context, reply))
        case 404: return (.storeMissing, missingBucket(address))
        case 407:
            return (.unreachable, "the proxy asks for a user and password; write them into https_proxy or http_proxy")
        case 400 where reply.code == nil && !speaksTLS(address) && response.mentionsTLS:
            return (.unreachable, "\(address.endpoint) speaks TLS; write https:// in store.endpoint")
        case 405, 501: return (.unsupported, said ?? "\(address.endpoint) does not know this operation")
        case 408: return (.timedOut, "\(address.endpoint) waited too long for the bytes")
        case 409: return (.conflict, said ?? "another request was changing the same object")
        case 412: return (.alreadyExists, "something is stored under this key already")
        case 413: return (.tooLarge, "the object is larger than \(address.endpoint) takes in one piece")
        case 416: return (.invalidRange, "the object ends before the bytes that were asked for")
        case 429, 503: return (.throttled, "\(address.endpoint) asks to slow down")
        case 507: return (.noSpace, "\(address.endpoint) has no space left")
        case 500...: return (.serverFailed, failed(reply, address))
        case 400...: return (.invalidRequest, said ?? "\(address.endpoint) does not accept the request")
        default: return (.invalidResponse, "\(address.endpoint) sent a reply that makes no sense here")
        }
    }

    /// Whether a status says something of an object, or of what the store can do, and somebody else has said it. What is
    /// missing has a name in S3, a key or a bucket; only the reply to a HEAD has none, and is not brought here. All
    /// else, and that the bucket is missing, small servers say in a few plain words.
    private static func isOfAnother(_ response: HTTPResponse, _ context: S3RequestContext) -> Bool {
        switch response.status {
        case 404: context.key != nil || response.isPage
        case 403, 405, 409, 412, 416, 501: response.isPage
        default: false
        }
    }

    private static func foreign(_ response: HTTPResponse, _ address: S3Address) -> String {
        "\(address.endpoint) answered \(response.status) and not in the words of a store; a proxy before it may be "
            + "starting, the network want a login, or store.endpoint be wrong"
    }

    private static func failed(_ reply: ErrorReply, _ address: S3Address) -> String {
        "\(address.endpoint) failed\(words(reply))"
    }

    /// What the store itself says, to go on a sentence with.
    private static func words(_ reply: ErrorReply) -> String {
        reply.message.map { ": \($0.escapingControls)" } ?? ""
    }

    private static func missingBucket(_ address: S3Address) -> String {
        "the bucket \(address.bucket) does not exist at \(address.endpoint); create it or correct store.bucket"
    }

    private static func unknownTier(_ address: S3Address) -> String {
        "\(address.endpoint) does not restore objects of this class with this tier; ask for another"
    }

    private static func denied(_ context: S3RequestContext, _ reply: ErrorReply) -> String {
        // Amazon names who may not do what; others only repeat the code.
        let words = reply.message?.contains(" ") == true && reply.message != "Access Denied" ? words(reply) : ""
        let permissions =
            switch context.operation {
            case "restore": "s3:RestoreObject"
            case "lifecycle": "s3:GetLifecycleConfiguration and s3:PutLifecycleConfiguration"
            default: "s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject"
            }
        return "the credentials do not allow it in bucket \(context.address.bucket)\(words); grant "
            + "\(permissions), or use others"
    }

    private static func elsewhere(_ reply: ErrorReply, _ address: S3Address) -> String {
        if let region = reply.region, region != address.region {
            return "the bucket \(address.bucket) is in region \(region.escapingControls), not in \(address.region); "
                + "set store.region: \(region.escapingControls)"
        }
        let place = reply.endpoint.map { " at \($0.escapingControls)" } ?? " elsewhere"
        return "the bucket \(address.bucket) is to be addressed\(place); correct store.region or store.endpoint"
    }
}

extension HTTPResponse {
    /// Some stores find their error after they have said 200.
    var isErrorDocument: Bool { XMLElement.rootName(of: body) == "Error" }

    /// What a network or a proxy sends to browsers, whatever was asked for and whatever the status: no store has said it.
    var isPage: Bool {
        let start = body.drop(while: \.isBlank).prefix(14)
        let text = String(decoding: start, as: UTF8.self).lowercased()
        return text.hasPrefix("<!doctype html") || text.hasPrefix("<html")
    }

    /// Of a status of failure: whether something else may have said it than a store, which says why in an `<Error>`, or
    /// says nothing at all. Nothing is learned from it of what the store can do.
    var isForeign: Bool { !isErrorDocument && !body.allSatisfy(\.isBlank) }

    /// Whether it can be what the store says of a thing that it did: it has found no error after all, and is no page.
    var isAnswer: Bool { !isErrorDocument && !isPage }

    /// Whether the store has stored an object, and tells of it.
    var tellsOfStored: Bool { status == 200 && isAnswer && ObjectReply(self).tellsOfObject }

    /// Whether the store did what it was asked for, where there is nothing to be told of it.
    var isDone: Bool { [200, 204].contains(status) && isAnswer }

    /// Whether the store says that what was to be removed is not there. A 404 without one of these codes is a proxy's.
    var saysGone: Bool {
        status == 404 && ["NoSuchKey", "NoSuchVersion", "NoSuchUpload"].contains(ErrorReply(self).code)
    }

    /// Whether the reply to a DELETE may mean that nothing is there: a 404 that names no reason, in a small server's
    /// own words or without any. It may as well be a proxy's.
    var mayMeanGone: Bool { status == 404 && !isPage && ErrorReply(self).code == nil }

    /// What is read in a reply; the error of the store where that makes no sense.
    func content<Value>(_ context: S3RequestContext, _ read: ([UInt8]) throws -> Value) throws -> Value {
        do {
            return try read(body)
        } catch let invalid as InvalidReply {
            throw StoreError(invalid, self, in: context)
        }
    }

    /// What web servers say to plain HTTP on a port for TLS.
    fileprivate var mentionsTLS: Bool { String(decoding: body, as: UTF8.self).contains("HTTPS") }
}

/// Failures of the transport, with what to do about them.
extension StoreError {
    package init(_ error: TransportError, in context: S3RequestContext) {
        let (code, message) = Self.mapped(error, context.address)
        self.init(code, operation: context.operation, key: context.key, message: message)
    }

    private static func mapped(_ error: TransportError, _ address: S3Address) -> (Code, String) {
        let endpoint = address.endpoint
        switch error.code {
        case .unreachable:
            return (.unreachable, "cannot reach \(endpoint): \(error.message); check the network, and store.endpoint")
        case .proxyFailed:
            return (
                .unreachable,
                "the proxy on the way to \(endpoint) fails: \(error.message); correct https_proxy or http_proxy, or add "
                    + "the store's host to no_proxy"
            )
        case .insecure:
            return (
                .unreachable,
                "no secure connection to \(endpoint): \(error.message); check that its port speaks TLS, else write http:// "
                    + "in store.endpoint"
            )
        case .untrusted:
            return (
                .unreachable,
                "the certificate of \(endpoint) is not trusted: \(error.message); name the file of its authority in "
                    + "AWS_CA_BUNDLE, or correct store.endpoint"
            )
        case .timedOut:
            return (.timedOut, "\(endpoint) takes too long: \(error.message); check the network, and store.endpoint")
        case .connectionLost where error.message.contains("Empty reply") && !speaksTLS(address):
            return (
                .connectionLost,
                "\(endpoint) hung up without a reply; where its port speaks TLS, write https:// in store.endpoint"
            )
        case .connectionLost:
            return (.connectionLost, "the connection to \(endpoint) broke: \(error.message)")
        case .sourceChanged:
            return (.sourceChanged, error.message)
        case .sourceUnreadable:
            return (.sourceUnreadable, "\(error.message); check its disk and who may read it, it is tried again")
        case .sourceSilent:
            return (.sourceSilent, "\(error.message); it is tried again later")
        case .digestMismatch:
            return (.badDigest, error.message)
        case .notHTTP:
            let remedy = speaksTLS(address) ? "" : ", or write https:// where its port speaks TLS"
            return (
                .unreachable,
                "what answers at \(endpoint) speaks no HTTP: \(error.message); correct store.endpoint\(remedy)"
            )
        case .invalidReply:
            return (.invalidResponse, "\(endpoint) sent no valid reply: \(error.message)")
        case .failed:
            return (.invalidRequest, "the request cannot be sent: \(error.message)")
        case .closed:
            return (.unreachable, error.message)
        }
    }

    private static func speaksTLS(_ address: S3Address) -> Bool { address.endpoint.hasPrefix("https:") }
}
