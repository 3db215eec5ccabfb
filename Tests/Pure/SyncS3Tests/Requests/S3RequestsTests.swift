import SyncCore
import SyncDigest
import Testing

@testable import SyncS3

@Suite struct S3RequestsTests {
    private let requests: S3Requests
    private let key: ObjectKey
    private let body = ObjectBody(bytes: Array("hello".utf8), digest: ContentDigest(of: Array("hello".utf8)))

    init() throws {
        let address = try S3Address(
            bucket: "b", region: "us-east-1", endpoint: "http://localhost:9000", addressing: .auto)
        requests = S3Requests(address: address, prefix: "backup/")
        key = try ObjectKey("users/ana/a b.jpg")
    }

    @Test func `A put carries type, MD5, class, condition and metadata`() throws {
        let attributes = ObjectAttributes(
            contentType: "image/jpeg", metadata: ["taken-at": "2024", "b": "Zürich 100%"], storageClass: .deepArchive)
        let put = try requests.put(
            body, at: key, attributes: attributes, features: [.condition, .checksum, .storageClass])
        #expect(put.method == .put)
        #expect("\(put.url)" == "http://localhost:9000/b/backup/users/ana/a%20b.jpg")
        #expect(
            put.headers == [
                "Content-Type": "image/jpeg", "x-amz-storage-class": "DEEP_ARCHIVE",
                "x-amz-meta-b": "Z%C3%BCrich%20100%25", "x-amz-meta-taken-at": "2024",
                "Content-MD5": "XUFAKrxLKna5cZ2REBfFkg==",
                "x-amz-checksum-sha256": "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=", "If-None-Match": "*",
            ])
        #expect(put.body == HTTPBody(body))
    }

    @Test func `The standard class and an unconditional put need no header`() throws {
        let put = try requests.put(
            body, at: key, attributes: ObjectAttributes(contentType: "text/plain"), features: .storageClass)
        #expect(put.headers.fields.map(\.name) == ["Content-Type", "Content-MD5"])
    }

    @Test(arguments: [
        ("image/jpeg\r\nx-amz-acl: public-read", "name"), ("jpeg", "name"), ("text/plain", "Name"),
        ("text/plain", "na me"), ("text/plain", "näme"), ("text/plain", ""), ("text/plain", "n:x"),
    ])
    func `What cannot stand in a header is refused`(contentType: String, name: String) {
        let attributes = ObjectAttributes(contentType: contentType, metadata: [name: "value"])
        let error = #expect(throws: StoreError.self) {
            try requests.put(body, at: key, attributes: attributes, features: [])
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test func `A put asks for nothing that it may not`() throws {
        let attributes = ObjectAttributes(contentType: "text/plain", storageClass: .glacier)
        let put = try requests.put(body, at: key, attributes: attributes, features: [])
        #expect(put.headers.fields.map(\.name) == ["Content-Type", "Content-MD5"])
    }

    @Test func `The digest of the store is asked for where there is one`() {
        #expect(requests.head(key, checksum: true).headers["x-amz-checksum-mode"] == "ENABLED")
        #expect(requests.head(key, checksum: false).headers["x-amz-checksum-mode"] == nil)
        #expect(requests.get(key, range: nil, checksum: true).headers["x-amz-checksum-mode"] == "ENABLED")
        #expect(requests.get(key, range: 0..<1, checksum: true).headers["x-amz-checksum-mode"] == nil)
    }

    @Test func `A range names its last byte`() {
        #expect(requests.get(key, range: 0..<1, checksum: false).headers["range"] == "bytes=0-0")
        #expect(
            requests.get(key, range: 5..<Int64.max, checksum: false).headers["range"] == "bytes=5-9223372036854775806")
        #expect(requests.get(key, range: nil, checksum: false).headers["range"] == nil)
    }

    @Test func `A listing asks below the prefix, encoded, in pages`() {
        let first = requests.list(prefix: "users/a b", after: nil, limit: 5_000)
        #expect(
            "\(first.url)"
                == "http://localhost:9000/b?encoding-type=url&list-type=2&max-keys=1000&prefix=backup%2Fusers%2Fa%20b")
        let next = requests.list(prefix: "", after: PageToken(rawValue: "a+/="), limit: 7)
        #expect(next.url.query.contains(HTTPQueryItem("continuation-token", "a+/=")))
        #expect(next.url.query.contains(HTTPQueryItem("max-keys", "7")))
    }

    @Test(arguments: ["", "plain", "two  spaces ", "100%", "%41", "Zürich\n🏔", "a=b;c\"d\""])
    func `Metadata values come back as they went`(value: String) {
        let encoded = S3Metadata.encode(value)
        #expect(encoded.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        #expect(S3Metadata.decode(encoded) == value)
    }

    @Test func `Metadata of other programs comes back as it is`() {
        #expect(S3Metadata.decode("100% sure") == "100% sure")
        let headers: HTTPHeaders = ["X-Amz-Meta-Title": "a%20b", "x-amz-metadata": "no", "ETag": "no"]
        #expect(S3Metadata.values(in: headers) == ["title": "a b"])
    }
}
