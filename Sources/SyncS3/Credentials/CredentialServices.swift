import FoundationEssentials
import SyncCore
import SyncSystem
import SystemPackage

/// The services of AWS that give credentials, and how they are reached.
package struct CredentialServices: Sendable {
    /// As a section `[services NAME]` and the variables `AWS_ENDPOINT_URL_NAME` call them.
    enum Service: String, Sendable {
        case tokens = "sts"
        case portal = "sso"
        case signOn = "sso_oidc"

        /// AWS General Reference, "AWS Security Token Service endpoints", "AWS IAM Identity Center endpoints".
        fileprivate var host: String {
            switch self {
            case .tokens: "sts"
            case .portal: "portal.sso"
            case .signOn: "oidc"
            }
        }
    }

    /// Beside the transport's own for the connection.
    private static let patience = Duration.seconds(20)
    private static let replyLimit = 64 << 10

    let environment: AWSEnvironment
    let transport: any HTTPTransport
    /// Where roles are taken; `nil`: in the region of environment and profile.
    var storeRegion: String?
    /// Of Amazon's endpoints.
    var form: EndpointForm = []
    /// Reads files and waits for programs.
    let pool: BlockingPool
    /// With each answer; `nil` for the usual one: a second or two for endpoints on this machine and network, as most
    /// machines have none.
    var patience: Duration?
    /// Is told what people have to know and no request fails of.
    var warn: @Sendable (String) -> Void = { _ in }
    let now: @Sendable () -> Date
    let renewedTokens = RenewedTokens()

    var variables: EnvironmentCredentials { EnvironmentCredentials(environment: environment) }

    var container: ContainerCredentials {
        ContainerCredentials(environment: environment, transport: transport, pool: pool, patience: patience)
    }

    var instance: InstanceCredentials {
        InstanceCredentials(environment: environment, transport: transport, patience: patience)
    }

    /// Where roles are taken.
    func region() async throws -> String {
        try await pool.run { [environment, storeRegion] in try environment.region(configured: storeRegion) }
    }

    /// - Returns: the base of its URLs.
    func url(of service: Service, in region: String) async throws -> HTTPURL {
        let endpoint = try await pool.run { [environment] in try environment.endpoint(of: service.rawValue) }
        let text = endpoint ?? "https://\(form.credentialHost(service.host, in: region))"
        guard let url = HTTPURL.parsing(text) else {
            throw StoreError(
                .credentialsRejected,
                "the endpoint of \(service.rawValue) cannot be used (AWS_ENDPOINT_URL_\(service.rawValue.uppercased()), "
                    + "AWS_ENDPOINT_URL, region \(region.escapingControls)): it has to be an http or https URL")
        }
        return url
    }

    /// Asks once: the store's retries are retries of this, too.
    /// - Throws: `StoreError` when there is no reply; `CancellationError`.
    func send(_ request: HTTPRequest, to service: Service) async throws -> HTTPResponse {
        var request = request
        request.patience = patience ?? Self.patience
        do {
            return try await transport.send(request, target: .memory(limit: Self.replyLimit))
        } catch let error as TransportError {
            throw StoreError(
                StoreError.Code(error),
                "\(service.rawValue) at \(request.url.origin) cannot be asked: \(error.message)"
            )
        }
    }
}

extension CredentialServices {
    /// Keeps a renewed token, whatever becomes of its file.
    /// - Parameter path: of the file of the AWS tools' cache, which the next program looks for it in.
    /// - Throws: `CancellationError`.
    func keep(_ token: SignOnToken, as text: String, at path: String, of profile: String) async throws {
        renewedTokens.keep(token, at: path)
        do {
            _ = try await pool.run {
                try NewFile.save(text.utf8, to: FilePath(path), permissions: .ownerReadWrite, overwrites: true)
            }
            renewedTokens.forget(path)
        } catch let error as CancellationError {
            throw error
        } catch {
            guard renewedTokens.isNews(path) else { return }
            warn(
                "the renewed single sign-on token of \(Profiles.quoted(profile)) cannot be written to "
                    + "\(path.escapingControls) (\(error)): it is used until this process ends, and then aws sso login "
                    + "--profile \(profile.escapingControls) may be needed; let the file be written")
        }
    }
}

/// Tokens that were renewed and stand in no file: the one that is there may be spent.
final class RenewedTokens: Sendable {
    private struct State {
        var tokens: [String: SignOnToken] = [:]
        var told: Set<String> = []
    }

    private let state = Lock(State())

    func keep(_ token: SignOnToken, at path: String) { state.withLock { $0.tokens[path] = token } }

    func forget(_ path: String) { state.withLock { $0.tokens[path] = nil } }

    /// Whether it is said for the first time that one cannot be written.
    func isNews(_ path: String) -> Bool { state.withLock { $0.told.insert(path).inserted } }

    /// The one that is good for longer: somebody may have signed in meanwhile.
    func latest(_ file: SignOnToken, at path: String) -> SignOnToken {
        state.withLock { state in
            guard let kept = state.tokens[path], kept.end > file.end else { return file }
            return kept
        }
    }
}

/// A role, as one asks for it.
struct RoleRequest: Hashable, Sendable {
    let arn: String
    let sessionName: String
    /// Seconds; `nil` for the service's own, an hour.
    var duration: Int?
    var externalID: String?
    let source: CredentialSource

    /// - Parameters:
    ///   - place: of the settings, for messages.
    ///   - now: for the name of the session.
    init(
        arn: String, sessionName: String?, duration: String?, externalID: String?, source: CredentialSource,
        in place: String,
        now: Date
    ) throws(StoreError) {
        if let duration {
            guard let seconds = Int(duration), (900...43_200).contains(seconds) else {
                throw StoreError(
                    .credentialsMissing,
                    "\(place) has duration_seconds = \(duration.escapingControls): write a number from 900 to 43200")
            }
            self.duration = seconds
        }
        self.arn = arn
        self.sessionName = sessionName ?? "sync-agent-\(Int(now.timeIntervalSince1970))"
        self.externalID = externalID
        self.source = source
    }
}

extension CredentialServices {
    /// Takes a role with credentials (AWS STS API Reference, AssumeRole).
    func assume(_ role: RoleRequest, with credentials: AWSCredentials) async throws -> AWSCredentials {
        let region = try await region()
        let form = [("Action", "AssumeRole"), ("Version", "2011-06-15")] + Self.fields(of: role)
        let request = Self.request(form, to: try await url(of: .tokens, in: region))
        let signature = SignatureV4(credentials: credentials, region: region, service: "sts")
        let reply = try await send(signature.signed(request, at: now()), to: .tokens)
        return try Self.credentials(
            of: role, reply, request.url, root: "AssumeRole", "of the credentials from \(credentials.source)")
    }

    /// Takes a role for a token (AWS STS API Reference, AssumeRoleWithWebIdentity). The request has no signature.
    /// - Parameter path: of the token, which is read each time: whoever put it there changes it.
    func assume(_ role: RoleRequest, forTokenOf path: String) async throws -> AWSCredentials {
        let text = try await pool.run { [environment] in try environment.readFile(path) }
        let token = text.map { $0.split(whereSeparator: \.isWhitespace) } ?? []
        guard let first = token.first, token.count == 1 else {
            throw StoreError(
                .credentialsRejected,
                "the web identity token file \(path.escapingControls) \(text == nil ? "is not there" : "holds no token")"
            )
        }
        let form =
            [("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15")] + Self.fields(of: role)
            + [("WebIdentityToken", String(first))]
        let request = Self.request(form, to: try await url(of: .tokens, in: try await region()))
        let reply = try await send(request, to: .tokens)
        return try Self.credentials(
            of: role, reply, request.url, root: "AssumeRoleWithWebIdentity", "of the token in \(path.escapingControls)")
    }

    private static func fields(of role: RoleRequest) -> [(String, String)] {
        var fields = [("RoleArn", role.arn), ("RoleSessionName", role.sessionName)]
        if let duration = role.duration { fields.append(("DurationSeconds", "\(duration)")) }
        if let externalID = role.externalID { fields.append(("ExternalId", externalID)) }
        return fields
    }

    private static func request(_ form: [(String, String)], to url: HTTPURL) -> HTTPRequest {
        let text = form.map { "\($0.0)=\($0.1.uriEncoded())" }.joined(separator: "&")
        return HTTPRequest(
            .post, url, headers: ["Content-Type": "application/x-www-form-urlencoded; charset=utf-8"],
            body: HTTPBody(bytes: Array(text.utf8)))
    }

    private static func credentials(
        of role: RoleRequest, _ reply: HTTPResponse, _ url: HTTPURL, root: String, _ proof: String
    ) throws -> AWSCredentials {
        guard reply.status == 200 else { throw refusal(of: role, reply, url, proof) }
        do throws(InvalidReply) {
            let document = try XMLElement(document: reply.body, root: "\(root)Response")
            guard let found = document.first("\(root)Result")?.first("Credentials") else {
                throw InvalidReply(reason: "its XML has no credentials")
            }
            guard let end = S3Date.iso8601(try found.required("Expiration")) else {
                throw InvalidReply(reason: "its Expiration is no time")
            }
            return AWSCredentials(
                accessKeyID: try found.required("AccessKeyId"), secretAccessKey: try found.required("SecretAccessKey"),
                sessionToken: try found.required("SessionToken"), expiration: end, source: role.source)
        } catch {
            throw StoreError(
                .credentialsRejected, "sts at \(url.origin) sent no credentials: \(error.reason)")
        }
    }

    private static func refusal(
        of role: RoleRequest, _ reply: HTTPResponse, _ url: HTTPURL, _ proof: String
    ) -> StoreError {
        let error = (try? XMLElement(document: reply.body, root: "ErrorResponse"))?.first("Error")
        let code = error?["Code"].map { Redaction.quote($0, limit: 80) }
        let words = [code ?? "\(reply.status)", error?["Message"].map { Redaction.quote($0) }].compactMap(\.self)
        let remedy =
            switch code {
            case "AccessDenied": "; the role's trust policy and the policy \(proof) have to allow it"
            case "ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "InvalidIdentityToken":
                "; that is said \(proof)"
            default: ""
            }
        let kind: StoreError.Code =
            switch (code, reply.status) {
            case ("Throttling", _), ("ThrottlingException", _), ("RequestLimitExceeded", _), (_, 429): .throttled
            case ("IDPCommunicationError", _), (_, 500...): .serverFailed
            default: .credentialsRejected
            }
        return StoreError(
            kind,
            "sts at \(url.origin) does not give the role \(role.arn.escapingControls): "
                + words.joined(separator: ": ") + remedy)
    }
}

/// The role that the environment names with a file for its token: what EKS and CI services set.
///
/// Source: AWS SDKs and Tools Reference Guide, "Assume role credential provider".
package struct WebIdentityCredentials: CredentialProvider {
    let services: CredentialServices

    package func credentials() async throws -> CredentialAnswer {
        let variables = services.environment.variables
        guard let path = variables["AWS_WEB_IDENTITY_TOKEN_FILE"] else {
            return .absent(reason: "AWS_WEB_IDENTITY_TOKEN_FILE is not set")
        }
        guard let arn = variables["AWS_ROLE_ARN"] else {
            throw StoreError(
                .credentialsMissing, "AWS_WEB_IDENTITY_TOKEN_FILE is set, AWS_ROLE_ARN is not: set both or neither")
        }
        let role = try RoleRequest(
            arn: arn, sessionName: variables["AWS_ROLE_SESSION_NAME"], duration: nil, externalID: nil,
            source: .webIdentity(role: arn), in: "the environment", now: services.now())
        return .found(try await services.assume(role, forTokenOf: path))
    }
}
