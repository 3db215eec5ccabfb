import Foundation
import SyncCore
import SyncDigest
import SyncS3
import SyncTestSupport
import Testing

/// What is tried below the port, against servers of each kind; and what the store learns by it.
@Suite struct S3ExaminerTests {
    private func withStore(
        conditionalWrites: Bool? = nil, imitating change: (inout StoreAbilities) -> Void = { _ in },
        _ work: (ScriptedS3Server, S3Store, S3Examiner) async throws -> Void
    ) async throws {
        try await ScriptedS3Server.run { server in
            server.imitate(change)
            let store = try S3Store(
                settings: S3Settings(
                    bucket: server.bucket, endpoint: server.endpoint, conditionalWrites: conditionalWrites),
                environment: server.environment, now: { server.now })
            do {
                try await work(server, store, S3Examiner(store))
            } catch {
                await store.close()
                throw error
            }
            await store.close()
        }
    }

    @Test(arguments: [
        (StoreAbilities.ConditionalPut.honoured, S3Examiner.Condition.honoured, S3Capabilities.ConditionalPut.honoured),
        (.ignored, .ignored, .ignored), (.refused, .refused("501 NotImplemented"), .refused),
    ])
    func `What a server makes of a condition is found out, and learned`(
        _ ability: StoreAbilities.ConditionalPut, _ expected: S3Examiner.Condition,
        _ learned: S3Capabilities.ConditionalPut
    ) async throws {
        try await withStore {
            $0.conditionalPut = ability
        } _: { server, store, examiner in
            server.store(Array("old".utf8), at: "a")
            let found = try await examiner.condition(over: try ObjectKey("a"))
            #expect(found == expected)
            #expect(store.knowledge.capabilities.conditionalPut == learned)
        }
    }

    @Test func `What the configuration says of conditions is not unlearned`() async throws {
        try await withStore(conditionalWrites: true) {
            $0.conditionalPut = .ignored
        } _: { server, store, examiner in
            server.store(Array("old".utf8), at: "a")
            let found = try await examiner.condition(over: try ObjectKey("a"))
            #expect(found == .ignored)
            #expect(store.knowledge.capabilities.conditionalPut == .honoured)
        }
    }

    @Test(arguments: [
        (StoreAbilities.ChecksumHeaders.checked, S3Examiner.Checksum.proven, true),
        (.badRequest, .refused("400 InvalidArgument"), false), (.notImplemented, .refused("501 NotImplemented"), false),
    ])
    func `Checksums are used where a wrong one is refused and the right one told`(
        _ ability: StoreAbilities.ChecksumHeaders, _ expected: S3Examiner.Checksum, _ learned: Bool
    ) async throws {
        try await withStore {
            $0.checksumHeaders = ability
        } _: { server, store, examiner in
            let found = try await examiner.checksum(at: try ObjectKey("a"), wrongAt: try ObjectKey("b"))
            #expect(found == expected)
            #expect(store.knowledge.capabilities.checksums == learned)
            #expect(server.object("b") == nil)
        }
    }

    @Test func `Damaged bytes are really sent, by MD5 and by signature, and their refusal seen`() async throws {
        try await withStore { server, _, examiner in
            let found = try await examiner.integrity(at: try ObjectKey("a"))
            #expect(found.checksMD5 && found.checksSignedBytes && found.tellsMD5)
            #expect(server.requests(.putObject).map(\.status) == [400, 400, 200])
        }
    }

    @Test func `A server that believes everyone is told from one that looks at signatures`() async throws {
        try await withStore { server, _, examiner in
            server.store(Array("x".utf8), at: "a")
            let found = try await examiner.access(to: try ObjectKey("a"))
            #expect(!found.anyone && !found.anySignature)
        }
        let open = try LoopbackServer { connection in
            while connection.readHead() != nil { connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx") }
        }
        let store = try S3Store(
            settings: S3Settings(bucket: "b", endpoint: "http://127.0.0.1:\(open.port)"),
            environment: ["AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s"], now: { Date() })
        let found = try await S3Examiner(store).access(to: try ObjectKey("a"))
        #expect(found.anyone && found.anySignature)
        await store.close()
        await open.stop()
    }

    @Test func `A link is read as a stranger reads it`() async throws {
        try await withStore { server, store, examiner in
            server.store(Array("bytes".utf8), at: "a b+c/é.txt")
            let link = try await store.link(to: try ObjectKey("a b+c/é.txt"), lasting: .seconds(60))
            server.clearRequests()
            #expect(try await examiner.fetch(link) == Array("bytes".utf8))
            #expect(server.requests(.getObject).count == 1)
            server.advanceClock(by: .seconds(61))
            await #expect(throws: StoreError.self) { _ = try await examiner.fetch(link) }
        }
    }

    @Test func `An upload in parts is taken back, also when its part is refused`() async throws {
        try await withStore { server, _, examiner in
            try await examiner.uploadInParts(at: try ObjectKey("a"))
            #expect(server.openUploads.isEmpty && server.object("a") == nil)
            server.script(.slowDown, on: .uploadPart)
            let error = await #expect(throws: StoreError.self) {
                try await examiner.uploadInParts(at: try ObjectKey("a"))
            }
            #expect(error?.code == .throttled)
            #expect(server.openUploads.isEmpty)
        }
    }
}
