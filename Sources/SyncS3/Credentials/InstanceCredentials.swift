import SyncCore

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

    private let environment: AWSEnvironment
    private let transport: any HTTPTransport
    private let patience: Duration

    /// - Parameter patience: a second for each step unless told.
    package init(environment: AWSEnvironment, transport: any HTTPTransport, patience: Duration? = nil) {
        self.patience = patience ?? Self.timeout
        self.environment = environment
        self.transport = transport
    }

    package func credentials() async throws -> CredentialAnswer {
        guard !isTrue("AWS_EC2_METADATA_DISABLED") else {
            return .absent(reason: "AWS_EC2_METADATA_DISABLED is true")
        }
        let service = environment.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ?? "http://169.254.169.254"
        guard let base = MetadataURL.parse(service) else {
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
        request.patience = patience
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
