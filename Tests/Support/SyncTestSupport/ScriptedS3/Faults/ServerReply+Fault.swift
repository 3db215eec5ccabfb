import SyncCore
import SyncDigest

extension ServerReply {
    /// What a fault makes of the reply to a request that was carried out.
    mutating func suffer(_ fault: Fault?, requestID: String) {
        switch fault {
        case .corruptReply: body.flipMiddleByte()
        case .cutXML where isDocument: body = Array(body.prefix(body.count / 2))
        case .wrongETag:
            let other = "\"\(ContentDigest(of: Array(requestID.utf8)).md5)\""
            for index in headers.indices where headers[index].name == "ETag" { headers[index].value = other }
        case .errorInBody(let code):
            let failure = S3Failure(200, code, "Scripted.")
            self = ServerReply(status: 200, failure.document(requestID: requestID))
            self.code = code
            splitAfterDeclaration()
        default: break
        }
    }
}

extension [UInt8] {
    mutating func flipMiddleByte() {
        if !isEmpty { self[count / 2] ^= 0x20 }
    }
}
