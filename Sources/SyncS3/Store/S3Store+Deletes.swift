package import SyncCore

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
        if response.status == 501 || response.status == 405 {
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
            let error = StoreError(
                failure.error,
                in: S3RequestContext(operation: context.operation, key: key.rawValue, address: context.address))
            if error.code != .notFound { failures[key] = error }
        }
        return failures
    }

    private func deleteOneByOne(_ keys: [ObjectKey]) async throws -> [ObjectKey: StoreError] {
        var failures: [ObjectKey: StoreError] = [:]
        for key in keys {
            do {
                try await delete(key)
            } catch let error as StoreError where error.mayConcernOneObject {
                failures[key] = error
            }
        }
        return failures
    }
}
