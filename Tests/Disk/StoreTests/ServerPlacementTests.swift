import FoundationEssentials
import SyncCore
import SyncDigest
import SyncTestSupport
import Testing

@testable import SyncS3

/// Whether real servers keep class and tags, and mind no payer.
@Suite struct ServerPlacementTests {
    @Test(arguments: TestServer.available.filter(\.keepsClasses), [false, true])
    func `a photo is in the configured class, with its tags`(server: TestServer, isLarge: Bool) async throws {
        let prefix = "placement-\(UUID())"
        var settings = server.settings
        settings.prefix = prefix
        settings.storageClass = .standardIA
        settings.tags = ["owner": "ana b", "album": "süß"]
        settings.requesterPays = true
        let environment = AWSEnvironment(
            variables: ["AWS_ACCESS_KEY_ID": TestServer.keyID, "AWS_SECRET_ACCESS_KEY": TestServer.secret],
            profile: nil
        ) { _ throws(StoreError) in nil }
        let transport = try CurlTransport(settings: TransportSettings())
        let store = try S3Store(
            settings: settings, environment: environment, transport: transport,
            parts: PartSizes(threshold: isLarge ? 5 << 20 : 64 << 20, smallestPart: 5 << 20), now: { Date() })
        let tree = try TemporaryTree()
        try tree.write([UInt8].noise(6 << 20), to: "a.jpg")
        let key = try ObjectKey("users/ana/photos/a.dat")
        let receipt = try await store.put(
            try tree.body("a.jpg"), at: key, attributes: ObjectAttributes(contentType: "image/jpeg"),
            condition: .ifAbsent)
        #expect(receipt.storageClass == .standardIA)
        #expect(try await store.head(key)?.storageClass == .standardIA)

        let address = try S3Address(
            bucket: TestServer.bucket, region: "us-east-1", endpoint: server.endpoint, addressing: .path)
        let signature = SignatureV4(
            credentials: AWSCredentials(accessKeyID: TestServer.keyID, secretAccessKey: TestServer.secret),
            region: "us-east-1")
        let request = HTTPRequest(
            .get, address.url(key: "\(prefix)/\(key)", query: [HTTPQueryItem("tagging", "")]))
        let reply = try await transport.send(
            signature.signed(request, at: Date()), target: .memory(limit: 1 << 20))
        let text = String(decoding: reply.body, as: UTF8.self)
        for pair in [("owner", "ana b"), ("album", "süß")] {
            #expect(text.contains("<Key>\(pair.0)</Key><Value>\(pair.1)</Value>"), "\(text)")
        }
        try await store.delete(key)
        await store.close()
    }
}

extension TestServer {
    /// MiniStack and rclone keep no tags, or no classes.
    fileprivate var keepsClasses: Bool { self == .moto || self == .ceph }
}
