import SyncS3
import Testing

@Suite struct RedactionTests {
    @Test(arguments: [
        ("", ""), (" \n\t ", ""), ("no such profile:\n  work\n", "no such profile: work"),
        ("key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY refused", "key *** refused"),
        (#"{"SecretAccessKey":"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}"#, #"{"SecretAccessKey":"***"}"#),
        ("secret=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "***"),
        ("short is known: hunter2, and hunter22", "short is known: ***, and ***2"),
        ("/usr/local/aws-cli/v2/current/bin/some-long-tool", "/usr/local/aws-cli/v2/current/bin/some-long-tool"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"), ("bell\u{7}", "bell\\u{7}"),
    ])
    func `Keys, tokens and known secrets are taken out`(text: String, clean: String) {
        #expect(Redaction(known: ["hunter2", ""]).text(text.utf8) == clean)
    }

    @Test(arguments: [
        (
            "signature " + String(repeating: "0123456789abcdef", count: 4), "signature ***"
        ),
        ("GET /a?X-Amz-Signature=abc&X-Amz-Date=1", "GET /a?X-Amz-Signature=***&X-Amz-Date=1"),
        (#"{"token": "abc", "b": 1}"#, #"{"token": "***", "b": 1}"#), ("Password=hunter2; x", "Password=***; x"),
        ("Authorization: Bearer abc.def-g", "Authorization: Bearer ***"),
        ("the token is invalid", "the token is invalid"),
        ("photos/d41d8cd98f00b204e9800998ecf8427e.dat", "photos/d41d8cd98f00b204e9800998ecf8427e.dat"),
    ])
    func `What stands behind the name of a secret, and signatures, are taken out`(text: String, clean: String) {
        #expect(Redaction(known: []).text(text.utf8) == clean)
    }

    @Test func `Of long words the end is kept`() {
        let text = String(repeating: "a b ", count: 500) + "the reason"
        let clean = Redaction(known: []).text(text.utf8, limit: 20)
        #expect(clean.hasPrefix("…") && clean.hasSuffix("the reason") && clean.count == 21)
    }
}
