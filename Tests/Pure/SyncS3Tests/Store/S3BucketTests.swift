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
        // Where no public ACL may be set, Ceph 16 refuses each put.
        #expect(requests[2].text.contains("<BlockPublicAcls>") == (endpoint == nil))
        #expect(requests[2].text.contains("<IgnorePublicAcls>true<") && requests[2].headers["Content-MD5"] != nil)
    }

    @Test(arguments: [
        Answer.error(501, "NotImplemented"), .error(400, "MalformedXML"), .reply(405),
        .error(409, "BucketAlreadyExists"),
    ])
    func `Where public access cannot be blocked, it is told`(answer: Answer) async throws {
        let made = try ScriptedStore([.reply(404), .reply(200), answer], endpoint: "http://nas:9000")
        guard case .created(let reason?) = try await made.store.createBucket() else {
            Issue.record("it passes for blocked")
            return
        }
        #expect(reason.contains("nas:9000"), "\(reason)")
    }

    @Test(arguments: [
        Answer.reply(503), .failure(TransportError(.timedOut, "no answer")), .error(409, "OperationAborted"),
    ])
    func `What may pass is tried again, and what does not pass names the bucket and the next step`(answer: Answer)
        async throws
    {
        let made = try ScriptedStore([.reply(404), .reply(200), answer, answer, .reply(200)])
        #expect(try await made.store.createBucket() == .created(openBecause: nil))
        let error = try await error([.reply(404), .reply(200), answer, answer, answer])
        #expect(
            error?.message.contains("the bucket b was created, and public access to it is not blocked yet") == true,
            "\(error?.message ?? "")")
        #expect(error?.message.contains("run sync-agent init --create-bucket again") == true)
    }

    private static let undecided = Answer.error(404, "NoSuchPublicAccessBlockConfiguration")
    private static let blocked = Answer.reply(
        200, [:],
        """
        <PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls>\
        <BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>true</RestrictPublicBuckets>\
        </PublicAccessBlockConfiguration>
        """)
    private static let there = Answer.reply(200, ["x-amz-bucket-region": "us-east-1"])

    @Test(
        arguments: [
            [there, blocked], [.reply(404), .error(409, "BucketAlreadyOwnedByYou"), blocked],
            [.reply(403), ScriptedStore.emptyList, blocked], [there, .error(501, "NotImplemented")],
            [there, .error(403, "AccessDenied")],
        ] as [[Answer]])
    func `One that is there already is left as it is`(answers: [Answer]) async throws {
        let made = try ScriptedStore(answers)
        #expect(try await made.store.createBucket() == .existing(isOpen: false))
        #expect(made.transport.requests.count == answers.count)
    }

    @Test func `One that an earlier run left open and empty is closed`() async throws {
        let made = try ScriptedStore([Self.there, Self.undecided, ScriptedStore.emptyList, .reply(200)])
        #expect(try await made.store.createBucket() == .closed)
        #expect(made.transport.lines == ["HEAD /b", "GET /b", "GET /b", "PUT /b"])
        #expect(made.transport.requests.last?.url.query.map(\.name) == ["publicAccessBlock"])
    }

    @Test(
        arguments: [(nil, .existing(isOpen: true)), ("http://nas:9000", .closed)]
            as [(String?, S3Store.BucketCreation)])
    func `Nothing blocked is a decision at Amazon, and what each new bucket says elsewhere`(
        endpoint: String?, creation: S3Store.BucketCreation
    ) async throws {
        let open = Answer.reply(
            200, [:],
            """
            <PublicAccessBlockConfiguration><BlockPublicAcls>false</BlockPublicAcls>\
            <IgnorePublicAcls>false</IgnorePublicAcls></PublicAccessBlockConfiguration>
            """)
        let made = try ScriptedStore([Self.there, open, ScriptedStore.emptyList, .reply(200)], endpoint: endpoint)
        #expect(try await made.store.createBucket() == creation)
    }

    @Test func `One that holds something and is open is told, and left as it is`() async throws {
        let full = Answer.reply(
            200, [:],
            """
            <ListBucketResult><Contents><Key>a</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>1</Size>\
            </Contents></ListBucketResult>
            """)
        let made = try ScriptedStore([Self.there, Self.undecided, full])
        #expect(try await made.store.createBucket() == .existing(isOpen: true))
        #expect(made.transport.requests.count == 3)
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
