import Foundation
import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncS3

/// The endpoints of containers and instances, over HTTP on the loopback interface.
@Suite struct CredentialEndpointTests {
    private static let keys = #"""
        {"Code": "Success", "AccessKeyId": "A", "SecretAccessKey": "S", "Token": "T", "Expiration": "2100-01-01T00:00:00Z"}
        """#

    /// Runs `work` with a chain that knows the server, and ends everything.
    /// - Parameter patience: `nil` for the program's own, which a server that does answer may miss on a busy machine.
    private func withChain(
        patience: Duration? = .seconds(600), variables: @Sendable (Int) -> [String: String],
        _ reply: @escaping @Sendable (RequestHead) -> (Int, String)?,
        work: (CredentialChain) async throws -> Void
    ) async throws {
        let server = try LoopbackServer { connection in
            while let head = connection.readHead() {
                connection.skipBody(head.length)
                guard let (status, body) = reply(head) else { return connection.waitForEnd() }
                connection.write("HTTP/1.1 \(status) X\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
        let environment = AWSEnvironment(variables: variables(server.port), profile: nil) { path throws(StoreError) in
            try? String(contentsOfFile: path, encoding: .utf8)
        }
        let transport = try CurlTransport()
        let chain = CredentialChain(
            CredentialServices(
                environment: environment, transport: transport, pool: BlockingPool(name: "test", threads: 1),
                patience: patience, now: { Date(timeIntervalSince1970: 0) }))
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await work(chain))
        } catch {
            outcome = .failure(error)
        }
        await transport.close()
        await server.stop()
        try outcome.get()
    }

    @Test func `A container's token is read anew each time`() async throws {
        let tree = try TemporaryTree()
        let token = try tree.write("first\n", to: "token").string
        let heads = Noted<RequestHead>()
        try await withChain { port in
            [
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:\(port)/v1/keys?a=b",
                "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": token,
            ]
        } _: { head in
            heads.note(head)
            return (200, Self.keys)
        } work: { chain in
            #expect(try await chain.resolve().source == .container)
            try tree.write("second", to: "token")
            #expect(try await chain.resolve().sessionToken == "T")
        }
        #expect(heads.all.map(\.line) == Array(repeating: "GET /v1/keys?a=b HTTP/1.1", count: 2))
        #expect(heads.all.map { $0.headers["authorization"] } == ["first", "second"])
    }

    @Test func `A token of single sign-on is renewed where the AWS tools find it`() async throws {
        let tree = try TemporaryTree()
        try tree.write(
            """
            [profile sso]
            sso_start_url = https://ana.awsapps.com/start
            sso_region = eu-west-1
            sso_account_id = 1
            sso_role_name = r
            """, to: ".aws/config")
        // At the start of 1970 it has a minute left.
        let token = try tree.write(
            #"""
            {"accessToken": "old", "expiresAt": "1970-01-01T00:01:00Z", "startUrl": "https://ana.awsapps.com/start",
             "refreshToken": "r1", "clientId": "i", "clientSecret": "c", "registrationExpiresAt": "2030-01-01T00:00:00Z"}
            """#, to: ".aws/sso/cache/6f35a505c34e55d4528fbb0bca74c3ff6f15e555.json")
        let heads = Noted<RequestHead>()
        try await withChain { port in
            ["HOME": tree.root.string, "AWS_PROFILE": "sso", "AWS_ENDPOINT_URL": "http://127.0.0.1:\(port)"]
        } _: { head in
            heads.note(head)
            if head.line.hasPrefix("POST /token ") {
                return (200, #"{"accessToken": "new", "expiresIn": 3600, "refreshToken": "r2", "tokenType": "Bearer"}"#)
            }
            return (
                200,
                #"""
                {"roleCredentials": {"accessKeyId": "A", "secretAccessKey": "S", "sessionToken": "T", "expiration": 3600000}}
                """#
            )
        } work: { chain in
            for _ in 0..<2 {
                let found = try await chain.resolve()
                #expect(found.accessKeyID == "A")
            }
        }
        #expect(
            heads.all.map(\.line) == [
                "POST /token HTTP/1.1", "GET /federation/credentials?account_id=1&role_name=r HTTP/1.1",
                "GET /federation/credentials?account_id=1&role_name=r HTTP/1.1",
            ])
        #expect(heads.all.dropFirst().map { $0.headers["x-amz-sso_bearer_token"] } == ["new", "new"])
        let text = try String(contentsOfFile: token.string, encoding: .utf8)
        for part in [
            #""accessToken":"new""#, #""refreshToken":"r2""#, #""expiresAt":"1970-01-01T01:00:00Z""#,
            #""clientId":"i""#,
        ] {
            #expect(text.contains(part), "\(text)")
        }
        #expect(try FileManager.default.attributesOfItem(atPath: token.string)[.posixPermissions] as? Int == 0o600)
    }

    @Test func `An instance gives its role's keys for a token`() async throws {
        let heads = Noted<RequestHead>()
        try await withChain { port in
            ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(port)"]
        } _: { head in
            heads.note(head)
            if head.line.hasPrefix("PUT") { return (200, "TOKEN") }
            return head.line.contains("/photos ") ? (200, Self.keys) : (200, "photos")
        } work: { chain in
            let credentials = try await chain.resolve()
            #expect(credentials.source == .instanceRole("photos"))
            #expect(credentials.accessKeyID == "A")
        }
        let path = "/latest/meta-data/iam/security-credentials/"
        #expect(
            heads.all.map(\.line) == [
                "PUT /latest/api/token HTTP/1.1", "GET \(path) HTTP/1.1", "GET \(path)photos HTTP/1.1",
            ])
        #expect(heads.all.map { $0.headers["x-aws-ec2-metadata-token"] } == [nil, "TOKEN", "TOKEN"])
    }

    @Test func `A service that is silent is given up, and no instance is assumed`() async throws {
        try await withChain(patience: nil) { port in
            ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(port)", "HOME": "/nonexistent"]
        } _: { _ in
            nil
        } work: { chain in
            let error = await #expect(throws: StoreError.self) { try await chain.resolve() }
            #expect(error?.code == .credentialsMissing)
            #expect(error?.message.contains("no instance metadata at http://127.0.0.1:") == true)
            // curl tells after how long it gave up.
            #expect(error?.message.contains("the last 1 seconds") == true, "\(error?.message ?? "")")
        }
    }

    @Test func `A container's endpoint that refuses ends the search`() async throws {
        try await withChain { port in
            [
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:\(port)/", "HOME": "/nonexistent",
                "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(port)",
            ]
        } _: { _ in
            (403, "not you")
        } work: { chain in
            let error = await #expect(throws: StoreError.self) { try await chain.resolve() }
            #expect(error?.code == .credentialsRejected)
            #expect(error?.message.hasSuffix(" answered 403: not you") == true)
        }
    }

    @Test func `Such requests go past the proxy of the environment`() async {
        // In a process of its own, whose environment nobody else reads.
        await #expect(processExitsWith: .success) {
            setenv("http_proxy", "http://127.0.0.1:1", 1)
            let server = try LoopbackServer { connection in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
            let transport = try CurlTransport()
            var request = HTTPRequest(
                .get, HTTPURL(scheme: "http", host: "127.0.0.1", port: server.port, path: "/"))
            await #expect(throws: TransportError.self) { try await transport.send(request, target: .memory(limit: 0)) }
            request.isDirect = true
            #expect(try await transport.send(request, target: .memory(limit: 0)).status == 200)
            await transport.close()
            await server.stop()
        }
    }
}
