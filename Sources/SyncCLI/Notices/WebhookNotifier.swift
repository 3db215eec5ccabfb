import FoundationEssentials
import SyncConfig
import SyncCore
import SyncS3

/// Posts a notice as JSON to the address of `notify.webhook`. Whoever knows the address can use it, so that no error
/// tells any of it, its host included.
struct WebhookNotifier: Notifier {
    /// A notice, and the same once more as chat servers show it.
    private struct Body: Encodable {
        let kind: Notice.Kind
        let title: String
        let message: String
        let facts: [String: String]
        let at: Date
        /// What Slack, Mattermost and Rocket.Chat show of a webhook's body.
        let text: String
    }

    struct Problem {
        let words: String
        /// Whether the same request may succeed when it is sent again.
        let mayPass: Bool
    }

    private let address: SecretURL
    private let policy: RetryPolicy
    private let time: TimeSource
    private let makeTransport: @Sendable () throws -> any HTTPTransport

    /// - Parameter makeTransport: one for each notice, closed after it: news is rare, and a transport has a thread.
    init(
        _ address: SecretURL, policy: RetryPolicy = RetryPolicy(), time: TimeSource,
        makeTransport: @escaping @Sendable () throws -> any HTTPTransport = { try CurlTransport() }
    ) {
        self.address = address
        self.policy = policy
        self.time = time
        self.makeTransport = makeTransport
    }

    func tell(_ notice: Notice) async throws {
        let request = try request(for: notice)
        let transport = try makeTransport()
        try await closing(transport.close) { try await send(request, over: transport) }
    }

    private func send(_ request: HTTPRequest, over transport: any HTTPTransport) async throws {
        var attempt = 1
        while let problem = try await problem(of: request, over: transport) {
            guard problem.mayPass, attempt < policy.maximumAttempts else {
                throw NoticeFailure("notify.webhook \(problem.words)")
            }
            try await time.sleep(policy.delay(afterAttempt: attempt, random: time.random()))
            attempt += 1
        }
    }

    private func request(for notice: Notice) throws -> HTTPRequest {
        guard let url = HTTPURL(address.revealed) else {
            throw NoticeFailure("notify.webhook is no http or https address; correct it in the configuration")
        }
        let body = Body(
            kind: notice.kind, title: notice.title, message: notice.message, facts: notice.facts, at: notice.at,
            text: "\(notice.title): \(notice.message)")
        var request = HTTPRequest(
            .post, url, headers: ["Content-Type": "application/json", "User-Agent": "sync-agent"],
            body: HTTPBody(bytes: Array(try JSONOutput.text(body).utf8)))
        if let name = address.revealed.user(percentEncoded: false) {
            let pair = "\(name):\(address.revealed.password(percentEncoded: false) ?? "")"
            request.headers["Authorization"] = "Basic \(Data(pair.utf8).base64EncodedString())"
        }
        request.patience = .seconds(10)
        return request
    }

    /// `nil` when it was taken.
    private func problem(of request: HTTPRequest, over transport: any HTTPTransport) async throws -> Problem? {
        do {
            // What a chat server answers is of no use to anyone, however long it is.
            let response = try await transport.send(request, target: .sink(accepts: { _ in true }, { _ in }))
            switch response.status {
            case 200..<300: return nil
            case 429, 500...:
                return Problem(words: "answered \(response.status)", mayPass: true)
            case 300..<400:
                return Problem(
                    words: "answered \(response.status), a redirect; configure the address that it leads to",
                    mayPass: false)
            default:
                return Problem(
                    words: "answered \(response.status); check the address in the configuration", mayPass: false)
            }
        } catch let error as TransportError {
            return Problem(error.code)
        }
    }
}

extension WebhookNotifier.Problem {
    /// Not in curl's words: those name the host.
    init(_ code: TransportError.Code) {
        switch code {
        case .unreachable: self.init(words: "cannot be reached; check the network and the address", mayPass: true)
        case .proxyFailed: self.init(words: "cannot be reached through the proxy", mayPass: true)
        case .timedOut: self.init(words: "did not answer in time", mayPass: true)
        case .connectionLost: self.init(words: "broke the connection off", mayPass: true)
        case .insecure, .untrusted: self.init(words: "cannot be trusted: its TLS or certificate fails", mayPass: false)
        default: self.init(words: "cannot be called (\(code.rawValue)); check the address", mayPass: false)
        }
    }
}

extension HTTPURL {
    /// `nil` unless it is an http or https address with a host. Name and password are left out.
    init?(_ url: URL) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = parts.encodedHost, !host.isEmpty
        else { return nil }
        // The query goes out as it is written, and not in the order and encoding that S3 signs.
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        self.init(
            scheme: scheme, host: host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host, port: parts.port,
            path: path + (parts.percentEncodedQuery.map { "?\($0)" } ?? ""))
    }
}

/// One call of `notify.heartbeat`. Whoever knows the address can call it, so that no error tells any of it.
struct HeartbeatCall: Sendable {
    private static let limit = Duration.seconds(10)

    let address: SecretURL

    /// - Throws: ``NoticeFailure``; `CancellationError`.
    func run() async throws {
        guard let url = HTTPURL(address.revealed) else {
            throw NoticeFailure("notify.heartbeat is no http or https address; correct it in the configuration")
        }
        var request = HTTPRequest(.get, url, headers: ["User-Agent": "sync-agent"])
        request.patience = Self.limit
        request.limit = Self.limit
        let transport = try CurlTransport()
        let status: Int
        do {
            status = try await closing(transport.close) { [request] in
                try await transport.send(request, target: .sink(accepts: { _ in true }, { _ in })).status
            }
        } catch let error as TransportError {
            throw NoticeFailure("notify.heartbeat \(WebhookNotifier.Problem(error.code).words)")
        }
        guard (200..<300).contains(status) else {
            throw NoticeFailure("notify.heartbeat answered \(status); check the address in the configuration")
        }
    }
}
