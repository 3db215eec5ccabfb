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
        guard response.status == 200 || response.status == 204, !response.isErrorDocument else {
            throw client.failure(response, context)
        }
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
        do {
            return (try LifecycleDocument(response.body, names: names), minimumSize)
        } catch {
            throw StoreError(error, response, in: context)
        }
    }

    private func isTooLong(_ rule: LifecycleRule) -> Bool {
        guard case .own = rule.content else { return false }
        return LifecycleRuleNames(prefix: client.prefix).wire(rule.id).count > LifecycleRuleNames.longest
    }
}
