import FoundationEssentials
import SyncCore
import Testing

@testable import SyncCLI
@testable import SyncConfig

/// What is asked for of one bucket, and of the next one after `move-store`.
@Suite struct MovedSettingsTests {
    private let old = S3StoreSettings(
        bucket: "old", region: "eu-central-1", prefix: "photos", profile: "home", encryption: .ownKeys,
        conditionalWrites: .on, storageClass: .intelligentTiering, tags: ["owner": "ana"], requestPayer: .requester,
        partSize: 32 << 20, attempts: 5, dualStack: true)

    @Test func `on the same server all of it goes along but what was named anew`() throws {
        var wanted = old
        (wanted.bucket, wanted.prefix, wanted.profile) = ("new", "", "work")
        #expect(try MoveStoreCommand.carried(S3StoreSettings(bucket: "new", profile: "work"), from: .s3(old)) == wanted)
    }

    @Test func `on another server only what no server differs in`() throws {
        let new = S3StoreSettings(bucket: "new", region: "us-east-1", endpoint: URL(string: "https://s3.example.net"))
        var wanted = new
        (wanted.encryption, wanted.partSize, wanted.attempts) = (old.encryption, old.partSize, old.attempts)
        #expect(try MoveStoreCommand.carried(new, from: .s3(old)) == wanted)
    }
}
