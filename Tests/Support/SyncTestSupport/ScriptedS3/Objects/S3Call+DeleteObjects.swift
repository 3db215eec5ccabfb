extension S3Call {
    private static let mostKeys = 1_000

    /// Without a word on whether there was something.
    func deleteObject(_ bucket: inout StoredBucket) throws(S3Failure) -> ServerReply {
        try bucket.delete(key)
        return ServerReply(status: 204)
    }

    func deleteObjects(_ bucket: inout StoredBucket) throws(S3Failure) -> ServerReply {
        guard RequestBody.isProtected(request.head) else { throw .missingContentMD5 }
        let root = try XMLDocumentReader.read(body.bytes, root: "Delete")
        let isQuiet = root.first("Quiet")?.text == "true"
        let keys = root.all("Object").compactMap { $0.first("Key").map { ObjectName($0.text) } }
        guard !keys.isEmpty, keys.count <= Self.mostKeys, keys.count == root.all("Object").count else {
            throw .malformedXML
        }
        var rows: [XMLElement] = []
        for key in keys {
            do throws(S3Failure) {
                try bucket.delete(key)
                if !isQuiet { rows.append(XMLElement("Deleted", [XMLElement("Key", key.text)])) }
            } catch {
                rows.append(
                    XMLElement(
                        "Error",
                        [
                            XMLElement("Key", key.text), XMLElement("Code", error.code),
                            XMLElement("Message", error.message),
                        ]))
            }
        }
        return ServerReply(XMLElement("DeleteResult", rows))
    }
}

extension S3Failure {
    static let missingContentMD5 = S3Failure(
        400, "InvalidRequest", "Missing required header for this request: Content-MD5")
}
