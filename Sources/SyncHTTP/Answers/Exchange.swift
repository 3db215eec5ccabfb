import FoundationEssentials
import NIOCore
import NIOHTTP1
import SyncCore

/// One answer on its way. What is sent has left for the kernel when the call returns.
struct Exchange: Sendable {
    let channel: any Channel
    let request: IncomingRequest
    /// Whether the connection ends with it.
    let isLast: Bool

    func send(_ response: WebResponse, _ bytes: Data) async throws {
        write(response, length: Int64(bytes.count))
        if hasBody(response.status), !bytes.isEmpty {
            channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: bytes))), promise: nil)
        }
        try await end()
    }

    /// - Parameter length: bytes of the body; `nil` when nobody knows.
    func begin(_ response: WebResponse, length: Int?) async throws {
        write(response, length: length.map(Int64.init))
        channel.flush()
    }

    func send(_ bytes: ByteBuffer) async throws {
        try await channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(bytes))).get()
    }

    func end() async throws {
        try await channel.writeAndFlush(HTTPServerResponsePart.end(nil)).get()
    }

    /// RFC 9110, 6.4.1.
    func hasBody(_ status: Int) -> Bool {
        !request.isHead && status != 204 && status != 304
    }

    private func write(_ response: WebResponse, length: Int64?) {
        var headers = HTTPHeaders(response.headers.map { ($0.name, $0.value) })
        for name in ["content-length", "transfer-encoding", "connection"] { headers.remove(name: name) }
        headers.replaceOrAdd(name: "date", value: Date().formatted(.http))
        headers.replaceOrAdd(name: "x-content-type-options", value: "nosniff")
        var closes = isLast
        if let length {
            if response.status != 204 && response.status != 304 {
                headers.add(name: "content-length", value: "\(length)")
            }
        } else if request.version == .http1_0 {
            closes = true
        } else if hasBody(response.status) {
            headers.add(name: "transfer-encoding", value: "chunked")
        }
        if closes {
            headers.add(name: "connection", value: "close")
        } else if request.version == .http1_0 {
            headers.add(name: "connection", value: "keep-alive")
        }
        let head = HTTPResponseHead(
            version: request.version, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
    }
}
