import Foundation
import Glibc
import SyncCore
import SyncS3
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// The store as the program makes it: files of the AWS tools, curl, HTTP.
@Suite struct S3StoreOverHTTPTests {
    private static let listing = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"

    private func store(_ server: LoopbackServer, home: FilePath) throws -> S3Store {
        try S3Store(
            settings: S3Settings(bucket: "b", endpoint: "http://127.0.0.1:\(server.port)", prefix: "p"),
            environment: ["HOME": home.string], now: { Date() })
    }

    @Test func `Keys and region come from the shared files, and sign the request`() async throws {
        let tree = try TemporaryTree()
        try tree.makeFolder(".aws")
        try tree.write("[default]\naws_access_key_id = AKIDFILE\naws_secret_access_key = s\n", to: ".aws/credentials")
        try tree.write("[default]\nregion = eu-north-1\n", to: ".aws/config")
        let heads = Noted<RequestHead>()
        let server = try LoopbackServer { connection in
            guard let head = connection.readHead() else { return }
            heads.note(head)
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(Self.listing.utf8.count)\r\n\r\n\(Self.listing)")
        }
        let store = try store(server, home: tree.root)
        try await store.check()
        await store.close()
        await server.stop()
        let head = try #require(heads.all.first)
        #expect(head.line == "GET /b?encoding-type=url&list-type=2&max-keys=1&prefix=p%2Fsync-agent-check%2F HTTP/1.1")
        let authorization = head.headers["authorization"] ?? ""
        #expect(authorization.hasPrefix("AWS4-HMAC-SHA256 Credential=AKIDFILE/"))
        #expect(
            authorization.contains("/eu-north-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date"))
    }

    @Test func `A shared file that cannot be read is named`() async throws {
        let tree = try TemporaryTree()
        try tree.makeFolder(".aws/credentials")
        let server = try LoopbackServer { _ in }
        let store = try store(server, home: tree.root)
        let error = await #expect(throws: StoreError.self) { try await store.check() }
        #expect(error?.code == .credentialsMissing)
        #expect(error?.message.contains("\(tree.root)/.aws/credentials") == true)
        await store.close()
        await server.stop()
    }

    @Test func `A shared file as long as a disk is named, and not read`() async throws {
        let tree = try TemporaryTree()
        let file = try tree.write("[default]\n", to: ".aws/credentials")
        #expect(truncate(file.string, 1 << 43) == 0)
        let server = try LoopbackServer { _ in }
        let store = try store(server, home: tree.root)
        let error = await #expect(throws: StoreError.self) { try await store.check() }
        #expect(error?.code == .credentialsMissing)
        #expect(error?.message.contains("\(file) is larger than") == true)
        await store.close()
        await server.stop()
    }

    @Test func `As many requests are under way as objects may be on their way`() async throws {
        let tree = try TemporaryTree()
        try tree.makeFolder(".aws")
        try tree.write("[default]\naws_access_key_id = AKIDFILE\naws_secret_access_key = s\n", to: ".aws/credentials")
        let most = 32
        let heads = Lock(0)
        let allAreHere = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { connection in
            while connection.readHead() != nil {
                let count = heads.withLock { count in
                    count += 1
                    return count
                }
                if count == most { for _ in 1...most { allAreHere.signal() } }
                // Where fewer come at once, the others do not come before these are answered.
                guard allAreHere.wait(timeout: .now() + Patience.limit / .seconds(1)) == .success else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(Self.listing.utf8.count)\r\n\r\n\(Self.listing)")
            }
        }
        let store = try store(server, home: tree.root)
        await #expect(throws: Never.self) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...most { group.addTask { try await store.check() } }
                try await group.waitForAll()
            }
        }
        await store.close()
        await server.stop()
    }

    @Test func `A store that is let go leaves no thread and no descriptor`() async throws {
        let tree = try TemporaryTree()
        try tree.makeFolder(".aws")
        try tree.write("[default]\naws_access_key_id = AKIDFILE\naws_secret_access_key = s\n", to: ".aws/credentials")
        let ended = Noted<Bool>()
        let server = try LoopbackServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(Self.listing.utf8.count)\r\n\r\n\(Self.listing)")
            connection.waitForEnd()
            ended.note(true)
        }
        do {
            let store = try store(server, home: tree.root)
            try await store.check()
        }
        // The kept connection is closed by the thread's last act.
        #expect(await ended.next() == true)
        await server.stop()
    }
}
