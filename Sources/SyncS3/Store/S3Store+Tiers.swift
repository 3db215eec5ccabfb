package import FoundationEssentials
package import SyncCore

extension S3Store {
    package func lifecycle() async throws -> LifecycleConfiguration {
        let found = try await readLifecycle()
        return LifecycleConfiguration(rules: found.document.rules, defaultMinimumSize: found.minimumSize)
    }

    /// The rules go into the document that the bucket has: a rule that came from there may need what its root declares.
    package func setLifecycle(_ configuration: LifecycleConfiguration) async throws {
        let context = client.context("lifecycle", nil)
        let document = try await readLifecycle().document
        if configuration.rules.isEmpty {
            if document.rules.isEmpty { return }
            // To remove them all is another request, which would also take rules that were added in this moment.
            throw client.error(
                .invalidRequest, context,
                "S3 takes no empty set of lifecycle rules; remove the last one with the tools of the store")
        }
        for rule in configuration.rules where isTooLong(rule) {
            throw client.error(
                .invalidRequest, context,
                "the name of the lifecycle rule \(rule.id) would have more than \(LifecycleRuleNames.longest) characters; "
                    + "shorten store.prefix")
        }
        let text = document.text(with: configuration.rules)
        let response = try await client.send(context) {
            $0.setLifecycle(text, minimumSize: configuration.defaultMinimumSize)
        }
        guard response.isDone else { throw client.failure(response, context) }
    }

    private func readLifecycle() async throws -> (document: LifecycleDocument, minimumSize: String?) {
        let context = client.context("lifecycle", nil)
        let names = LifecycleRuleNames(prefix: client.prefix)
        let response = try await client.send(context) { $0.lifecycle() }
        let minimumSize = response.headers[S3Requests.minimumSizeHeader]
        if response.status == 404, ErrorReply(response).code == "NoSuchLifecycleConfiguration" {
            return (LifecycleDocument(names: names), minimumSize)
        }
        guard response.status == 200 else { throw client.failure(response, context) }
        if XMLElement.rootName(of: response.body) == "ListBucketResult" {
            throw client.error(
                .unsupported, context,
                "\(context.address.endpoint) does not know lifecycle rules: it sends a listing in their place")
        }
        return (try response.content(context) { try LifecycleDocument($0, names: names) }, minimumSize)
    }

    private func isTooLong(_ rule: LifecycleRule) -> Bool {
        guard case .own = rule.content else { return false }
        return LifecycleRuleNames(prefix: client.prefix).wire(rule.id).count > LifecycleRuleNames.longest
    }

    package func restore(_ key: ObjectKey, _ request: RestoreRequest) async throws -> RestoreAnswer {
        let context = client.context("restore", key)
        let response = try await sendRestore(key, request, context)
        let code = ErrorReply(response).code
        switch response.status {
        // MinIO says 200 also to a new restore: only the object's state tells.
        case 200 where response.isAnswer, 202 where !response.isPage:
            return .accepted
        case 409 where code == "RestoreAlreadyInProgress" || code == nil && !response.isForeign:
            return .alreadyRetrieving
        case 501 where request.tier != .standard && !response.isPage:
            throw client.error(
                .tierUnavailable, context,
                "\(context.address.endpoint) does not restore with the tier \(request.tier.rawValue); ask for standard")
        default:
            throw client.failure(response, context)
        }
    }

    /// Some stores have one tier only and refuse the element that names it, in one way or another.
    private func sendRestore(
        _ key: ObjectKey, _ request: RestoreRequest, _ context: S3RequestContext
    ) async throws -> HTTPResponse {
        let namesTier = await client.capabilities().takesRestoreTiers
        let response = try await client.send(context) { $0.restore(key, request, namesTier: namesTier) }
        guard namesTier, Self.mayRefuseTheElement(response, request) else { return response }
        let plain = try await client.send(context) { $0.restore(key, request, namesTier: false) }
        if Self.mayRefuseTheElement(plain, request) { return response }
        if [200, 202].contains(plain.status) && plain.isAnswer || plain.status == 409 && !plain.isForeign {
            await client.learn { $0.capabilities.takesRestoreTiers = false }
        }
        return plain
    }

    private static func mayRefuseTheElement(_ response: HTTPResponse, _ request: RestoreRequest) -> Bool {
        switch response.status {
        case 400: ErrorReply(response).code == "MalformedXML"
        case 501: request.tier == .standard && !response.isPage
        default: false
        }
    }
}

/// What `doctor` asks. None of it changes anything, and none of it is retried.
extension S3Store {
    /// Where the credentials come from that requests are signed with, without the secrets.
    /// - Throws: ``StoreError`` `.credentialsMissing` or `.credentialsRejected` that says where they were looked for.
    package func credentialSource() async throws -> CredentialReport {
        CredentialReport(try await client.credentials.current(for: "check"))
    }

    /// The store's clock minus ours, in seconds, to a second or so; `nil` where the store does not tell its time.
    ///
    /// The request carries no signature: a clock that is far off, or missing credentials, do not stand in the way.
    package func serverTime() async throws -> TimeInterval? {
        let response = try await client.sendUnsigned(client.context("check", nil)) { $0.headBucket() }
        return response.headers["Date"].flatMap(S3Date.http)?.timeIntervalSince(client.now())
    }

    /// The bucket's region, as the store tells it also to those whom it refuses; `nil` where it does not.
    package func bucketRegion() async throws -> String? {
        let response = try await client.sendUnsigned(client.context("check", nil)) { $0.headBucket() }
        return ErrorReply(response).region
    }
}
