import SyncCore
import SyncSystem
package import SystemPackage

/// A plain web server on 127.0.0.1 that answers as a test says, in ways that a good server would not, too.
package final class WebServer: Sendable {
    package struct Request: Hashable, Sendable {
        package var method: String
        /// Path and query, as they came.
        package var target: String
        /// Names in lower case.
        package var headers: [String: String]
    }

    package struct Answer: Sendable {
        package var status: Int
        package var headers: [String: String]
        package var body: [UInt8]
        /// What `Content-Length` says; `nil` for the truth.
        package var length: Int?
        /// Repeats the body until the client goes, and tells no length.
        package var isEndless = false
        /// Closes the connection after so many bytes of the body.
        package var cut: Int?
        /// Whether a part is sent where a part is asked for.
        package var hasRanges = true

        package init(_ body: [UInt8], status: Int = 200, headers: [String: String] = [:]) {
            self.status = status
            self.headers = headers
            self.body = body
        }

        package init(_ text: String = "", status: Int = 200, headers: [String: String] = [:]) {
            self.init(Array(text.utf8), status: status, headers: headers)
        }

        package static let missing = Answer("not found", status: 404)
    }

    package let port: Int
    private let listener: LoopbackServer
    private let recorded: Lock<[Request]>

    /// - Parameter answer: called for each request, on the thread of its connection.
    package init(_ answer: @escaping @Sendable (Request) -> Answer) throws(Errno) {
        let recorded = Lock<[Request]>([])
        listener = try LoopbackServer { connection in
            while let head = connection.readHeadBytes().flatMap({ RequestHead($0) }) {
                let request = Request(
                    method: head.method, target: head.target,
                    headers: head.headers.reduce(into: [:]) { $0[$1.name] = $1.value })
                recorded.withLock { $0.append(request) }
                guard (try? Self.write(answer(request), to: request, on: connection)) == true else { return }
            }
        }
        self.recorded = recorded
        port = listener.port
    }

    package var origin: String { "http://127.0.0.1:\(port)" }

    /// In the order in which they came.
    package var requests: [Request] { recorded.withLock { $0 } }

    package func forgetRequests() {
        recorded.withLock { $0 = [] }
    }

    /// Afterwards no thread and no descriptor is left.
    package func stop() async {
        await listener.stop()
    }

    /// - Returns: whether the connection can serve another request.
    private static func write(
        _ answer: Answer, to request: Request, on connection: LoopbackConnection
    ) throws -> Bool {
        var answer = answer
        if answer.hasRanges, answer.status == 200, let range = request.headers["range"] {
            answer = answer.part(range)
        }
        var lines = ["HTTP/1.1 \(answer.status) Answer"]
        lines += answer.headers.map { "\($0.key): \($0.value)" }
        if !answer.isEndless { lines.append("Content-Length: \(answer.length ?? answer.body.count)") }
        try connection.write(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
        while answer.isEndless { try connection.write(answer.body) }
        if let cut = answer.cut {
            try connection.write(Array(answer.body.prefix(cut)))
            return false
        }
        try connection.write(answer.body)
        return (answer.length ?? answer.body.count) == answer.body.count
    }
}

extension WebServer.Answer {
    /// `bytes=FIRST-LAST` of the body (RFC 9110, 14.2).
    fileprivate func part(_ range: String) -> Self {
        let bounds = range.drop { $0 != "=" }.dropFirst().split(separator: "-").compactMap { Int($0) }
        guard bounds.count == 2, bounds[0] < body.count else { return Self("", status: 416) }
        let last = min(bounds[1], body.count - 1)
        var part = self
        part.status = 206
        part.headers["Content-Range"] = "bytes \(bounds[0])-\(last)/\(body.count)"
        part.body = Array(body[bounds[0]...last])
        return part
    }
}
