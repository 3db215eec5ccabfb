package import FoundationEssentials

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
