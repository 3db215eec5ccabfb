import Foundation
import SyncCore
import SyncEngine
import SyncS3
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// One fault at a time, by script.
@Suite struct SyncFaultTests {
    private static let noBucket = Fault.answer(ScriptedAnswer(404, "NoSuchBucket"))

    @Test(arguments: [.slowDown, .internalError, .reset(.beforeBody), .cut(.afterBody), noBucket] as [Fault])
    func `A store that is away for a while gets everything when it is back`(fault: Fault) async throws {
        try await SyncBench.run(photos: 12) { bench in
            bench.server.script(fault, numbers: 8...60)
            try await bench.runUntilStored()
            #expect(try bench.wrongPhotos() == [])
            #expect(try bench.states() == [.uploaded: 12])
            #expect(bench.server.requests.count { $0.fault == fault } == 53)
            #expect(bench.summary.withLock { $0.failed } == 0)
        }
    }

    /// A reply that ends before its first byte looks to curl like a connection that had grown stale: it sends the request
    /// again by itself, and the condition keeps the second from storing anything.
    @Test(
        arguments: [
            (.cut(.beforeReply), [nil, 412], [404, 200]), (.cut(.duringReplyHead), [200], [404, 200, 200]),
            (.errorInBody("InternalError"), [200], [404, 200, 200]),
        ] as [(Fault, [Int?], [Int?])])
    func `A photo whose answer is lost is proven by a head, and not stored again`(
        fault: Fault, puts: [Int?], heads: [Int?]
    ) async throws {
        try await SyncBench.run(photos: 1) { bench in
            bench.server.script(fault, on: .putObject)
            try await bench.pass()
            #expect(bench.server.requests(.putObject).map(\.status) == puts)
            #expect(bench.server.requests(.headObject).map(\.status) == heads)
            #expect(try bench.wrongPhotos() == [])
            #expect(bench.summary.withLock { $0.alreadyStored } == 1)
        }
    }

    @Test func `What was sent and turns out to be stored already is counted as sent`() async throws {
        try await SyncBench.run(photos: 1) { bench in
            // A condition that is honoured is not asked about first: the photo goes out, and the store answers 412.
            bench.server.script(.cut(.beforeReply), on: .putObject)
            try await bench.pass()
            let counted = bench.summary.withLock { $0 }
            #expect(counted.alreadyStored == 1)
            #expect(counted.bytesSent >= Int64(bench.photoSet.copy(of: 0).count))
        }
    }

    @Test func `A wrong digest in the answer is checked against what is stored`() async throws {
        try await SyncBench.run(photos: 1) { bench in
            bench.server.script(.wrongETag, on: .putObject)
            try await bench.pass()
            #expect(bench.server.requests(.putObject).map(\.status) == [200])
            #expect(bench.server.requests(.headObject).map(\.status) == [404, 200])
            #expect(try bench.wrongPhotos() == [])
        }
    }

    @Test func `What the store keeps wrong is removed and sent again`() async throws {
        try await SyncBench.run(photos: 1) { bench in
            bench.server.script(.corruptStored, on: .putObject)
            try await bench.pass()
            #expect(bench.server.requests(.putObject).map(\.status) == [200, 200])
            #expect(bench.server.requests(.deleteObject).map(\.status) == [204])
            #expect(try bench.wrongPhotos() == [])
            #expect(bench.summary.withLock { $0.postponed } == 1)
        }
    }

    @Test(arguments: ["ConditionalRequestConflict", "OperationAborted"])
    func `A conflict is tried again`(code: String) async throws {
        try await SyncBench.run(photos: 1) { bench in
            bench.server.script(.answer(ScriptedAnswer(409, code), at: .afterBody), on: .putObject)
            try await bench.pass()
            #expect(bench.server.requests(.putObject).map(\.status) == [409, 200])
            #expect(try bench.wrongPhotos() == [])
        }
    }

    @Test(arguments: [(true, 301), (false, 400)])
    func `A wrong region is corrected once`(redirects: Bool, status: Int) async throws {
        try await SyncBench.run(photos: 12, environment: ["AWS_REGION": "us-east-1"]) { bench in
            bench.server.setRedirectsWrongRegion(redirects)
            try await bench.pass()
            #expect(bench.server.requests.count { $0.status == status } == 1)
            #expect(bench.store.knowledge.address.region == bench.server.region)
            #expect(try bench.wrongPhotos() == [])
        }
    }

    private static let oddAnswers: [(ScriptedAnswer, Int)] = [
        (ScriptedAnswer(403, "AccessDenied"), 1), (ScriptedAnswer(401, ""), 1),
        (ScriptedAnswer(405, "MethodNotAllowed"), 1), (ScriptedAnswer(301, "PermanentRedirect"), 1),
        (ScriptedAnswer(400, "RequestTimeout"), 3), (ScriptedAnswer(404, ""), 3), (ScriptedAnswer(400, "Odd"), 1),
        (ScriptedAnswer(413, "EntityTooLarge"), 1), (ScriptedAnswer(501, "NotImplemented"), 1),
    ]

    @Test(arguments: oddAnswers)
    func `one odd answer ends no pass, and at its end everything is stored`(answer: ScriptedAnswer, times: Int)
        async throws
    {
        try await SyncBench.run(photos: 12) { bench in
            bench.server.script(.answer(answer), on: .putObject, numbers: 3...(2 + times))
            try await bench.pass(batchSize: 1, patience: .seconds(10))
            #expect(bench.server.requests.count { $0.fault != nil } == times)
            #expect(try bench.wrongPhotos() == [])
            #expect(try bench.states() == [.uploaded: 12])
            #expect(bench.summary.withLock { $0.failed } == 0)
        }
    }

    @Test func `A proxy that answers 404 for a while makes no photo failed`() async throws {
        try await SyncBench.run(photos: 60) { bench in
            bench.server.script(.answer(ScriptedAnswer(404, "")), on: .putObject, numbers: 5...9)
            try await bench.pass(batchSize: 3, patience: .seconds(60))
            // What was refused closed the gate: the others were not sent meanwhile, and nobody waits for a later try.
            #expect(bench.server.requests.count { $0.fault != nil } == 5)
            #expect(try bench.states() == [.uploaded: 60])
            #expect(try bench.wrongPhotos() == [])
            #expect(bench.summary.withLock { $0.failed } == 0)
        }
    }

    @Test(arguments: [200, 403, 404, 409, 412, 501])
    func `A page in place of an answer stores nothing, teaches nothing and removes nothing`(status: Int) async throws {
        try await SyncBench.run(photos: 3) { bench in
            bench.server.script(.answer(.page(status)), on: .putObject, numbers: 1...2)
            try await bench.pass(batchSize: 1, patience: .seconds(10))
            #expect(bench.server.requests(.putObject).map(\.status) == [status, status, 200, 200, 200])
            #expect(bench.server.requests(.deleteObject).isEmpty)
            #expect(bench.store.knowledge.capabilities.conditionalPut == .unproven)
            #expect(try bench.wrongPhotos() == [])
            #expect(try bench.states() == [.uploaded: 3])
        }
    }

    @Test func `When one request in five fails, a pass ends with everything stored`() async throws {
        try await SyncBench.run(photos: 200) { bench in
            bench.server.play(
                FaultMix(
                    seed: 5,
                    shares: [FaultMix.Share(0.2, [.slowDown, .internalError, .reset(.beforeBody), .cut(.afterBody)])]))
            try await bench.pass(patience: .seconds(10))
            #expect(try bench.states() == [.uploaded: 200])
            #expect(try bench.wrongPhotos() == [])
        }
    }

    // MARK: If-None-Match

    @Test(arguments: [(.honoured, 0), (.ignored, 0), (.refused, 1)] as [(StoreAbilities.ConditionalPut, Int)])
    func `Nothing is overwritten, whatever the store makes of the condition`(
        ability: StoreAbilities.ConditionalPut, refusals: Int
    ) async throws {
        try await SyncBench.run(photos: 3) { bench in
            bench.server.imitate { $0.conditionalPut = ability }
            let taken = try bench.photoSet.key(of: 1).rawValue
            bench.server.store(Array("somebody else's".utf8), at: taken)
            try await bench.pass(batchSize: 1)
            #expect(bench.server.object(taken)?.bytes == Array("somebody else's".utf8))
            #expect(bench.server.object(taken)?.generation == 1)
            #expect(try bench.wrongPhotos() == [1])
            #expect(try bench.states() == [.uploaded: 2, .pending: 1])
            #expect(bench.server.requests(.putObject).count { $0.status == 501 } == refusals)
        }
    }

    // MARK: Credentials

    @Test func `A wrong secret ends the pass, and no photo loses its place`() async throws {
        try await SyncBench.run(photos: 3, environment: ["AWS_SECRET_ACCESS_KEY": "another"]) { bench in
            let error = await #expect(throws: StoreError.self) { try await bench.pass() }
            #expect(error?.code == .credentialsRejected)
            let states = try bench.states()
            #expect(states == [.pending: 3])
            #expect(bench.server.keys == [])
        }
    }

    @Test func `An expired token is read anew from its file`() async throws {
        let tree = try TemporaryTree()
        try tree.makeFolder(".aws")
        let old = ServerCredentials(accessKeyID: "AKIAOLD", secretAccessKey: "o", sessionToken: "first")
        let new = ServerCredentials(accessKeyID: "AKIANEW", secretAccessKey: "n", sessionToken: "second")
        try write(old, in: tree)
        let environment = ["HOME": tree.root.string, "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""]
        try await SyncBench.run(photos: 3, environment: environment) { bench in
            bench.server.setCredentials([old])
            try await bench.store.check()
            var expired = old
            expired.expires = bench.server.now - 1
            bench.server.setCredentials([expired, new])
            try write(new, in: tree)
            try await bench.pass()
            #expect(bench.server.requests.count { $0.code == "ExpiredToken" } == 1)
            #expect(try bench.wrongPhotos() == [])
        }
    }

    private func write(_ pair: ServerCredentials, in tree: TemporaryTree) throws {
        let text = """
            [default]
            aws_access_key_id = \(pair.accessKeyID)
            aws_secret_access_key = \(pair.secretAccessKey)
            aws_session_token = \(pair.sessionToken ?? "")

            """
        try tree.write(text, to: ".aws/credentials")
    }
}
