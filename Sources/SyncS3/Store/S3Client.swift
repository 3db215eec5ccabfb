package import FoundationEssentials
import SyncCore
import SyncSystem

/// Signs and sends the requests of one store, and sets right what a request can be refused for: a wrong region, a wrong
/// clock, credentials that have expired. Each of them once for a request, and at once; no other request is repeated here.
/// (curl itself sends a request again when a connection that it used before ends without a byte of a reply.)
final class S3Client: Sendable {
    /// Bytes of a listing: 1,000 keys of the longest kind, escaped.
    private static let replyLimit = 16 << 20

    private struct Learned {
        var knowledge: EndpointFacts
        /// Whether it has what earlier runs learned.
        var isLoaded: Bool
        /// Counts the changes, so that an older state is not remembered over a newer one.
        var version = 0
        /// Whether somebody finds out what becomes of conditional puts.
        var isProving = false
        /// How often that was begun.
        var proofs = 0
    }

    private static let mostProofs = 3

    /// Ends with `/`, or is empty.
    let prefix: String
    let settings: S3Settings
    let now: @Sendable () -> Date
    let credentials: CredentialCache
    /// `nil` where nobody keeps anything.
    let memory: S3FactStore?
    let transport: any HTTPTransport
    /// Of all files that are sent: those in parts are read by threads of their own, the others by the transport's.
    let disks: DiskThreads<SourceReads.Disk>
    let warn: @Sendable (String) -> Void
    private let learned: Lock<Learned>

    init(
        knowledge: EndpointFacts, prefix: String, settings: S3Settings, credentials: CredentialCache,
        transport: any HTTPTransport, disks: DiskThreads<SourceReads.Disk>, memory: (any EndpointFactStore)?,
        warn: @escaping @Sendable (String) -> Void, now: @escaping @Sendable () -> Date
    ) {
        self.warn = warn
        self.prefix = prefix
        self.settings = settings
        self.credentials = credentials
        self.transport = transport
        self.disks = disks
        self.now = now
        self.memory = memory.map {
            S3FactStore(
                $0, of: "\(knowledge.address.endpoint)/\(knowledge.address.bucket)",
                initial: knowledge.capabilities.facts, now: now)
        }
        learned = Lock(Learned(knowledge: knowledge, isLoaded: memory == nil))
    }

    func close() async {
        await transport.close()
        await memory?.close()
    }

    var encryption: S3Encryption { settings.encryption }

    /// What is known by now; ``capabilities()`` has earlier runs in it from the first.
    var knowledge: EndpointFacts { learned.withLock { $0.knowledge } }

    /// What the store can do, as far as this run or an earlier one knows.
    func capabilities() async -> S3Capabilities {
        if let memory, !learned.withLock({ $0.isLoaded }) {
            let facts = await memory.load()
            learned.withLock { learned in
                if !learned.isLoaded { learned.knowledge.capabilities.load(facts) }
                learned.isLoaded = true
            }
        }
        return knowledge.capabilities
    }

    /// - Returns: whether it is for the caller to find out whether conditions are honoured: where nobody knows, the answer is
    ///   kept, and it has not been in vain too often.
    func beginProof() async -> Bool {
        guard memory != nil, await capabilities().conditionalPut == .unproven else { return false }
        return learned.withLock { learned in
            guard !learned.isProving, learned.proofs < Self.mostProofs else { return false }
            learned.isProving = true
            learned.proofs += 1
            return true
        }
    }

    /// Another one may try where this one was in vain.
    func endProof() {
        learned.withLock { $0.isProving = false }
    }

    /// Changes what is known, and remembers what of it outlives the process.
    func learn(_ change: (inout EndpointFacts) -> Void) async {
        let (facts, version) = changed(change)
        await memory?.remember(facts, version: version)
    }

    /// Remembers all that is known in place of what earlier runs learned.
    func rememberAll(_ change: (inout EndpointFacts) -> Void) async {
        let (facts, version) = changed(change)
        await memory?.rewrite(facts, version: version)
    }

    private func changed(_ change: (inout EndpointFacts) -> Void) -> (facts: [String: String], version: Int) {
        learned.withLock { learned in
            change(&learned.knowledge)
            learned.version += 1
            return (learned.knowledge.capabilities.facts, learned.version)
        }
    }

    /// The requests as they are made now.
    func requests(_ address: S3Address) -> S3Requests {
        S3Requests(
            address: address, prefix: prefix, encryption: encryption, tags: settings.tags,
            requesterPays: settings.requesterPays)
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
        _ = await capabilities()
        var corrected: Set<S3Correction.Kind> = []
        while true {
            let knowledge = knowledge
            let credentials = try await self.credentials.current(for: context.operation)
            let request = try make(requests(knowledge.address))
            let response = try await transmit(request, knowledge, credentials, context, target)
            guard let correction = S3Correction(response, sentWith: knowledge, at: now()),
                corrected.insert(correction.kind).inserted,
                try await apply(correction, knowledge, credentials, context)
            else { return response }
        }
    }

    /// Sends one request without a signature, once.
    /// - Throws: ``StoreError`` when there is no reply; `CancellationError`.
    func sendUnsigned(_ context: S3RequestContext, _ make: (S3Requests) -> HTTPRequest) async throws -> HTTPResponse {
        try await exchange(make(requests(knowledge.address)), context)
    }

    /// The error of a reply that the caller has no use for.
    func failure(_ response: HTTPResponse, _ context: S3RequestContext) -> StoreError {
        let context = S3RequestContext(operation: context.operation, key: context.key, address: knowledge.address)
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
        _ request: HTTPRequest, _ knowledge: EndpointFacts, _ credentials: AWSCredentials, _ context: S3RequestContext,
        _ target: HTTPResponseTarget
    ) async throws -> HTTPResponse {
        let signature = SignatureV4(credentials: credentials, region: knowledge.address.region)
        var request = request
        if settings.requesterPays { request.headers[S3Requests.payerHeader] = S3Requests.requester }
        let signed = signature.signed(request, at: now().addingTimeInterval(knowledge.clockOffset))
        return try await exchange(signed, context, target)
    }

    /// - Throws: ``StoreError`` when there is no reply; `CancellationError`.
    func exchange(
        _ request: HTTPRequest, _ context: S3RequestContext,
        _ target: HTTPResponseTarget = .memory(limit: HTTPResponseTarget.errorLimit)
    ) async throws -> HTTPResponse {
        do {
            return try await transport.send(request, target: target)
        } catch let error as TransportError {
            throw StoreError(error, in: context)
        }
    }

    /// - Returns: whether the request can be sent again.
    private func apply(
        _ correction: S3Correction, _ knowledge: EndpointFacts, _ credentials: AWSCredentials,
        _ context: S3RequestContext
    ) async throws -> Bool {
        switch correction {
        case .region(let told):
            var region = told
            if region == nil { region = try await bucketRegion(knowledge, credentials, context) }
            guard let region, let address = try? knowledge.address.moved(to: region), address != knowledge.address
            else { return false }
            await learn { $0.address = address }
            return true
        case .clock(let offset):
            await learn { $0.clockOffset = offset }
            return true
        case .credentials(let haveExpired):
            let found = try await self.credentials.current(for: context.operation, insteadOf: credentials)
            return haveExpired || found != credentials
        }
    }

    /// HeadBucket names the region also where it is refused or redirected.
    private func bucketRegion(
        _ knowledge: EndpointFacts, _ credentials: AWSCredentials, _ context: S3RequestContext
    ) async throws -> String? {
        let request = requests(knowledge.address).headBucket()
        let response = try await transmit(
            request, knowledge, credentials, context, .memory(limit: HTTPResponseTarget.errorLimit))
        return ErrorReply(response).region
    }
}

/// By how much the store's clock is ahead of ours, in words.
package struct ClockDifference: Hashable, Sendable {
    private let seconds: Int

    /// - Parameter seconds: negative where ours is ahead.
    package init(seconds: TimeInterval) {
        self.seconds = Int(seconds.rounded())
    }

    package func message(_ endpoint: String) -> String {
        "this machine's clock is \(amount) \(seconds < 0 ? "ahead of" : "behind") that of \(endpoint), which refuses it; "
            + "set the clock, or let NTP do it (timedatectl set-ntp true)"
    }

    /// The two largest units.
    private var amount: String {
        let units = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")]
        var rest = abs(seconds)
        let parts = units.compactMap { size, name -> String? in
            defer { rest %= size }
            return rest >= size ? "\(rest / size) \(name)" : nil
        }
        return parts.isEmpty ? "0 s" : parts.prefix(2).joined(separator: " ")
    }
}

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
            if sent.contains(.condition), !response.isForeign {
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
        (200..<300).contains(status) && isAnswer || status == 412 && !isForeign
    }
}
