/// How the store is asked to encrypt what it keeps (S3 User Guide, "Protecting data with server-side encryption").
package enum S3Encryption: Hashable, Sendable {
    /// As the bucket does by itself: nothing is asked for.
    case byBucket
    /// SSE-S3: with keys of the store's own.
    case ownKeys
    /// SSE-KMS.
    /// - `key`: an id or ARN; `nil` for the account's key for S3.
    case keyService(key: String?)

    /// What goes with each request that makes an object: a put, a copy, the beginning of an upload in parts.
    package var headers: HTTPHeaders {
        switch self {
        case .byBucket: return [:]
        case .ownKeys: return [Self.header: "AES256"]
        case .keyService(let key):
            var headers: HTTPHeaders = [Self.header: "aws:kms"]
            if let key { headers[Self.keyHeader] = key }
            return headers
        }
    }

    /// Whether the reply to such a request says that it was done. A store that does not know the headers says nothing.
    package func isConfirmed(by headers: HTTPHeaders) -> Bool {
        switch self {
        case .byBucket: true
        case .ownKeys: headers[Self.header] == "AES256"
        case .keyService: headers[Self.header] == "aws:kms"
        }
    }

    /// Whether an object that is there already, by its HEAD, is encrypted so or better.
    package func isMet(by headers: HTTPHeaders) -> Bool {
        switch self {
        case .byBucket: true
        case .ownKeys: headers[Self.header] != nil
        case .keyService: headers[Self.header]?.hasPrefix("aws:kms") == true
        }
    }

    private static let header = "x-amz-server-side-encryption"
    private static let keyHeader = "x-amz-server-side-encryption-aws-kms-key-id"
}
