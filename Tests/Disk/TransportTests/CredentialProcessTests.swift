import Foundation
import Glibc
import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncS3

/// A `credential_process` as profiles name it: shell scripts in a folder of the test's.
@Suite struct CredentialProcessTests {
    private static let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    private let tree: TemporaryTree

    init() throws {
        tree = try TemporaryTree()
        try tree.makeFolder(".aws")
        try tree.makeFolder("my tools")
    }

    /// The shell reads the script: to execute a file that was just written fails while another test's child, which has
    /// not come to its own execve(2) yet, still holds the descriptor (ETXTBSY).
    private func answer(script: String, arguments: String = "") async throws -> CredentialAnswer {
        let tool = try tree.write(script, to: "my tools/tool")
        return try await answer(command: "sh \"\(tool)\" \(arguments)")
    }

    private func answer(command: String) async throws -> CredentialAnswer {
        try tree.write("[profile work]\ncredential_process = \(command)\n", to: ".aws/config")
        let environment = AWSEnvironment(
            variables: [
                "HOME": tree.root.string, "PATH": "/bin:/usr/bin", "AWS_SESSION_TOKEN": "hunter2",
                "OTHER": "for the tool",
            ], profile: "work"
        ) { path throws(StoreError) in try? String(contentsOfFile: path, encoding: .utf8) }
        return try await ProfileCredentials(
            services: CredentialServices(
                environment: environment, transport: try CurlTransport(),
                pool: BlockingPool(name: "test", threads: 1), now: { Date(timeIntervalSince1970: 0) })
        ).credentials()
    }

    @Test func `What the program prints are the credentials`() async throws {
        let script = #"""
            echo "a warning" >&2
            cat <<END
            {"Version": 1, "AccessKeyId": "$1", "SecretAccessKey": "$2 $OTHER", "SessionToken": "$#",
             "Expiration": "1970-01-01T00:01:00Z"}
            END
            """#
        #expect(
            try await answer(script: script, arguments: "'A B' \"it's\" '' $HOME")
                == .found(
                    AWSCredentials(
                        accessKeyID: "A B", secretAccessKey: "it's for the tool", sessionToken: "4",
                        expiration: Date(timeIntervalSince1970: 60), source: .process(profile: "work"))))
    }

    @Test(arguments: [
        ("exit 1", "exited with 1; run it by hand to see why"),
        (
            "echo 'no such user: ana' >&2; exit 42",
            "exited with 42; run it by hand to see why: what it wrote is not repeated"
        ),
        ("echo 'key \(secret), token hunter2' >&2; exit 1", "exited with 1; run it by hand to see why: what it wrote"),
        ("echo 'signing in with swordfish' >&2; exit 1", "exited with 1; run it by hand"),
        ("echo 'hunter4' >&2; kill -KILL $$", "was ended by signal 9; run it by hand"),
        ("kill -KILL $$", "was ended by signal 9"),
        ("echo '\(secret)'", "what it printed is no JSON object of credentials"),
        (":", "what it printed is no JSON object of credentials"),
        (#"echo '{"AccessKeyId": "A", "SecretAccessKey": "\#(secret)"}'"#, "printed credentials of no Version"),
        (#"echo '{"Version": 2, "SecretAccessKey": "\#(secret)"}'"#, "printed credentials of Version 2"),
        (#"echo '{"Version": 1, "SecretAccessKey": "\#(secret)"}'"#, "what it printed has no AccessKeyId"),
        ("head -c 100000 /dev/zero", "printed more than 65536 bytes"),
    ])
    func `A program that fails is named, with its reason and without secrets`(script: String, message: String) async {
        let error = await #expect(throws: StoreError.self) {
            try await answer(script: script, arguments: "--password hunter3")
        }
        #expect(error?.code == .credentialsRejected)
        let text = error?.description ?? ""
        #expect(
            text.hasPrefix("credentials: credential_process of profile \"work\" (sh)"),
            "\(text)")
        #expect(text.contains(message), "\(text)")
        for secret in [Self.secret, "hunter2", "hunter3", "hunter4", "swordfish", "ana"] {
            #expect(!text.contains(secret))
        }
    }

    @Test(arguments: [
        ("/no/such/tool --x", "(/no/such/tool) cannot be started: No such file or directory"),
        ("''", "() cannot be started: No such file or directory"),
        ("PASSWORD=hunter2 tool", "(a name that is not shown here) cannot be started: No such file or directory"),
        ("'tool", "cannot be split into words: a quote is not closed"),
    ])
    func `A command that is none is named`(command: String, message: String) async {
        let error = await #expect(throws: StoreError.self) { try await answer(command: command) }
        #expect(error?.code == .credentialsRejected)
        #expect(error?.message == "credential_process of profile \"work\" \(message)")
    }
}
