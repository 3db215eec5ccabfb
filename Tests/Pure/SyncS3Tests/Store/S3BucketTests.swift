import SyncCore
import SyncS3
import Testing

/// A bucket that is made where there is none.
@Suite struct S3BucketTests {
    typealias Answer = ScriptedTransport.Answer

    private static let fresh: [Answer] = [.reply(404), .reply(200), .reply(200)]

    private func error(_ answers: [Answer], region: String = "us-east-1") async throws -> StoreError? {
        let made = try ScriptedStore(answers, change: { $0.region = region })
        return await #expect(throws: StoreError.self) { try await made.store.createBucket() }
    }

    @Test(
        arguments: [
            ("us-east-1", nil, ""), ("eu-central-1", nil, "<LocationConstraint>eu-central-1</LocationConstraint>"),
            ("eu-central-1", "http://nas:9000", ""),
        ] as [(String, String?, String)])
    func `It is made in its region, and closed to the public`(
        region: String, endpoint: String?, constraint: String
    ) async throws {
        let made = try ScriptedStore(Self.fresh, endpoint: endpoint, change: { $0.region = region })
        #expect(try await made.store.createBucket() == .created(openBecause: nil))
        #expect(made.transport.lines == ["HEAD /b", "PUT /b", "PUT /b"])
        let requests = made.transport.requests
        #expect(constraint.isEmpty ? requests[1].text.isEmpty : requests[1].text.contains(constraint))
        #expect(requests[2].url.query.map(\.name) == ["publicAccessBlock"])
        #expect(requests[2].text.split(separator: "true").count == 5 && requests[2].headers["Content-MD5"] != nil)
    }

    @Test(arguments: [Answer.error(501, "NotImplemented"), .error(400, "MalformedXML"), .reply(405)])
    func `Where public access cannot be blocked, it is told`(answer: Answer) async throws {
        let made = try ScriptedStore([.reply(404), .reply(200), answer], endpoint: "http://nas:9000")
        guard case .created(let reason?) = try await made.store.createBucket() else {
            Issue.record("it passes for blocked")
            return
        }
        #expect(reason.contains("nas:9000"), "\(reason)")
    }

    @Test(
        arguments: [
            [.reply(200, ["x-amz-bucket-region": "us-east-1"])], [.reply(404), .error(409, "BucketAlreadyOwnedByYou")],
            [.reply(403), ScriptedStore.emptyList],
        ] as [[Answer]])
    func `One that is there already is left as it is`(answers: [Answer]) async throws {
        let made = try ScriptedStore(answers)
        #expect(try await made.store.createBucket() == .existing)
        #expect(made.transport.requests.count == answers.count)
    }

    @Test(
        arguments: [
            (
                [.reply(404), .error(409, "BucketAlreadyExists")], .alreadyExists,
                "a bucket named b is there already and is another account's; take another name"
            ),
            (
                [.reply(403), .error(403, "AccessDenied")], .alreadyExists,
                "is another account's, or closed to these credentials"
            ),
            ([.reply(403), .error(403, "InvalidAccessKeyId")], .credentialsRejected, "does not know the access key"),
            ([.reply(404), .error(403, "AccessDenied")], .accessDenied, "allow s3:CreateBucket and"),
            ([.reply(404), .error(409, "OperationAborted")], .conflict, "was deleted a moment ago"),
            ([.reply(404), .error(400, "InvalidBucketName")], .storeMissing, "takes no bucket named b"),
            (
                [.reply(301, ["x-amz-bucket-region": "eu-west-1"]), .reply(200, ["x-amz-bucket-region": "eu-west-1"])],
                .wrongRegion, "is there already, in region eu-west-1; take that region, or another name"
            ),
        ] as [([Answer], StoreError.Code, String)])
    func `What stands in the way is told`(answers: [Answer], code: StoreError.Code, message: String) async throws {
        let error = try await error(answers)
        #expect(error?.code == code, "\(error?.message ?? "")")
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
}
