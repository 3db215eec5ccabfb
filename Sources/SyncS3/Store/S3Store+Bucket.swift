package import SyncCore

extension S3Store {
    /// What became of a bucket that was to be made.
    package enum BucketCreation: Hashable, Sendable {
        /// It is new. `openBecause`: why the store does not block public access to it; `nil` where it does.
        case created(openBecause: String?)
        /// It is there already, and these credentials may use it. Nothing was changed. `isOpen`: nothing blocks public
        /// access to it, as far as the store tells.
        case existing(isOpen: Bool)
        /// It is there already, was empty, and nothing blocked public access to it, which is blocked now.
        case closed
    }

    /// Makes the store's bucket where there is none, in the store's region, and blocks public access to it. One that is there,
    /// is empty, and has no word on public access is taken for one that an earlier call made and could not close.
    /// - Throws: ``StoreError``: `.alreadyExists` when the name is taken by others, `.wrongRegion` when the bucket is
    ///   elsewhere; `CancellationError`.
    package func createBucket() async throws -> BucketCreation {
        let context = client.context("create", nil)
        guard !context.address.isAccessPoint else {
            throw client.error(
                .invalidRequest, context, "an access point is made for a bucket that is there; name a bucket")
        }
        if try await isThere(context) { return try await existing(context) }
        let response = try await client.send(context) { $0.createBucket() }
        switch (response.status, ErrorReply(response).code) {
        case (200, _) where response.isAnswer: break
        case (_, "BucketAlreadyOwnedByYou"): return try await existing(context)
        case (_, "BucketAlreadyExists"): throw taken(context, "is another account's")
        case (_, "OperationAborted"):
            throw client.error(
                .conflict, context,
                "a bucket named \(context.address.bucket) is being made or was deleted a moment ago; try again in an hour, or "
                    + "take another name")
        case (403, "AccessDenied"):
            var failure = client.failure(response, context)
            failure.message =
                "the credentials may not make buckets; allow s3:CreateBucket and s3:PutBucketPublicAccessBlock, or let "
                + "somebody else make \(context.address.bucket)"
            throw failure
        default: throw client.failure(response, context)
        }
        return .created(openBecause: try await block(context, "was created"))
    }

    /// How often the block of public access is asked for: a bucket must not stay open for a lost answer.
    private static let blockAttempts = 3

    /// Also when the task is cancelled.
    /// - Parameter what: became of the bucket, for the error.
    /// - Returns: why the store does not block public access; `nil` where it does.
    /// - Throws: ``StoreError`` when it cannot be known, with what to do; `CancellationError`.
    private func block(_ context: S3RequestContext, _ what: String) async throws -> String? {
        var failure: StoreError?
        for _ in 0..<Self.blockAttempts {
            do {
                let reply = try await client.send(context) {
                    var request = $0.blockPublicAccess()
                    request.isCancellable = false
                    return request
                }
                if reply.isDone { return nil }
                let (refusal, code) = (client.failure(reply, context), ErrorReply(reply).code)
                guard [.serverFailed, .throttled].contains(refusal.code) || code == "OperationAborted" else {
                    // Servers that do not know of it may take it for a bucket to be made: there is one.
                    return refusal.code == .conflict
                        ? "\(context.address.endpoint) answers \(reply.status) \((code ?? "").escapingControls)"
                        : refusal.message
                }
                failure = refusal
            } catch let error as StoreError {
                failure = error
                guard error.isTransient else { break }
            }
        }
        var error = failure ?? client.error(.serverFailed, context, "no answer")
        error.message =
            "the bucket \(context.address.bucket) \(what), and public access to it is not blocked yet (\(error.message)); "
            + "run sync-agent init --create-bucket again, which blocks it as long as the bucket is empty"
        throw error
    }

    /// What is there may be what an earlier run could not close: that is open by nobody's will, and empty.
    private func existing(_ context: S3RequestContext) async throws -> BucketCreation {
        let reply = try await client.send(context) { $0.publicAccessBlock() }
        switch reply.publicAccess {
        case .blocked, .untold: return .existing(isOpen: false)
        // At Amazon somebody has said so; Ceph tells it of each new bucket.
        case .open where context.address.isAmazon: return .existing(isOpen: true)
        case .open, .undecided: break
        }
        let listing = try await client.send(context) { $0.listAnything() }
        guard listing.status == 200,
            let found = try? XMLElement(document: listing.body, root: "ListBucketResult"),
            found.first("Contents") == nil
        else { return .existing(isOpen: true) }
        return try await block(context, "is there") == nil ? .closed : .existing(isOpen: true)
    }

    private func isThere(_ context: S3RequestContext) async throws -> Bool {
        let wanted = client.knowledge.address.region
        let response = try await client.send(context) { $0.headBucket() }
        let region = ErrorReply(response).region ?? client.knowledge.address.region
        switch response.status {
        case 200:
            guard !client.knowledge.address.isAmazon || region == wanted else {
                throw client.error(
                    .wrongRegion, context,
                    "the bucket \(context.address.bucket) is there already, in region \(region.escapingControls); take that "
                        + "region, or another name")
            }
            return true
        case 404: return false
        case 403:
            // The reply to a HEAD has no body and does not say why; a listing meets the same and does.
            do {
                try await check()
                return true
            } catch let error as StoreError where error.code == .accessDenied {
                throw taken(context, "is another account's, or closed to these credentials")
            }
        default: throw client.failure(response, context)
        }
    }

    private func taken(_ context: S3RequestContext, _ what: String) -> StoreError {
        client.error(
            .alreadyExists, context,
            "a bucket named \(context.address.bucket) is there already and \(what); take another name (names of buckets are "
                + "unique among all accounts)")
    }
}

extension HTTPResponse {
    fileprivate enum PublicAccess {
        case blocked
        case open
        case undecided
        /// The store does not know of it, or does not tell: no reason to say anything.
        case untold
    }

    /// What GetPublicAccessBlock says.
    fileprivate var publicAccess: PublicAccess {
        if status == 404, ErrorReply(self).code == "NoSuchPublicAccessBlockConfiguration" { return .undecided }
        guard status == 200, let found = try? XMLElement(document: body, root: "PublicAccessBlockConfiguration") else {
            return .untold
        }
        return S3Requests.publicAccessBlocks.allSatisfy { found[$0]?.lowercased() == "true" } ? .blocked : .open
    }
}

extension S3Store {
    /// Keys of one DeleteObjects.
    private static let batch = 1_000

    package func delete(_ keys: [ObjectKey]) async throws -> [ObjectKey: StoreError] {
        var failures: [ObjectKey: StoreError] = [:]
        var rest = keys[...]
        while !rest.isEmpty {
            let batch = Array(rest.prefix(Self.batch))
            rest = rest.dropFirst(Self.batch)
            var found = try await deleteTogether(batch)
            if found == nil { found = try await deleteOneByOne(batch) }
            failures.merge(found ?? [:]) { $1 }
        }
        return failures
    }

    /// - Returns: `nil` when the store does not take it.
    private func deleteTogether(_ keys: [ObjectKey]) async throws -> [ObjectKey: StoreError]? {
        guard await client.capabilities().deletesMany else { return nil }
        let context = client.context("delete", nil)
        let response = try await client.send(context) { $0.delete(keys) }
        if response.status == 501 || response.status == 405, !response.isPage {
            await client.learn { $0.capabilities.deletesMany = false }
            return nil
        }
        // Some keys cannot stand in XML (U+FFFE): the others of the batch shall not suffer for it.
        if response.status == 400, ErrorReply(response).code == "MalformedXML" { return nil }
        guard response.status == 200 else { throw client.failure(response, context) }
        return try response.content(context) { try failures(DeleteReply($0), of: keys, context) }
    }

    private func failures(
        _ reply: DeleteReply, of keys: [ObjectKey], _ context: S3RequestContext
    ) throws(InvalidReply) -> [ObjectKey: StoreError] {
        let asked = Set(keys)
        var failures: [ObjectKey: StoreError] = [:]
        for failure in reply.failures {
            guard let rest = failure.key.below(client.prefix), let key = try? ObjectKey(rest), asked.contains(key)
            else { throw InvalidReply(reason: "an error in it names a key that was not asked for") }
            let error = StoreError(failure.error, in: client.context(context.operation, key))
            if error.code != .notFound { failures[key] = error }
        }
        return failures
    }
}
