package import FoundationEssentials
package import SystemPackage

/// What is answered to a ``WebRequest``. The server adds length, date and what belongs to the connection.
package struct WebResponse: Sendable {
    package enum Body: Sendable {
        case bytes(Data)
        /// A file, sent from the disk in pieces. The server answers `Range` and `If-None-Match` for it, and opens it
        /// without following a link at its end; one that is not there is 404.
        case file(FilePath)
        /// Pieces as they come, sent at once, until the stream or the connection ends (server-sent events).
        case stream(AsyncStream<Data>)
    }

    package var status: Int
    package var headers: [WebRequest.Field]
    package var body: Body

    package init(_ status: Int = 200, headers: [WebRequest.Field] = [], body: Body = .bytes(Data())) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// Who answers requests. Called for many at once; what blocks runs on threads of ours.
package protocol WebHandler: Sendable {
    /// Never fails: what goes wrong is an answer, too. Cancelled when the connection is gone.
    func answer(_ request: WebRequest) async -> WebResponse

    /// Bytes that a POST to this path may have, where that is more than usual. Asked on the server's one event loop: it may
    /// not wait for anything.
    func mostBytes(inBodyTo path: [String]) -> Int
}

extension WebHandler {
    package func mostBytes(inBodyTo path: [String]) -> Int { 0 }
}
