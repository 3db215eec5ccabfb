import SyncCore
import SyncS3
import Testing

@Suite struct S3AddressTests {
    typealias Row = (
        bucket: String, region: String, endpoint: String?, addressing: S3Address.Addressing, url: String
    )

    @Test(
        arguments: [
            ("photos", "eu-central-1", nil, .auto, "https://photos.s3.eu-central-1.amazonaws.com/a/b"),
            ("photos", "eu-central-1", nil, .path, "https://s3.eu-central-1.amazonaws.com/photos/a/b"),
            ("photos", "cn-north-1", nil, .auto, "https://photos.s3.cn-north-1.amazonaws.com.cn/a/b"),
            ("my.photos", "us-east-1", nil, .auto, "https://s3.us-east-1.amazonaws.com/my.photos/a/b"),
            ("my_photos", "us-east-1", nil, .auto, "https://s3.us-east-1.amazonaws.com/my_photos/a/b"),
            ("Photos", "us-east-1", nil, .auto, "https://s3.us-east-1.amazonaws.com/Photos/a/b"),
            (
                "photos", "us-east-1", "https://s3.us-east-1.amazonaws.com/", .auto,
                "https://photos.s3.us-east-1.amazonaws.com/a/b"
            ),
            ("photos", "us-east-1", "http://127.0.0.1:9000", .auto, "http://127.0.0.1:9000/photos/a/b"),
            ("photos", "us-east-1", "http://[::1]:9000", .auto, "http://[::1]:9000/photos/a/b"),
            ("photos", "us-east-1", "https://localhost:443", .auto, "https://localhost/photos/a/b"),
            ("photos", "auto", "https://S3.Example.org/base/", .auto, "https://s3.example.org/base/photos/a/b"),
            ("photos", "auto", "https://s3.example.org:8443", .virtual, "https://photos.s3.example.org:8443/a/b"),
        ] as [Row])
    func `Buckets are addressed in the way that reaches them`(row: Row) throws {
        let address = try S3Address(
            bucket: row.bucket, region: row.region, endpoint: row.endpoint, addressing: row.addressing)
        #expect("\(address.url(key: "a/b"))" == row.url)
    }

    @Test(arguments: ["http://ana:hunter2@127.0.0.1:1", "https://s3.example.org/?token=hunter2", "ana:hunter2@s3"])
    func `An endpoint that is refused is told without its secrets, and with all places that it may come from`(
        endpoint: String
    ) throws {
        let error = #expect(throws: StoreError.self) {
            try S3Address(bucket: "photos", region: "us-east-1", endpoint: endpoint, addressing: .auto)
        }
        let text = "\(try #require(error))"
        #expect(!text.contains("hunter2") && text.contains("AWS_ENDPOINT_URL"), "\(text)")
    }

    @Test func `A bucket of its own host has a path`() throws {
        let address = try S3Address(bucket: "photos", region: "us-east-1", endpoint: nil, addressing: .auto)
        #expect(
            "\(address.url(query: [HTTPQueryItem("lifecycle")]))"
                == "https://photos.s3.us-east-1.amazonaws.com/?lifecycle=")
        #expect(address.url(key: "ä b+c").path == "/%C3%A4%20b%2Bc")
    }

    @Test(
        arguments: [
            ("", "us-east-1", nil, .auto, "store.bucket"),
            ("a/b", "us-east-1", nil, .auto, "store.bucket"),
            ("a b", "us-east-1", nil, .auto, "store.bucket"),
            ("ok", "us east", nil, .auto, "store.region"),
            ("ok", "us-east-1", "s3.example.org", .auto, "store.endpoint"),
            ("ok", "us-east-1", "ftp://s3.example.org", .auto, "store.endpoint"),
            ("ok", "us-east-1", "https://user:secret@s3.example.org", .auto, "store.endpoint"),
            ("ok", "us-east-1", "https://s3.example.org?x=1", .auto, "store.endpoint"),
            ("ok", "us-east-1", "http://127.0.0.1:9000", .virtual, "store.addressing"),
        ] as [Row])
    func `Settings that cannot work are named`(row: Row) {
        let error = #expect(throws: StoreError.self) {
            try S3Address(bucket: row.bucket, region: row.region, endpoint: row.endpoint, addressing: row.addressing)
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.hasPrefix(row.url) == true)
    }
}
