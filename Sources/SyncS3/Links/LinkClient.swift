import SyncCore

/// Reads what links lead to, as a stranger: nothing is signed, no credentials are sent, and no redirect leads away from
/// the origin of the link that was given.
struct LinkClient: Sendable {
    struct Answer: Sendable {
        let response: HTTPResponse
        /// After redirects.
        let link: WebLink
    }

    private static let maximumRedirects = 3

    /// A document may take so long, and a second more for each so many bytes that it may have: a slow line gets it, and a
    /// server that lets it trickle holds nobody up for ever.
    private static let patience = Duration.seconds(30)
    private static let slowestBytesPerSecond = 64 << 10

    let transport: any HTTPTransport

    /// A document of at most so many bytes.
    /// - Throws: `StoreError`, `.notFound` when there is none.
    func document(at link: WebLink, limit: Int) async throws -> Answer {
        let patience = Self.patience + .seconds(limit / Self.slowestBytesPerSecond)
        let answer = try await get(link, target: .memory(limit: limit), limit: patience)
        guard answer.response.status == 200 else { throw StoreError(answer.response, from: answer.link, key: nil) }
        // Nothing packed was asked for. Unpacked, a few bytes can be gigabytes.
        if let coding = answer.response.contentCoding {
            throw StoreError(
                .unsupported, operation: "get",
                message: "\(link.origin) sends the share packed (\(coding)), which was not asked for")
        }
        return answer
    }

    /// - Returns: the answer, whatever its status, that is no redirect.
    func get(
        _ link: WebLink, range: Range<Int64>? = nil, key: ObjectKey? = nil, target: HTTPResponseTarget,
        limit: Duration? = nil
    ) async throws -> Answer {
        var current = link
        for _ in 0...Self.maximumRedirects {
            let response = try await send(current, range, key, target, limit)
            guard [301, 302, 303, 307, 308].contains(response.status) else {
                return Answer(response: response, link: current)
            }
            guard let next = response.headers["Location"].flatMap({ current.resolving($0) }) else {
                throw refusal("\(current.origin) redirects to what is no http(s) link", key)
            }
            guard current.admits(next) else {
                throw refusal(
                    "\(current.origin) redirects to another host, \(next.origin); only the host of the link is asked",
                    key)
            }
            current = next
        }
        throw refusal("\(link.origin) redirects more than \(Self.maximumRedirects) times", key)
    }

    private func send(
        _ link: WebLink, _ range: Range<Int64>?, _ key: ObjectKey?, _ target: HTTPResponseTarget,
        _ limit: Duration?
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(.get, HTTPURL(link), headers: ["Accept-Encoding": "identity"])
        request.limit = limit
        if let range { request.headers["Range"] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)" }
        do {
            return try await transport.send(request, target: target)
        } catch let error as TransportError {
            throw StoreError(error, from: link, key: key)
        }
    }

    private func refusal(_ message: String, _ key: ObjectKey?) -> StoreError {
        StoreError(.unsupported, operation: "get", key: key?.rawValue, message: message)
    }
}

extension HTTPURL {
    /// Path and query go out to the byte as the link has them: whoever signed it may have done so in a way of his own.
    init(_ link: WebLink) {
        self.init(
            scheme: link.scheme, host: link.host, port: link.port, path: link.path + (link.query.map { "?\($0)" } ?? "")
        )
    }
}

extension HTTPResponse {
    /// How the body is packed (RFC 9110, 8.4); `nil` when it is as it is.
    fileprivate var contentCoding: String? {
        guard let coding = headers["Content-Encoding"]?.lowercased(), !["", "identity"].contains(coding) else {
            return nil
        }
        return String(coding.prefix(20)).escapingControls
    }
}
