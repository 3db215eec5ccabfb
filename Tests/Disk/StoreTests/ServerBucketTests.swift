import Foundation
import SyncCore
import SyncS3
import SyncTestSupport
import Testing

/// Buckets that real servers make.
@Suite struct ServerBucketTests {
    @Test(arguments: TestServer.available)
    func `a bucket is made, and found again`(server: TestServer) async throws {
        var settings = server.settings
        settings.bucket = "made-\(UUID().uuidString.lowercased())"
        let store = try S3Store(
            settings: settings,
            environment: AWSEnvironment(
                variables: ["AWS_ACCESS_KEY_ID": TestServer.keyID, "AWS_SECRET_ACCESS_KEY": TestServer.secret],
                profile: nil
            ) { _ throws(StoreError) in nil },
            transport: try CurlTransport(settings: TransportSettings()), now: { Date() })
        let made = try await store.createBucket()
        let isClosed = made == .created(openBecause: nil)
        #expect(isClosed || server == .rclone, "\(made)")
        #expect(try await store.createBucket() == .existing(isOpen: false))
        try await store.check()
        // A closed bucket is one for others.
        let key = try ObjectKey("a")
        _ = try await store.put(
            ObjectBody("first"), at: key, attributes: ObjectAttributes(contentType: "text/plain"), condition: .ifAbsent)
        #expect(try await store.head(key)?.size == 5)
        await store.close()
    }
}
