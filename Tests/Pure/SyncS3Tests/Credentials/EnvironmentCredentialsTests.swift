import FoundationEssentials
import SyncCore
import Testing

@testable import SyncS3

@Suite struct EnvironmentCredentialsTests {
    private static let keys = ["AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "env-secret"]

    private func answer(_ variables: [String: String]) async throws -> CredentialAnswer {
        try await EnvironmentCredentials(
            environment: AWSEnvironment(variables: variables, profile: nil) { _ throws(StoreError) in nil }
        ).credentials()
    }

    @Test(
        arguments: [
            ([:], nil, nil), (["AWS_SESSION_TOKEN": "t", "AWS_SECURITY_TOKEN": "old"], "t", nil),
            (["AWS_SECURITY_TOKEN": "old"], "old", nil),
            (["AWS_CREDENTIAL_EXPIRATION": "1970-01-01T01:00:00Z"], nil, 3_600),
            (["AWS_CREDENTIAL_EXPIRATION": "1970-01-01T01:00:00+00:00"], nil, 3_600),
        ] as [([String: String], String?, TimeInterval?)])
    func `Two variables are a key pair, and others belong to it`(
        more: [String: String], token: String?, end: TimeInterval?
    ) async throws {
        let expected = AWSCredentials(
            accessKeyID: "ENV", secretAccessKey: "env-secret", sessionToken: token,
            expiration: end.map { Date(timeIntervalSince1970: $0) }, source: .environment)
        #expect(try await answer(Self.keys.merging(more) { given, _ in given }) == .found(expected))
    }

    @Test(arguments: [[:], ["AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""], ["AWS_SESSION_TOKEN": "t"]])
    func `Without them the environment is not set up`(variables: [String: String]) async throws {
        #expect(
            try await answer(variables)
                == .absent(reason: "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set"))
    }

    @Test(
        arguments: [
            (
                ["AWS_ACCESS_KEY_ID": "ENV"], .credentialsMissing,
                "AWS_ACCESS_KEY_ID is set, AWS_SECRET_ACCESS_KEY is not: set both or neither"
            ),
            (
                ["AWS_SECRET_ACCESS_KEY": "x"], .credentialsMissing,
                "AWS_SECRET_ACCESS_KEY is set, AWS_ACCESS_KEY_ID is not: set both or neither"
            ),
            (
                keys.merging(["AWS_CREDENTIAL_EXPIRATION": "soon"]) { given, _ in given }, .credentialsRejected,
                "AWS_CREDENTIAL_EXPIRATION is \"soon\""
            ),
        ] as [([String: String], StoreError.Code, String)])
    func `Variables that make no sense together are an error`(
        variables: [String: String], code: StoreError.Code, message: String
    ) async {
        let error = await #expect(throws: StoreError.self) { try await answer(variables) }
        #expect(error?.code == code)
        #expect(error?.message.contains(message) == true)
    }
}
