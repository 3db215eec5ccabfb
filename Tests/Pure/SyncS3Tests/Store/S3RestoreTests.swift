import SyncCore
import SyncS3
import Testing

@Suite struct S3RestoreTests {
    typealias Answer = ScriptedTransport.Answer

    struct Row: Sendable {
        var tier = RestoreTier.bulk
        let answers: [Answer]
        /// Which of the requests name their tier.
        let named: [Bool]
        var answer: RestoreAnswer?
        var error: StoreError.Code?
    }

    private static let malformed = Answer.error(400, "MalformedXML")
    private static let notSupported = Answer.reply(
        400, [:],
        "<Error><Code>InvalidArgument</Code><Message>Retrieval option is not supported by this storage class</Message>"
            + "</Error>")

    @Test(arguments: [
        Row(answers: [.reply(202)], named: [true], answer: .accepted),
        Row(answers: [.reply(200)], named: [true], answer: .accepted),
        Row(answers: [.error(200, "InternalError")], named: [true], error: .serverFailed),
        Row(answers: [.error(409, "RestoreAlreadyInProgress")], named: [true], answer: .alreadyRetrieving),
        Row(answers: [.reply(409)], named: [true], answer: .alreadyRetrieving),
        Row(answers: [.error(409, "OperationAborted")], named: [true], error: .conflict),
        Row(answers: [.error(403, "InvalidObjectState")], named: [true], error: .notArchived),
        Row(answers: [.error(403, "ObjectAlreadyInActiveTierError")], named: [true], error: .notArchived),
        Row(answers: [.error(403, "AccessDenied")], named: [true], error: .accessDenied),
        Row(answers: [.error(404, "NoSuchKey")], named: [true], error: .notFound),
        Row(
            tier: .expedited, answers: [.error(503, "GlacierExpeditedRetrievalNotAvailable")], named: [true],
            error: .tierUnavailable),
        Row(answers: [.error(503, "SlowDown")], named: [true], error: .throttled),
        Row(tier: .expedited, answers: [.error(403, "InvalidTier")], named: [true], error: .tierUnavailable),
        Row(tier: .expedited, answers: [notSupported], named: [true], error: .tierUnavailable),
        Row(answers: [.error(501, "NotImplemented")], named: [true], error: .tierUnavailable),
        Row(
            tier: .standard, answers: [.error(501, "NotImplemented"), .error(501, "NotImplemented")],
            named: [true, false], error: .unsupported),
        Row(tier: .standard, answers: [.error(405, "MethodNotAllowed")], named: [true], error: .unsupported),
        Row(answers: [malformed, .reply(202)], named: [true, false], answer: .accepted),
        Row(tier: .standard, answers: [.reply(501), .reply(202)], named: [true, false], answer: .accepted),
        Row(answers: [malformed, malformed], named: [true, false], error: .invalidRequest),
        Row(answers: [malformed, .error(503, "SlowDown")], named: [true, false], error: .throttled),
    ])
    func `Each reply has its meaning`(row: Row) async throws {
        let made = try ScriptedStore(row.answers)
        let key = try ObjectKey("a")
        var answer: RestoreAnswer?
        let code = try await ScriptedStore.code {
            answer = try await made.store.restore(key, RestoreRequest(days: 7, tier: row.tier))
        }
        #expect(answer == row.answer && code == row.error)
        #expect(made.transport.requests.map { $0.text.contains("<Tier>") } == row.named)
        #expect(made.transport.requests.allSatisfy { $0.text.contains("<Days>7</Days>") })
    }

    @Test(arguments: [(202, false), (409, false), (503, true), (404, true)])
    func `A store without tiers is asked once for one, when it was the tier`(status: Int, again: Bool) async throws {
        let made = try ScriptedStore([Self.malformed, .reply(status), .reply(202)])
        let request = RestoreRequest(days: 7, tier: .bulk)
        _ = try? await made.store.restore(try ObjectKey("a"), request)
        #expect(try await made.store.restore(try ObjectKey("b"), request) == .accepted)
        #expect(made.transport.requests.map { $0.text.contains("<Tier>") } == [true, false, again])
    }

    @Test func `What is missing is the permission to restore`() async throws {
        let made = try ScriptedStore([.error(403, "AccessDenied")])
        let error = await #expect(throws: StoreError.self) {
            try await made.store.restore(try ObjectKey("a"), RestoreRequest(days: 1, tier: .bulk))
        }
        #expect(error?.operation == "restore" && error?.key == "a")
        #expect(error?.message.contains("grant s3:RestoreObject, or") == true)
    }
}
