import SyncCore
import SyncSystem
package import SystemPackage

/// A plain HTTP server on 127.0.0.1 that keeps what it is asked, and answers statuses by script.
package final class RecordingServer: Sendable {
    package struct Request: Hashable, Sendable {
        package var method: String
        /// Path and query, as they came.
        package var target: String
        /// Names in lower case.
        package var headers: [String: String]
        package var body: [UInt8]
    }

    package let port: Int
    private let listener: LoopbackServer
    private let recorded: Lock<[Request]>

    /// - Parameter statuses: of the answers, in order; the last goes on for ever.
    package init(statuses: [Int]) throws(Errno) {
        let recorded = Lock<[Request]>([])
        listener = try LoopbackServer { connection in
            while let head = connection.readHeadBytes().flatMap({ RequestHead($0) }),
                let body = try? connection.readBody(head["content-length"].flatMap { Int($0) } ?? 0)
            {
                let number = recorded.withLock { requests in
                    let headers = head.headers.reduce(into: [:]) { $0[$1.name] = $1.value }
                    requests.append(
                        Request(method: head.method, target: head.target, headers: headers, body: body))
                    return requests.count
                }
                let reply = ServerReply(status: statuses[min(number, statuses.count) - 1])
                guard (try? connection.write(reply.head(common: [], hasBody: true, closes: false))) != nil else {
                    return
                }
            }
        }
        self.recorded = recorded
        port = listener.port
    }

    package var requests: [Request] { recorded.withLock { $0 } }

    /// Afterwards no thread and no descriptor is left.
    package func stop() async {
        await listener.stop()
    }
}
