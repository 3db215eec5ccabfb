/// Something that goes wrong with one exchange of the scripted server.
package enum Fault: Hashable, Sendable {
    /// Where in an exchange it happens.
    package enum Point: Hashable, Sendable {
        /// The head of the request is read, its body is not, and nothing is carried out.
        case beforeBody
        /// So many bytes of the request's body are read; or all of it, when it is shorter.
        case duringBody(Int)
        /// The request is read, and not carried out.
        case afterBody
        /// The request is carried out, and nothing of the reply is sent: the lost answer.
        case beforeReply
        case duringReplyHead
        case afterReplyHead
        /// So many bytes of the reply's body are sent, under the full Content-Length; or all of it, when it is shorter.
        case duringReply(Int)
        /// The reply is whole, and promised that the connection stays.
        case afterReply
    }

    /// Another answer: at `beforeBody`, `afterBody` or `beforeReply`, where the request was carried out all the same.
    case answer(ScriptedAnswer, at: Point = .beforeBody)
    /// The connection ends in order (FIN).
    case cut(Point)
    /// The connection is reset (RST).
    case reset(Point)
    /// Nothing happens any more until the client closes or the server stops.
    case stall(Point)
    /// A byte of the object is stored wrong; its ETag is that of the wrong bytes. For puts of bytes.
    case corruptStored
    /// A byte of the reply's body is wrong, all else is right.
    case corruptReply
    /// The ETag of the reply is that of other bytes.
    case wrongETag
    /// The document of the reply ends in its middle, with a Content-Length that fits.
    case cutXML
    /// The request is carried out, and 200 is answered with an error for a document.
    case errorInBody(String)

    /// 503 SlowDown, before the body is read.
    package static let slowDown = Fault.answer(ScriptedAnswer(503, "SlowDown", "Please reduce your request rate."))
    /// 500 InternalError, after the body is read.
    package static let internalError = Fault.answer(
        ScriptedAnswer(500, "InternalError", "We encountered an internal error. Please try again."), at: .afterBody)
}

/// An answer that a script gives instead of S3's own.
package struct ScriptedAnswer: Hashable, Sendable {
    package var status: Int
    package var code: String
    package var message: String
    package var headers: [String: String]
    /// What stands in place of S3's document.
    package private(set) var page: String?

    /// As a proxy or a network sends it to browsers.
    package static func page(_ status: Int) -> ScriptedAnswer {
        var answer = ScriptedAnswer(status, "")
        answer.page = "<!DOCTYPE html><title>Maintenance</title>"
        return answer
    }

    package init(_ status: Int, _ code: String, _ message: String = "Scripted.", headers: [String: String] = [:]) {
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers
    }

    var failure: S3Failure {
        var failure = S3Failure(
            status, code, message, headers: headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) })
        failure.page = page
        return failure
    }
}
