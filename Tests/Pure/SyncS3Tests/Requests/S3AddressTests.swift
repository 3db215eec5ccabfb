import SyncCore
import Testing

@testable import SyncS3

@Suite struct S3AddressTests {
    typealias Row = (
        bucket: String, region: String, endpoint: String?, addressing: BucketAddressing, url: String
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

    @Test(
        arguments: [
            ("photos", "eu-west-1", .dualStack, "https://photos.s3.dualstack.eu-west-1.amazonaws.com/a"),
            ("my.photos", "us-east-1", .fips, "https://s3-fips.us-east-1.amazonaws.com/my.photos/a"),
            ("photos", "us-west-2", [.fips, .dualStack], "https://photos.s3-fips.dualstack.us-west-2.amazonaws.com/a"),
            ("photos", "cn-north-1", .dualStack, "https://photos.s3.dualstack.cn-north-1.amazonaws.com.cn/a"),
            (point, "us-east-1", [], "https://photos-123456789012.s3-accesspoint.eu-west-1.amazonaws.com/a"),
            (
                point, "eu-west-1", [.fips, .dualStack],
                "https://photos-123456789012.s3-accesspoint-fips.dualstack.eu-west-1.amazonaws.com/a"
            ),
            (
                "arn:aws-cn:s3:cn-north-1:123456789012:accesspoint:x", "cn-north-1", [],
                "https://x-123456789012.s3-accesspoint.cn-north-1.amazonaws.com.cn/a"
            ),
        ] as [(String, String, EndpointForm, String)])
    func `Amazon's other endpoints and access points have hosts of their own`(
        bucket: String, region: String, form: EndpointForm, url: String
    ) throws {
        let address = try S3Address(bucket: bucket, region: region, endpoint: nil, addressing: .auto, form: form)
        #expect("\(address.url(key: "a"))" == url && address.isAmazon)
        let other = try address.moved(to: "eu-north-1")
        #expect(bucket.hasPrefix("arn:") ? other == address : "\(other.url())".contains(".eu-north-1."))
    }

    private static let point = "arn:aws:s3:eu-west-1:123456789012:accesspoint/photos"

    @Test func `An access point is signed for its own region, and its objects are copied by its name`() throws {
        let address = try S3Address(bucket: Self.point, region: "us-east-1", endpoint: nil, addressing: .virtual)
        #expect(address.region == "eu-west-1" && address.bucket == Self.point)
        let copy = S3Requests(address: address, prefix: "p/").copy(
            try ObjectKey("a b"), to: try ObjectKey("c"), storageClass: .standard, isConditional: false)
        #expect(copy.headers["x-amz-copy-source"] == "\(Self.point)/object/p/a%20b")
    }

    @Test(
        arguments: [
            (
                "arn:aws:s3::123456789012:accesspoint/mfzwi23gnjvgw.mrap", nil, .auto, [],
                "SigV4A, which sync-agent does not make"
            ),
            ("arn:aws:s3:eu-west-1:123456789012:accesspoint/mfzwi23gnjvgw.mrap", nil, .auto, [], "SigV4A"),
            ("arn:aws:s3:::photos", nil, .auto, [], "no ARN of an access point"),
            (
                "arn:aws:s3-outposts:eu-west-1:123456789012:outpost/o/accesspoint/p", nil, .auto, [],
                "no ARN of an access point of S3"
            ),
            ("arn:aws:s3:eu-west-1:12:accesspoint/photos", nil, .auto, [], "region, account or name in it are none"),
            ("arn:aws:s3:eu-west-1:123456789012:accesspoint/a.b", nil, .auto, [], "are none"),
            (point, "http://nas:9000", .auto, [], "another one is named: http://nas:9000"),
            (point, nil, .path, [], "write virtual or auto"),
            (
                "photos", "http://nas:9000", .auto, .dualStack,
                "store.dualstack and store.fips choose an endpoint of Amazon's"
            ),
        ] as [(String, String?, BucketAddressing, EndpointForm, String)])
    func `What cannot be addressed is told`(
        bucket: String, endpoint: String?, addressing: BucketAddressing, form: EndpointForm, message: String
    ) {
        let error = #expect(throws: StoreError.self) {
            try S3Address(bucket: bucket, region: "us-east-1", endpoint: endpoint, addressing: addressing, form: form)
        }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
}
