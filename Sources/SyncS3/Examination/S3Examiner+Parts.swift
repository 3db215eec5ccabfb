package import SyncCore

extension S3Examiner {
    /// Begins an upload in parts, sends one, and takes it back: nothing is stored.
    /// - Throws: `.unsupported` when the server has no such uploads.
    package func uploadInParts(at key: ObjectKey) async throws {
        let context = client.context("put", key)
        let begun = try await client.send(context) {
            try $0.createUpload(at: key, attributes: Self.attributes, features: always)
        }
        guard begun.status == 200 else { throw client.failure(begun, context) }
        let upload: MultipartID
        do {
            upload = try MultipartReply.created(begun.body, key: key)
        } catch {
            throw StoreError(error, begun, in: context)
        }
        await client.memory?.note(upload)
        let part: HTTPResponse
        do {
            part = try await client.send(context) {
                $0.part(HTTPBody(Self.body("a part")), number: 1, of: upload)
            }
        } catch {
            _ = await client.abort(upload)
            throw error
        }
        let isGone = await client.abort(upload)
        guard part.status == 200 else { throw client.failure(part, context) }
        guard isGone else {
            throw client.error(.serverFailed, context, "the parts of an upload that was begun cannot be taken back")
        }
    }
}
