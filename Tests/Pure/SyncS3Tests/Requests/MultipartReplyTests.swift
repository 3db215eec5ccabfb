import FoundationEssentials
import SyncCore
import Testing

@testable import SyncS3

@Suite struct MultipartReplyTests {
    private let requests: S3Requests
    private let upload: MultipartID

    init() throws {
        let address = try S3Address(
            bucket: "b", region: "us-east-1", endpoint: "http://localhost:9000", addressing: .auto)
        requests = S3Requests(address: address, prefix: "p/")
        upload = MultipartID(key: try ObjectKey("users/a.jpg"), rawValue: "id+/=")
    }

    @Test func `An upload begins with all that belongs to the object, and is not cancelled`() throws {
        let attributes = ObjectAttributes(
            contentType: "video/mp4", metadata: ["sha256": "ab"], storageClass: .glacier)
        let create = try requests.createUpload(at: upload.key, attributes: attributes, features: .storageClass)
        #expect("\(create.method.rawValue) \(create.url)" == "POST http://localhost:9000/b/p/users/a.jpg?uploads=")
        #expect(
            create.headers == [
                "Content-Type": "video/mp4", "x-amz-storage-class": "GLACIER", "x-amz-meta-sha256": "ab",
            ])
        // Without a body there would be no Content-Length, which some servers insist on.
        #expect(create.body?.size == 0)
        #expect(!create.isCancellable)
        // Nor does it hold up the end of the program for long.
        let copy = requests.createCopy(to: upload.key, storageClass: .glacier, naming: [:], tags: [:])
        #expect([create, copy].map(\.patienceAtEnd) == [.seconds(3), .seconds(3)])
    }

    @Test func `A part is named and has its own MD5`() {
        let part = requests.part(HTTPBody(bytes: Array("hello".utf8)), number: 7, of: upload)
        #expect("\(part.url)" == "http://localhost:9000/b/p/users/a.jpg?partNumber=7&uploadId=id%2B%2F%3D")
        #expect(part.headers == ["Content-MD5": "XUFAKrxLKna5cZ2REBfFkg=="])
    }

    @Test func `The end lists the parts in their order`() throws {
        let complete = requests.complete(upload, tags: ["\"a\"", "b<&>"], features: .condition)
        #expect(complete.headers == ["Content-Type": "application/xml", "If-None-Match": "*"])
        guard case .bytes(let bytes) = try #require(complete.body).source else { return #expect(Bool(false), "a file") }
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                + "<Part><PartNumber>1</PartNumber><ETag>\"a\"</ETag></Part>"
                + "<Part><PartNumber>2</PartNumber><ETag>b&lt;&amp;&gt;</ETag></Part></CompleteMultipartUpload>")
    }

    @Test(arguments: [
        ("<InitiateMultipartUploadResult><UploadId>x</UploadId></InitiateMultipartUploadResult>", "x"),
        ("<InitiateMultipartUpload><UploadId>x</UploadId></InitiateMultipartUpload>", "x"),
        ("<InitiateMultipartUploadResult><UploadId></UploadId></InitiateMultipartUploadResult>", nil),
        ("<InitiateMultipartUploadResult><UploadId>x</Upl", nil), ("<Error><Code>InternalError</Code></Error>", nil),
        ("", nil),
    ])
    func `The name of an upload is read`(body: String, expected: String?) {
        let created = try? MultipartReply.created(Array(body.utf8), key: upload.key)
        #expect(created?.rawValue == expected)
    }

    @Test(arguments: [
        ("\n \n<CompleteMultipartUploadResult><ETag>\"a-2\"</ETag></CompleteMultipartUploadResult>", true),
        ("<CompleteMultipartUploadResult><ETag>\"a-2\"</ETag>", false),
        (" <Error><Code>InternalError</Code></Error>", false), ("", false),
    ])
    func `Only the whole result is a success`(body: String, isComplete: Bool) {
        let tag = try? MultipartReply.completedTag(Array(body.utf8))
        #expect((tag != nil) == isComplete)
    }

    @Test func `Old uploads of ours are found`() throws {
        let body = """
            <ListMultipartUploadsResult><EncodingType>url</EncodingType>
            <Upload><Key>p/a+b.jpg</Key><UploadId>old</UploadId><Initiated>2012-12-20T00:00:00.000Z</Initiated></Upload>
            <Upload><Key>p/new.jpg</Key><UploadId>new</UploadId><Initiated>2012-12-22T00:00:00.000Z</Initiated></Upload>
            <Upload><Key>q/other.jpg</Key><UploadId>o</UploadId><Initiated>2012-12-20T00:00:00.000Z</Initiated></Upload>
            </ListMultipartUploadsResult>
            """
        let found = try MultipartReply.uploads(
            Array(body.utf8), prefix: "p/", before: Date(timeIntervalSince1970: 1_356_048_000))
        #expect(found == [MultipartID(key: try ObjectKey("a b.jpg"), rawValue: "old")])
        let none = "<ListMultipartUploadsResult></ListMultipartUploadsResult>"
        #expect(try MultipartReply.uploads(Array(none.utf8), prefix: "", before: .distantFuture).isEmpty)
    }
}
