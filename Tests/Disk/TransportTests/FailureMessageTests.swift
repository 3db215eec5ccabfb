import Foundation
import SyncCore
import SyncS3
import SyncTestSupport
import Testing

/// A store that cannot be used at all: each reason has its code, and one sentence that ends in what to do.
@Suite struct FailureMessageTests {
    typealias Row = (
        scheme: String, variables: [String: String], reply: String?, code: StoreError.Code, words: [String]
    )

    private static let keys = [
        "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "hidden", "HOME": "/nonexistent",
    ]

    /// What `check` throws; `nil` when the store can be used.
    private func failure(
        _ settings: S3Settings, _ variables: [String: String], now: @escaping @Sendable () -> Date = { Date() }
    ) async throws -> StoreError? {
        let store = try S3Store(settings: settings, environment: variables, now: now)
        var failure: StoreError?
        do {
            try await store.check()
        } catch let error as StoreError {
            failure = error
        }
        await store.close()
        return failure
    }

    @Test(
        arguments: [
            ("https", [:], "HTTP/1.1 400 No\r\n\r\n", .unreachable, ["no secure connection", "write http://"]),
            // The beginning of a TLS alert.
            ("http", [:], "\u{15}\u{3}\u{3}", .unreachable, ["speaks no HTTP", "write https://"]),
            ("http", [:], "SSH-2.0-OpenSSH_9.2\r\n", .unreachable, ["speaks no HTTP", "correct store.endpoint"]),
            ("http", [:], "", .connectionLost, ["hung up", "write https://"]),
            (
                "http", [:],
                "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n",
                .unreachable, ["speaks TLS; write https://"]
            ),
            (
                "https", ["AWS_CA_BUNDLE": "/nonexistent.pem"], "", .unreachable,
                ["/nonexistent.pem", "AWS_CA_BUNDLE"]
            ),
            ("http", [:], nil, .unreachable, ["cannot reach", "check the network, and store.endpoint"]),
            ("https", [:], nil, .unreachable, ["cannot reach", "check the network, and store.endpoint"]),
        ] as [Row])
    func `Who answers, or does not, decides what is told`(row: Row) async throws {
        let server = try LoopbackServer { connection in
            if row.scheme == "http" { _ = connection.readHead() }
            connection.write(row.reply ?? "")
        }
        let silent = try SilentPort(listens: false)
        let endpoint = "\(row.scheme)://127.0.0.1:\(row.reply == nil ? silent.number : server.port)"
        let error = try await failure(
            S3Settings(bucket: "b", endpoint: endpoint), Self.keys.merging(row.variables) { $1 })
        await server.stop()
        withExtendedLifetime(silent) {}
        #expect(error?.code == row.code)
        let message = error?.message ?? ""
        #expect(message.contains(endpoint), "\(message)")
        for words in row.words { #expect(message.contains(words), "\(message)") }
    }

    @Test func `A name that does not resolve is told with the name`() async throws {
        let error = try await failure(
            S3Settings(bucket: "b", endpoint: "https://nowhere.invalid"), Self.keys)
        #expect(error?.code == .unreachable)
        #expect(error?.message.contains("Could not resolve host: nowhere.invalid; check the network") == true)
    }

    @Test(
        arguments: [
            ("AWS_SECRET_ACCESS_KEY", "other", .credentialsRejected, "correct AWS_SECRET_ACCESS_KEY or the profile"),
            ("AWS_ACCESS_KEY_ID", "OTHER", .credentialsRejected, "correct AWS_ACCESS_KEY_ID or the profile"),
            ("AWS_SESSION_TOKEN", "old", .credentialsRejected, "get new credentials; they are from environment"),
            ("AWS_CREDENTIAL_EXPIRATION", "2020-01-01T00:00:00Z", .credentialsRejected, "expired at 2020-01-01"),
            ("AWS_ACCESS_KEY_ID", "", .credentialsMissing, "AWS_SECRET_ACCESS_KEY is set, AWS_ACCESS_KEY_ID is not"),
        ] as [(String, String, StoreError.Code, String)])
    func `Credentials that are wrong are told apart`(
        variable: String, value: String, code: StoreError.Code, words: String
    ) async throws {
        try await ScriptedS3Server.run { server in
            var variables = server.environment
            let secret = try #require(variables["AWS_SECRET_ACCESS_KEY"])
            variables[variable] = value
            let error = try await failure(
                S3Settings(bucket: server.bucket, endpoint: server.endpoint), variables)
            #expect(error?.code == code)
            #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
            #expect(error?.description.contains(secret) == false)
        }
    }

    @Test func `A bucket that is missing is named, with the place where it is not`() async throws {
        try await ScriptedS3Server.run { server in
            let error = try await failure(
                S3Settings(bucket: "nothing-here", endpoint: server.endpoint), server.environment)
            #expect(error?.code == .storeMissing)
            #expect(
                error?.message == "the bucket nothing-here does not exist at \(server.endpoint); create it or correct "
                    + "store.bucket")
        }
    }

    @Test(arguments: [-3_600, 3_600])
    func `A clock that is wrong by an hour, and a wrong region, are set right`(ahead: Int) async throws {
        try await ScriptedS3Server.run { server in
            var settings = S3Settings(bucket: server.bucket, endpoint: server.endpoint)
            settings.region = "us-west-2"
            let error = try await failure(settings, server.environment) {
                Date().addingTimeInterval(Double(ahead))
            }
            #expect(error == nil)
        }
    }
}
