package import SyncCore

/// `<ListBucketResult>` of ListObjectsV2.
package struct ListReply: Hashable, Sendable {
    package let page: ObjectPage
    /// Whether it says of any object that it is or was being restored.
    package let tellsRestores: Bool

    /// - Parameter prefix: the store's own, which the keys of the page do not have.
    /// - Throws: ``InvalidReply``.
    package init(_ body: [UInt8], prefix: String) throws(InvalidReply) {
        let reply = try XMLElement(document: body, root: "ListBucketResult")
        let isEncoded = reply["EncodingType"]?.lowercased() == "url"
        var objects: [ObjectInfo] = []
        var tellsRestores = false
        for content in reply.all("Contents") {
            tellsRestores = tellsRestores || content.first("RestoreStatus") != nil
            let written = try content.required("Key")
            guard let name = isEncoded ? written.percentDecoded(plusIsSpace: true) : written else {
                throw InvalidReply(reason: "the key \"\(written.escapingControls)\" cannot be decoded")
            }
            guard let size = Int64(try content.required("Size")) else {
                throw InvalidReply(reason: "the size of \"\(name.escapingControls)\" is no number")
            }
            // Keys that we could not have written, such as the "folder/" of a console, are not ours to see.
            guard let rest = name.below(prefix), let key = try? ObjectKey(rest) else { continue }
            objects.append(Self.object(key, size: size, content))
        }
        let next = reply["NextContinuationToken"].flatMap { $0.isEmpty ? nil : PageToken(rawValue: $0) }
        let isTruncated = reply["IsTruncated"]?.lowercased() == "true"
        if isTruncated, next == nil {
            throw InvalidReply(reason: "it is cut off and has no token to go on with")
        }
        self.tellsRestores = tellsRestores
        page = ObjectPage(objects: objects, next: isTruncated ? next : nil)
    }

    private static func object(_ key: ObjectKey, size: Int64, _ content: XMLElement) -> ObjectInfo {
        let eTag = content["ETag"]
        let storageClass = content["StorageClass"].flatMap { $0.isEmpty ? nil : StorageClass(rawValue: $0) }
        return ObjectInfo(
            key: key, size: size, md5: eTag.flatMap(ObjectReply.md5(eTag:)), etag: eTag.flatMap(ObjectReply.etag),
            storageClass: storageClass ?? .standard, restore: content.first("RestoreStatus").map(restore) ?? .none,
            modified: content["LastModified"].flatMap(S3Date.iso8601))
    }

    private static func restore(_ status: XMLElement) -> RestoreState {
        status["IsRestoreInProgress"]?.lowercased() == "true"
            ? .inProgress : .restored(until: status["RestoreExpiryDate"].flatMap(S3Date.iso8601))
    }
}
