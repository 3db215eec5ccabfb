import SyncCore

extension S3Store {
    /// Gives an object that was sent in parts its tags where the server lost them: Ceph 16 takes those with which an upload
    /// begins and drops them. Amazon's word counts, and so does a server's that does not tell tags.
    /// - Throws: ``StoreError`` when they cannot be put; `CancellationError`.
    func restoreTags(of key: ObjectKey, _ context: S3RequestContext) async throws {
        guard !client.settings.tags.isEmpty, !client.knowledge.address.isAmazon else { return }
        let told = try await client.send(context) { $0.tagging(of: key) }
        guard told.status == 200, told.isAnswer, !told.tellsTags else { return }
        let reply = try await client.send(context) { $0.setTagging(of: key) }
        guard reply.isDone else {
            var failure = client.failure(reply, context)
            failure.message = "it is stored without the tags of store.tags, which cannot be put: \(failure.message)"
            throw failure
        }
    }
}

extension HTTPResponse {
    /// Ceph sends nothing at all for an object without tags.
    fileprivate var tellsTags: Bool {
        (try? XMLElement(document: body, root: "Tagging"))?.first("TagSet")?.first("Tag") != nil
    }
}
