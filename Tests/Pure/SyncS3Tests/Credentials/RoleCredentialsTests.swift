import FoundationEssentials
import SyncCore
import SyncSystem
import Testing

@testable import SyncS3

/// Roles of profiles and of the environment.
@Suite struct RoleCredentialsTests {
    typealias Answer = ScriptedTransport.Answer

    private static let config = """
        [default]
        region = eu-west-1
        [profile base]
        aws_access_key_id = BASE
        aws_secret_access_key = base-secret
        [profile role]
        role_arn = arn:aws:iam::1:role/photos
        source_profile = base
        role_session_name = ana
        external_id = a b
        duration_seconds = 3600
        aws_access_key_id = UNUSED
        aws_secret_access_key = s
        [profile second]
        role_arn = arn:aws:iam::2:role/second
        source_profile = chained
        [profile chained]
        role_arn = arn:aws:iam::1:role/first
        source_profile = base
        [profile own]
        role_arn = arn:aws:iam::1:role/own
        source_profile = own
        aws_access_key_id = OWN
        aws_secret_access_key = s
        [profile web]
        role_arn = arn:aws:iam::1:role/web
        web_identity_token_file = ~/token
        [profile machine]
        role_arn = arn:aws:iam::1:role/machine
        credential_source = Environment
        [profile a]
        role_arn = arn:a
        source_profile = b
        [profile b]
        role_arn = arn:b
        source_profile = a
        [profile self]
        role_arn = arn:self
        source_profile = self
        [profile astray]
        role_arn = arn:astray
        source_profile = gone
        [profile keyless]
        role_arn = arn:keyless
        source_profile = default
        [profile alone]
        role_arn = arn:alone
        [profile both]
        role_arn = arn:both
        source_profile = base
        credential_source = Environment
        [profile code]
        role_arn = arn:code
        source_profile = base
        mfa_serial = arn:aws:iam::1:mfa/ana
        [profile moon]
        role_arn = arn:moon
        credential_source = Moon
        [profile long]
        role_arn = arn:long
        source_profile = base
        duration_seconds = 60
        [profile half]
        web_identity_token_file = /token
        """

    private static func given(_ action: String, _ key: String) -> Answer {
        .reply(
            200, [:],
            """
            <\(action)Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><\(action)Result>
              <AssumedRoleUser><Arn>arn</Arn></AssumedRoleUser>
              <Credentials><AccessKeyId>\(key)</AccessKeyId><SecretAccessKey>secret of \(key)</SecretAccessKey>
                <SessionToken>token of \(key)</SessionToken><Expiration>2026-01-01T01:00:00Z</Expiration></Credentials>
            </\(action)Result></\(action)Response>
            """)
    }

    private static func refused(_ status: Int, _ code: String, _ message: String) -> Answer {
        .reply(
            status, [:],
            "<ErrorResponse><Error><Type>Sender</Type><Code>\(code)</Code><Message>\(message)</Message></Error>"
                + "<RequestId>1</RequestId></ErrorResponse>")
    }

    private static let start = Date(timeIntervalSince1970: 1_767_225_600)

    private func made(
        _ answers: [Answer], _ variables: [String: String] = [:], profile: String?
    ) -> (CredentialChain, ScriptedTransport) {
        let transport = ScriptedTransport(answers)
        let environment = AWSEnvironment(
            variables: variables.merging(["HOME": "/home/ana"]) { given, _ in given }, profile: profile
        ) { path throws(StoreError) in
            ["/home/ana/.aws/config": Self.config, "/home/ana/token": "a.b.c\n", "/two": "a b"][path]
        }
        let chain = CredentialChain(
            CredentialServices(
                environment: environment, transport: transport, pool: BlockingPool(name: "test", threads: 1),
                now: { Self.start }))
        return (chain, transport)
    }

    @Test func `A role is taken with the keys of its source, and lasts as long as it is given`() async throws {
        let (chain, transport) = made([Self.given("AssumeRole", "ROLE")], profile: "role")
        let found = try await chain.resolve()
        #expect(found.accessKeyID == "ROLE" && found.secretAccessKey == "secret of ROLE")
        #expect(found.sessionToken == "token of ROLE")
        #expect(found.expiration == Self.start.addingTimeInterval(3_600))
        #expect(found.source == .role("arn:aws:iam::1:role/photos", profile: "role"))
        let request = try #require(transport.requests.first)
        #expect("\(request.url)" == "https://sts.us-east-1.amazonaws.com/")
        #expect(
            request.text
                == "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fphotos"
                + "&RoleSessionName=ana&DurationSeconds=3600&ExternalId=a%20b")
        #expect(
            request.headers["Authorization"]?.contains("Credential=BASE/20260101/us-east-1/sts/aws4_request") == true)
    }

    @Test func `Roles follow each other, each with the keys of the one before`() async throws {
        let (chain, transport) = made(
            [Self.given("AssumeRole", "FIRST"), Self.given("AssumeRole", "SECOND")], profile: "second")
        #expect(try await chain.resolve().accessKeyID == "SECOND")
        #expect(
            transport.requests.map { $0.headers["Authorization"]?.prefix { $0 != "/" }.split(separator: "=").last }
                == ["BASE", "FIRST"])
        #expect(transport.requests.last?.headers["x-amz-security-token"] == "token of FIRST")
        #expect(transport.requests.first?.text.contains("RoleSessionName=sync-agent-1767225600") == true)
    }

    @Test(arguments: [("own", "OWN"), ("machine", "ENV")])
    func `A profile may be its own source, or name this machine's`(profile: String, key: String) async throws {
        let (chain, transport) = made(
            [Self.given("AssumeRole", "ROLE")],
            ["AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "cn-north-1"], profile: profile)
        #expect(try await chain.resolve().accessKeyID == "ROLE")
        let request = try #require(transport.requests.first)
        #expect(request.url.host == "sts.cn-north-1.amazonaws.com.cn")
        #expect(request.headers["Authorization"]?.contains("Credential=\(key)/") == true)
    }

    @Test(
        arguments: [
            ("web", [:]),
            (nil, ["AWS_WEB_IDENTITY_TOKEN_FILE": "/home/ana/token", "AWS_ROLE_ARN": "arn:aws:iam::1:role/web"]),
        ] as [(String?, [String: String])])
    func `A role is given for the token of a file, without a signature`(
        profile: String?, variables: [String: String]
    ) async throws {
        let (chain, transport) = made(
            [Self.given("AssumeRoleWithWebIdentity", "WEB")],
            variables.merging(["AWS_ENDPOINT_URL_STS": "http://localhost:5000"]) { $1 }, profile: profile)
        let found = try await chain.resolve()
        #expect(found.accessKeyID == "WEB" && found.source == .webIdentity(role: "arn:aws:iam::1:role/web"))
        let request = try #require(transport.requests.first)
        #expect("\(request.url)".hasPrefix("http://localhost:5000/") && request.headers["Authorization"] == nil)
        #expect(request.text.hasSuffix("&WebIdentityToken=a.b.c"))
    }

    @Test(
        arguments: [
            ("a", "go in a circle: a → b → a; let one of them have keys"), ("self", "go in a circle: self → self"),
            ("astray", "has source_profile = gone, and there is no such profile"),
            ("keyless", "the source_profile of profile \"keyless\", has no keys"),
            ("alone", "has role_arn, and neither source_profile nor credential_source; add one of them"),
            ("both", "has both source_profile and credential_source; remove one"),
            ("code", "has mfa_serial, and nobody is there to type the code"),
            ("moon", "has credential_source = Moon; write Environment, Ec2InstanceMetadata or EcsContainer"),
            ("long", "has duration_seconds = 60: write a number from 900 to 43200"),
            ("half", "has web_identity_token_file and no role_arn; add it"),
            (
                "machine",
                "has credential_source = Environment, and AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set"
            ),
        ])
    func `A profile that leads nowhere is told, and nobody is asked`(profile: String, message: String) async {
        let (chain, transport) = made([], profile: profile)
        let error = await #expect(throws: StoreError.self) { try await chain.resolve() }
        #expect(error?.code == .credentialsMissing)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(transport.requests.isEmpty)
    }

    @Test(
        arguments: [
            (
                refused(403, "AccessDenied", "User: arn:x is not authorized to perform: sts:AssumeRole"),
                .credentialsRejected,
                "does not give the role arn:aws:iam::1:role/photos: AccessDenied: User: arn:x is not authorized"
            ),
            (refused(400, "ExpiredToken", "expired"), .credentialsRejected, "of the credentials from profile \"base\""),
            (refused(400, "Throttling", "Rate exceeded"), .throttled, "Rate exceeded"),
            (.reply(503, [:], "<html>"), .serverFailed, "503"),
            (.failure(TransportError(.timedOut, "no answer")), .timedOut, "cannot be asked: no answer"),
            (.reply(200, [:], "<html></html>"), .credentialsRejected, "sent no credentials"),
            (.reply(200, [:], "<AssumeRoleResponse/>"), .credentialsRejected, "its XML has no credentials"),
        ] as [(Answer, StoreError.Code, String)])
    func `What the service says is told, and whether it may pass`(
        answer: Answer, code: StoreError.Code, message: String
    ) async {
        let (chain, _) = made([answer], profile: "role")
        let error = await #expect(throws: StoreError.self) { try await chain.resolve() }
        #expect(error?.code == code)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("base-secret") == false)
    }

    @Test(
        arguments: [
            (["AWS_WEB_IDENTITY_TOKEN_FILE": "/gone", "AWS_ROLE_ARN": "arn"], "token file /gone is not there"),
            (["AWS_WEB_IDENTITY_TOKEN_FILE": "/two", "AWS_ROLE_ARN": "arn"], "token file /two holds no token"),
            (["AWS_WEB_IDENTITY_TOKEN_FILE": "/two"], "AWS_ROLE_ARN is not: set both or neither"),
        ] as [([String: String], String)])
    func `A web identity without its token or role is told`(variables: [String: String], message: String) async {
        let (chain, _) = made([], variables, profile: nil)
        let error = await #expect(throws: StoreError.self) { try await chain.resolve() }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test func `A role is taken again before it ends`() async throws {
        let clock = Lock(Self.start)
        let (_, transport) = made([], profile: nil)
        _ = transport
        let scripted = ScriptedTransport([Self.given("AssumeRole", "ONE"), Self.given("AssumeRole", "TWO")])
        let environment = AWSEnvironment(variables: ["HOME": "/home/ana"], profile: "role") { path throws(StoreError) in
            path == "/home/ana/.aws/config" ? Self.config : nil
        }
        let chain = CredentialChain(
            CredentialServices(
                environment: environment, transport: scripted, pool: BlockingPool(name: "test", threads: 1),
                now: { clock.withLock { $0 } }))
        let cache = CredentialCache(chain: chain, now: { clock.withLock { $0 } })
        #expect(try await cache.current(for: "put").accessKeyID == "ONE")
        clock.withLock { $0 = Self.start.addingTimeInterval(2_600) }
        #expect(try await cache.current(for: "put").accessKeyID == "ONE")
        clock.withLock { $0 = Self.start.addingTimeInterval(3_001) }
        #expect(try await cache.current(for: "put").accessKeyID == "TWO")
    }
}
