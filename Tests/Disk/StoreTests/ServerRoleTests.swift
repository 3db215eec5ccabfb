import FoundationEssentials
import SyncCore
import SyncDigest
import SyncS3
import SyncTestSupport
import Testing

/// Roles of a real token service.
@Suite struct ServerRoleTests {
    @Test(
        arguments: TestServer.available.filter { $0 == .moto },
        [
            ("role", CredentialSource.role("arn:aws:iam::123456789012:role/photos", profile: "role")),
            ("web", CredentialSource.webIdentity(role: "arn:aws:iam::123456789012:role/web")),
        ])
    func `a photo is stored with the keys of a role`(
        server: TestServer, row: (profile: String, source: CredentialSource)
    ) async throws {
        let endpoint = try #require(server.endpoint)
        let config = """
            [profile base]
            aws_access_key_id = \(TestServer.keyID)
            aws_secret_access_key = \(TestServer.secret)
            [profile role]
            role_arn = arn:aws:iam::123456789012:role/photos
            source_profile = base
            services = test
            [profile web]
            role_arn = arn:aws:iam::123456789012:role/web
            web_identity_token_file = /token
            services = test
            [services test]
            sts =
              endpoint_url = \(endpoint)
            """
        var settings = server.settings
        settings.prefix = "role-\(UUID())"
        let environment = AWSEnvironment(variables: ["HOME": "/home/ana"], profile: row.profile) {
            path throws(StoreError) in
            ["/home/ana/.aws/config": config, "/token": "header.payload.signature"][path]
        }
        let store = try S3Store(
            settings: settings, environment: environment,
            transport: try CurlTransport(settings: TransportSettings()), now: { Date() })
        let report = try await store.credentialSource()
        #expect(report.source == row.source && report.accessKeyID != TestServer.keyID)
        #expect(try #require(report.expiration) > Date() + 600)
        let key = try ObjectKey("users/ana/photos/a.dat")
        let bytes = Array("photo".utf8)
        _ = try await store.put(
            ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes)), at: key,
            attributes: ObjectAttributes(contentType: "image/jpeg"), condition: .ifAbsent)
        #expect(try await store.bytes(of: key) == bytes)
        try await store.delete(key)
        await store.close()
    }
}
