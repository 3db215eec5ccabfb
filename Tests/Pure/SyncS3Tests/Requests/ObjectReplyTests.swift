import FoundationEssentials
import SyncCore
import Testing

@testable import SyncS3

@Suite struct ObjectReplyTests {
    private static let md5 = "5d41402abc4b2a76b9719d911017c592"
    /// 2012-12-21T00:00:00Z
    private static let date = Date(timeIntervalSince1970: 1_356_048_000)

    @Test func `A reply tells size, MD5, class, restore, type, metadata and time`() throws {
        let key = try ObjectKey("a")
        let reply = ObjectReply(
            HTTPResponse(
                status: 200,
                headers: [
                    "content-length": "5", "etag": "\"\(Self.md5)\"", "x-amz-storage-class": "DEEP_ARCHIVE",
                    "x-amz-restore": "ongoing-request=\"true\"", "content-type": "image/jpeg",
                    "x-amz-meta-width": "2048", "last-modified": "Fri, 21 Dec 2012 00:00:00 GMT",
                ]))
        #expect(
            reply.info(for: key)
                == ObjectInfo(
                    key: key, size: 5, md5: MD5Digest(hex: Self.md5), etag: Self.md5, storageClass: .deepArchive,
                    restore: .inProgress,
                    contentType: "image/jpeg", metadata: ["width": "2048"], modified: Self.date))
    }

    @Test(
        arguments: [
            (["ETag": "\"\(md5)\""], true), (["ETag": md5], true), (["ETag": "\"\(md5)-3\""], false), ([:], false),
            (["ETag": md5, "x-amz-server-side-encryption": "AES256"], true),
            (["ETag": md5, "x-amz-server-side-encryption": "aws:kms"], false),
            (["ETag": md5, "x-amz-server-side-encryption-customer-algorithm": "AES256"], false),
        ] as [(HTTPHeaders, Bool)])
    func `An ETag is an MD5 only where S3 says so`(headers: HTTPHeaders, isMD5: Bool) {
        #expect((ObjectReply(HTTPResponse(status: 200, headers: headers)).md5 != nil) == isMD5)
    }

    @Test(
        arguments: [
            ([:], RestoreState.none, false),
            (["x-amz-storage-class": "GLACIER_IR"], .none, false),
            (["x-amz-storage-class": "GLACIER"], .none, true),
            (["x-amz-storage-class": "DEEP_ARCHIVE", "x-amz-restore": "ongoing-request=\"true\""], .inProgress, true),
            (
                [
                    "x-amz-storage-class": "DEEP_ARCHIVE",
                    "x-amz-restore": "expiry-date=\"Fri, 21 Dec 2012 00:00:00 GMT\",ongoing-request=\"false\"",
                ], .restored(until: date), false
            ),
            (
                ["x-amz-storage-class": "GLACIER", "x-amz-restore": "ongoing-request=\"false\""],
                .restored(until: nil), false
            ),
            (["x-amz-storage-class": "INTELLIGENT_TIERING", "x-amz-archive-status": "ARCHIVE_ACCESS"], .none, true),
            (["x-amz-storage-class": "INTELLIGENT_TIERING"], .none, false),
        ] as [(HTTPHeaders, RestoreState, Bool)])
    func `The headers tell whether an object is archived`(
        headers: HTTPHeaders, restore: RestoreState, isArchived: Bool
    ) {
        let reply = ObjectReply(HTTPResponse(status: 200, headers: headers))
        #expect(reply.restore == restore)
        #expect(reply.isArchived == isArchived)
    }

    @Test(
        arguments: [
            (200, nil, nil, true), (206, nil, nil, false), (206, "bytes 5-9/10", 5..<20, true),
            (200, "bytes 5-9/10", 5..<20, true), (206, "bytes 4-9/10", 5..<20, false), (206, nil, 5..<20, false),
            (200, nil, 0..<20, false), (404, nil, nil, false),
        ] as [(Int, String?, Range<Int64>?, Bool)])
    func `A body counts only when it is what was asked for`(
        status: Int, contentRange: String?, asked: Range<Int64>?, expected: Bool
    ) {
        var headers: HTTPHeaders = [:]
        headers["Content-Range"] = contentRange
        #expect(ObjectReply(HTTPResponse(status: status, headers: headers)).carries(asked) == expected)
    }

    @Test func `A part tells the size of the whole`() throws {
        let reply = ObjectReply(
            HTTPResponse(status: 206, headers: ["Content-Length": "5", "Content-Range": "bytes 5-9/1000"]))
        #expect(reply.info(for: try ObjectKey("a"))?.size == 1_000)
        #expect(ObjectReply(HTTPResponse(status: 200)).info(for: try ObjectKey("a")) == nil)
    }

    @Test(arguments: ["9223372036854775807", "70368744177665", "-1", "many", ""])
    func `A size that no object has is none`(size: String) throws {
        let answers: [HTTPHeaders] = [
            ["Content-Length": size], ["Content-Length": "5", "Content-Range": "bytes 0-4/\(size)"],
        ]
        for headers in answers {
            #expect(ObjectReply(HTTPResponse(status: 200, headers: headers)).info(for: try ObjectKey("a")) == nil)
        }
    }

    @Test(arguments: ["", "Fri, 21 Foo 2012 00:00:00 GMT", "2012-12-21", "Fri, 21 Dec 2012 00:00:00 CET"])
    func `What is no HTTP date is none`(text: String) {
        #expect(S3Date.http(text) == nil)
    }
}
