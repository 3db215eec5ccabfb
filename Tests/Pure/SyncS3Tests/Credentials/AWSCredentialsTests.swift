import FoundationEssentials
import SyncCore
import Testing

@testable import SyncS3

@Suite struct AWSCredentialsTests {
    @Test func `Secrets do not show in descriptions, dumps and interpolations`() {
        let credentials = AWSCredentials(
            accessKeyID: "AKIDEXAMPLE", secretAccessKey: "top-secret", sessionToken: "also-secret")
        let signer = SignatureV4(credentials: credentials, region: "us-east-1")
        for value in [credentials, signer, CredentialAnswer.found(credentials)] as [any Sendable] {
            for text in texts(of: value) {
                #expect(text.contains("AKIDEXAMPLE"))
                #expect(!text.contains("top-secret") && !text.contains("also-secret"))
            }
        }
    }

    @Test func `What credentials are made from shows none either`() throws {
        let environment = AWSEnvironment(
            variables: ["AWS_SECRET_ACCESS_KEY": "top-secret"], profile: "work"
        ) { _ throws(StoreError) in nil }
        let file = ProfileFile("[default]\naws_secret_access_key = top-secret\n", kind: .credentials)
        let reply = try CredentialReply(Array(#"{"SecretAccessKey": "top-secret"}"#.utf8))
        let provider = EnvironmentCredentials(environment: environment)
        for value in [environment, file, reply, provider] as [any Sendable] {
            for text in texts(of: value) { #expect(!text.contains("top-secret")) }
        }
    }

    @Test(
        arguments: [
            (.environment, "environment"),
            (.profile("work", file: "/h/.aws/credentials"), "profile \"work\" of /h/.aws/credentials"),
            (.process(profile: "work"), "credential_process of profile \"work\""),
            (.container, "container"), (.instanceRole("photos"), "instance role photos"),
        ] as [(CredentialSource, String)])
    func `A source says where it is`(source: CredentialSource, text: String) {
        #expect(source.description == text)
    }

    private func texts(of value: any Sendable) -> [String] {
        var dumped = ""
        dump(["nested": value], to: &dumped)
        return ["\(value)", String(describing: value), String(reflecting: value), dumped]
    }
}
