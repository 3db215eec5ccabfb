import FoundationEssentials
import SyncCore
import SyncDigest
import Testing

@testable import SyncS3

@Suite struct SignatureV4Tests {
    private static let exampleKeys = AWSCredentials(
        accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    /// 2013-05-24T00:00:00Z
    private static let exampleDate = Date(timeIntervalSince1970: 1_369_353_600)
    /// 2026-11-21T02:03:04Z
    private static let laterDate = Date(timeIntervalSince1970: 1_795_226_584)

    /// Amazon S3 API Reference, "Signature Calculations for the Authorization Header: Transferring Payload in a Single
    /// Chunk": four requests with their published signatures.
    @Test(arguments: [
        (
            HTTPRequest(.get, example("/test.txt"), headers: ["Range": "bytes=0-9"]),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        ),
        (
            HTTPRequest(
                .put, example("/test%24file.text"),
                headers: ["Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"],
                body: HTTPBody(bytes: Array("Welcome to Amazon S3.".utf8))),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        ),
        (
            HTTPRequest(.get, example("/", [HTTPQueryItem("lifecycle")])),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
        ),
        (
            HTTPRequest(.get, example("/", [HTTPQueryItem("max-keys", "2"), HTTPQueryItem("prefix", "J")])),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        ),
    ])
    func `Requests of the S3 documentation get their published signatures`(request: HTTPRequest, signature: String) {
        let signer = SignatureV4(credentials: Self.exampleKeys, region: "us-east-1")
        let authorization = signer.signed(request, at: Self.exampleDate).headers["Authorization"] ?? ""
        #expect(authorization.hasSuffix("Signature=\(signature)"))
        #expect(
            authorization.hasPrefix(
                "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders="))
    }

    /// Amazon S3 API Reference, "Authenticating Requests: Using Query Parameters".
    @Test func `The presigned URL of the S3 documentation gets its published signature`() {
        let signer = SignatureV4(credentials: Self.exampleKeys, region: "us-east-1")
        let request = HTTPRequest(.get, Self.example("/test.txt"))
        let url = signer.presigned(request, expiresAfter: 86_400, at: Self.exampleDate)
        #expect(url.query.last?.name == "X-Amz-Signature")
        #expect(url.query.last?.value == "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404")
        #expect(
            "\(url)".hasPrefix(
                "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256"
                    + "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"))
    }

    /// Amazon S3 API Reference, "Example: Browser-Based Upload using HTTP POST (Using AWS Signature Version 4)".
    @Test func `The policy of the S3 documentation gets its published signature`() throws {
        let lines = [
            #"{ "expiration": "2015-12-30T12:00:00.000Z","#, #"  "conditions": ["#,
            #"    {"bucket": "sigv4examplebucket"},"#, #"    ["starts-with", "$key", "user/user1/"],"#,
            #"    {"acl": "public-read"},"#,
            #"    {"success_action_redirect": "http://sigv4examplebucket.s3.amazonaws.com/successful_upload.html"},"#,
            #"    ["starts-with", "$Content-Type", "image/"],"#, #"    {"x-amz-meta-uuid": "14365123651274"},"#,
            #"    {"x-amz-server-side-encryption": "AES256"},"#, #"    ["starts-with", "$x-amz-meta-tag", ""],"#, "",
            #"    {"x-amz-credential": "AKIAIOSFODNN7EXAMPLE/20151229/us-east-1/s3/aws4_request"},"#,
            #"    {"x-amz-algorithm": "AWS4-HMAC-SHA256"},"#, #"    {"x-amz-date": "20151229T000000Z" }"#, "  ]", "}",
        ]
        let policy = Data(lines.joined(separator: "\r\n").utf8).base64EncodedString()
        let signer = SignatureV4(credentials: Self.exampleKeys, region: "us-east-1")
        // 2015-12-29T00:00:00Z
        let date = Date(timeIntervalSince1970: 1_451_347_200)
        #expect(
            signer.signature(ofPolicy: policy, at: date)
                == "8afdbf4008c03f22c2cd3cdb72e4afbb1f6a588f3255ac628749a66d7f09699e")
        #expect(
            signer.formFields(at: date).map(\.value) == [
                "AWS4-HMAC-SHA256", "AKIAIOSFODNN7EXAMPLE/20151229/us-east-1/s3/aws4_request", "20151229T000000Z",
            ])
    }

    /// Expected values computed with botocore's S3SigV4Auth and S3SigV4QueryAuth.
    @Test func `Awkward keys, ports, session tokens and metadata are signed as botocore signs them`() throws {
        let keys = AWSCredentials(
            accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            sessionToken: "to/ken+=")
        let signer = SignatureV4(credentials: keys, region: "eu-central-1")
        let address = try S3Address(
            bucket: "my-bucket", region: "eu-central-1", endpoint: "http://127.0.0.1:9000", addressing: .auto)
        let requests = S3Requests(address: address, prefix: "")
        let hello = Array("hello".utf8)
        let put = try requests.put(
            ObjectBody(bytes: hello, digest: ContentDigest(of: hello)), at: ObjectKey("a b/plus+&ü~.jpg"),
            attributes: ObjectAttributes(contentType: "image/jpeg", metadata: ["a-b": "2", "a": "1"]),
            features: [])
        let signed = signer.signed(put, at: Self.laterDate)
        #expect(
            signed.headers["Authorization"]
                == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261121/eu-central-1/s3/aws4_request, SignedHeaders="
                + "content-md5;content-type;host;x-amz-content-sha256;x-amz-date;x-amz-meta-a;x-amz-meta-a-b;"
                + "x-amz-security-token, "
                + "Signature=a8d29070ef749d6f9e6db356ec55e1b373eca8dceb71b5c7a0bb22c8bab0bd44")
        let get = HTTPRequest(.get, put.url)
        #expect(
            signer.presigned(get, expiresAfter: 604_800, at: Self.laterDate).query.last?.value
                == "8135db8cb91e36a1e70c441ee085e690eee3e9b52d6505d7108e4c8ee0b8f372")
    }

    @Test func `A listing is signed with its query sorted and encoded`() throws {
        let keys = AWSCredentials(
            accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
        let address = try S3Address(
            bucket: "my-bucket", region: "eu-central-1", endpoint: nil, addressing: .auto)
        let list = S3Requests(address: address, prefix: "")
            .list(prefix: "a b/+", after: PageToken(rawValue: "x/y=="), limit: 1_000)
        let signed = SignatureV4(credentials: keys, region: "eu-central-1").signed(list, at: Self.laterDate)
        #expect(
            signed.headers["Authorization"]?.suffix(64)
                == "ccb02bb72198396fb67e32d270aef510eb4441fa91989a128c45b6eab94e08b1")
    }

    private static func example(_ path: String, _ query: [HTTPQueryItem] = []) -> HTTPURL {
        HTTPURL(scheme: "https", host: "examplebucket.s3.amazonaws.com", path: path, query: query)
    }
}
