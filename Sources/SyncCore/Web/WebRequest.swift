package import FoundationEssentials
package import SystemPackage

/// A request of a browser, as the server hands it on: read whole, within its limits, and split (RFC 9110, RFC 3986).
package struct WebRequest: Sendable {
    package enum Method: Hashable, Sendable {
        case get, head, post
        /// Any other; who serves says which ones there are.
        case other
    }

    package let method: Method
    /// The path, split at its slashes and decoded: no segment is empty, `.`, `..`, or has a slash, a backslash or a
    /// control byte in it. `/` has none.
    package let segments: [String]
    /// The path ended with a slash, as that of a folder does. That of `/` does.
    package let isFolder: Bool
    /// Names and values of the query, decoded, in their order. A name may be there more than once.
    package let query: [Field]
    /// Of the header, names in lower case, in their order.
    package let headers: [Field]
    package let body: Data
    /// The address that the connection comes from, without its port: what limits of rates go by.
    package let peer: String?

    /// Of a header, a query or a form.
    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package init(
        _ method: Method = .get, _ segments: [String], isFolder: Bool = false, query: [Field] = [],
        headers: [Field] = [],
        body: Data = Data(), peer: String? = nil
    ) {
        self.method = method
        self.segments = segments
        self.isFolder = isFolder || segments.isEmpty
        self.query = query
        self.headers = headers
        self.body = body
        self.peer = peer
    }

    /// The first value of a header; `name` in lower case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }

    /// All values of that name in the query, in their order.
    package func queries(_ name: String) -> [String] {
        query.filter { $0.name == name }.map(\.value)
    }

    /// The first value of that name in the query.
    package func query(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }
}

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
