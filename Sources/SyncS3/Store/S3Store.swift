package import FoundationEssentials
package import SyncCore

/// An S3 bucket, or a part of one, as an ``ObjectStore``.
///
/// A put that the connection loses after its last byte may have arrived: the object is then there, whole, and the put
/// threw. With `.ifAbsent` the next try finds it.
package final class S3Store: ObjectStore {
    /// Bytes of a listing: 1,000 keys of the longest kind, escaped.
    private static let replyLimit = 16 << 20

    /// What is learned on the way.
    private struct Memory {
        var credentials: AWSCredentials?
        /// What has to be added to our clock to get the store's.
        var clockOffset: TimeInterval = 0
        var capabilities: S3Capabilities
    }

    package let identity: StoreIdentity
    private let requests: S3Requests
    private let transport: any HTTPTransport
    private let environment: AWSEnvironment
    private let now: @Sendable () -> Date
    private let memory: Mutex<Memory>

    /// A store over its own connections.
    /// - Parameter environment: the process's, as `ProcessInfo` gives it.
    /// - Throws: ``StoreError`` when a setting cannot be used. Missing credentials are found only by a request.
    package convenience init(
        settings: S3Settings, environment variables: [String: String], now: @escaping @Sendable () -> Date
    ) throws(StoreError) {
        let environment = AWSEnvironment(
            variables: variables, profile: settings.profile, readFile: SharedFile.read)
        let transport: CurlTransport
        do {
            transport = try CurlTransport(settings: TransportSettings(caBundle: environment.caBundle))
        } catch {
            throw StoreError(.unsupported, operation: "configure", message: error.message)
        }
        try self.init(settings: settings, environment: environment, transport: transport, now: now)
    }

    package init(
        settings: S3Settings, environment: AWSEnvironment, transport: any HTTPTransport,
        now: @escaping @Sendable () -> Date
    ) throws(StoreError) {
        let address = try S3Address(
            bucket: settings.bucket, region: try environment.region(configured: settings.region),
            endpoint: environment.endpoint(configured: settings.endpoint), addressing: settings.addressing)
        let prefix = try Self.prefix(settings.prefix)
        identity = StoreIdentity(
            type: "s3",
            location: "s3://\(address.bucket)/\(prefix)" + (address.isAmazon ? "" : " at \(address.endpoint)"))
        requests = S3Requests(address: address, prefix: prefix)
        self.transport = transport
        self.environment = environment
        self.now = now
        memory = Mutex(Memory(capabilities: S3Capabilities(isAmazon: address.isAmazon)))
    }

    /// Ends what is under way and waits until thread and connections are gone.
    package func close() async {
        await transport.close()
    }

    package func check() async throws {
        _ = try await list(prefix: "", after: nil, limit: 1, operation: "check")
    }

    package func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        let context = context("put", key)
        let ability = memory.withLock { $0.capabilities.conditionalPut }
        if condition == .overwrite || ability != .honoured {
            try await checkBeforePut(condition, key, context)
        }
        let isConditional = condition == .ifAbsent && ability != .refused
        var response = try await send(
            try requests.put(body, at: key, attributes: attributes, ifAbsent: isConditional), context)
        if isConditional {
            memory.withLock { $0.capabilities.noteConditionalPut(status: response.status) }
            if response.status == 501 {
                response = try await send(
                    try requests.put(body, at: key, attributes: attributes, ifAbsent: false), context)
            }
        }
        guard response.status == 200 else { throw failure(response, context) }
        return PutReceipt(md5: ObjectReply(response).md5)
    }

    package func head(_ key: ObjectKey) async throws -> ObjectInfo? {
        let context = context("head", key)
        guard let reply = try await headReply(key, context) else { return nil }
        return try info(reply, key, context)
    }

    package func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        let context = context("get", key)
        if let range, range.isEmpty { return try await emptyRead(key, at: range.lowerBound, context) }
        let check = ReadCheck(isWhole: range == nil)
        let target = HTTPResponseTarget.sink(accepts: { ObjectReply($0).carries(range) }) { bytes in
            check.update(bytes)
            try sink(bytes)
        }
        let response = try await send(requests.get(key, range: range), context, target: target)
        let reply = ObjectReply(response)
        guard reply.carries(range) else { throw failure(response, context) }
        let info = try info(reply, key, context)
        let expected = range.map { min($0.upperBound, info.size) - $0.lowerBound } ?? info.size
        guard check.count == expected else {
            throw error(.connectionLost, context, "\(check.count) of \(expected) bytes arrived")
        }
        guard check.matches(info) else {
            throw error(.badDigest, context, "the bytes that arrived are not those that were stored")
        }
        return info
    }

    package func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        try await list(prefix: prefix, after: after, limit: limit, operation: "list")
    }

    package func delete(_ key: ObjectKey) async throws {
        let context = context("delete", key)
        let response = try await send(requests.delete(key), context)
        if response.status == 200 || response.status == 204 { return }
        let failure = failure(response, context)
        if failure.code != .notFound { throw failure }
    }
}

extension S3Store {
    private static func prefix(_ text: String) throws(StoreError) -> String {
        let trimmed = text.split(separator: "/", omittingEmptySubsequences: false).trimmingEmpty().joined(
            separator: "/")
        if trimmed.isEmpty { return "" }
        do {
            return try ObjectKey(trimmed).rawValue + "/"
        } catch {
            throw StoreError(.invalidRequest, operation: "configure", message: "store.prefix: \(error)")
        }
    }

    private func list(
        prefix: String, after: PageToken?, limit: Int, operation: String
    ) async throws -> ObjectPage {
        let context = S3RequestContext(operation: operation, key: nil, address: requests.address)
        let response = try await send(requests.list(prefix: prefix, after: after, limit: limit), context)
        guard response.status == 200 else { throw failure(response, context) }
        do {
            return try ListReply(response.body, prefix: requests.prefix).page
        } catch {
            throw StoreError(error, response, in: context)
        }
    }

    /// What `If-None-Match` does not do: where it is not proven to work, and for archived objects.
    private func checkBeforePut(
        _ condition: PutCondition, _ key: ObjectKey, _ context: S3RequestContext
    ) async throws {
        guard let existing = try await headReply(key, context) else { return }
        switch condition {
        case .ifAbsent:
            throw error(.alreadyExists, context, "something is stored under this key already")
        case .overwrite where existing.isArchived:
            throw error(.archived, context, "an archived object is stored under this key, and is not overwritten")
        case .overwrite:
            break
        }
    }

    private func headReply(_ key: ObjectKey, _ context: S3RequestContext) async throws -> ObjectReply? {
        let response = try await send(requests.head(key), context)
        switch response.status {
        case 200: return ObjectReply(response)
        case 404: return nil
        case 301, 400, 401, 403:
            // The reply to a HEAD has no body and does not say why; a listing meets the same and does.
            _ = try await list(prefix: key.rawValue, after: nil, limit: 1, operation: context.operation)
            throw failure(response, context)
        default: throw failure(response, context)
        }
    }

    private func emptyRead(_ key: ObjectKey, at offset: Int64, _ context: S3RequestContext) async throws -> ObjectInfo {
        guard let reply = try await headReply(key, context) else {
            throw error(.notFound, context, "nothing is stored under this key")
        }
        if reply.isArchived { throw error(.archived, context, "the object is archived; restore it first") }
        let info = try info(reply, key, context)
        guard offset <= info.size else {
            throw error(.invalidRange, context, "the object ends before the bytes that were asked for")
        }
        return info
    }

    private func info(_ reply: ObjectReply, _ key: ObjectKey, _ context: S3RequestContext) throws -> ObjectInfo {
        guard let info = reply.info(for: key) else {
            throw error(.invalidResponse, context, "\(requests.address.endpoint) does not tell the object's size")
        }
        return info
    }

    // MARK: One request

    private func send(
        _ request: HTTPRequest, _ context: S3RequestContext, target: HTTPResponseTarget = .memory(limit: replyLimit)
    ) async throws -> HTTPResponse {
        let credentials = try credentials(for: context.operation)
        let offset = memory.withLock { $0.clockOffset }
        let signature = SignatureV4(credentials: credentials, region: requests.address.region)
        do {
            return try await transport.send(
                signature.signed(request, at: now().addingTimeInterval(offset)), target: target)
        } catch let error as TransportError {
            throw StoreError(error, in: context)
        }
    }

    private func credentials(for operation: String) throws -> AWSCredentials {
        if let known = memory.withLock({ $0.credentials }) { return known }
        let found = try environment.credentials(for: operation)
        memory.withLock { $0.credentials = found }
        return found
    }

    /// The error of a reply. What can be set right for the next try is: a refused key pair is read anew, the store's
    /// clock is adopted.
    private func failure(_ response: HTTPResponse, _ context: S3RequestContext) -> StoreError {
        let error = StoreError(response, in: context)
        switch error.code {
        case .credentialsRejected:
            memory.withLock { $0.credentials = nil }
        case .clockSkew:
            guard let there = response.headers["Date"].flatMap(S3Date.http) else { break }
            let offset = there.timeIntervalSince(now())
            memory.withLock { $0.clockOffset = offset }
        default: break
        }
        return error
    }

    private func context(_ operation: String, _ key: ObjectKey) -> S3RequestContext {
        S3RequestContext(operation: operation, key: key.rawValue, address: requests.address)
    }

    private func error(_ code: StoreError.Code, _ context: S3RequestContext, _ message: String) -> StoreError {
        StoreError(code, operation: context.operation, key: context.key, message: message)
    }
}

extension [Substring] {
    fileprivate func trimmingEmpty() -> ArraySlice<Substring> {
        var parts = self[...]
        while parts.first?.isEmpty == true { parts.removeFirst() }
        while parts.last?.isEmpty == true { parts.removeLast() }
        return parts
    }
}
