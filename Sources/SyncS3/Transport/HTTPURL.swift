/// The parts of a URL that S3 signs. Path and query go out exactly as they were signed.
package struct HTTPURL: Hashable, Sendable, CustomStringConvertible {
    /// `https` or `http`.
    package var scheme: String
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    package var host: String
    /// `nil` for the scheme's own.
    package var port: Int?
    /// Percent-encoded, from its first `/`.
    package var path: String
    /// Not encoded.
    package var query: [HTTPQueryItem]

    package init(scheme: String, host: String, port: Int? = nil, path: String, query: [HTTPQueryItem] = []) {
        self.scheme = scheme
        self.host = host
        self.port = port == (scheme == "https" ? 443 : 80) ? nil : port
        self.path = path
        self.query = query
    }

    /// What the `Host` header says: curl derives the same from the URL.
    package var authority: String { port.map { "\(host):\($0)" } ?? host }

    package var description: String {
        let text = "\(scheme)://\(authority)\(path)"
        return query.isEmpty ? text : "\(text)?\(CanonicalRequest.canonicalQuery(query))"
    }
}

package struct HTTPQueryItem: Hashable, Sendable {
    package var name: String
    /// Empty for a name without a value, such as `?lifecycle`.
    package var value: String

    package init(_ name: String, _ value: String = "") {
        self.name = name
        self.value = value
    }
}
