import Foundation
import SyncCore
import SyncDigest
import SyncS3
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// Downloads as the program makes them: S3, curl, HTTP, a disk.
@Suite struct DownloadOverHTTPTests {
    private static let key = "users/ana/photos/a.dat"

    private func download(
        of bytes: [UInt8], _ faults: [Fault], _ body: (ScriptedS3Server, DownloadOutcome, TemporaryTree) throws -> Void
    ) async throws {
        try await ScriptedS3Server.run { server in
            let tree = try TemporaryTree()
            let store = try S3Store(
                settings: S3Settings(bucket: server.bucket, region: server.region, endpoint: server.endpoint),
                environment: server.environment, now: { Date() })
            server.store(bytes, at: Self.key)
            for (index, fault) in faults.enumerated() {
                server.script(fault, on: .getObject, numbers: index + 1...index + 1)
            }
            let download = ObjectDownload(
                store: store, pool: BlockingPool(name: "test", threads: 1),
                time: TimeSource(
                    now: { Date() }, monotonic: { .zero }, sleep: { _ in try Task.checkCancellation() }, random: { 0 }))
            let task = DownloadTask(
                key: try ObjectKey(Self.key), folder: tree.root, name: "photo.jpg", sha256: SHA256Digest(of: bytes))
            let outcome = try await download.run(task)
            await store.close()
            try body(server, outcome, tree)
        }
    }

    @Test func `What a cut connection brought is not sent again`() async throws {
        let bytes = [UInt8].noise(3 << 20)
        let faults: [Fault] = [.cut(.duringReply(1 << 20)), .reset(.duringReply(1 << 20))]
        try await download(of: bytes, faults) { server, outcome, tree in
            #expect(outcome == .saved(isVerified: true))
            let saved = try tree.read("photo.jpg")
            #expect(saved == bytes)
            let reads = server.requests(.getObject)
            #expect(reads.map(\.status) == [200, 206, 206])
            #expect(reads[0].headers["range"] == nil)
            #expect(reads[1].headers["range"]?.hasSuffix("-3145727") == true)
            #expect(server.requests(.headObject).count == 2)
        }
    }

    @Test(arguments: [[.corruptReply], [.cut(.duringReply(500_000)), .corruptReply]] as [[Fault]])
    func `A byte that the line turns is found, and all is read once more`(faults: [Fault]) async throws {
        let bytes = [UInt8].noise(1_000_000)
        try await download(of: bytes, faults) { server, outcome, tree in
            #expect(outcome == .saved(isVerified: true))
            let saved = try tree.read("photo.jpg")
            #expect(saved == bytes)
            #expect(server.requests(.getObject).count == faults.count + 1)
            #expect(server.requests(.getObject).last?.headers["range"] == nil)
        }
    }
}
