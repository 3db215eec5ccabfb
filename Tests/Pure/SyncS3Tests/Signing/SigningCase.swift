import SyncCore
import Testing

@testable import SyncS3

/// A request and how botocore signs it: a row of the tables that `scripts/make-signing-cases` writes.
struct SigningCase: Sendable, CustomTestStringConvertible {
    /// Where the bucket is. The script has the same table.
    enum Site: Sendable {
        case amazon, amazonPath, china, dotted, loopback, named, plainPort, securePort, oddPort, folder
    }

    enum Kind: Hashable, Sendable {
        case headers
        /// By headers, with `UNSIGNED-PAYLOAD` for the body.
        case unsignedPayload
        case presigned(seconds: Int)
    }

    static let keyID = "AKIDEXAMPLE"
    static let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
    static let token = "FwoGZXIvYXdzE//+to/ken+=="

    let method: HTTPRequest.Method
    let site: Site
    /// As it is meant, not encoded; `nil` for the bucket.
    let key: String?
    let kind: Kind
    /// Not encoded.
    let query: [HTTPQueryItem]
    /// Those that botocore's client made of the operation, and that are signed.
    let headers: [(name: String, value: String)]
    let body: String?
    let hasToken: Bool
    /// As botocore would send it, without the items of a presigned URL.
    let url: String
    /// Names of the signed headers.
    let signed: String
    let signature: String

    init(
        _ method: HTTPRequest.Method, _ site: Site, _ key: String?, as kind: Kind = .headers,
        query: [(String, String)] = [], headers: [(String, String)] = [], body: String? = nil, hasToken: Bool = false,
        url: String, signed: String, signature: String
    ) {
        self.method = method
        self.site = site
        self.key = key
        self.kind = kind
        self.query = query.map { HTTPQueryItem($0.0, $0.1) }
        self.headers = headers.map { (name: $0.0, value: $0.1) }
        self.body = body
        self.hasToken = hasToken
        self.url = url
        self.signed = signed
        self.signature = signature
    }

    var testDescription: String { "\(kind) \(method.rawValue) \(url)" }

    var credentials: AWSCredentials {
        AWSCredentials(
            accessKeyID: Self.keyID, secretAccessKey: Self.secret, sessionToken: hasToken ? Self.token : nil)
    }

    func address() throws -> S3Address {
        switch site {
        case .amazon: try Self.address("eu-central-1", .virtual)
        case .amazonPath: try Self.address("eu-central-1", .path)
        case .china: try Self.address("cn-north-1", .auto)
        case .dotted: try Self.address("us-west-2", .auto, bucket: "my.photo.bucket")
        case .loopback: try Self.address("us-east-1", .auto, "http://127.0.0.1:9000")
        case .named: try Self.address("us-east-1", .virtual, "http://s3.example.org:8080")
        case .plainPort: try Self.address("us-east-1", .path, "http://s3.example.org:80")
        case .securePort: try Self.address("us-east-2", .path, "https://s3.example.org:443")
        case .oddPort: try Self.address("garage", .auto, "https://s3.example.org:8443")
        case .folder: try Self.address("us-east-1", .path, "https://example.org/storage/s3")
        }
    }

    private static func address(
        _ region: String, _ addressing: BucketAddressing, _ endpoint: String? = nil, bucket: String = "my-bucket"
    ) throws -> S3Address {
        try S3Address(bucket: bucket, region: region, endpoint: endpoint, addressing: addressing)
    }
}
