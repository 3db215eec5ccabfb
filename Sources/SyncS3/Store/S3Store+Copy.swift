import FoundationEssentials
package import SyncCore
import SyncSystem

extension S3Store {
    package func copy(
        _ source: ObjectKey, to key: ObjectKey, storageClass: StorageClass, metadata: [String: String]?,
        condition: PutCondition
    ) async throws {
        let context = client.context("copy", key)
        let capabilities = await client.capabilities()
        if capabilities.refusedClasses.contains(storageClass) { throw lacks(storageClass, context) }
        if capabilities.demanded.contains(.encryption) {
            if capabilities.ignoresEncryption { throw client.unencrypted(context) }
            if capabilities.encryptsCopies == false { throw unencryptedCopy(context) }
        }
        let sourceContext = client.context("copy", source)
        let reply = try await readableReply(source, sourceContext)
        let original = try info(reply, source, sourceContext)
        if key == source {
            if original.storageClass == storageClass { return try await proveListing(of: storageClass, key, context) }
        } else {
            // Whatever a store makes of the condition in a put proves nothing of its copies.
            try await checkBeforePut(condition, key, context)
        }
        let named = try key == source ? nil : metadata.map { try S3Requests.naming($0, of: key, beside: reply.headers) }
        let copy = Copy(
            source: source, original: reply, named: named, size: original.size, key: key, storageClass: storageClass)
        let isConditional = condition == .ifAbsent && key != source
        if original.size > sizes.largestCopy {
            try await sendInParts(copy, isConditional: isConditional, context)
        } else {
            try await send(copy, isConditional: isConditional, context)
        }
        try await proveClass(storageClass, of: key, context)
    }

    struct Copy: Sendable {
        let source: ObjectKey
        /// What the store says of the source.
        let original: ObjectReply
        /// What is to be stored beside the bytes in place of what the source has there.
        let named: HTTPHeaders?
        let size: Int64
        let key: ObjectKey
        let storageClass: StorageClass

        var isInPlace: Bool { source == key }
        /// What is stored beside the bytes.
        var headers: HTTPHeaders { named ?? original.headers }
    }

    /// What the store says of an object that can be read.
    func readableReply(_ key: ObjectKey, _ context: S3RequestContext) async throws -> ObjectReply {
        guard let reply = try await headReply(key, context) else {
            throw client.error(.notFound, context, "nothing is stored under this key")
        }
        if reply.isArchived {
            throw client.error(.archived, context, "the object is archived; restore it first (sync-agent restore)")
        }
        return reply
    }

    private func send(_ copy: Copy, isConditional: Bool, _ context: S3RequestContext) async throws {
        let (key, storageClass) = (copy.key, copy.storageClass)
        let capabilities = client.knowledge.capabilities
        let isConditional = isConditional && capabilities.conditionalPut == .honoured
        var response = try await request(copy, isConditional: isConditional, context)
        if isConditional, response.status == 501, !response.isPage, !capabilities.demanded.contains(.condition) {
            // Stores have the condition for puts before they have it for copies.
            response = try await request(copy, isConditional: false, context)
        }
        try await requireClass(storageClass, response, context)
        guard response.status == 200 else { throw client.failure(response, context) }
        // Only with it the copy is there, whatever the status said before.
        let made = try response.content(context) { try XMLElement(document: $0, root: "CopyObjectResult") }
        try await proveEncryption(of: key, tag: made["ETag"], isInPlace: copy.isInPlace, response, context)
    }

    /// Some stores call a copy in place illegal that changes nothing but the class, unless it names type and metadata anew.
    private func request(_ copy: Copy, isConditional: Bool, _ context: S3RequestContext) async throws -> HTTPResponse {
        func send(naming headers: HTTPHeaders?) async throws -> HTTPResponse {
            try await client.send(context) {
                $0.copy(
                    copy.source, to: copy.key, storageClass: copy.storageClass, naming: headers,
                    isConditional: isConditional)
            }
        }
        let isNamed = client.knowledge.capabilities.namesMetadataInCopies && copy.isInPlace
        let namesMetadata = isNamed || copy.named != nil
        let response = try await send(naming: namesMetadata ? copy.headers : nil)
        guard !namesMetadata, copy.isInPlace, response.status == 400, ErrorReply(response).refusesCopyOntoItself
        else { return response }
        let second = try await send(naming: copy.original.headers)
        if second.status == 200, second.isAnswer {
            await client.learn { $0.capabilities.namesMetadataInCopies = true }
        }
        return second
    }

    /// A copy in place that is not encrypted cannot be undone, and an archived one not even be seen to: one is enough, so
    /// what it showed is remembered. Some stores say nothing in their reply and encrypt all the same.
    /// - Parameter tag: the ETag of the copy, as the reply tells it.
    private func proveEncryption(
        of key: ObjectKey, tag: String?, isInPlace: Bool, _ response: HTTPResponse, _ context: S3RequestContext
    ) async throws {
        let capabilities = client.knowledge.capabilities
        guard capabilities.demanded.contains(.encryption) else { return }
        var isEncrypted = client.encryption.isConfirmed(by: response.headers)
        if !isEncrypted, let copy = try await headReply(key, context) {
            isEncrypted = client.encryption.isConfirmed(by: copy.headers)
        }
        let found = isEncrypted
        if capabilities.encryptsCopies != found { await client.learn { $0.capabilities.encryptsCopies = found } }
        if isEncrypted { return }
        let failure = unencryptedCopy(context)
        if isInPlace { throw failure.adding("it has lost its encryption by this copy") }
        throw await takeBack(key, tag: tag, context) ? failure : failure.adding(Self.isStillThere)
    }

    private func unencryptedCopy(_ context: S3RequestContext) -> StoreError {
        client.error(
            .settingRefused, context,
            "\(context.address.endpoint) does not encrypt copies as store.encryption asks; correct store.encryption or "
                + "the tiers section, and let sync-agent doctor look again")
    }

    /// Some stores say 200 and leave the object in their only class; some tell the new class of the object, and list it in
    /// the old one: what is listed is believed. Looked at once for each class; Amazon's word counts.
    private func proveClass(_ storageClass: StorageClass, of key: ObjectKey, _ context: S3RequestContext) async throws {
        let knowledge = client.knowledge
        guard storageClass != .standard, !knowledge.address.isAmazon,
            !knowledge.capabilities.provenClasses.contains(storageClass), let copy = try await headReply(key, context)
        else { return }
        guard try info(copy, key, context).storageClass == storageClass else {
            await client.learn { $0.capabilities.noteRefusal(of: .storageClass, storageClass: storageClass) }
            throw lacks(storageClass, context)
        }
        try await proveListing(of: storageClass, key, context)
        await client.learn { $0.capabilities.provenClasses.insert(storageClass) }
    }

    private func proveListing(
        of storageClass: StorageClass, _ key: ObjectKey, _ context: S3RequestContext
    ) async throws {
        let address = client.knowledge.address
        guard storageClass != .standard, !address.isAmazon else { return }
        let page = try await list(
            prefix: key.rawValue, after: nil, limit: 1, restores: false, operation: context.operation)
        guard let listed = page.objects.first(where: { $0.key == key }), listed.storageClass != storageClass else {
            return
        }
        await client.learn { $0.capabilities.noteRefusal(of: .storageClass, storageClass: storageClass) }
        throw client.error(
            .unsupported, context,
            "\(address.endpoint) says that the object is in \(storageClass), and lists it in \(listed.storageClass): the "
                + "listing is believed, and nothing is archived there; set tiers.mode: off")
    }

    /// - Parameter response: to what asked for the class.
    func requireClass(
        _ storageClass: StorageClass, _ response: HTTPResponse, _ context: S3RequestContext
    ) async throws {
        guard storageClass != .standard, PutFeatures.storageClass.refused(by: response) != nil else { return }
        await client.learn { $0.capabilities.noteRefusal(of: .storageClass, storageClass: storageClass) }
        throw lacks(storageClass, context)
    }

    /// A copy may have no other purpose than its class: it is never made in another one instead.
    private func lacks(_ storageClass: StorageClass, _ context: S3RequestContext) -> StoreError {
        client.error(
            .unsupported, context,
            "\(context.address.endpoint) does not have the storage class \(storageClass); correct the tiers section")
    }
}

extension ErrorReply {
    /// "This copy request is illegal because it is trying to copy an object to itself without changing the object's
    /// metadata, …": Amazon's words, and of those who do not count the class as a change.
    fileprivate var refusesCopyOntoItself: Bool {
        code == "InvalidCopyDest" || code == "InvalidRequest" || message?.contains("to itself") == true
    }
}

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
        try await restoreTags(of: key, context)
        return PutReceipt(
            etag: made.etag, provesParts: made.isProven,
            storageClass: await storedClass(attributes.storageClass, at: key, context))
    }

    /// Takes back the parts of uploads that were begun and given up, by this process or an earlier one, as the memory
    /// tells. What cannot be taken back now stays for the next time. No other process may be uploading meanwhile.
    package func removeLeftovers() async throws {
        guard let memory = client.memory else { return }
        for upload in await memory.leftovers() {
            try Task.checkCancellation()
            do {
                _ = try await client.takeBack(upload)
            } catch let error as StoreError where !error.concernsWholeStore {
                continue
            }
        }
    }

    /// A store that does not let us is left alone.
    package func takeBackUploads(below prefix: String) async throws {
        await removeLeftovers(below: prefix, client.context("list", nil))
        try Task.checkCancellation()
    }

    /// Takes back the parts of uploads that nobody remembers: once in each folder of keys, and only there,
    /// since the bucket may be shared with programs whose uploads take long. A store that does not let us is left alone.
    private func removeLeftovers(beside key: ObjectKey) async {
        let folder = key.folder
        guard cleanedFolders.withLock({ $0.insert(folder).inserted }) else { return }
        await removeLeftovers(below: folder, client.context("list", key))
    }

    private func removeLeftovers(below prefix: String, _ context: S3RequestContext) async {
        guard let response = try? await client.send(context, { $0.listUploads(prefix: prefix) }),
            response.status == 200
        else { return }
        // Only now: the clock may have been set since the last request, and this one has found the difference.
        let limit = client.now().addingTimeInterval(client.knowledge.clockOffset - Self.leftoverAge)
        guard let leftovers = try? MultipartReply.uploads(response.body, prefix: client.prefix, before: limit)
        else { return }
        // Not every server knows of prefixes.
        for upload in leftovers where upload.key.isBelow(prefix) && !Task.isCancelled {
            _ = await client.abort(upload)
        }
    }
}
