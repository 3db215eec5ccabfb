package import SyncCore

extension S3Store {
    package func restore(_ key: ObjectKey, _ request: RestoreRequest) async throws -> RestoreAnswer {
        let context = client.context("restore", key)
        let response = try await sendRestore(key, request, context)
        let code = ErrorReply(response).code
        switch response.status {
        // MinIO says 200 also to a new restore: only the object's state tells.
        case 200 where !response.isErrorDocument, 202:
            return .accepted
        case 409 where code == nil || code == "RestoreAlreadyInProgress":
            return .alreadyRetrieving
        case 501 where request.tier != .standard:
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
        if plain.status == 200 || plain.status == 202 || plain.status == 409 {
            await client.learn { $0.capabilities.takesRestoreTiers = false }
        }
        return plain
    }

    private static func mayRefuseTheElement(_ response: HTTPResponse, _ request: RestoreRequest) -> Bool {
        switch response.status {
        case 400: ErrorReply(response).code == "MalformedXML"
        case 501: request.tier == .standard
        default: false
        }
    }
}
