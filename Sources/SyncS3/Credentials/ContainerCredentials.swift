import FoundationEssentials
package import SyncCore
package import SyncSystem

/// The endpoint that ECS, EKS Pod Identity and a like of theirs give to a container.
///
/// Source: AWS SDKs and Tools Reference Guide, "Container credential provider"; hosts as in botocore
/// (`utils.py`, `ContainerMetadataFetcher`). It is asked once: the store's retries are retries of this too.
package struct ContainerCredentials: CredentialProvider {
    private static let timeout = Duration.seconds(2)
    private static let replyLimit = 64 << 10
    private static let host = "169.254.170.2"
    /// Besides this machine's own: those to which a token goes over plain HTTP.
    private static let plainHosts: Set = [host, "169.254.170.23", "[fd00:ec2::23]"]

    private let environment: AWSEnvironment
    private let transport: any HTTPTransport
    private let pool: BlockingPool
    private let patience: Duration

    /// - Parameter patience: two seconds unless told.
    package init(
        environment: AWSEnvironment, transport: any HTTPTransport, pool: BlockingPool, patience: Duration? = nil
    ) {
        self.patience = patience ?? Self.timeout
        self.environment = environment
        self.transport = transport
        self.pool = pool
    }

    package func credentials() async throws -> CredentialAnswer {
        guard let url = try Self.url(environment) else {
            return .absent(
                reason: "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and AWS_CONTAINER_CREDENTIALS_FULL_URI are not set")
        }
        var request = HTTPRequest(.get, url, headers: ["Accept": "application/json"])
        request.headers["Authorization"] = try await token()
        request.isDirect = true
        request.patience = patience
        let response: HTTPResponse
        do {
            response = try await transport.send(request, target: .memory(limit: Self.replyLimit))
        } catch let error as TransportError {
            throw failure(StoreError.Code(error), url, "cannot be asked: \(error.message)")
        }
        guard response.status == 200 else { throw failure(response, url) }
        do {
            return .found(try CredentialReply(response.body).credentials(from: .container))
        } catch {
            throw failure(.credentialsRejected, url, "sent no credentials: the reply \(error.reason)")
        }
    }

    /// Where the endpoint is; `nil` when there is none.
    /// - Throws: `StoreError` when it is a URL to which no token may be sent.
    package static func url(_ environment: AWSEnvironment) throws(StoreError) -> HTTPURL? {
        if let path = environment.variables["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] {
            if path.hasPrefix("/"), let url = MetadataURL.parse("http://\(host)\(path)") { return url }
            throw invalid("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "it has to be a path that begins with /")
        }
        let name = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
        guard let text = environment.variables[name] else { return nil }
        guard let url = MetadataURL.parse(text) else { throw invalid(name, "it has to be a URL") }
        guard url.scheme == "https" || plainHosts.contains(url.host) || MetadataURL.isLoopback(url.host) else {
            throw invalid(
                name, "over http it may be this machine, 169.254.170.2, 169.254.170.23 or [fd00:ec2::23]; use https"
            )
        }
        return url
    }

    /// The file is read each time: whoever gave it to us changes what is in it.
    private func token() async throws -> String? {
        let name = "AWS_CONTAINER_AUTHORIZATION_TOKEN"
        guard let path = environment.variables["\(name)_FILE"] else {
            return try checked(environment.variables[name] ?? "", name)
        }
        let text = try await pool.run { [environment] in try environment.readFile(path) }
        guard let text else {
            throw StoreError(
                .credentialsRejected, "\(name)_FILE is \(path.escapingControls), and there is no such file")
        }
        return try checked(text, path.escapingControls)
    }

    private func checked(_ text: String, _ place: String) throws(StoreError) -> String? {
        let token = text.split(whereSeparator: \.isNewline)
        guard token.count <= 1, token.first?.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) != true else {
            throw StoreError(.credentialsRejected, "the token of \(place) is more than one line of text")
        }
        return token.first.map(String.init)
    }

    private func failure(_ response: HTTPResponse, _ url: HTTPURL) -> StoreError {
        let said = Redaction(known: environment.secrets).text(response.body)
        return failure(
            StoreError.Code(refusal: response), url, "answered \(response.status)" + (said.isEmpty ? "" : ": \(said)"))
    }

    private func failure(_ code: StoreError.Code, _ url: HTTPURL, _ what: String) -> StoreError {
        // The path is a secret of a kind: who knows it gets the credentials.
        StoreError(code, "the container's credential endpoint at \(url.origin) \(what)")
    }

    /// The value stays out: URLs have room for passwords.
    private static func invalid(_ name: String, _ rule: String) -> StoreError {
        StoreError(.credentialsRejected, "\(name) cannot be used: \(rule)")
    }
}

extension StoreError.Code {
    /// Why a service that was asked for credentials gives none.
    init(refusal response: HTTPResponse) {
        self =
            switch response.status {
            case 429: .throttled
            case 500...: .serverFailed
            default: .credentialsRejected
            }
    }

    /// Why a credential endpoint cannot be asked.
    init(_ error: TransportError) {
        self =
            switch error.code {
            case .timedOut: .timedOut
            case .connectionLost: .connectionLost
            case .invalidReply: .invalidResponse
            default: .unreachable
            }
    }
}

/// Parses the URLs that the environment gives for credential endpoints.
enum MetadataURL {
    /// `nil` when the text is no absolute `http` or `https` URL.
    static func parse(_ text: String) -> HTTPURL? {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            scheme == "http" || scheme == "https", let host = parts.host, !host.isEmpty, parts.user == nil
        else { return nil }
        let isBare = host.contains(":") && !host.hasPrefix("[")
        return HTTPURL(
            scheme: scheme, host: isBare ? "[\(host)]" : host.lowercased(), port: parts.port,
            path: parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath,
            query: (parts.queryItems ?? []).map { HTTPQueryItem($0.name, $0.value ?? "") })
    }

    /// Whether it is this machine by its address or its fixed name; nothing is resolved.
    static func isLoopback(_ host: String) -> Bool {
        let bytes = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return host == "localhost" || host == "[::1]" || (bytes.count == 4 && bytes[0] == 127 && !bytes.contains(nil))
    }
}
