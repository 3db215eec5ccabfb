import SyncCore

extension S3Store {
    /// - Parameter restores: asks for the restores, too. A store that does not take the question lists without them.
    func list(
        prefix: String, after: PageToken?, limit: Int, restores: Bool, operation: String
    ) async throws -> ObjectPage {
        let context = client.context(operation, nil)
        var response = try await client.send(context) {
            $0.list(prefix: prefix, after: after, limit: limit, restores: restores)
        }
        if restores, Self.refusesAttributes(response) {
            response = try await client.send(context) {
                $0.list(prefix: prefix, after: after, limit: limit, restores: false)
            }
            if response.status == 200 { await client.learn { $0.capabilities.takesListAttributes = false } }
        }
        guard response.status == 200 else { throw client.failure(response, context) }
        let reply: ListReply
        do {
            reply = try ListReply(response.body, prefix: client.prefix)
        } catch {
            throw StoreError(error, response, in: context)
        }
        if reply.tellsRestores, client.knowledge.capabilities.restoresInLists != true {
            await client.learn { $0.capabilities.restoresInLists = true }
        }
        return reply.page
    }

    /// 501 can only be about the header: listings are what every store has. 400 has other reasons, and must name it.
    private static func refusesAttributes(_ response: HTTPResponse) -> Bool {
        if response.status == 501 { return true }
        guard response.status == 400 else { return false }
        let reply = ErrorReply(response)
        return [reply.message, reply.header, reply.argument].contains {
            $0?.lowercased().contains("optional-object-attributes") == true
        }
    }
}
