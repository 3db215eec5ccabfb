import SyncCore
import SyncSystem

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
            var request = HTTPRequest(.get, HTTPURL(current), headers: ["Accept-Encoding": "identity"])
            request.limit = limit
            if let range { request.headers["Range"] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)" }
            let response: HTTPResponse
            do {
                response = try await transport.send(request, target: target)
            } catch let error as TransportError {
                throw StoreError(error, from: current, key: key)
            }
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

/// One reading of a photo of known size: hands on the bytes that were asked for, and ends whatever goes on beyond.
final class LinkedRead: Sendable {
    private struct State {
        /// Of the next byte that comes.
        var position: Int64 = 0
        var delivered: Int64 = 0
        var failure: StoreError?
    }

    private let key: ObjectKey
    private let size: Int64
    private let wanted: Range<Int64>
    private let isWhole: Bool
    private let sink: @Sendable (UnsafeRawBufferPointer) throws -> Void
    private let state = Lock(State())

    init(
        _ key: ObjectKey, size: Int64, range: Range<Int64>?,
        into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) {
        self.key = key
        self.size = size
        wanted = range.map { $0.lowerBound..<min($0.upperBound, size) } ?? 0..<size
        isWhole = range == nil
        self.sink = sink
    }

    /// Whether the body of this reply is the photo's. A server may send all of it where a part was asked for (RFC 9110,
    /// 14.2): what is before the part is skipped then.
    func begin(_ head: HTTPResponse) -> Bool {
        switch head.status {
        case 200:
            if let length = head.headers["Content-Length"].flatMap({ Int64($0) }), length != size {
                fail(.badDigest, "it has \(length) bytes there, and the manifest says \(size)")
            }
            return true
        case 206 where !isWhole:
            state.withLock { $0.position = wanted.lowerBound }
            let range = head.headers["Content-Range"] ?? ""
            if !range.hasPrefix("bytes \(wanted.lowerBound)-")
                || !(range.hasSuffix("/\(size)") || range.hasSuffix("/*"))
            {
                fail(.invalidRange, "another part of it came than was asked for")
            }
            return true
        default: return false
        }
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        let start = state.withLock { state in
            defer { state.position += Int64(bytes.count) }
            return state.position
        }
        let end = start + Int64(bytes.count)
        if end > size { fail(.badDigest, "it goes on after the \(size) bytes that the manifest tells") }
        try check()
        let piece = max(start, wanted.lowerBound)..<max(min(end, wanted.upperBound), max(start, wanted.lowerBound))
        guard !piece.isEmpty else { return }
        try sink(UnsafeRawBufferPointer(rebasing: bytes[Int(piece.lowerBound - start)..<Int(piece.upperBound - start)]))
        state.withLock { $0.delivered += Int64(piece.count) }
    }

    /// - Throws: `StoreError` when the reply was not the photo, or not all of it.
    func end() throws {
        try check()
        let delivered = state.withLock { $0.delivered }
        guard delivered == Int64(wanted.count) else {
            throw StoreError(
                .connectionLost, operation: "get", key: key.rawValue,
                message: "\(delivered) of \(wanted.count) bytes arrived")
        }
    }

    private func check() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private func fail(_ code: StoreError.Code, _ message: String) {
        state.withLock { state in
            state.failure =
                state.failure ?? StoreError(code, operation: "get", key: key.rawValue, message: message)
        }
    }
}

/// What goes wrong with a link, in the words of somebody who has nothing but that link. Of the link itself only the origin
/// is told: the rest may be a secret.
extension StoreError {
    static let endedShare =
        "there is no such share any more: it was revoked or has expired, or the link to it has ended or is not whole"
    static let wrongLink =
        "there is no share behind this link: what follows shares/ in it is no id of a share, so that the link is not whole "
        + "or not as it was given"

    init(_ response: HTTPResponse, from link: WebLink, key: ObjectKey?) {
        let (code, message): (Code, String) =
            switch response.status {
            // A link of its own ends before the share does; S3 says 403 then, and the photo is still there.
            case 403 where key != nil: (.linkEnded, "the link to this photo has ended, or \(link.origin) blocks it")
            case 403, 404, 410: (.notFound, Self.endedShare)
            case 401: (.accessDenied, "\(link.origin) asks for a user and password; ask for a link that works without")
            case 407:
                (.unreachable, "the proxy asks for a user and password; write them into https_proxy or http_proxy")
            case 408: (.timedOut, "\(link.origin) waited too long")
            case 416: (.invalidRange, "the photo ends before the bytes that were asked for")
            case 429, 503: (.throttled, "\(link.origin) asks to slow down")
            case 500...: (.serverFailed, "\(link.origin) failed")
            case 200..<300: (.invalidResponse, "\(link.origin) sent a reply that makes no sense here")
            default: (.invalidRequest, "\(link.origin) does not accept the request")
            }
        self.init(code, operation: "get", key: key?.rawValue, message: message, detail: "\(response.status)")
    }

    init(_ error: TransportError, from link: WebLink, key: ObjectKey?) {
        let place = link.origin
        let (code, message): (Code, String) =
            switch error.code {
            case .unreachable: (.unreachable, "cannot reach \(place): \(error.message); check the network and the link")
            case .proxyFailed:
                (
                    .unreachable,
                    "the proxy on the way to \(place) fails: \(error.message); correct https_proxy or http_proxy"
                )
            case .insecure: (.unreachable, "no secure connection to \(place): \(error.message)")
            case .untrusted: (.unreachable, "the certificate of \(place) is not trusted: \(error.message)")
            case .timedOut: (.timedOut, "\(place) takes too long: \(error.message)")
            case .connectionLost: (.connectionLost, "the connection to \(place) broke: \(error.message)")
            case .notHTTP: (.unreachable, "what answers at \(place) speaks no HTTP: \(error.message)")
            case .invalidReply: (.unsupported, "\(place) sends no share: \(error.message)")
            case .sourceChanged, .sourceUnreadable, .sourceSilent, .digestMismatch, .failed, .closed:
                (.invalidRequest, "the request cannot be sent: \(error.message)")
            }
        self.init(code, operation: "get", key: key?.rawValue, message: message)
    }
}
