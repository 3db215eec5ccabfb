import SyncCore
import SyncSystem
import Testing

@testable import SyncS3

@Suite struct ContainerCredentialsTests {
    private static let relative = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
    private static let full = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
    private static let reply = #"{"AccessKeyId": "A", "SecretAccessKey": "S", "Token": "T"}"#

    private func environment(_ variables: [String: String], token: String? = nil) -> AWSEnvironment {
        AWSEnvironment(variables: variables, profile: nil) { path throws(StoreError) in path == "/token" ? token : nil }
    }

    private func provider(_ environment: AWSEnvironment, _ transport: ScriptedTransport) -> ContainerCredentials {
        ContainerCredentials(
            environment: environment, transport: transport, pool: BlockingPool(name: "test", threads: 1))
    }

    @Test(
        arguments: [
            ([:], nil),
            ([relative: "/v2/creds?id=1"], "http://169.254.170.2/v2/creds?id=1"),
            ([relative: "/v2", full: "https://x.example/"], "http://169.254.170.2/v2"),
            ([full: "http://169.254.170.23/v1/credentials"], "http://169.254.170.23/v1/credentials"),
            ([full: "http://[fd00:ec2::23]/v1"], "http://[fd00:ec2::23]/v1"),
            ([full: "http://localhost:8080/a%20b"], "http://localhost:8080/a%20b"),
            ([full: "http://127.0.0.2:1"], "http://127.0.0.2:1/"), ([full: "http://[::1]:9/x"], "http://[::1]:9/x"),
            ([full: "https://creds.example.org/x"], "https://creds.example.org/x"),
        ] as [([String: String], String?)])
    func `The endpoint is this machine, one of three addresses, or any over TLS`(
        variables: [String: String], url: String?
    ) throws {
        #expect(try ContainerCredentials.url(environment(variables))?.description == url)
    }

    @Test(arguments: [
        (full, "http://creds.example.org/x"), (full, "http://169.254.170.3/"), (full, "http://127.0.0.1.example.org/"),
        (full, "http://1270.0.0.1/"), (full, "http://localhost.example.org/"),
        (full, "http://169.254.170.2@evil.example/"),
        (full, "ftp://localhost/"), (full, "/relative"), (full, "nonsense"), (relative, "no-slash"),
        (relative, "@evil.example/"),
    ])
    func `A token goes nowhere else`(name: String, text: String) {
        let error = #expect(throws: StoreError.self) { try ContainerCredentials.url(environment([name: text])) }
        #expect(error?.code == .credentialsRejected)
        #expect(error?.message.hasPrefix("\(name) cannot be used: ") == true)
    }

    @Test(
        arguments: [
            (["AWS_CONTAINER_AUTHORIZATION_TOKEN": "plain"], nil, "plain"),
            (
                ["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/token", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "plain"],
                "from file\n", "from file"
            ),
            ([:], nil, nil),
        ] as [([String: String], String?, String?)])
    func `The token of the file comes before that of the variable`(
        variables: [String: String], file: String?, token: String?
    ) async throws {
        let transport = ScriptedTransport([.reply(200, [:], Self.reply)])
        let environment = environment(variables.merging([Self.relative: "/c"]) { given, _ in given }, token: file)
        let answer = try await provider(environment, transport).credentials()
        #expect(
            answer
                == .found(
                    AWSCredentials(
                        accessKeyID: "A", secretAccessKey: "S", sessionToken: "T", source: .container)))
        let request = try #require(transport.requests.first)
        #expect(request.headers["Authorization"] == token)
        #expect(request.isDirect && request.patience == .seconds(2))
    }

    @Test(
        arguments: [
            (.reply(403, [:], "not you"), .credentialsRejected, "answered 403: not you"),
            (.reply(404), .credentialsRejected, "answered 404"), (.reply(429), .throttled, "answered 429"),
            (.reply(503), .serverFailed, "answered 503"),
            (.reply(200, [:], "<html>"), .credentialsRejected, "the reply is no JSON object of credentials"),
            (.reply(200, [:], "{}"), .credentialsRejected, "the reply has no AccessKeyId"),
            (.failure(TransportError(.unreachable, "refused")), .unreachable, "cannot be asked: refused"),
            (.failure(TransportError(.timedOut, "late")), .timedOut, "cannot be asked: late"),
        ] as [(ScriptedTransport.Answer, StoreError.Code, String)])
    func `An endpoint that is set and fails is named`(
        answer: ScriptedTransport.Answer, code: StoreError.Code, message: String
    ) async {
        let provider = provider(environment([Self.relative: "/secret-path"]), ScriptedTransport([answer]))
        let error = await #expect(throws: StoreError.self) { try await provider.credentials() }
        #expect(error?.code == code)
        #expect(
            error?.message.hasPrefix("the container's credential endpoint at http://169.254.170.2 ") == true
                && error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [
        (nil, "there is no such file"), ("two\nlines", "the token of /token is more than one line of text"),
        ("bell\u{7}", "the token of /token is more than one line of text"),
    ])
    func `A token that cannot be sent is not sent`(file: String?, message: String) async {
        let transport = ScriptedTransport([])
        let environment = environment(
            [Self.relative: "/c", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/token"], token: file)
        let error = await #expect(throws: StoreError.self) {
            try await provider(environment, transport).credentials()
        }
        #expect(error?.code == .credentialsRejected && error?.message.contains(message) == true)
        #expect(transport.requests.isEmpty)
    }
}
