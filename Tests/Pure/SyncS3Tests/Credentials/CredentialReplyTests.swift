import FoundationEssentials
import Testing

@testable import SyncS3

@Suite struct CredentialReplyTests {
    @Test(
        arguments: [
            (#"{"Version": 1, "AccessKeyId": "A", "SecretAccessKey": "S"}"#, nil, nil),
            (#"{"AccessKeyId": "A", "SecretAccessKey": "S", "SessionToken": "T", "Expiration": ""}"#, "T", nil),
            (
                #"{"Code": "Success", "AccessKeyId": "A", "SecretAccessKey": "S", "Token": "T", "RoleArn": "r", "#
                    + #""Expiration": "1970-01-01T00:01:00Z"}"#, "T", 60
            ),
            (#"{"AccessKeyId": "A", "SecretAccessKey": "S", "Expiration": "1970-01-01T00:01:00+00:00"}"#, nil, 60),
            (#"{"AccessKeyId": "A", "SecretAccessKey": "S", "Expiration": "1970-01-01T02:01:00.5+02:00"}"#, nil, 60.5),
        ] as [(String, String?, TimeInterval?)])
    func `Programs and endpoints tell credentials in much the same way`(
        json: String, token: String?, end: TimeInterval?
    ) throws {
        let expected = AWSCredentials(
            accessKeyID: "A", secretAccessKey: "S", sessionToken: token,
            expiration: end.map { Date(timeIntervalSince1970: $0) }, source: .container)
        #expect(try CredentialReply(Array(json.utf8)).credentials(from: .container) == expected)
    }

    @Test(arguments: [
        ("", "is no JSON object of credentials"), ("[]", "is no JSON object of credentials"),
        (#"{"AccessKeyId": 5}"#, "is no JSON object of credentials"), ("{}", "has no AccessKeyId"),
        (#"{"AccessKeyId": "A", "SecretAccessKey": ""}"#, "has no SecretAccessKey"),
        (
            #"{"AccessKeyId": "A", "SecretAccessKey": "S", "Expiration": "soon"}"#,
            "has an Expiration that is no time"
        ),
    ])
    func `What is missing or wrong is named`(json: String, reason: String) {
        let error = #expect(throws: CredentialReply.Invalid.self) {
            try CredentialReply(Array(json.utf8)).credentials(from: .container)
        }
        #expect(error?.reason == reason)
    }

    @Test func `Version and code are told as they were sent`() throws {
        let reply = try CredentialReply(Array(#"{"Version": 2, "Code": "Failed"}"#.utf8))
        #expect(reply.version == 2)
        #expect(reply.code == "Failed")
        #expect(try CredentialReply(Array("{}".utf8)).version == nil)
    }
}
