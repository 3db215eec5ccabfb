import FoundationEssentials
import SyncCore

extension S3Call {
    private static let mostKeys = 1_000
    private static let tokenMark = "scripted:"

    /// ListObjectsV2.
    func listObjects(_ bucket: inout StoredBucket) throws(S3Failure) -> ServerReply {
        guard request.value("list-type") == "2" else {
            throw .invalidArgument("Invalid List Type specified in Request", name: "list-type", value: "")
        }
        let encoding = try listEncoding()
        let limit = try listLimit()
        let prefix = request.value("prefix") ?? ""
        let delimiter = request.value("delimiter").flatMap { $0.isEmpty ? nil : Array($0.utf8) }
        let start = try listStart()
        var page = ListPage()
        if limit > 0 {
            page.fill(
                from: bucket.names(prefix: Array(prefix.utf8), after: start), prefix: prefix.utf8.count,
                delimiter: delimiter, limit: limit, after: start)
        }
        var rows = [
            XMLElement("Name", bucket.name), XMLElement("Prefix", encoding.text(prefix)),
            XMLElement("KeyCount", "\(page.keys.count + page.prefixes.count)"), XMLElement("MaxKeys", "\(limit)"),
            XMLElement("IsTruncated", page.isTruncated ? "true" : "false"),
        ]
        if encoding == .url { rows.append(XMLElement("EncodingType", "url")) }
        if let value = request.value("delimiter") { rows.append(XMLElement("Delimiter", encoding.text(value))) }
        if let value = request.value("start-after") { rows.append(XMLElement("StartAfter", encoding.text(value))) }
        if let token = request.value("continuation-token") { rows.append(XMLElement("ContinuationToken", token)) }
        if page.isTruncated, let last = page.last {
            rows.append(XMLElement("NextContinuationToken", Self.token(after: last)))
        }
        for key in page.keys { rows.append(try contents(key, bucket, encoding)) }
        rows += page.prefixes.map { XMLElement("CommonPrefixes", [XMLElement("Prefix", encoding.text($0.text))]) }
        return ServerReply(XMLElement("ListBucketResult", rows))
    }

    private func contents(
        _ key: ObjectName, _ bucket: StoredBucket, _ encoding: ListEncoding
    ) throws(S3Failure) -> XMLElement {
        let object = try bucket.object(key, at: now)
        var row = [
            XMLElement("Key", encoding.text(key.text)), XMLElement("LastModified", ServerDate.xml(object.modified)),
            XMLElement("ETag", "\"\(object.etag)\""), XMLElement("Size", "\(object.bytes.count)"),
            XMLElement(
                "StorageClass",
                (abilities.listsStorageClasses ? object.storageClass : StorageClass.standard).rawValue),
        ]
        let asks = header("x-amz-optional-object-attributes")?.split(separator: ",")
            .contains { $0.trimmingBlanks() == "RestoreStatus" }
        if asks == true, abilities.listsRestoreStatus, let restore = object.restore {
            let isOngoing = restore.isOngoing(at: now)
            var status = [XMLElement("IsRestoreInProgress", isOngoing ? "true" : "false")]
            if !isOngoing, let expiry = restore.expiry {
                status.append(XMLElement("RestoreExpiryDate", ServerDate.xml(expiry)))
            }
            row.append(XMLElement("RestoreStatus", status))
        }
        return XMLElement("Contents", row)
    }

    private func listEncoding() throws(S3Failure) -> ListEncoding {
        switch request.value("encoding-type") {
        case nil: return .plain
        case "url": return .url
        case let other?:
            throw .invalidArgument("Invalid Encoding Method specified in Request", name: "encoding-type", value: other)
        }
    }

    private func listLimit() throws(S3Failure) -> Int {
        guard let text = request.value("max-keys") else { return Self.mostKeys }
        guard let limit = Int(text), limit >= 0 else {
            throw .invalidArgument(
                "Provided max-keys not an integer or within integer range", name: "max-keys", value: text)
        }
        return min(limit, Self.mostKeys)
    }

    /// The token wins over start-after.
    private func listStart() throws(S3Failure) -> ObjectName? {
        guard let token = request.value("continuation-token") else {
            return request.value("start-after").map { ObjectName($0) }
        }
        let mark = Array(Self.tokenMark.utf8)
        guard let bytes = Data(base64Encoded: token), bytes.starts(with: mark) else {
            throw .invalidArgument(
                "The continuation token provided is incorrect", name: "continuation-token", value: token)
        }
        return ObjectName(Array(bytes.dropFirst(mark.count)))
    }

    private static func token(after key: ObjectName) -> String {
        Data(Array(tokenMark.utf8) + key.bytes).base64EncodedString()
    }
}
