import SyncS3
import Testing

@Suite struct AWSCredentialsTests {
    @Test func `Secrets do not show in descriptions, dumps and interpolations`() {
        let credentials = AWSCredentials(
            accessKeyID: "AKIDEXAMPLE", secretAccessKey: "top-secret", sessionToken: "also-secret")
        var dumped = ""
        dump(["nested": credentials], to: &dumped)
        let signer = SignatureV4(credentials: credentials, region: "us-east-1")
        for text in [
            "\(credentials)", String(reflecting: credentials), dumped, "\(signer)", String(reflecting: signer),
        ] {
            #expect(text.contains("AKIDEXAMPLE"))
            #expect(!text.contains("secret-") && !text.contains("top-secret") && !text.contains("also-secret"))
        }
    }
}
