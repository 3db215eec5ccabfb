import SyncCore

/// Copies of what is larger than S3 copies in one request. Until all parts are there nothing changes under the key; what
/// fails before takes them back.
extension S3Store {
    private static let copiedPartsInFlight = 6

    /// A part as the store has copied it.
    private struct CopiedPart: Sendable {
        let tag: String
        /// Of its bytes; `nil` where the ETag is none.
        let md5: MD5Digest?
    }

    /// - Throws: ``StoreError``: where the store copies no parts, `.tooLarge`, since it may well copy all other objects.
    func sendInParts(_ copy: Copy, isConditional: Bool, _ context: S3RequestContext) async throws {
        let upload = try await beginCopy(copy, context)
        do {
            let parts = try await copyParts(of: copy, into: upload, context)
            try await proveParts(parts, of: copy, context)
            // In the hours that it may take, somebody may have deleted it for good: it is not to come back.
            try await requireUnchanged(copy, context)
            try await client.onceMore {
                try await complete(copy, upload, parts.map(\.tag), isConditional: isConditional, context)
            }
            await client.memory?.forget(upload)
        } catch {
            throw await client.giveUp(upload, after: error)
        }
        guard let made = try await headReply(copy.key, context), made.info(for: copy.key)?.size == copy.size else {
            throw client.error(.badDigest, context, "the copy in parts is not as large as the object")
        }
        try await restoreTags(of: copy.key, context)
    }

    private func beginCopy(_ copy: Copy, _ context: S3RequestContext) async throws -> MultipartID {
        let tags = try await tags(of: copy, context)
        let response = try await client.send(context) {
            $0.createCopy(to: copy.key, storageClass: copy.storageClass, naming: copy.headers, tags: tags)
        }
        try await requireClass(copy.storageClass, response, context)
        guard response.status == 200 else { throw failure(response, context) }
        let upload = try response.content(context) { try MultipartReply.created($0, key: copy.key) }
        await client.memory?.note(upload)
        if let failure = await client.encryptionFailure(response, context) {
            throw await client.giveUp(upload, after: failure)
        }
        return upload
    }

    /// Those of the source: no part brings them along. A HEAD tells how many there are, but not to those who may not
    /// read them, and not on each server: where it tells of none, the copy gets what all that is put has.
    private func tags(of copy: Copy, _ context: S3RequestContext) async throws -> [String: String] {
        guard let count = copy.original.headers["x-amz-tagging-count"].flatMap({ Int($0) }), count > 0 else {
            return client.settings.tags
        }
        let response = try await client.send(context) { $0.tagging(of: copy.source) }
        guard response.status == 200 else { throw client.failure(response, context) }
        return try response.content(context) { body in
            var tags: [String: String] = [:]
            guard let set = try XMLElement(document: body, root: "Tagging").first("TagSet") else { return tags }
            for tag in set.all("Tag") {
                let name = try tag.required("Key")
                tags[name] = try tag.required("Value")
            }
            return tags
        }
    }

    private func copyParts(
        of copy: Copy, into upload: MultipartID, _ context: S3RequestContext
    ) async throws -> [CopiedPart] {
        // As it is cut on its way up: parts of the same sizes have the ETag of the object again.
        let ranges = sizes.parts(of: copy.size)
        return try await withThrowingTaskGroup(of: (Int, CopiedPart).self) { group in
            var parts = [CopiedPart?](repeating: nil, count: ranges.count)
            for (index, range) in ranges.enumerated() {
                if index >= Self.copiedPartsInFlight, let (done, part) = try await group.next() { parts[done] = part }
                group.addTask { [self] in
                    let part = try await client.onceMore {
                        try await copyPart(range, number: index + 1, of: copy, into: upload, context)
                    }
                    return (index, part)
                }
            }
            for try await (done, part) in group { parts[done] = part }
            return parts.compactMap(\.self)
        }
    }

    private func copyPart(
        _ range: Range<Int64>, number: Int, of copy: Copy, into upload: MultipartID, _ context: S3RequestContext
    ) async throws -> CopiedPart {
        let response = try await client.send(context) {
            $0.copyPart(range, of: copy.source, matching: copy.writtenTag, number: number, into: upload)
        }
        if response.status == 412, !response.isForeign { throw changed(context) }
        guard response.status == 200 else { throw failure(response, context) }
        let tag = try response.content(context) {
            try XMLElement(document: $0, root: "CopyPartResult").required("ETag")
        }
        let encryption = response.headers["x-amz-server-side-encryption"] ?? "AES256"
        let md5 = encryption == "AES256" ? ObjectReply.etag(tag).flatMap { MD5Digest(hex: $0) } : nil
        return CopiedPart(tag: tag, md5: md5)
    }

    /// Where the object went up in parts of the same sizes, theirs have to come to its ETag again.
    private func proveParts(_ parts: [CopiedPart], of copy: Copy, _ context: S3RequestContext) async throws {
        let encryption = copy.original.headers["x-amz-server-side-encryption"] ?? "AES256"
        let digests = parts.compactMap(\.md5)
        guard encryption == "AES256", digests.count == parts.count, let tag = copy.original.etag,
            tag.hasSuffix("-\(parts.count)"), tag != MultipartUpload.expectedTag(of: digests)
        else { return }
        // By another store.part_size it may have had as many parts of other sizes: of these, its ETag proves nothing.
        let first = try await client.send(context) { $0.headPart(1, of: copy.source) }
        guard [200, 206].contains(first.status), let size = first.headers["Content-Length"].flatMap({ Int64($0) }),
            size == sizes.parts(of: copy.size).first?.upperBound
        else { return }
        throw client.error(
            .badDigest, context, "the parts that were copied have other bytes than the object; it was left as it is")
    }

    private func requireUnchanged(_ copy: Copy, _ context: S3RequestContext) async throws {
        let found = try await readableReply(copy.source, context)
        guard found.etag == copy.original.etag,
            found.headers["Last-Modified"] == copy.original.headers["Last-Modified"]
        else { throw changed(context) }
    }

    private func complete(
        _ copy: Copy, _ upload: MultipartID, _ tags: [String], isConditional: Bool, _ context: S3RequestContext
    ) async throws {
        // Others may not know this condition, and take it for one that they refuse.
        let tag = copy.isInPlace && client.knowledge.address.isAmazon ? copy.writtenTag : nil
        let response = try await client.store(
            context, wanting: isConditional ? .condition : [], storageClass: copy.storageClass,
            beforeUnconditional: {}
        ) { $0.complete(upload, tags: tags, features: $1, matching: tag) }
        if tag != nil, response.status == 412, !response.isForeign { throw changed(context) }
        guard response.status == 200 else { throw client.failure(response, context) }
        // Only with it the copy is there, whatever the status said before.
        _ = try response.content(context) { try MultipartReply.completedTag($0) }
    }

    private func changed(_ context: S3RequestContext) -> StoreError {
        client.error(.conflict, context, "the object was changed or deleted while it was copied; it was left as it is")
    }

    /// A store that has copies, and none in parts, is no store without copies.
    private func failure(_ response: HTTPResponse, _ context: S3RequestContext) -> StoreError {
        let failure = client.failure(response, context)
        guard failure.code == .unsupported else { return failure }
        return client.error(
            .tooLarge, context,
            "the object is larger than the 5 GiB that are copied in one request, and \(context.address.endpoint) copies "
                + "no parts of objects; it stays in its class")
    }
}

extension S3Store.Copy {
    /// The ETag of the source, as it is written; a weak one names no bytes.
    fileprivate var writtenTag: String? { original.etag == nil ? nil : original.headers["ETag"] }
}
