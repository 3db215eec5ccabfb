import FoundationEssentials
import SyncCore
import SyncSystem
import Testing

@testable import SyncS3

/// Roles of accounts that somebody has signed in for.
@Suite struct SignOnCredentialsTests {
    typealias Answer = ScriptedTransport.Answer

    private static let config = """
        [sso-session office]
        sso_start_url = https://ana.awsapps.com/start
        sso_region = eu-west-1
        [profile sso]
        sso_session = office
        sso_account_id = 123456789012
        sso_role_name = Photos
        [profile legacy]
        sso_start_url = https://ana.awsapps.com/start
        sso_region = eu-north-1
        sso_account_id = 123456789012
        sso_role_name = Photos
        [profile bare]
        sso_session = office
        [profile astray]
        sso_session = home
        sso_account_id = 123456789012
        sso_role_name = Photos
        """
    /// 1 January 2026.
    private static let start = Date(timeIntervalSince1970: 1_767_225_600)
    /// Named by the SHA-1 of the session, or of the address.
    private static let files = [
        "sso": "/home/ana/.aws/sso/cache/e6427457497fe0f4f93a7334d2203b8e17ee82df.json",
        "legacy": "/home/ana/.aws/sso/cache/6f35a505c34e55d4528fbb0bca74c3ff6f15e555.json",
    ]
    private static let given = Answer.reply(
        200, [:],
        #"""
        {"roleCredentials": {"accessKeyId": "SSO", "secretAccessKey": "s", "sessionToken": "t", "expiration": 1767229200000}}
        """#)

    private static func token(until end: String, more: String = "") -> String {
        #"{"accessToken": "bearer-1", "expiresAt": "\#(end)", "startUrl": "https://ana.awsapps.com/start"\#(more)}"#
    }

    private func made(
        _ answers: [Answer], profile: String, token: String?, warn: @escaping @Sendable (String) -> Void = { _ in }
    ) -> (CredentialChain, ScriptedTransport) {
        let transport = ScriptedTransport(answers)
        let environment = AWSEnvironment(variables: ["HOME": "/home/ana"], profile: profile) {
            path throws(StoreError) in
            path == "/home/ana/.aws/config" ? Self.config : path == Self.files[profile] ? token : nil
        }
        let chain = CredentialChain(
            CredentialServices(
                environment: environment, transport: transport, pool: BlockingPool(name: "test", threads: 1),
                warn: warn, now: { Self.start }))
        return (chain, transport)
    }

    @Test(
        arguments: [
            ("sso", "2026-01-01T08:00:00Z", "portal.sso.eu-west-1.amazonaws.com"),
            ("legacy", "2026-01-01T08:00:00UTC", "portal.sso.eu-north-1.amazonaws.com"),
        ])
    func `The token of the AWS tools gives the role's keys`(profile: String, end: String, host: String) async throws {
        let (chain, transport) = made([Self.given], profile: profile, token: Self.token(until: end))
        let found = try await chain.resolve()
        #expect(found.accessKeyID == "SSO" && found.sessionToken == "t")
        #expect(found.expiration == Self.start.addingTimeInterval(3_600))
        #expect(found.source == .signOn(role: "Photos", account: "123456789012", profile: profile))
        let request = try #require(transport.requests.first)
        #expect(request.url.host == host && request.url.path == "/federation/credentials")
        #expect(request.url.query.map(\.value) == ["Photos", "123456789012"])
        #expect(request.headers["x-amz-sso_bearer_token"] == "bearer-1" && request.headers["Authorization"] == nil)
    }

    @Test(
        arguments: [
            (nil, [], "token of profile \"sso\" is not there; run aws sso login --profile sso"),
            ("{", [], "cannot be read; run aws sso login --profile sso"),
            (
                token(until: "2025-12-31T23:59:59Z"), [],
                "expired at 2025-12-31T23:59:59Z; run aws sso login --profile sso"
            ),
            (
                token(until: "2026-01-02T00:00:00Z"), [.reply(401)],
                "is no longer taken; run aws sso login --profile sso"
            ),
            (
                token(until: "2026-01-02T00:00:00Z"), [.reply(403, [:], #"{"message": "No access"}"#)],
                "does not give the role Photos of account 123456789012 (403): No access"
            ),
            (token(until: "2026-01-02T00:00:00Z"), [.reply(200, [:], "<html>")], "sent no credentials"),
        ] as [(String?, [Answer], String)])
    func `What is missing for it is told`(token: String?, answers: [Answer], message: String) async {
        let (chain, _) = made(answers, profile: "sso", token: token)
        let error = await #expect(throws: StoreError.self) { try await chain.resolve() }
        #expect(error?.code == .credentialsRejected)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("bearer-1") == false)
    }

    @Test(
        arguments: [
            ("bare", "has no sso_account_id and no sso_role_name; run aws configure sso"),
            ("astray", "has sso_session = home, and there is no section [sso-session home]"),
        ])
    func `A profile that lacks a part of it is told`(profile: String, message: String) async {
        let (chain, _) = made([], profile: profile, token: nil)
        let error = await #expect(throws: StoreError.self) { try await chain.resolve() }
        #expect(
            error?.code == .credentialsMissing && error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    private static let renewable =
        #", "refreshToken": "again", "clientId": "id", "clientSecret": "cs", "registrationExpiresAt": "2026-03-01T00:00:00Z""#

    @Test func `A service that is away while a token ends is no reason to sign in`() async throws {
        let (soon, transport) = made(
            [.reply(503), Self.given], profile: "sso",
            token: Self.token(until: "2026-01-01T00:01:00Z", more: Self.renewable))
        #expect(try await soon.resolve().accessKeyID == "SSO")
        #expect(
            transport.requests.map(\.url.host) == [
                "oidc.eu-west-1.amazonaws.com", "portal.sso.eu-west-1.amazonaws.com",
            ])
        let (over, _) = made(
            [.reply(503)], profile: "sso", token: Self.token(until: "2025-12-31T00:00:00Z", more: Self.renewable))
        let error = await #expect(throws: StoreError.self) { try await over.resolve() }
        #expect(error?.code == .serverFailed)
    }

    @Test func `A renewed token that cannot be written is used as long as it lasts`() async throws {
        let renewed = Answer.reply(
            200, [:], #"{"accessToken": "bearer-2", "expiresIn": 28800, "refreshToken": "again-2"}"#)
        let told = Lock<[String]>([])
        let (chain, transport) = made(
            [renewed, Self.given, Self.given], profile: "sso",
            token: Self.token(until: "2025-12-31T00:00:00Z", more: Self.renewable),
            warn: { words in told.withLock { $0.append(words) } })
        for _ in 0..<2 { #expect(try await chain.resolve().accessKeyID == "SSO") }
        #expect(
            transport.requests.map { $0.headers["x-amz-sso_bearer_token"] ?? $0.url.path } == [
                "/token", "bearer-2", "bearer-2",
            ])
        let words = told.withLock { $0 }
        #expect(words.count == 1 && words[0].contains("cannot be written to /home/ana/.aws/sso/cache/"), "\(words)")
        #expect(!words.joined().contains("bearer") && !words.joined().contains("again-2"))
    }

    @Test func `A session that is over has to be signed in to`() async {
        let (chain, transport) = made(
            [.reply(400, [:], #"{"error": "invalid_grant"}"#)], profile: "sso",
            token: Self.token(until: "2025-12-31T00:00:00Z", more: Self.renewable))
        let error = await #expect(throws: StoreError.self) { try await chain.resolve() }
        #expect(error?.message.contains("run aws sso login --profile sso") == true)
        #expect(transport.requests.first?.url.path == "/token")
    }
}
