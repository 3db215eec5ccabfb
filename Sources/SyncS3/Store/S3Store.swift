package import FoundationEssentials
package import SyncCore
package import SyncSystem

/// An S3 bucket, or a part of one, as an ``ObjectStore``.
///
/// A put that the connection loses after its last byte may have arrived: the object is then there, whole, and the put
/// threw. With `.ifAbsent` the next try finds it.
package final class S3Store: ObjectStore {
    package let identity: StoreIdentity
    let client: S3Client
    let sizes: PartSizes
    /// Of the credentials.
    private let pool: BlockingPool
    /// A proxy that the environment names and that is not used, in words.
    package let unusedProxy: String?
    /// Folders of keys where old uploads were looked for.
    let cleanedFolders = Lock<Set<String>>([])
    /// At most, to one host: for each object that may be on its way, and for what else is asked meanwhile.
    private static let connections = 40
    /// The same where a part of the line may be taken: the share of each must not pass for a transfer that is stalled.
    private static let connectionsInShares = 8

    /// A store over its own connections.
    /// - Parameters:
    ///   - environment: the process's, as `ProcessInfo` gives it.
    ///   - bandwidth: by the clock of this machine; `nil` for no limit.
    ///   - memory: keeps what has to outlive the process; `nil` to forget it.
    ///   - warn: is told what people have to know and no request fails of, each thing once.
    /// - Throws: ``StoreError`` when a setting cannot be used. Missing credentials are found only by a request.
    package convenience init(
        settings: S3Settings, environment variables: [String: String], bandwidth: BandwidthTimetable? = nil,
        memory: (any EndpointFactStore)? = nil, warn: @escaping @Sendable (String) -> Void = { _ in },
        now: @escaping @Sendable () -> Date
    ) throws(StoreError) {
        let environment = AWSEnvironment(variables: variables, profile: settings.profile, readFile: SharedFile.read)
        let bundle = try environment.caBundle()
        var rates: CurlTransport.Rates?
        if let bandwidth { rates = { bandwidth.rates(at: now(), in: TimeZone.autoupdatingCurrent) } }
        let disks = DiskThreads<SourceReads.Disk>()
        let transport: CurlTransport
        do {
            transport = try CurlTransport(
                settings: TransportSettings(
                    hostConnections: bandwidth == nil ? Self.connections : Self.connectionsInShares,
                    uploadBytesPerSecond: bandwidth?.lowestUpload, caBundle: bundle),
                rates: rates, disks: disks)
        } catch {
            throw StoreError(.unsupported, operation: "configure", message: error.message)
        }
        try self.init(
            settings: settings, environment: environment, transport: transport, disks: disks, memory: memory,
            warn: warn, now: now)
    }

    /// - Parameter disks: what is known of the disks from which files are sent, by the transport, too.
    package init(
        settings: S3Settings, environment: AWSEnvironment, transport: any HTTPTransport,
        disks: DiskThreads<SourceReads.Disk> = DiskThreads(), memory: (any EndpointFactStore)? = nil,
        parts sizes: PartSizes? = nil, warn: @escaping @Sendable (String) -> Void = { _ in },
        now: @escaping @Sendable () -> Date
    ) throws(StoreError) {
        let address = try settings.address(in: environment)
        let prefix = try Self.prefix(settings.prefix)
        identity = StoreIdentity(
            type: "s3",
            location: "s3://\(address.bucket)/\(prefix)" + (address.isAmazon ? "" : " at \(address.endpoint)"))
        pool = BlockingPool(name: "credentials", threads: 1)
        let services = CredentialServices(
            environment: environment, transport: transport, storeRegion: address.isAmazon ? address.region : nil,
            form: try settings.form(in: environment), pool: pool, warn: warn, now: now)
        let capabilities = S3Capabilities(
            isAmazon: address.isAmazon, conditionalPut: settings.conditionalWrites, checksums: settings.checksums,
            encryption: settings.encryption != .byBucket, tags: !settings.tags.isEmpty)
        client = S3Client(
            knowledge: EndpointFacts(address: address, capabilities: capabilities), prefix: prefix,
            settings: settings, credentials: CredentialCache(chain: CredentialChain(services), now: now),
            transport: transport, disks: disks, memory: memory, warn: warn, now: now)
        self.sizes = sizes ?? settings.parts
        unusedProxy = environment.unusedProxy(for: address.endpoint)
    }

    /// What the store has learned so far of its endpoint.
    package var knowledge: EndpointFacts { client.knowledge }

    package var capabilities: StoreCapabilities {
        StoreCapabilities(
            lifecycle: .byRules, restoresInLists: client.knowledge.capabilities.restoresInLists, links: true)
    }

    package func close() async {
        await client.close()
        await pool.shutDown()
    }

    package func check() async throws {
        // Nothing is there: who may list only a part of the bucket can be allowed this (examples/iam/agent.json).
        _ = try await list(prefix: "sync-agent-check/", after: nil, limit: 1, restores: false, operation: "check")
    }

    package func clockOffset() async throws -> TimeInterval {
        // An answer to a signed request: until then nobody has looked at our time.
        try await check()
        return knowledge.clockOffset
    }

    package func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        let context = client.context("put", key)
        let attributes = placed(attributes, at: key)
        do {
            return try await put(body, at: key, attributes: attributes, condition: condition, context)
        } catch let error as StoreError where error.code == .alreadyExists || error.code == .archived {
            throw try await unencryptedObstacle(at: key, context) ?? error
        }
    }

    private func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition,
        _ context: S3RequestContext
    ) async throws -> PutReceipt {
        if let receipt = try await putInParts(body, at: key, attributes: attributes, condition: condition, context) {
            return receipt
        }
        let honours = await client.capabilities().conditionalPut == .honoured
        let checksFirst = condition == .overwrite || !honours
        if checksFirst { try await checkBeforePut(condition, key, context) }
        let response = try await client.store(
            context,
            wanting: [.checksum, .storageClass, .encryption, .tags, condition == .ifAbsent ? .condition : []],
            storageClass: attributes.storageClass,
            beforeUnconditional: { if !checksFirst { try await checkBeforePut(condition, key, context) } }
        ) { try $0.put(body, at: key, attributes: attributes, features: $1) }
        guard response.status == 200, !response.isErrorDocument else { throw putFailure(response, context) }
        let reply = ObjectReply(response)
        // A page has stored nothing, and says nothing of what the store does: neither is anything concluded from it.
        guard response.isAnswer, reply.tellsOfObject else { throw notOfStore(response, context) }
        if let failure = await client.encryptionFailure(response, context) {
            // What was there before an overwrite is gone; taking this away too would help nobody.
            let tag = response.headers["ETag"]
            if condition == .ifAbsent, await takeBack(key, tag: tag, context) { throw failure }
            throw failure.adding(Self.isStillThere)
        }
        let receipt = PutReceipt(
            md5: reply.md5, sha256: reply.sha256, etag: reply.etag,
            storageClass: await storedClass(attributes.storageClass, at: key, context))
        if condition == .ifAbsent { await proveCondition(body, at: key, attributes: attributes, context) }
        return receipt
    }

    package func head(_ key: ObjectKey) async throws -> ObjectInfo? {
        let context = client.context("head", key)
        guard let reply = try await headReply(key, context) else { return nil }
        return try info(reply, key, context)
    }

    package func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        let context = client.context("get", key)
        if let range, range.isEmpty { return try await emptyRead(key, at: range.lowerBound, context) }
        let check = ReadCheck(isWhole: range == nil)
        let target = HTTPResponseTarget.sink(accepts: {
            let reply = ObjectReply($0)
            guard reply.carries(range), reply.tellsOfObject else { return false }
            check.begin(reply.info(for: key))
            return true
        }) { bytes in
            check.update(bytes)
            try sink(bytes)
        }
        let checksum = await client.capabilities().checksums
        let response = try await client.send(context, target: target) {
            $0.get(key, range: range, checksum: checksum)
        }
        let reply = ObjectReply(response)
        guard reply.carries(range) else { throw client.failure(response, context) }
        guard reply.tellsOfObject else { throw notOfStore(response, context) }
        let info = try info(reply, key, context)
        let expected = range.map { min($0.upperBound, info.size) - $0.lowerBound } ?? info.size
        guard check.count == expected else {
            throw client.error(.connectionLost, context, "\(check.count) of \(expected) bytes arrived")
        }
        guard check.matches(info) else {
            throw client.error(.badDigest, context, "the bytes that arrived are not those that were stored")
        }
        return info
    }

    package func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        let takesAttributes = await client.capabilities().takesListAttributes
        return try await list(prefix: prefix, after: after, limit: limit, restores: takesAttributes, operation: "list")
    }

    package func delete(_ key: ObjectKey) async throws {
        let context = client.context("delete", key)
        let response = try await client.send(context) { $0.delete(key) }
        if try await isGone(key, by: response) { return }
        throw response.isPage ? notOfStore(response, context) : client.failure(response, context)
    }

    /// Whether an object is gone, by the reply to its DELETE. A 404 that is not S3's is a small server's or a proxy's:
    /// then a HEAD and a listing have to say so, too.
    /// - Parameter isCancellable: `false` where the answer decides what is told of a thing that was done.
    /// - Throws: ``StoreError``, `CancellationError`.
    func isGone(_ key: ObjectKey, by response: HTTPResponse, isCancellable: Bool = true) async throws -> Bool {
        if response.isDone || response.saysGone { return true }
        guard response.mayMeanGone else { return false }
        let reply = try await headReply(key, client.context("head", key), isCancellable: isCancellable)
        guard reply == nil else { return false }
        let page = try await list(
            prefix: key.rawValue, after: nil, limit: 1, restores: false, operation: "list",
            isCancellable: isCancellable)
        if page.keys.contains(key) { throw StoreError.contradiction(of: key) }
        return true
    }
}

extension S3Store {
    private static func prefix(_ text: String) throws(StoreError) -> String {
        var trimmed = text.drop { $0 == "/" }
        while trimmed.last == "/" { trimmed.removeLast() }
        if trimmed.isEmpty { return "" }
        do {
            return try ObjectKey(String(trimmed)).rawValue + "/"
        } catch {
            throw StoreError(.invalidRequest, operation: "configure", message: "store.prefix: \(error)")
        }
    }

    /// With the configured class, where the caller asks for none.
    private func placed(_ attributes: ObjectAttributes, at key: ObjectKey) -> ObjectAttributes {
        guard attributes.storageClass == .standard, key.holdsPhoto else { return attributes }
        var attributes = attributes
        attributes.storageClass = client.settings.storageClass
        return attributes
    }

    /// What lies under a key already may pass for the photo, but not where it has to be encrypted and is not: it may be
    /// what could not be taken back.
    /// - Returns: the error; `nil` when it is encrypted as asked, or gone.
    private func unencryptedObstacle(at key: ObjectKey, _ context: S3RequestContext) async throws -> StoreError? {
        guard client.knowledge.capabilities.demanded.contains(.encryption),
            let existing = try await headReply(key, context),
            !client.encryption.isMet(by: existing.headers)
        else { return nil }
        return client.error(
            .invalidRequest, context,
            "what is stored under this key is not encrypted as store.encryption asks; remove it, and it is sent again")
    }

    /// Whether a server takes no puts at all, or said so once, is for those to find out who send more of them.
    private func putFailure(_ response: HTTPResponse, _ context: S3RequestContext) -> StoreError {
        var failure = client.failure(response, context)
        failure.sentBytes = response.sentBytes
        guard response.status == 405 || response.status == 501, failure.code == .unsupported else { return failure }
        return failure.adding("where that is so for every photo, correct store.endpoint")
    }

    /// What `If-None-Match` does not do: where it is not proven to work, and for archived objects.
    func checkBeforePut(_ condition: PutCondition, _ key: ObjectKey, _ context: S3RequestContext) async throws {
        guard let existing = try await headReply(key, context) else { return }
        switch condition {
        case .ifAbsent:
            throw client.error(.alreadyExists, context, "something is stored under this key already")
        case .overwrite where existing.isArchived:
            throw client.error(
                .archived, context, "an archived object is stored under this key, and is not overwritten")
        case .overwrite:
            break
        }
    }

    func headReply(
        _ key: ObjectKey, _ context: S3RequestContext, isCancellable: Bool = true
    ) async throws -> ObjectReply? {
        var response = try await sendHead(key, context, isCancellable: isCancellable)
        if [301, 400, 401, 403].contains(response.status) {
            // The reply to a HEAD has no body and does not say why; a listing meets the same and does.
            // Where it succeeds, what was wrong has been set right meanwhile: by the listing, or by a request beside it.
            _ = try await list(
                prefix: key.rawValue, after: nil, limit: 1, restores: false, operation: context.operation,
                isCancellable: isCancellable)
            response = try await sendHead(key, context, isCancellable: isCancellable)
        }
        switch response.status {
        case 200:
            let reply = ObjectReply(response)
            guard reply.tellsOfObject else { throw notOfStore(response, context) }
            return reply
        case 404: return nil
        default: throw client.failure(response, context)
        }
    }

    func sendHead(
        _ key: ObjectKey, _ context: S3RequestContext, isCancellable: Bool = true
    ) async throws -> HTTPResponse {
        let checksum = await client.capabilities().checksums
        return try await client.send(context) {
            var request = $0.head(key, checksum: checksum)
            request.isCancellable = isCancellable
            return request
        }
    }

    private func emptyRead(_ key: ObjectKey, at offset: Int64, _ context: S3RequestContext) async throws -> ObjectInfo {
        let info = try info(try await readableReply(key, context), key, context)
        guard offset <= info.size else {
            throw client.error(.invalidRange, context, "the object ends before the bytes that were asked for")
        }
        return info
    }

    private func notOfStore(_ response: HTTPResponse, _ context: S3RequestContext) -> StoreError {
        let endpoint = client.knowledge.address.endpoint
        var error = StoreError(
            .invalidResponse, operation: context.operation, key: context.key,
            message: "what answers at \(endpoint) tells of no object; where the network asks for a login, log in",
            detail: "\(response.status)")
        error.sentBytes = response.sentBytes
        return error
    }

    func info(_ reply: ObjectReply, _ key: ObjectKey, _ context: S3RequestContext) throws -> ObjectInfo {
        guard let info = reply.info(for: key) else {
            throw client.error(
                .invalidResponse, context, "\(client.knowledge.address.endpoint) does not tell the object's size")
        }
        return info
    }
}

extension StoreError {
    func adding(_ words: String) -> StoreError {
        var error = self
        error.message += "; \(words)"
        return error
    }
}

extension S3Store {
    /// - Parameter restores: asks for the restores, too. A store that does not take the question lists without them.
    func list(
        prefix: String, after: PageToken?, limit: Int, restores: Bool, operation: String, isCancellable: Bool = true
    ) async throws -> ObjectPage {
        let context = client.context(operation, nil)
        func ask(restores: Bool) async throws -> HTTPResponse {
            try await client.send(context) {
                var request = $0.list(prefix: prefix, after: after, limit: limit, restores: restores)
                request.isCancellable = isCancellable
                return request
            }
        }
        var response = try await ask(restores: restores)
        if restores, Self.refusesAttributes(response) {
            response = try await ask(restores: false)
            if response.status == 200, response.isAnswer {
                await client.learn { $0.capabilities.takesListAttributes = false }
            }
        }
        guard response.status == 200 else { throw client.failure(response, context) }
        let reply = try response.content(context) { try ListReply($0, prefix: client.prefix) }
        if reply.tellsRestores, client.knowledge.capabilities.restoresInLists != true {
            await client.learn { $0.capabilities.restoresInLists = true }
        }
        return reply.page
    }

    /// 501 can only be about the header: listings are what every store has. 400 has other reasons, and must name it.
    private static func refusesAttributes(_ response: HTTPResponse) -> Bool {
        if response.status == 501 { return !response.isPage }
        guard response.status == 400 else { return false }
        let reply = ErrorReply(response)
        return [reply.message, reply.header, reply.argument].contains {
            $0?.lowercased().contains("optional-object-attributes") == true
        }
    }
}
