import FoundationEssentials
import SyncCore
import SyncSystem
import Testing

@testable import SyncS3

@Suite struct ProfileCredentialsTests {
    private static let files = [
        "/home/ana/.aws/credentials": """
        [default]
        aws_access_key_id = FILE
        aws_secret_access_key = file-secret
        [work]
        aws_access_key_id = WORK
        aws_secret_access_key = work-secret
        aws_session_token = work-token
        [half]
        aws_access_key_id = HALF
        [both]
        aws_access_key_id = BOTH
        aws_secret_access_key = s
        """,
        "/home/ana/.aws/config": """
        [default]
        region = eu-west-1
        [profile inconfig]
        aws_access_key_id = INCONFIG
        aws_secret_access_key = config-secret
        [profile both]
        aws_access_key_id = UNUSED
        aws_secret_access_key = s
        credential_process = /never/run
        [profile none]
        region = eu-west-1
        [profile login]
        login_session = arn:aws:iam::1:user/ana
        [profile quote]
        credential_process = tool 'open
        """,
        "/elsewhere": "[default]\naws_access_key_id = ELSEWHERE\naws_secret_access_key = s\n",
    ]
    private static let places = "/home/ana/.aws/credentials and /home/ana/.aws/config"

    private func answer(_ variables: [String: String], profile: String? = nil) async throws -> CredentialAnswer {
        let environment = AWSEnvironment(
            variables: variables.merging(["HOME": "/home/ana"]) { given, _ in given }, profile: profile
        ) { path throws(StoreError) in Self.files[path] }
        return try await ProfileCredentials(
            services: CredentialServices(
                environment: environment, transport: ScriptedTransport([]),
                pool: BlockingPool(name: "test", threads: 1), now: { Date(timeIntervalSince1970: 0) })
        ).credentials()
    }

    @Test(
        arguments: [
            ([:], nil, "FILE", "/home/ana/.aws/credentials"),
            ([:], "work", "WORK", "/home/ana/.aws/credentials"),
            (["AWS_PROFILE": "work"], nil, "WORK", "/home/ana/.aws/credentials"),
            (["AWS_DEFAULT_PROFILE": "work"], nil, "WORK", "/home/ana/.aws/credentials"),
            (["AWS_PROFILE": "work"], "inconfig", "INCONFIG", "/home/ana/.aws/config"),
            (["AWS_PROFILE": ""], nil, "FILE", "/home/ana/.aws/credentials"),
            (["AWS_PROFILE": "both"], nil, "BOTH", "/home/ana/.aws/credentials"),
            (["AWS_SHARED_CREDENTIALS_FILE": "/elsewhere"], nil, "ELSEWHERE", "/elsewhere"),
            (["AWS_SHARED_CREDENTIALS_FILE": "~/.aws/credentials"], nil, "FILE", "/home/ana/.aws/credentials"),
        ] as [([String: String], String?, String, String)])
    func `The profile's first key pair is found`(
        variables: [String: String], profile: String?, key: String, file: String
    ) async throws {
        guard case .found(let credentials) = try await answer(variables, profile: profile) else {
            Issue.record("nothing found")
            return
        }
        #expect(credentials.accessKeyID == key)
        #expect(credentials.sessionToken == (key == "WORK" ? "work-token" : nil))
        #expect(credentials.expiration == nil)
        let name = profile ?? variables["AWS_PROFILE"].flatMap { $0.isEmpty ? nil : $0 }
        let expected = name ?? variables["AWS_DEFAULT_PROFILE"] ?? "default"
        #expect(credentials.source == .profile(expected, file: file))
    }

    @Test(
        arguments: [
            (
                ["HOME": "/none"],
                "there is no profile \"default\" in /none/.aws/credentials and /none/.aws/config"
            ),
            (["AWS_PROFILE": "none"], "profile \"none\" of \(places) has no keys"),
        ] as [([String: String], String)])
    func `A profile without keys is not set up`(variables: [String: String], reason: String) async throws {
        #expect(try await answer(variables) == .absent(reason: reason))
    }

    @Test(
        arguments: [
            (
                [:], "gone", .credentialsMissing,
                "there is no profile \"gone\" in \(places); add it or correct store.profile"
            ),
            (["AWS_PROFILE": "gone"], nil, .credentialsMissing, "add it or correct AWS_PROFILE"),
            (
                [:], "half", .credentialsMissing,
                "profile \"half\" of /home/ana/.aws/credentials has only one of aws_access_key_id and"
            ),
            (
                [:], "login", .credentialsMissing,
                "has login_session, which sync-agent does not follow; add to it: credential_process = "
                    + "aws configure export-credentials --profile login --format process"
            ),
            (
                [:], "quote", .credentialsRejected,
                "credential_process of profile \"quote\" cannot be split into words: a quote is not closed"
            ),
        ] as [([String: String], String?, StoreError.Code, String)])
    func `A profile that is wrong is an error that says what to do`(
        variables: [String: String], profile: String?, code: StoreError.Code, message: String
    ) async {
        let error = await #expect(throws: StoreError.self) { try await answer(variables, profile: profile) }
        #expect(error?.code == code)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
}
