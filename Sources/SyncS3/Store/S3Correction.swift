package import FoundationEssentials

/// What can be set right after a request was refused, so that it may be sent again, once.
///
/// Source: botocore's `S3RegionRedirectorv2` for regions; the AWS SDKs for JavaScript and Java for clocks.
package enum S3Correction: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case region, clock, credentials
    }

    /// The bucket is elsewhere; `nil` where the reply does not say where.
    case region(String?)
    /// The store's clock minus ours, in seconds.
    case clock(TimeInterval)
    /// They are to be read anew. Where they have not expired, others have to be found.
    case credentials(haveExpired: Bool)

    /// A signature is taken for 15 minutes. Below this, something else was wrong with it.
    private static let tolerance: TimeInterval = 240
    /// Beyond this, every store refuses a signature, whatever reason it gives. rclone's gives AccessDenied to a clock that
    /// is behind.
    private static let limit: TimeInterval = 900

    /// `nil` when nothing is known that would help.
    /// - Parameters:
    ///   - knowledge: with which the request was sent.
    ///   - date: our clock's.
    package init?(_ response: HTTPResponse, sentWith knowledge: EndpointFacts, at date: Date) {
        guard response.status >= 300 else { return nil }
        let reply = ErrorReply(response)
        if Self.isRedirect(reply, response, from: knowledge.address) {
            self = .region(reply.region)
        } else if let offset = Self.offset(reply, response, knowledge, date) {
            self = .clock(offset)
        } else if let haveExpired = Self.refusesCredentials(reply, response) {
            self = .credentials(haveExpired: haveExpired)
        } else {
            return nil
        }
    }

    package var kind: Kind {
        switch self {
        case .region: .region
        case .clock: .clock
        case .credentials: .credentials
        }
    }

    private static func isRedirect(_ reply: ErrorReply, _ response: HTTPResponse, from address: S3Address) -> Bool {
        switch (response.status, reply.code) {
        case (301...302, _), (307...308, _): true
        case (_, "PermanentRedirect"), (_, "TemporaryRedirect"), (_, "Redirect"),
            (_, "IllegalLocationConstraintException"):
            true
        case (_, "AuthorizationHeaderMalformed"): reply.region != nil
        // The reply to a HEAD has no body.
        case (400, nil): reply.region.map { $0 != address.region } ?? false
        default: false
        }
    }

    private static func offset(
        _ reply: ErrorReply, _ response: HTTPResponse, _ knowledge: EndpointFacts, _ date: Date
    ) -> TimeInterval? {
        guard let there = response.headers["Date"].flatMap(S3Date.http) else { return nil }
        let offset = there.timeIntervalSince(date)
        let change = abs(offset - knowledge.clockOffset)
        switch reply.code {
        case "RequestTimeTooSkewed": return offset
        case "RequestExpired", "InvalidSignatureException":
            return change > tolerance ? offset : nil
        case "AccessDenied": return change > limit ? offset : nil
        default: return nil
        }
    }

    private static func refusesCredentials(_ reply: ErrorReply, _ response: HTTPResponse) -> Bool? {
        switch reply.code {
        case "ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "RequestExpired": true
        case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidSignatureException", "InvalidToken",
            "InvalidSecurity", "InvalidClientTokenId":
            false
        default: response.status == 401 ? false : nil
        }
    }
}
