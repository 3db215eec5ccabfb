import Foundation
import SyncCore
import SyncDigest
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncS3

@Suite struct MultipartUploadTests {
    typealias Fault = PartServer.Fault

    private static let size = 2_500_000
    private static let attributes = ObjectAttributes(
        contentType: "video/mp4", metadata: ["sha256": "ab"], storageClass: .standardIA)
    private static let keys = ["AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "s", "HOME": "/nonexistent"]

    /// Runs `work` with a store that sends 2.5 MB in three parts, and ends both whatever happens.
    private func withStore(
        _ serve: @escaping @Sendable (LoopbackConnection) -> Void, smallestPart: Int64 = 1_000_000,
        memory: (any EndpointFactStore)? = nil, encryption: S3Encryption = .byBucket,
        work: (S3Store) async throws -> Void
    ) async throws {
        let server = try LoopbackServer(serve)
        let store = try S3Store(
            settings: S3Settings(
                bucket: "b", region: "us-east-1", endpoint: "http://127.0.0.1:\(server.port)", encryption: encryption),
            environment: AWSEnvironment(variables: Self.keys, profile: nil) { _ throws(StoreError) in nil },
            transport: try CurlTransport(), memory: memory,
            parts: PartSizes(threshold: 1_000_000, smallestPart: smallestPart), now: { Date() })
        do {
            try await work(store)
        } catch {
            await store.close()
            await server.stop()
            throw error
        }
        await store.close()
        await server.stop()
    }

    /// - Returns: a file with the bytes, as a body.
    private func file(_ tree: TemporaryTree, _ bytes: [UInt8]) throws -> ObjectBody {
        try tree.write(bytes, to: "film.mp4")
        return try tree.body("film.mp4")
    }

    @Test func `A large file arrives in parts, and becomes one object`() async throws {
        let tree = try TemporaryTree()
        let bytes = [UInt8].noise(Self.size)
        let body = try file(tree, bytes)
        let server = PartServer()
        try await withStore(server.serve) { store in
            let receipt = try await store.put(
                body, at: try ObjectKey("f/film"), attributes: Self.attributes, condition: .ifAbsent)
            #expect(receipt == PutReceipt(etag: "x-3", storageClass: .standardIA))
            // The second one does not look for leftovers again.
            _ = try await store.put(
                body, at: try ObjectKey("f/film"), attributes: Self.attributes, condition: .overwrite)
        }
        #expect(server.bytes == bytes)
        let steps = server.steps
        #expect(Array(steps.prefix(3)) == ["head", "list", "create"])
        #expect(Set(steps[3..<6]) == ["part 1", "part 2", "part 3"])
        #expect(Array(steps[6..<9]) == ["complete", "head", "create"])
        #expect(steps.last == "complete")
        let create = try #require(server.head(of: "create"))
        #expect(create.headers["content-length"] == "0")
        #expect(create.headers["content-type"] == "video/mp4")
        #expect(create.headers["x-amz-meta-sha256"] == "ab")
        #expect(create.headers["x-amz-storage-class"] == "STANDARD_IA")
        let part = try #require(server.head(of: "part 3"))
        let last = ContentDigest(of: Array(bytes[2_000_000...]))
        #expect(part.headers["content-md5"] == Data(last.md5.bytes).base64EncodedString())
        #expect(part.headers["x-amz-content-sha256"] == "\(last.sha256)")
        #expect(part.headers["transfer-encoding"] == nil)
        #expect(server.head(of: "list")?.line.contains("prefix=f%2F&uploads=") == true)
    }

    @Test func `Parts are proven by their digests, and one that was changed on the way is sent again`() async throws {
        let tree = try TemporaryTree()
        let bytes = [UInt8].noise(Self.size)
        let body = try file(tree, bytes)
        let server = PartServer(["part 2": [.flip]], tellsDigests: true)
        try await withStore(server.serve) { store in
            let receipt = try await store.put(
                body, at: try ObjectKey("f/film"), attributes: Self.attributes, condition: .ifAbsent)
            #expect(receipt.provesParts)
        }
        #expect(server.bytes == bytes)
        #expect(server.steps.count { $0 == "part 2" } == 2)
    }

    @Test func `A part that is changed each time is not stored`() async throws {
        let tree = try TemporaryTree()
        let body = try file(tree, [UInt8].noise(Self.size))
        let server = PartServer(["part 3": [.flip, .flip]], tellsDigests: true)
        try await withStore(server.serve) { store in
            await #expect(throws: StoreError.self) {
                _ = try await store.put(
                    body, at: try ObjectKey("f/film"), attributes: Self.attributes, condition: .ifAbsent)
            }
        }
        #expect(server.stepsBesideParts == ["head", "list", "create", "abort"])
    }

    @Test func `A file below the threshold, and bytes in memory, go in one piece`() async throws {
        let tree = try TemporaryTree()
        let server = PartServer()
        try await withStore(server.serve) { store in
            for body in [try file(tree, [UInt8].noise(999_999)), ObjectBody([UInt8].noise(1_000_001))] {
                _ = try await store.put(
                    body, at: try ObjectKey("k"), attributes: Self.attributes, condition: .overwrite)
            }
        }
        #expect(server.steps == ["head", "part ", "head", "part "])
    }

    @Test(
        arguments: [
            (["complete": [.cut, .cut, .cut, .cut, .cut, .cut]], size), (["complete": [.reply(412)]], size),
            (["part 3": [.reply(403)]], 2_000_000), (["create": [.reply(403)]], 0),
        ] as [([String: [Fault]], Int)])
    func
        `what was sent in parts is counted, though the answer to all of them was lost or the object came from elsewhere`(
            faults: [String: [Fault]], count: Int
        ) async throws
    {
        let tree = try TemporaryTree()
        let body = try file(tree, [UInt8].noise(Self.size))
        let server = PartServer(faults)
        try await withStore(server.serve) { store in
            let error = await #expect(throws: StoreError.self) {
                _ = try await store.put(
                    body, at: try ObjectKey("f/film"), attributes: Self.attributes, condition: .ifAbsent)
            }
            // Parts go side by side: one that was refused may end the others.
            let sent = Int(error?.sentBytes ?? -1)
            #expect(faults["part 3"] == nil ? sent == count : (0...count).contains(sent))
        }
    }

    typealias Row = (faults: [String: [Fault]], error: StoreError.Code?, aborts: Int, completes: Int)

    private static let slow = Fault.reply(503, "<Error><Code>SlowDown</Code></Error>")
    private static let failed = Fault.reply(200, "\n <Error><Code>InternalError</Code></Error>")
    private static let unknown = Fault.reply(404, "<Error><Code>NoSuchUpload</Code></Error>")
    /// Of a proxy that knows no way to the store.
    private static let nowhere = Fault.reply(404, "404 page not found\n")
    private static let page = Fault.reply(200, "<html>Welcome</html>")
    private static let short = Fault.reply(200, "<CompleteMultipartUploadResult><ETag>")

    @Test(
        arguments: [
            (["part 2": [slow]], nil, 0, 1), (["part 2": [.cut]], nil, 0, 1),
            (["part 1": [.reply(200)]], nil, 0, 1), (["complete": [failed]], nil, 0, 2),
            (["complete": [short]], nil, 0, 2), (["complete": [.cut]], nil, 0, 2),
            (["complete": [.reply(501)]], nil, 0, 2),
            (["list": [.reply(403)]], nil, 0, 1), (["list": [.cut]], nil, 0, 1),
            (["part 2": [slow, slow]], .throttled, 1, 0), (["part 2": [.reply(403)]], .accessDenied, 1, 0),
            (["part 3": [.reply(200), .reply(200)]], .invalidResponse, 1, 0),
            // curl repeats a request by itself when a connection that was kept dies under it.
            (["part 1": [.cut, .cut, .cut, .cut, .cut]], .connectionLost, 1, 0),
            (["complete": [failed, failed]], .serverFailed, 1, 2),
            (["complete": [.reply(412)]], .alreadyExists, 1, 1),
            (["complete": [failed], "abort": [slow, slow]], nil, 0, 2),
            (["complete": [.reply(412)], "abort": [slow, slow]], .alreadyExists, 3, 1),
            (["complete": [.reply(412)], "abort": [unknown]], .alreadyExists, 1, 1),
            (["complete": [.reply(412)], "abort": [nowhere, nowhere]], .alreadyExists, 3, 1),
            (["part 2": [page]], nil, 0, 1),
            (["create": [.reply(403)]], .accessDenied, 0, 0),
            (["create": [.reply(200, "<Init")]], .invalidResponse, 0, 0),
            (["head": [.reply(200)]], .alreadyExists, 0, 0),
        ] as [Row])
    func `An upload is there whole, or its parts are taken back`(row: Row) async throws {
        let tree = try TemporaryTree()
        let bytes = [UInt8].noise(Self.size)
        let body = try file(tree, bytes)
        let server = PartServer(row.faults)
        try await withStore(server.serve) { store in
            var code: StoreError.Code?
            do {
                _ = try await store.put(
                    body, at: try ObjectKey("film"), attributes: Self.attributes, condition: .ifAbsent)
                #expect(server.bytes == bytes)
            } catch let error as StoreError {
                code = error.code
                #expect(error.operation == "put" && error.key == "film")
            }
            #expect(code == row.error)
        }
        #expect(server.steps.count { $0 == "abort" } == row.aborts)
        #expect(server.steps.count { $0 == "complete" } == row.completes)
    }

    @Test func `Parts that cannot be taken back are named`() async throws {
        let tree = try TemporaryTree()
        let body = try file(tree, [UInt8].noise(Self.size))
        let server = PartServer(["part 1": [.reply(403)], "abort": [.reply(500), .reply(500), .reply(500)]])
        try await withStore(server.serve) { store in
            let error = await #expect(throws: StoreError.self) {
                _ = try await store.put(
                    body, at: try ObjectKey("film"), attributes: Self.attributes, condition: .ifAbsent)
            }
            #expect(error?.message.contains("(upload up-1) could not be removed") == true)
        }
        #expect(server.steps.count { $0 == "abort" } == 3)
    }

    @Test func `Bytes that are not the promised ones become no object`() async throws {
        let tree = try TemporaryTree()
        guard case .file(let path, let stamp) = try file(tree, [UInt8].noise(Self.size)).source else {
            return #expect(Bool(false), "no file")
        }
        let wrong = ObjectBody(file: path, stamp: stamp, digest: ContentDigest(of: [1]))
        let server = PartServer()
        try await withStore(server.serve) { store in
            let error = await #expect(throws: StoreError.self) {
                _ = try await store.put(
                    wrong, at: try ObjectKey("film"), attributes: Self.attributes, condition: .ifAbsent)
            }
            #expect(error?.code == .badDigest)
        }
        #expect(server.stepsBesideParts == ["head", "list", "create", "abort"])
    }

    @Test func `A file that was changed since becomes no object`() async throws {
        let tree = try TemporaryTree()
        let body = try file(tree, [UInt8].noise(Self.size))
        try tree.age("film.mp4", bySeconds: 100)
        let server = PartServer()
        try await withStore(server.serve) { store in
            let error = await #expect(throws: StoreError.self) {
                _ = try await store.put(
                    body, at: try ObjectKey("film"), attributes: Self.attributes, condition: .ifAbsent)
            }
            #expect(error?.code == .sourceChanged)
        }
        #expect(server.steps == ["head", "list", "create", "abort"])
    }

    @Test func `A cancelled upload takes its parts back`() async throws {
        let tree = try TemporaryTree()
        let body = try file(tree, [UInt8].noise(Self.size))
        let arrived = Noted<Bool>()
        let server = PartServer(["part 1": [.silence { arrived.note(true) }]])
        try await withStore(server.serve) { store in
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await #expect(throws: CancellationError.self) {
                        _ = try await store.put(
                            body, at: try ObjectKey("film"), attributes: Self.attributes, condition: .ifAbsent)
                    }
                }
                #expect(await arrived.next() == true)
                group.cancelAll()
            }
        }
        #expect(server.stepsBesideParts == ["head", "list", "create", "abort"])
    }

    @Test(
        arguments: [
            ([:], []), (["complete": [.reply(412)]], []), (["create": [.reply(403)]], []),
            (["part 1": [.reply(403)], "abort": Array(repeating: .reply(500), count: 4)], ["up-1"]),
        ] as [([String: [Fault]], [String])])
    func `An upload is remembered until it is over`(faults: [String: [Fault]], left: [String]) async throws {
        let tree = try TemporaryTree()
        let body = try file(tree, [UInt8].noise(Self.size))
        let memory = InMemoryEndpointFacts()
        let noted = Noted<[StoredUpload]>()
        let server = PartServer(faults, beforePart: { noted.note(memory.unfinishedUploads()) })
        try await withStore(server.serve, memory: memory) { store in
            _ = try? await store.put(
                body, at: try ObjectKey("f/film"), attributes: Self.attributes, condition: .ifAbsent)
            // What this process has in hand is its own to end; what it gave up is not.
            let steps = server.stepsBesideParts
            #expect(memory.unfinishedUploads().map(\.id) == left)
            try await store.removeLeftovers()
            #expect(server.stepsBesideParts == steps + left.map { _ in "abort" })
        }
        #expect(noted.all.allSatisfy { $0.map(\.id) == ["up-1"] && $0.map(\.key.rawValue) == ["f/film"] })
        #expect(noted.all.isEmpty == !server.steps.contains("create") || faults["create"] != nil)
        #expect(memory.unfinishedUploads().map(\.id) == left)
        guard !left.isEmpty else { return }
        let next = PartServer()
        try await withStore(next.serve, memory: memory) { try await $0.removeLeftovers() }
        #expect(next.steps == ["abort"])
        #expect(next.head(of: "abort")?.line == "DELETE /b/f/film?uploadId=up-1 HTTP/1.1")
        #expect(memory.unfinishedUploads().isEmpty)
    }

    @Test func `A cancelled upload is noted and forgotten all the same`() async throws {
        let tree = try TemporaryTree()
        let body = try file(tree, [UInt8].noise(Self.size))
        let memory = InMemoryEndpointFacts()
        let arrived = Noted<Bool>()
        let server = PartServer([
            "part 1": [.silence { arrived.note(true) }], "abort": [.reply(500), .reply(500), .reply(204)],
        ])
        try await withStore(server.serve, memory: memory) { store in
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    _ = try? await store.put(
                        body, at: try ObjectKey("film"), attributes: Self.attributes, condition: .ifAbsent)
                }
                #expect(await arrived.next() == true)
                #expect(memory.unfinishedUploads().map(\.id) == ["up-1"])
                group.cancelAll()
            }
        }
        #expect(server.stepsBesideParts.suffix(3) == ["abort", "abort", "abort"])
        #expect(memory.unfinishedUploads().isEmpty)
    }

    @Test(arguments: [(true, ["head", "list", "create", "part 1"]), (false, ["head", "list", "create", "abort"])])
    func `No part is sent where the store would not encrypt it`(confirms: Bool, steps: [String]) async throws {
        let tree = try TemporaryTree()
        let body = try file(tree, [UInt8].noise(Self.size))
        let server = PartServer(confirmedEncryption: confirms ? "aws:kms" : nil)
        try await withStore(server.serve, encryption: .keyService(key: "k")) { store in
            do {
                _ = try await store.put(
                    body, at: try ObjectKey("film"), attributes: Self.attributes, condition: .ifAbsent)
                #expect(confirms)
            } catch let error as StoreError {
                #expect(!confirms && error.code == .settingRefused)
            }
        }
        // The parts come in any order.
        #expect(server.steps.prefix(4).map { $0.hasPrefix("part") ? "part 1" : $0 } == steps)
        let create = try #require(server.head(of: "create"))
        #expect(create.headers["x-amz-server-side-encryption"] == "aws:kms")
        #expect(create.headers["x-amz-server-side-encryption-aws-kms-key-id"] == "k")
        #expect(server.head(of: "complete")?.headers["x-amz-server-side-encryption"] == nil)
    }

    @Test func `What an earlier run left behind in the folder is removed`() async throws {
        let tree = try TemporaryTree()
        let body = try file(tree, [UInt8].noise(Self.size))
        func upload(_ id: String, _ date: String) -> String {
            "<Upload><Key>film</Key><UploadId>\(id)</UploadId><Initiated>\(date)</Initiated></Upload>"
        }
        let server = PartServer(
            leftovers: upload("old", "2012-12-20T00:00:00.000Z") + upload("new", "2999-12-20T00:00:00.000Z"))
        try await withStore(server.serve) { store in
            _ = try await store.put(
                body, at: try ObjectKey("film"), attributes: Self.attributes, condition: .ifAbsent)
        }
        #expect(Array(server.steps.prefix(4)) == ["head", "list", "abort", "create"])
        #expect(server.head(of: "abort")?.line == "DELETE /b/film?uploadId=old HTTP/1.1")
    }

    @Test func `What anybody has left below a prefix is removed, and nothing beside it`() async throws {
        func upload(_ key: String) -> String {
            "<Upload><Key>\(key)</Key><UploadId>\(key.count)</UploadId><Initiated>2012-12-20T00:00:00.000Z</Initiated></Upload>"
        }
        let server = PartServer(leftovers: upload("users/ana/photos/film") + upload("users/anabel/film"))
        try await withStore(server.serve) { try await $0.takeBackUploads(below: "users/ana/") }
        #expect(server.steps == ["list", "abort"])
        #expect(server.head(of: "abort")?.line == "DELETE /b/users/ana/photos/film?uploadId=21 HTTP/1.1")
    }

    @Test func `No part is ever in memory`() async throws {
        let tree = try TemporaryTree()
        let body = try file(tree, [UInt8].noise(Self.size))
        let transport = NotingTransport()
        let store = try S3Store(
            settings: S3Settings(bucket: "b", region: "us-east-1", endpoint: "http://127.0.0.1:9"),
            environment: AWSEnvironment(variables: Self.keys, profile: nil) { _ throws(StoreError) in nil },
            transport: transport, parts: PartSizes(threshold: 1_000_000, smallestPart: 1_000_000), now: { Date() })
        let code = await #expect(throws: StoreError.self) {
            _ = try await store.put(
                body, at: try ObjectKey("film"), attributes: Self.attributes, condition: .ifAbsent)
        }
        #expect(code?.code == .invalidResponse)
        let parts = transport.requests.filter { $0.method == .put }.compactMap(\.body)
        #expect(Set(parts.map(\.size)) == [1_000_000, 500_000])
        for part in parts {
            guard case .file(let path, _, let start) = part.source else {
                #expect(Bool(false), "a part in memory")
                continue
            }
            #expect(path == tree.path("film.mp4") && start.isMultiple(of: 1_000_000))
        }
    }
}
