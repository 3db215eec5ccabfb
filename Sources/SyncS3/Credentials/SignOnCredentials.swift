import FoundationEssentials
import SyncCore
import SyncDigest
import SyncSystem

/// The role of a profile for which somebody has signed in with `aws sso login` (IAM Identity Center).
///
/// Source: AWS SDKs and Tools Reference Guide, "IAM Identity Center credential provider"; IAM Identity Center Portal API
/// Reference, GetRoleCredentials; OIDC API Reference, CreateToken. The token is that of the AWS tools
/// (`~/.aws/sso/cache`), and is renewed there as they do it.
struct SignOnCredentials: Sendable {
    /// Seconds before its end in which a token is renewed.
    private static let margin: TimeInterval = 5 * 60

    /// What is signed in to.
    private struct Session: Sendable {
        let startURL: String
        let region: String
        let account: String
        let role: String
        /// Of the token's file.
        let path: String
    }

    private struct RoleReply: Decodable {
        struct Credentials: Decodable {
            var accessKeyId: String
            var secretAccessKey: String
            var sessionToken: String
            /// Milliseconds.
            var expiration: Int64
        }

        var roleCredentials: Credentials
    }

    private struct TokenReply: Decodable {
        var accessToken: String
        /// Seconds.
        var expiresIn: Int
        var refreshToken: String?
    }

    private struct Refusal: Decodable {
        var message: String?
        var error: String?
        var error_description: String?
    }

    let services: CredentialServices
    let profile: String
    let profiles: Profiles

    /// Whether the profile has any of its settings.
    var isSetUp: Bool {
        ["sso_session", "sso_start_url", "sso_account_id", "sso_role_name"].contains { setting($0) != nil }
    }

    func credentials() async throws -> AWSCredentials {
        let session = try session()
        let token = try await token(of: session)
        var url = try await services.url(of: .portal, in: session.region).appending("/federation/credentials")
        url.query = [HTTPQueryItem("role_name", session.role), HTTPQueryItem("account_id", session.account)]
        let reply = try await services.send(
            HTTPRequest(.get, url, headers: ["x-amz-sso_bearer_token": token]), to: .portal)
        if reply.status == 401 { throw signIn("is no longer taken") }
        guard reply.status == 200 else { throw failure(StoreError.Code(refusal: reply), reply, session) }
        guard let found = (try? JSONDecoder().decode(RoleReply.self, from: Data(reply.body)))?.roleCredentials else {
            throw StoreError(.credentialsRejected, "sso at \(url.origin) sent no credentials: no JSON that has them")
        }
        return AWSCredentials(
            accessKeyID: found.accessKeyId, secretAccessKey: found.secretAccessKey, sessionToken: found.sessionToken,
            expiration: Date(timeIntervalSince1970: TimeInterval(found.expiration) / 1_000),
            source: .signOn(role: session.role, account: session.account, profile: profile))
    }

    private func setting(_ name: String) -> String? { profiles.setting(name, of: profile) }

    private func session() throws(StoreError) -> Session {
        let name = setting("sso_session")
        let shared = name.flatMap { profiles.config.sessions[$0] }
        if let name, shared == nil {
            throw error(
                "\(place) has sso_session = \(name.escapingControls), and there is no section "
                    + "[sso-session \(name.escapingControls)]; add it (aws configure sso-session) or correct the line")
        }
        func value(_ key: String) -> String? {
            let value = shared.map { $0[key] ?? setting(key) } ?? setting(key)
            return value?.isEmpty == false ? value : nil
        }
        let keys = ["sso_start_url", "sso_region", "sso_account_id", "sso_role_name"]
        let missing = keys.filter { value($0) == nil }
        guard missing.isEmpty, let start = value(keys[0]), let region = value(keys[1]), let account = value(keys[2]),
            let role = value(keys[3])
        else { throw error("\(place) has no \(missing.joined(separator: " and no ")); run aws configure sso") }
        return Session(
            startURL: start, region: region, account: account, role: role,
            path: services.environment.expandingHome("~/.aws/sso/cache/\(SHA1.hexadecimal(of: name ?? start)).json"))
    }

    // MARK: The token

    private func token(of session: Session) async throws -> String {
        let text = try await services.pool.run { [services] in try services.environment.readFile(session.path) }
        guard let text else {
            // Whoever signs out deletes it.
            services.renewedTokens.forget(session.path)
            throw signIn("is not there")
        }
        guard let stored = SignOnToken(text) else { throw signIn("cannot be read") }
        let file = services.renewedTokens.latest(stored, at: session.path)
        let now = services.now()
        if file.end.timeIntervalSince(now) > Self.margin { return file.accessToken }
        do {
            if let renewed = try await renewed(file, session) { return renewed }
        } catch let error as StoreError where file.end > now || error.isTransient {
            // The old one may do for a while; a service that is away is no reason to sign in.
            guard file.end > now else { throw error }
        }
        guard file.end > now else { throw signIn("expired at \(file.end.formatted(.iso8601))") }
        return file.accessToken
    }

    /// - Returns: `nil` where the file has nothing to renew it with, or that is no longer taken.
    /// - Throws: `StoreError` when the service cannot be asked or fails.
    private func renewed(_ file: SignOnToken, _ session: Session) async throws -> String? {
        guard let form = file.renewal(at: services.now()), let body = try? JSONEncoder().encode(form) else {
            return nil
        }
        let url = try await services.url(of: .signOn, in: session.region).appending("/token")
        let reply = try await services.send(
            HTTPRequest(.post, url, headers: ["Content-Type": "application/json"], body: HTTPBody(bytes: Array(body))),
            to: .signOn)
        let code = StoreError.Code(refusal: reply)
        if code != .credentialsRejected { throw failure(code, reply, session) }
        guard reply.status == 200, let new = try? JSONDecoder().decode(TokenReply.self, from: Data(reply.body)) else {
            return nil
        }
        let end = services.now().addingTimeInterval(TimeInterval(new.expiresIn))
        let text = file.text(accessToken: new.accessToken, end: end, refreshToken: new.refreshToken)
        // The one that was used may be spent: the AWS tools have to find the new one.
        if let token = SignOnToken(text) {
            try await services.keep(token, as: text, at: session.path, of: profile)
        }
        return new.accessToken
    }

    // MARK: Errors

    private var place: String { profiles.place(of: profile) }

    /// - Parameter what: a predicate of the token.
    private func signIn(_ what: String) -> StoreError {
        StoreError(
            .credentialsRejected,
            "the single sign-on token of \(Profiles.quoted(profile)) \(what); run aws sso login --profile "
                + profile.escapingControls)
    }

    private func failure(_ code: StoreError.Code, _ reply: HTTPResponse, _ session: Session) -> StoreError {
        let said = try? JSONDecoder().decode(Refusal.self, from: Data(reply.body))
        let words = (said?.message ?? said?.error_description ?? said?.error).map { ": \(Redaction.quote($0))" } ?? ""
        return StoreError(
            code,
            "single sign-on does not give the role \(session.role.escapingControls) of account "
                + "\(session.account.escapingControls) (\(reply.status))\(words)")
    }

    private func error(_ message: String) -> StoreError { StoreError(.credentialsMissing, message) }
}

/// A token of the AWS tools' cache. Prints nothing of it.
struct SignOnToken: Sendable {
    /// All fields, which are texts.
    private let fields: [String: String]
    let accessToken: String
    let end: Date

    /// `nil` when it is none.
    init?(_ text: String) {
        guard let fields = try? JSONDecoder().decode([String: String].self, from: Data(text.utf8)),
            let token = fields["accessToken"], !token.isEmpty, let end = fields["expiresAt"].flatMap(Self.time)
        else { return nil }
        self.fields = fields
        accessToken = token
        self.end = end
    }

    /// What CreateToken takes for it; `nil` where the client's registration is over or was not kept.
    func renewal(at now: Date) -> [String: String]? {
        guard let token = fields["refreshToken"], let id = fields["clientId"], let secret = fields["clientSecret"],
            let end = fields["registrationExpiresAt"].flatMap(Self.time), end > now
        else { return nil }
        return ["grantType": "refresh_token", "clientId": id, "clientSecret": secret, "refreshToken": token]
    }

    /// The file with another token.
    func text(accessToken: String, end: Date, refreshToken: String?) -> String {
        var fields = fields
        fields["accessToken"] = accessToken
        fields["expiresAt"] = end.formatted(.iso8601)
        if let refreshToken { fields["refreshToken"] = refreshToken }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(fields)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Older tools write `UTC` for `Z`.
    private static func time(_ text: String) -> Date? {
        S3Date.iso8601(text.hasSuffix("UTC") ? "\(text.dropLast(3))Z" : text)
    }
}

extension SignOnToken: CustomStringConvertible, CustomReflectable {
    var description: String { "SignOnToken(redacted)" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
