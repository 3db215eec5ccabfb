import SyncCore

extension S3Store {
    /// What became of a bucket that was to be made.
    package enum BucketCreation: Hashable, Sendable {
        /// It is new. `openBecause`: why the store does not block public access to it; `nil` where it does.
        case created(openBecause: String?)
        /// It is there already, and these credentials may use it. Nothing was changed.
        case existing
    }

    /// Makes the store's bucket where there is none, in the store's region, and blocks public access to it.
    /// - Throws: ``StoreError``: `.alreadyExists` when the name is taken by others, `.wrongRegion` when the bucket is
    ///   elsewhere; `CancellationError`.
    package func createBucket() async throws -> BucketCreation {
        let context = client.context("create", nil)
        guard !context.address.isAccessPoint else {
            throw client.error(
                .invalidRequest, context, "an access point is made for a bucket that is there; name a bucket")
        }
        if try await isThere(context) { return .existing }
        let response = try await client.send(context) { $0.createBucket() }
        switch (response.status, ErrorReply(response).code) {
        case (200, _) where !response.isErrorDocument && !response.isPage: break
        case (_, "BucketAlreadyOwnedByYou"): return .existing
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
        let block = try await client.send(context) { $0.blockPublicAccess() }
        if [200, 204].contains(block.status), !block.isErrorDocument, !block.isPage {
            return .created(openBecause: nil)
        }
        return .created(openBecause: client.failure(block, context).message)
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
