package import SyncCore

/// In which class new objects are.
extension S3Store {
    /// Of new photos, by the configuration.
    package var configuredClass: StorageClass { client.settings.storageClass }

    /// Where the server was seen to put new photos, in place of ``configuredClass``; `nil` as long as it was not.
    package var ignoredClass: (wanted: StorageClass, seen: StorageClass)? {
        guard let seen = client.knowledge.capabilities.putClasses[configuredClass], seen != configuredClass else {
            return nil
        }
        return (configuredClass, seen)
    }

    /// Where something is that was put into a class. What a store refuses is learned with the put; some take the header and
    /// leave it at their only class: the first object in the configured class is looked at. Amazon's word counts.
    /// - Parameter key: of what was put.
    func storedClass(_ wanted: StorageClass, at key: ObjectKey, _ context: S3RequestContext) async -> StorageClass {
        let knowledge = client.knowledge
        guard wanted == configuredClass else {
            return knowledge.capabilities.refusedClasses.contains(wanted) ? .standard : wanted
        }
        guard wanted != .standard, !knowledge.address.isAmazon else { return wanted }
        if let seen = knowledge.capabilities.putClasses[wanted] { return seen }
        // It is stored, whatever becomes of this question.
        guard let reply = try? await headReply(key, context), let info = try? info(reply, key, context) else {
            return wanted
        }
        let seen = info.storageClass
        await client.learn { $0.capabilities.putClasses[wanted] = seen }
        if seen != wanted {
            client.warn(
                "\(context.address.endpoint) stores new photos in \(seen), and takes no notice of store.storage_class: "
                    + "\(wanted); take the setting out, or name a class that the server has")
        }
        return seen
    }
}

/// What was stored otherwise than it was asked for.
extension S3Store {
    static let isStillThere = "what was sent is still stored under this key, and not encrypted as asked"

    /// Removes what should not have been stored, as well as it can be done. Only what this request has made: another
    /// machine's object may be there by now. One of the same bytes has the same ETag, and stays where it is encrypted.
    /// - Parameter tag: the ETag that the store gave it, as it is written.
    /// - Returns: whether it is gone.
    func takeBack(_ key: ObjectKey, tag: String?, _ context: S3RequestContext) async -> Bool {
        guard let tag, let found = try? await sendHead(key, context, isCancellable: false), found.status == 200,
            // Some stores quote ETags in their headers, and not in their XML.
            let made = ObjectReply.etag(tag), ObjectReply(found).etag == made,
            !client.encryption.isMet(by: found.headers)
        else { return false }
        let reply = try? await client.send(context) {
            var request = $0.delete(key)
            request.isCancellable = false
            return request
        }
        guard let response = reply else { return false }
        return (try? await isGone(key, by: response, isCancellable: false)) ?? false
    }
}

/// Whether an endpoint honours `If-None-Match: *`. While nobody knows, each put has a HEAD before it.
extension S3Store {
    /// What is put a second time to find out. Photos and thumbnails are; a film is not sent twice, and what machines tell each
    /// other by (claims, notes), or has the name of a file, may be another one's by then.
    private static let largestProof: Int64 = 1 << 20
    private static let provingType = "image/"

    /// Puts once more what was stored a moment ago, to see it refused (RFC 9110, 13.1.2): a 412 is a proof, and from then on
    /// no put has a HEAD before it. Where the header is ignored, the same bytes take the place of themselves, once in the time
    /// for which facts are remembered; a bucket with versions has one more then. Nothing is asked of Amazon, which documents
    /// it, nor where the configuration decides, nor in a class that bills each object for a while, nor where the answer
    /// would be forgotten.
    ///
    /// Whatever goes wrong with it, the photo is stored.
    func proveCondition(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, _ context: S3RequestContext
    ) async {
        guard body.size <= Self.largestProof, attributes.contentType.hasPrefix(Self.provingType),
            attributes.storageClass == .standard, !key.isNamedByFile, await client.beginProof()
        else { return }
        defer { client.endProof() }
        let response = try? await client.store(
            context, wanting: [.checksum, .encryption, .tags, .condition], storageClass: attributes.storageClass,
            beforeUnconditional: { throw CancellationError() }
        ) { try $0.put(body, at: key, attributes: attributes, features: $1) }
        if let response, response.tellsOfStored {
            await client.learn { $0.capabilities.noteIgnoredCondition() }
        }
    }
}

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
