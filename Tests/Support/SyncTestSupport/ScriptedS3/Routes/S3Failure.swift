import SyncCore

/// An error of S3, as it answers it.
///
/// Source: Amazon S3 API Reference, "Error responses".
struct S3Failure: Error {
    let status: Int
    let code: String
    let message: String
    /// Elements of the document beside code and message.
    var details: [XMLElement] = []
    var headers: [(name: String, value: String)] = []
    /// Sent in place of the document.
    var page: String?

    init(
        _ status: Int, _ code: String, _ message: String, details: [(String, String)] = [],
        headers: [(name: String, value: String)] = []
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.details = details.map { XMLElement($0.0, $0.1) }
        self.headers = headers
    }

    func reply(requestID: String) -> ServerReply {
        if let page {
            let headers: [(name: String, value: String)] = headers + [("Content-Type", "text/html")]
            return ServerReply(status: status, headers: headers, body: Array(page.utf8))
        }
        var reply = ServerReply(status: status, headers: headers, document(requestID: requestID))
        reply.code = code
        return reply
    }

    func document(requestID: String) -> XMLElement {
        XMLElement(
            "Error",
            [XMLElement("Code", code), XMLElement("Message", message)] + details
                + [XMLElement("RequestId", requestID), XMLElement("HostId", "c2NyaXB0ZWQ=")])
    }

    static let malformedXML = S3Failure(
        400, "MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema"
    )

    static func noSuchKey(_ key: ObjectName) -> S3Failure {
        S3Failure(404, "NoSuchKey", "The specified key does not exist.", details: [("Key", key.text)])
    }

    static func invalidArgument(_ message: String, name: String, value: String) -> S3Failure {
        S3Failure(400, "InvalidArgument", message, details: [("ArgumentName", name), ("ArgumentValue", value)])
    }

    static func notImplemented(header: String) -> S3Failure {
        S3Failure(
            501, "NotImplemented", "A header you provided implies functionality that is not implemented",
            details: [("Header", header)])
    }

    static func preconditionFailed(_ header: String) -> S3Failure {
        S3Failure(
            412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold",
            details: [("Condition", header)])
    }

    static func archived(_ object: StoredObject) -> S3Failure {
        var details = [("StorageClass", object.storageClass.rawValue)]
        if let tier = object.accessTier { details.append(("AccessTier", tier.rawValue)) }
        return S3Failure(
            403, "InvalidObjectState", "The operation is not valid for the object's storage class", details: details)
    }
}
