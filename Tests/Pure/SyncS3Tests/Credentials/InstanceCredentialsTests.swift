import FoundationEssentials
import SyncCore
import Testing

@testable import SyncS3

@Suite struct InstanceCredentialsTests {
    typealias Answer = ScriptedTransport.Answer

    private static let token = Answer.reply(200, [:], "TOKEN")
    private static let role = Answer.reply(200, [:], "photos@home\n")
    private static let keys = Answer.reply(
        200, [:],
        #"{"Code": "Success", "AccessKeyId": "A", "SecretAccessKey": "S", "Token": "T", "Expiration": "1970-01-01T00:01:00Z"}"#
    )
    private static let lines = [
        "PUT /latest/api/token", "GET /latest/meta-data/iam/security-credentials/",
        "GET /latest/meta-data/iam/security-credentials/photos%40home",
    ]

    private func provider(
        _ transport: ScriptedTransport, _ variables: [String: String] = [:]
    ) -> InstanceCredentials {
        InstanceCredentials(
            environment: AWSEnvironment(variables: variables, profile: nil) { _ throws(StoreError) in nil },
            transport: transport)
    }

    @Test(
        arguments: [
            (token, "TOKEN"), (.reply(403), nil), (.reply(404), nil), (.reply(405), nil),
        ] as [(Answer, String?)])
    func `A token, the role, its keys; without a token where the service has none`(
        tokenReply: Answer, token: String?
    ) async throws {
        let transport = ScriptedTransport([tokenReply, Self.role, Self.keys])
        guard case .found(let credentials) = try await provider(transport).credentials() else {
            Issue.record("nothing found")
            return
        }
        #expect(credentials.accessKeyID == "A" && credentials.sessionToken == "T")
        #expect(credentials.expiration?.timeIntervalSince1970 == 60)
        #expect(credentials.source == .instanceRole("photos@home"))
        #expect(transport.lines == Self.lines)
        #expect(transport.requests[0].headers["x-aws-ec2-metadata-token-ttl-seconds"] == "21600")
        #expect(transport.requests.dropFirst().allSatisfy { $0.headers["x-aws-ec2-metadata-token"] == token })
        #expect(transport.requests.allSatisfy { $0.isDirect && $0.patience == .seconds(1) })
        #expect(transport.requests.allSatisfy { $0.url.host == "169.254.169.254" })
    }

    @Test(
        arguments: [
            (["AWS_EC2_METADATA_DISABLED": "True"], [], "AWS_EC2_METADATA_DISABLED is true", 0),
            (
                [:], [.failure(TransportError(.timedOut, "late"))],
                "no instance metadata at http://169.254.169.254 (late)", 1
            ),
            (
                [:], [.reply(400)],
                "the instance metadata at http://169.254.169.254 answers 400 to the request for a token", 1
            ),
            (
                ["AWS_EC2_METADATA_V1_DISABLED": "true"], [.reply(404)],
                "the instance metadata at http://169.254.169.254 answers 404 to the request for a token", 1
            ),
            (
                ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://[fd00:ec2::254]/"], [token, .reply(404)],
                "the instance metadata at http://[fd00:ec2::254] knows no role of this instance (404)", 2
            ),
            ([:], [token, .reply(200)], "the instance metadata at http://169.254.169.254 knows no role", 2),
        ] as [([String: String], [Answer], String, Int)])
    func `A machine without a role is not set up`(
        variables: [String: String], answers: [Answer], reason: String, requests: Int
    ) async throws {
        let transport = ScriptedTransport(answers)
        guard case .absent(let told) = try await provider(transport, variables).credentials() else {
            Issue.record("something found")
            return
        }
        #expect(told.hasPrefix(reason))
        #expect(transport.requests.count == requests)
    }

    @Test(
        arguments: [
            ([token, .reply(200, [:], "../evil")], .credentialsRejected, "names a role that is no name"),
            ([token, role, .reply(404)], .credentialsRejected, "answers 404 for the role photos@home"),
            ([token, role, .reply(500)], .serverFailed, "answers 500 for the role photos@home"),
            (
                [token, role, .reply(200, [:], #"{"Code": "AssumeRoleUnauthorizedAccess", "Message": "m"}"#)],
                .credentialsRejected, "refuses the role photos@home: AssumeRoleUnauthorizedAccess"
            ),
            ([token, role, .reply(200, [:], "<html>")], .credentialsRejected, "the reply is no JSON object"),
        ] as [([Answer], StoreError.Code, String)])
    func `A role whose keys cannot be had is an error`(
        answers: [Answer], code: StoreError.Code, message: String
    ) async {
        let error = await #expect(throws: StoreError.self) {
            try await provider(ScriptedTransport(answers)).credentials()
        }
        #expect(error?.code == code)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
}
