import FoundationEssentials
import SyncCore

/// Signs and sends the requests of one store, and sets right what a request can be refused for: a wrong region, a wrong
/// clock, credentials that have expired. Each of them once for a request, and at once; no other request is repeated here.
/// (curl itself sends a request again when a connection that it used before ends without a byte of a reply.)
final class S3Client: Sendable {
    /// Bytes of a listing: 1,000 keys of the longest kind, escaped.
    private static let replyLimit = 16 << 20

    /// Ends with `/`, or is empty.
    let prefix: String
    let now: @Sendable () -> Date
    private let credentials: CredentialCache
    private let transport: any HTTPTransport
    private let learned: Mutex<S3Knowledge>

    init(
        address: S3Address, prefix: String, credentials: CredentialCache, transport: any HTTPTransport,
        now: @escaping @Sendable () -> Date
    ) {
        self.prefix = prefix
        self.credentials = credentials
        self.transport = transport
        self.now = now
        learned = Mutex(S3Knowledge(address: address))
    }

    func close() async {
        await transport.close()
    }

    var knowledge: S3Knowledge { learned.withLock { $0 } }

    func learn(_ change: (inout S3Knowledge) -> Void) {
        learned.withLock { change(&$0) }
    }

    func context(_ operation: String, _ key: ObjectKey?) -> S3RequestContext {
        S3RequestContext(operation: operation, key: key?.rawValue, address: knowledge.address)
    }

    /// Sends one request, and again after each correction.
    /// - Parameter make: called for each sending: a redirect changes the address.
    /// - Throws: ``StoreError`` when there is no reply; `CancellationError`.
    func send(
        _ context: S3RequestContext, target: HTTPResponseTarget = .memory(limit: replyLimit),
        _ make: (S3Requests) throws -> HTTPRequest
    ) async throws -> HTTPResponse {
        var corrected: Set<S3Correction.Kind> = []
        while true {
            let knowledge = knowledge
            let credentials = try await self.credentials.current(for: context.operation)
            let request = try make(S3Requests(address: knowledge.address, prefix: prefix))
            let response = try await transmit(request, knowledge, credentials, context, target)
            guard let correction = S3Correction(response, sentWith: knowledge, at: now()),
                corrected.insert(correction.kind).inserted,
                try await apply(correction, knowledge, credentials, context)
            else { return response }
        }
    }

    /// The error of a reply that the caller has no use for.
    func failure(_ response: HTTPResponse, _ context: S3RequestContext) -> StoreError {
        let context = S3RequestContext(
            operation: context.operation, key: context.key, address: knowledge.address)
        var error = StoreError(response, in: context)
        if error.code == .credentialsRejected, let refused = credentials.latest {
            error.message += "; they are \(refused.provenance(at: now()))"
        }
        if error.code == .clockSkew, let there = response.headers["Date"].flatMap(S3Date.http) {
            error.message = ClockDifference(seconds: there.timeIntervalSince(now())).message(context.address.endpoint)
        }
        return error
    }

    func error(_ code: StoreError.Code, _ context: S3RequestContext, _ message: String) -> StoreError {
        StoreError(code, operation: context.operation, key: context.key, message: message)
    }

    // MARK: Once

    private func transmit(
        _ request: HTTPRequest, _ knowledge: S3Knowledge, _ credentials: AWSCredentials, _ context: S3RequestContext,
        _ target: HTTPResponseTarget
    ) async throws -> HTTPResponse {
        let signature = SignatureV4(credentials: credentials, region: knowledge.address.region)
        do {
            return try await transport.send(
                signature.signed(request, at: now().addingTimeInterval(knowledge.clockOffset)), target: target)
        } catch let error as TransportError {
            throw StoreError(error, in: context)
        }
    }

    /// - Returns: whether the request can be sent again.
    private func apply(
        _ correction: S3Correction, _ knowledge: S3Knowledge, _ credentials: AWSCredentials,
        _ context: S3RequestContext
    ) async throws -> Bool {
        switch correction {
        case .region(let told):
            var region = told
            if region == nil { region = try await bucketRegion(knowledge, credentials, context) }
            guard let region, let address = try? knowledge.address.moved(to: region), address != knowledge.address
            else { return false }
            learn { $0.address = address }
            return true
        case .clock(let offset):
            learn { $0.clockOffset = offset }
            return true
        case .credentials(let haveExpired):
            let found = try await self.credentials.current(for: context.operation, insteadOf: credentials)
            return haveExpired || found != credentials
        }
    }

    /// HeadBucket names the region also where it is refused or redirected.
    private func bucketRegion(
        _ knowledge: S3Knowledge, _ credentials: AWSCredentials, _ context: S3RequestContext
    ) async throws -> String? {
        let request = S3Requests(address: knowledge.address, prefix: prefix).headBucket()
        let response = try await transmit(
            request, knowledge, credentials, context, .memory(limit: HTTPResponseTarget.errorLimit))
        return ErrorReply(response).region
    }
}
