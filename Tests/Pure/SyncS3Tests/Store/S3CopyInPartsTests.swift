import SyncCore
import SyncDigest
import Testing

@testable import SyncS3

/// Copies of what is larger than S3 copies in one request.
@Suite struct S3CopyInPartsTests {
    typealias Answer = ScriptedTransport.Answer

    private static let other = "http://nas:9000"
    private static let bytes = ContentDigest(of: [1]).md5
    private static let created = Answer.reply(
        200, [:], "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>")
    private static let done = Answer.reply(
        200, [:], "<CompleteMultipartUploadResult><ETag>\"x\"</ETag></CompleteMultipartUploadResult>")
    private static let part = copied("\(bytes)")
    private static let otherPart = copied("\(ContentDigest(of: [2]).md5)")
    private static let aborted = Answer.reply(204)

    /// - Parameter size: bytes.
    private static func firstPart(_ size: Int) -> Answer { .reply(206, ["Content-Length": "\(size)"]) }

    /// - Parameter tag: its ETag.
    private static func copied(_ tag: String) -> Answer {
        .reply(200, [:], "<CopyPartResult><ETag>\"\(tag)\"</ETag></CopyPartResult>")
    }

    /// One that went up in so many parts, all of the same bytes.
    private static func tag(ofParts count: Int) -> String {
        let whole = [MD5Digest](repeating: bytes, count: count).flatMap(\.bytes)
        return "\(ContentDigest(of: whole).md5)-\(count)"
    }

    private static func object(
        _ storageClass: String? = nil, parts: Int = 1, tag: String? = nil, tags: Int? = nil
    ) -> Answer {
        var headers: HTTPHeaders = [
            "Content-Length": "\(5 << 30 + 1)", "Last-Modified": "Fri, 21 Dec 2012 00:00:00 GMT",
            "Content-Type": "video/mp4", "Cache-Control": "private", "x-amz-meta-md5": "0123",
            "ETag": "\"\(tag ?? Self.tag(ofParts: parts))\"",
        ]
        headers["x-amz-storage-class"] = storageClass
        headers["x-amz-tagging-count"] = tags.map { "\($0)" }
        return .reply(200, headers)
    }

    /// A store that cuts into parts of so many GiB.
    private func store(
        _ answers: [Answer], endpoint: String? = nil, gibibytes: Int64 = 6,
        change: (inout S3Settings) -> Void = { _ in }
    ) throws -> ScriptedStore {
        try ScriptedStore(
            answers, endpoint: endpoint,
            change: { settings in
                settings.parts = PartSizes(threshold: 64 << 20, smallestPart: gibibytes << 30)
                change(&settings)
            })
    }

    private func archive(_ made: ScriptedStore) async throws {
        let key = try ObjectKey("a")
        try await made.store.copy(key, to: key, storageClass: .deepArchive, condition: .overwrite)
    }

    @Test func `It is copied part by part, with type, metadata and class, and counts when it is there`() async throws {
        let made = try store(
            [
                Self.object(parts: 3), Self.created, Self.part, Self.part, Self.part, Self.object(parts: 3), Self.done,
                Self.object("DEEP_ARCHIVE", parts: 3),
            ], gibibytes: 2)
        try await archive(made)
        #expect(
            made.transport.lines == [
                "HEAD /b/a", "POST /b/a", "PUT /b/a", "PUT /b/a", "PUT /b/a", "HEAD /b/a", "POST /b/a", "HEAD /b/a",
            ])
        let requests = made.transport.requests
        let begun = requests[1].headers
        #expect(begun["x-amz-storage-class"] == "DEEP_ARCHIVE" && begun["Content-Type"] == "video/mp4")
        #expect(begun["Cache-Control"] == "private" && begun["x-amz-meta-md5"] == "0123" && begun["ETag"] == nil)
        let parts = requests.filter { $0.method == .put }
        let (second, third) = (2 << 30, 4 << 30)
        #expect(
            Set(parts.compactMap { $0.headers["x-amz-copy-source-range"] }) == [
                "bytes=0-\(second - 1)", "bytes=\(second)-\(third - 1)", "bytes=\(third)-\(5 << 30)",
            ])
        let tag = "\"\(Self.tag(ofParts: 3))\""
        #expect(parts.allSatisfy { $0.headers["x-amz-copy-source-if-match"] == tag })
        #expect(parts.allSatisfy { $0.headers["x-amz-copy-source"] == "b/a" })
        #expect(requests[6].headers["If-Match"] == tag)
    }

    struct Row: Sendable {
        /// From the first part on.
        let answers: [Answer]
        let error: StoreError.Code
    }

    @Test(arguments: [
        Row(
            answers: [.error(412, "PreconditionFailed"), .error(412, "PreconditionFailed"), aborted], error: .conflict),
        // A store without this is no store without copies.
        Row(answers: [.error(501, "NotImplemented"), aborted], error: .tooLarge),
        Row(answers: [otherPart, firstPart(5 << 30 + 1), aborted], error: .badDigest),
        // It was deleted for good meanwhile, or is another one.
        Row(answers: [part, .reply(404), aborted], error: .notFound),
        Row(answers: [part, object(tag: "another"), aborted], error: .conflict),
        Row(
            answers: [
                part, object(), .error(412, "PreconditionFailed"), .error(412, "PreconditionFailed"), aborted,
            ], error: .conflict),
    ])
    func `What fails before the end changes nothing, and takes its parts back`(row: Row) async throws {
        let made = try store([Self.object(), Self.created] + row.answers)
        let code = try await ScriptedStore.code { try await archive(made) }
        #expect(code == row.error)
        #expect(made.transport.lines.last == "DELETE /b/a")
    }

    /// None of them is cancelled: each holds up the end of the program.
    @Test(arguments: [(false, Duration.seconds(10)), (true, .seconds(3))])
    func `All attempts to take parts back have one time together, and less once the work is cancelled`(
        isCancelled: Bool, most: Duration
    ) async throws {
        let made = try store([.error(500, "InternalError"), .error(500, "InternalError"), Self.aborted])
        let upload = MultipartID(key: try ObjectKey("a"), rawValue: "u")
        await Task {
            if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
            _ = await made.store.client.giveUp(upload, after: CancellationError())
        }.value
        let limits = made.transport.requests.compactMap(\.limit)
        #expect(made.transport.lines == ["DELETE /b/a", "DELETE /b/a", "DELETE /b/a"])
        #expect(limits.count == 3)
        #expect(limits.allSatisfy { $0 <= most && $0 > .zero })
        #expect(limits == limits.sorted(by: >) && Set(limits).count == limits.count)
    }

    @Test(arguments: [firstPart(3 << 30), .reply(416)])
    func `Where it went up in as many parts of other sizes, its ETag proves nothing`(first: Answer) async throws {
        let made = try store([
            Self.object(), Self.created, Self.otherPart, first, Self.object(), Self.done, Self.object("DEEP_ARCHIVE"),
        ])
        try await archive(made)
        #expect(
            made.transport.lines == [
                "HEAD /b/a", "POST /b/a", "PUT /b/a", "HEAD /b/a", "HEAD /b/a", "POST /b/a", "HEAD /b/a",
            ])
    }

    @Test func `Its tags come along`() async throws {
        let tags = Answer.reply(
            200, [:],
            "<Tagging><TagSet><Tag><Key>album</Key><Value>a b</Value></Tag></TagSet></Tagging>")
        let made = try store([
            Self.object(tags: 1), tags, Self.created, Self.part, Self.object(tags: 1), Self.done, Self.object(tags: 1),
        ])
        try await archive(made)
        #expect(made.transport.lines.prefix(3) == ["HEAD /b/a", "GET /b/a", "POST /b/a"])
        #expect(made.transport.requests[2].headers["x-amz-tagging"] == "album=a%20b")
    }

    @Test func `Where nobody tells of tags, it gets those of the configuration, at Amazon too`() async throws {
        let made = try store(
            [Self.object(), Self.created, Self.part, Self.object(), Self.done, Self.object("DEEP_ARCHIVE")],
            change: { $0.tags = ["owner": "ana"] })
        try await archive(made)
        #expect(made.transport.requests[1].headers["x-amz-tagging"] == "owner=ana")
    }

    @Test func `Elsewhere its class has to be seen`() async throws {
        let listing = Answer.reply(
            200, [:],
            "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a</Key><Size>5</Size>"
                + "<StorageClass>DEEP_ARCHIVE</StorageClass></Contents></ListBucketResult>")
        let archived = Self.object("DEEP_ARCHIVE")
        let made = try store(
            [Self.object(), Self.created, Self.part, Self.object(), Self.done, archived, archived, listing],
            endpoint: Self.other)
        try await archive(made)
        #expect(made.transport.lines.suffix(3) == ["HEAD /b/a", "HEAD /b/a", "GET /b"])
        #expect(made.transport.requests[4].headers["If-Match"] == nil)
    }

    @Test func `Where it would not be encrypted as it is asked for, no part is copied`() async throws {
        let made = try store([Self.object(), Self.created, Self.aborted], change: { $0.encryption = .ownKeys })
        let code = try await ScriptedStore.code { try await archive(made) }
        #expect(code == .settingRefused)
        #expect(made.transport.lines == ["HEAD /b/a", "POST /b/a", "DELETE /b/a"])
    }
}
