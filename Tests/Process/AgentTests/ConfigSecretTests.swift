import SyncTestSupport
import SystemPackage
import Testing

/// What is wrong with a configuration is told without the secrets in it, wherever they stand.
@Suite struct ConfigSecretTests {
    private static let key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    private static let s3 = "user: ana\nstore: {type: s3, bucket: photos, "

    @Test(
        arguments: [
            // Addresses with a name and a password, in each field that may be taken for one's.
            (s3 + "endpoint: 'https://ana:hunter2@nas.example:9000'}", "hunter2"),
            (s3 + "endpoint: 'ana:hunter2@nas.example:9000'}", "hunter2"),
            (s3 + "endpoint: 'https://ana:hunter2%40nas.example'}", "hunter2"),
            (s3 + "endpoint: 'https:ana:hunter2'}", "hunter2"),
            (s3 + "endpoint: 'https://ana:hunter2/'}", "hunter2"),
            (s3 + "endpoint: 'https://nas.example/?token=hunter2'}", "hunter2"),
            (s3 + "endpoint: 'https://nas.example/#hunter2'}", "hunter2"),
            (s3 + "region: 'https://ana:hunter2@nas.example'}", "hunter2"),
            (s3 + "addressing: 'https://ana:hunter2@nas.example'}", "hunter2"),
            ("user: ana\nshare: {public_base_url: 'http://ana:hunter2@photos.example'}", "hunter2"),
            ("user: ana\nshare: {public_base_url: 'http://photos.example/?sig=hunter2'}", "hunter2"),
            ("user: ana\nshare: {phone_region: 'ana:hunter2@x'}", "hunter2"),
            ("user: ana\nnotify: {webhook: 'ftp://ana:hunter2@hooks.example/T0/B0'}", "hunter2"),
            ("user: ana\nnotify: {webhook: [hunter2]}", "hunter2"),
            ("user: ana\nnotify: {command: 'curl -u ana:hunter2 https://x'}", "hunter2"),
            ("user: ana\nnotify: {command: 'curl -H hunter2 https://x'}", "hunter2"),
            ("user: ana\nstore: {path: 'smb://ana:hunter2@nas/photos'}", "hunter2"),
            (
                "user: ana\nstore: {path: 'smb://ana:hunter2@nas/x'}\nwatch:\n- {kind: gallery, path: 'smb://ana:hunter2@nas/x/y'}",
                "hunter2"
            ),
            ("user: ana\ncost: {prices: 'https://ana:hunter2@x/prices.yaml'}", "hunter2"),
            ("user: 'https://ana:hunter2@nas.example'", "hunter2"),
            ("user: ana\nstore: 'https://ana:hunter2@nas.example'", "hunter2"),
            ("user: ana\nwatch: 'smb://ana:hunter2@nas/photos'", "hunter2"),
            // Keys and tokens where something else belongs, and where nothing does.
            (s3 + "region: \(key)}", key), (s3 + "bucket: \(key), bucket: x}", key), (s3 + "kms_key: '\(key) '}", key),
            (s3 + "encryption: AKIAIOSFODNN7EXAMPLE}", "AKIAIOSFODNN7EXAMPLE"),
            (s3 + "secret_access_key: hunter2}", "hunter2"), (s3 + "profile: {password: hunter2}}", "hunter2"),
            (s3 + "addressing: ghp_16C7e42F292c6912E7710c838347Ae178B4a}", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
            ("user: ana\nphotos: 'password: hunter2'", "hunter2"), ("user: ana\nphotos: password=hunter2", "hunter2"),
            ("user: ana\nphotos: {quality: secret hunter2}", "hunter2"),
            // Names of keys.
            ("user: ana\n'https://ana:hunter2@nas.example': x", "hunter2"),
            ("user: ana\nstore:\n  ? 'https://ana:hunter2@nas.example'\n", "hunter2"),
            ("user: ana\n\(key): x", key), ("user: ana\npassword hunter2: x", "hunter2"),
            ("user: ana\n'ana:hunter2@x': 1\n'ana:hunter2@x': 2", "hunter2"),
            // What is no YAML.
            ("user: ana\nstore: {endpoint: https://ana:hunter2@nas.example: 9000}", "hunter2"),
            ("user: ana\nnotify:\n  webhook: https://ana:hunter2@x: y", "hunter2"),
            ("user: ana\nnotify:\n\twebhook: https://ana:hunter2@x", "hunter2"),
            ("user: ana\nnotify:\n  webhook: \"https://ana:hunter2@x", "hunter2"),
            ("user: ana\nnotify:\n  webhook: \"https://ana:hunter2\\q@x\"", "hunter2"),
            ("user: ana\nnotify:\n  webhook: *hunter2", "hunter2"),
            ("user: ana\nnotify:\n  webhook: !hunter2@pw x", "hunter2"),
            ("user: ana\nnotify:\n  webhook: @hunter2", "hunter2"),
            ("user: ana\nnotify: {webhook: [hunter2", "hunter2"),
            ("user: ana\nnotify:\n  webhook: x\n webhook: hunter2", "hunter2"), ("user: ana\nhunter2\nx: y", "hunter2"),
            ("user: ana\nnotify: %hunter2", "hunter2"), ("%hunter2 1\n---\nuser: ana", "hunter2"),
        ] as [(String, String)])
    func `an error in the configuration repeats no password, key or token`(text: String, secret: String) async throws {
        let home = try AgentHome()
        try home.configure(text)
        for arguments in [["config", "check"], ["status"], ["sync", "--json"]] {
            let finished = try await home.start(arguments).finished()
            #expect(finished.code == 78, "\(finished.ending): \(finished.complaint)")
            #expect(!finished.complaint.contains(secret) && !finished.text.contains(secret), "\(finished.complaint)")
            // It is told all the same where the trouble is.
            #expect(finished.complaint.contains("config.yaml: "))
        }
    }
}
