import FoundationEssentials
package import SyncCore
import SyncSystem

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

    let environment: AWSEnvironment
    let transport: any HTTPTransport
    let pool: BlockingPool
    /// Two seconds unless told.
    var patience: Duration?

    package func credentials() async throws -> CredentialAnswer {
        guard let url = try Self.url(environment) else {
            return .absent(
                reason: "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and AWS_CONTAINER_CREDENTIALS_FULL_URI are not set")
        }
        var request = HTTPRequest(.get, url, headers: ["Accept": "application/json"])
        request.headers["Authorization"] = try await token()
        request.isDirect = true
        request.patience = patience ?? Self.timeout
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
            if path.hasPrefix("/"), let url = HTTPURL.parsing("http://\(host)\(path)") { return url }
            throw invalid("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "it has to be a path that begins with /")
        }
        let name = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
        guard let text = environment.variables[name] else { return nil }
        guard let url = HTTPURL.parsing(text) else { throw invalid(name, "it has to be a URL") }
        guard url.scheme == "https" || plainHosts.contains(url.host) || url.isOfThisMachine else {
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

/// URLs that the environment gives for credential endpoints, and links.
extension HTTPURL {
    /// `nil` when the text is no absolute `http` or `https` URL.
    static func parsing(_ text: String) -> HTTPURL? {
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
    var isOfThisMachine: Bool {
        let bytes = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return host == "localhost" || host == "[::1]" || (bytes.count == 4 && bytes[0] == 127 && !bytes.contains(nil))
    }
}

/// The role of the EC2 instance, from its metadata service (IMDSv2; the first version where there is no second).
///
/// Source: Amazon EC2 User Guide, "Use IMDSv2", "Retrieve security credentials from instance metadata". It is asked
/// once, with a second for each step: most machines are no instances.
package struct InstanceCredentials: CredentialProvider {
    private static let timeout = Duration.seconds(1)
    private static let replyLimit = 64 << 10
    private static let roles = "/latest/meta-data/iam/security-credentials/"
    /// Seconds; the longest there is. The token is used at once and not kept.
    private static let tokenLife = "21600"

    let environment: AWSEnvironment
    let transport: any HTTPTransport
    /// A second for each step unless told.
    var patience: Duration?

    package func credentials() async throws -> CredentialAnswer {
        guard !isTrue("AWS_EC2_METADATA_DISABLED") else { return .absent(reason: "AWS_EC2_METADATA_DISABLED is true") }
        let service = environment.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ?? "http://169.254.169.254"
        guard let base = HTTPURL.parsing(service) else {
            throw StoreError(
                .credentialsRejected,
                "AWS_EC2_METADATA_SERVICE_ENDPOINT is \"\(service.escapingControls)\": it has to be a URL")
        }
        do {
            return try await ask(base)
        } catch let error as TransportError {
            return .absent(reason: "no instance metadata at \(base.origin) (\(error.message))")
        }
    }

    private func ask(_ base: HTTPURL) async throws -> CredentialAnswer {
        let token: String?
        let tokenReply = try await send(
            .put, base, "/latest/api/token", ["x-aws-ec2-metadata-token-ttl-seconds": Self.tokenLife])
        switch tokenReply.status {
        case 200: token = Self.line(tokenReply)
        case 403...405 where !isTrue("AWS_EC2_METADATA_V1_DISABLED"): token = nil
        default: return absent(base, "answers \(tokenReply.status) to the request for a token")
        }
        var headers: HTTPHeaders = [:]
        headers["x-aws-ec2-metadata-token"] = token

        let roleReply = try await send(.get, base, Self.roles, headers)
        guard roleReply.status == 200, let role = Self.line(roleReply) else {
            return absent(base, "knows no role of this instance (\(roleReply.status))")
        }
        // IAM User Guide, "IAM and AWS STS quotas": names of roles.
        guard role.utf8.allSatisfy({ $0.isAlphanumeric || "_+=,.@-".utf8.contains($0) }) else {
            throw failure(.credentialsRejected, base, "names a role that is no name")
        }
        return .found(try await credentials(of: role, base, headers))
    }

    private func credentials(of role: String, _ base: HTTPURL, _ headers: HTTPHeaders) async throws -> AWSCredentials {
        let reply = try await send(.get, base, Self.roles + role.uriEncoded(), headers)
        guard reply.status == 200 else {
            throw failure(
                reply.status >= 500 ? .serverFailed : .credentialsRejected, base,
                "answers \(reply.status) for the role \(role)")
        }
        do {
            let fields = try CredentialReply(reply.body)
            if let code = fields.code, code != "Success" {
                throw failure(.credentialsRejected, base, "refuses the role \(role): \(code.escapingControls)")
            }
            return try fields.credentials(from: .instanceRole(role))
        } catch let error as CredentialReply.Invalid {
            throw failure(
                .credentialsRejected, base, "sent no credentials for the role \(role): the reply \(error.reason)")
        }
    }

    private func send(
        _ method: HTTPRequest.Method, _ base: HTTPURL, _ path: String, _ headers: HTTPHeaders
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(method, base.appending(path), headers: headers)
        request.isDirect = true
        request.patience = patience ?? Self.timeout
        return try await transport.send(request, target: .memory(limit: Self.replyLimit))
    }

    private func isTrue(_ name: String) -> Bool { environment.variables[name]?.lowercased() == "true" }

    /// The first line; `nil` when there is none.
    private static func line(_ response: HTTPResponse) -> String? {
        String(decoding: response.body, as: UTF8.self).split(whereSeparator: \.isNewline).first.map(String.init)
    }

    private func absent(_ base: HTTPURL, _ what: String) -> CredentialAnswer {
        .absent(reason: "the instance metadata at \(base.origin) \(what)")
    }

    private func failure(_ code: StoreError.Code, _ base: HTTPURL, _ what: String) -> StoreError {
        StoreError(code, "the instance metadata at \(base.origin) \(what)")
    }
}
