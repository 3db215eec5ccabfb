import FoundationEssentials
package import SyncCore

/// `<ListBucketResult>` of ListObjectsV2.
package struct ListReply: Hashable, Sendable {
    package let page: ObjectPage
    /// Whether it says of any object that it is or was being restored.
    package let tellsRestores: Bool

    /// - Parameter prefix: the store's own, which the keys of the page do not have.
    /// - Throws: `XMLReply.Invalid`.
    package init(_ body: [UInt8], prefix: String) throws(XMLReply.Invalid) {
        let reply = try XMLReply.decode(Wire.self, root: "ListBucketResult", from: body)
        let isEncoded = reply.encodingType?.lowercased() == "url"
        var objects: [ObjectInfo] = []
        for content in reply.contents {
            guard let name = isEncoded ? content.key.percentDecoded(plusIsSpace: true) : content.key else {
                throw XMLReply.Invalid(reason: "the key \"\(content.key.escapingControls)\" cannot be decoded")
            }
            // Keys that we could not have written, such as the "folder/" of a console, are not ours to see.
            guard let rest = name.below(prefix), let key = try? ObjectKey(rest) else { continue }
            objects.append(content.info(for: key))
        }
        let isTruncated = reply.isTruncated?.lowercased() == "true"
        if isTruncated, reply.nextContinuationToken?.isEmpty != false {
            throw XMLReply.Invalid(reason: "it is cut off and has no token to go on with")
        }
        tellsRestores = reply.contents.contains { $0.restoreStatus != nil }
        page = ObjectPage(
            objects: objects,
            next: isTruncated ? reply.nextContinuationToken.map(PageToken.init(rawValue:)) : nil)
    }

    private struct Wire: Decodable {
        var contents: [Content]
        var isTruncated: String?
        var nextContinuationToken: String?
        var encodingType: String?

        enum CodingKeys: String, CodingKey {
            case contents = "Contents"
            case isTruncated = "IsTruncated"
            case nextContinuationToken = "NextContinuationToken"
            case encodingType = "EncodingType"
        }
    }

    private struct Content: Decodable {
        var key: String
        var size: Int64
        var eTag: String?
        var lastModified: String?
        var storageClass: String?
        var restoreStatus: RestoreStatus?

        enum CodingKeys: String, CodingKey {
            case key = "Key"
            case size = "Size"
            case eTag = "ETag"
            case lastModified = "LastModified"
            case storageClass = "StorageClass"
            case restoreStatus = "RestoreStatus"
        }

        func info(for key: ObjectKey) -> ObjectInfo {
            ObjectInfo(
                key: key, size: size, md5: eTag.flatMap(ObjectReply.md5(eTag:)), etag: eTag.flatMap(ObjectReply.etag),
                storageClass: storageClass.flatMap { $0.isEmpty ? nil : StorageClass(rawValue: $0) } ?? .standard,
                restore: restoreStatus?.state ?? .none, modified: lastModified.flatMap(S3Date.iso8601))
        }
    }

    private struct RestoreStatus: Decodable {
        var isInProgress: String?
        var expiry: String?

        enum CodingKeys: String, CodingKey {
            case isInProgress = "IsRestoreInProgress"
            case expiry = "RestoreExpiryDate"
        }

        var state: RestoreState {
            isInProgress?.lowercased() == "true" ? .inProgress : .restored(until: expiry.flatMap(S3Date.iso8601))
        }
    }
}
