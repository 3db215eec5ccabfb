/// What the server answers. Date, request id and length are added when it is sent.
struct ServerReply: Sendable {
    static let document = "application/xml"

    var status: Int
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// Sent in pieces with `Transfer-Encoding: chunked`, the first after the head: as CompleteMultipartUpload does.
    var chunks: [[UInt8]]?
    /// The S3 error code, for the record.
    var code: String?

    /// The body as it goes over the wire (chunks: RFC 9112, 7.1).
    var content: [UInt8] {
        guard let chunks else { return body }
        return (chunks + [[]]).flatMap { Array("\(String($0.count, radix: 16))\r\n".utf8) + $0 + Array("\r\n".utf8) }
    }

    var isDocument: Bool { headers.contains { $0.name == "Content-Type" && $0.value == Self.document } }

    /// Status line and headers, up to the empty line.
    /// - Parameter hasBody: `false` for the reply to a HEAD, which tells the length of what it does not send.
    func head(common: [(name: String, value: String)], hasBody: Bool, closes: Bool) -> [UInt8] {
        var lines = ["HTTP/1.1 \(status) \(Self.reason(status))"]
        lines += (common + headers).map { "\($0.name): \($0.value)" }
        if chunks != nil {
            lines.append("Transfer-Encoding: chunked")
        } else if hasBody ? (status != 204 && status != 304) : status < 300 {
            lines.append("Content-Length: \(body.count)")
        }
        if closes { lines.append("Connection: close") }
        return (lines.joined(separator: "\r\n") + "\r\n\r\n").latin1Bytes
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 202: "Accepted"
        case 204: "No Content"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 409: "Conflict"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 416: "Requested Range Not Satisfiable"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Slow Down"
        default: "Status"
        }
    }
}

extension ServerReply {
    /// A reply with an XML document.
    init(status: Int = 200, headers: [(name: String, value: String)] = [], _ root: XMLElement) {
        self.init(status: status, headers: headers + [("Content-Type", Self.document)], body: root.document)
    }

    /// Turns a document into chunks: the declaration first, white space after it, then the rest. S3 sends the white
    /// space to keep the connection while it works.
    mutating func splitAfterDeclaration() {
        let end = (body.firstIndex(of: UInt8(ascii: "\n")) ?? 0) + 1
        let space = [UInt8](repeating: UInt8(ascii: " "), count: 3)
        chunks = [Array(body[..<end]), space, space, Array(body[end...])]
    }
}
