import FoundationEssentials
import SyncCore
import SyncSystem

extension S3Store {
    /// Uploads that were begun longer ago than this are nobody's any more. Seconds: a week, the usual figure of lifecycle
    /// rules. A large file on a slow line may well take days.
    private static let leftoverAge: TimeInterval = 7 * 86_400

    /// Sends a large file in parts.
    /// - Returns: `nil` for a body that goes in one piece.
    func putInParts(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition,
        _ context: S3RequestContext
    ) async throws -> PutReceipt? {
        guard case .file(let path, let stamp) = body.source, body.size >= sizes.threshold else { return nil }
        // Also where the store honours the condition: it would tell after the last part.
        try await checkBeforePut(condition, key, context)
        await removeLeftovers(beside: key)
        let upload = MultipartUpload(
            client: client, context: context, key: key, body: body, path: path, stamp: stamp, attributes: attributes,
            parts: sizes.parts(of: body.size))
        let made = try await upload.run(wanting: condition == .ifAbsent ? .condition : [])
        return PutReceipt(
            etag: made.etag, provesParts: made.isProven, storageClass: storedClass(attributes.storageClass))
    }

    /// Takes back the parts of uploads that were begun and given up, by this process or an earlier one, as the memory
    /// tells. What cannot be taken back now stays for the next time. No other process may be uploading meanwhile.
    package func tidy() async throws {
        guard let memory = client.memory else { return }
        for upload in await memory.leftovers() {
            do {
                _ = try await client.takeBack(upload)
            } catch let error as StoreError where !error.concernsWholeStore {
                continue
            }
        }
    }

    /// Takes back the parts of uploads that nobody remembers: once in each folder of keys, and only there,
    /// since the bucket may be shared with programs whose uploads take long. A store that does not let us is left alone.
    private func removeLeftovers(beside key: ObjectKey) async {
        let folder = String(key.rawValue.dropLast(key.lastSegment.count))
        guard tidied.withLock({ $0.insert(folder).inserted }) else { return }
        let context = client.context("list", key)
        let knowledge = client.knowledge
        let limit = client.now().addingTimeInterval(knowledge.clockOffset - Self.leftoverAge)
        guard let response = try? await client.send(context, { $0.listUploads(prefix: folder) }),
            response.status == 200,
            let leftovers = try? MultipartReply.uploads(response.body, prefix: client.prefix, before: limit)
        else { return }
        for upload in leftovers { _ = await client.abort(upload) }
    }
}
