import FoundationEssentials
import Glibc
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
        headers.replaceOrAdd(name: "date", value: HTTPDate.text(Date()))
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

/// Moments as RFC 9110, 5.6.7 writes them: `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    static func text(_ date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0.padded(to: 2) }.joined(separator: ":")
        return "\(days[Int(parts.tm_wday)]), \(parts.tm_mday.padded(to: 2)) \(months[Int(parts.tm_mon)]) "
            + "\(parts.tm_year + 1_900) \(clock) GMT"
    }
}
