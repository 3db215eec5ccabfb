import FoundationEssentials
import Testing

@testable import SyncS3

/// Our signer against botocore's, an implementation that shares nothing with ours.
@Suite struct SigningOracleTests {
    /// 2026-11-21T02:03:04Z
    private static let date = Date(timeIntervalSince1970: 1_795_226_584)

    @Test(arguments: SigningCase.keys + SigningCase.requests + SigningCase.presigned)
    func `A request goes where botocore sends it, and is signed as botocore signs it`(row: SigningCase) throws {
        let address = try row.address()
        let request = try Self.request(row, at: address)
        let signer = SignatureV4(credentials: row.credentials, region: address.region)
        switch row.kind {
        case .headers:
            let signed = signer.signed(request, at: Self.date)
            #expect("\(signed.url)" == row.url)
            #expect(signed.headers["Authorization"] == Self.authorization(row, region: address.region))
        case .unsignedPayload:
            var headers = request.headers
            headers["Host"] = request.url.authority
            headers["x-amz-date"] = SigningTime(Self.date).timestamp
            headers["x-amz-content-sha256"] = CanonicalRequest.Payload.unsigned.text
            headers["x-amz-security-token"] = row.credentials.sessionToken
            let canonical = CanonicalRequest(
                method: request.method.rawValue, path: request.url.path, query: request.url.query, headers: headers,
                payload: .unsigned)
            #expect("\(request.url)" == row.url)
            #expect(canonical.signedHeaders == row.signed)
            #expect(signer.signature(of: canonical, at: SigningTime(Self.date)) == row.signature)
        case .presigned(let seconds):
            var url = signer.presigned(request, expiresAfter: seconds, at: Self.date)
            let added = url.query.filter { $0.name.hasPrefix("X-Amz-") }
            #expect(Set(added) == Self.presignedItems(row, region: address.region, seconds: seconds))
            url.query.removeAll { $0.name.hasPrefix("X-Amz-") }
            #expect("\(url)" == row.url)
        }
    }

    @Test func `The table has what it is for`() {
        let all = SigningCase.keys + SigningCase.requests + SigningCase.presigned
        #expect(all.count >= 100)
        #expect(all.count { $0.hasToken } >= 20)
        #expect(all.count { $0.kind == .unsignedPayload } >= 2)
        #expect(SigningCase.presigned.count >= 20)
        #expect(Set(all.map(\.signature)).count == all.count)
    }

    private static func request(_ row: SigningCase, at address: S3Address) throws -> HTTPRequest {
        var request = HTTPRequest(row.method, address.url(key: row.key, query: row.query))
        for header in row.headers { request.headers.append(header.name, header.value) }
        request.body = row.body.map { HTTPBody(bytes: Array($0.utf8)) }
        return request
    }

    private static func authorization(_ row: SigningCase, region: String) -> String {
        "AWS4-HMAC-SHA256 Credential=\(SigningCase.keyID)/20261121/\(region)/s3/aws4_request, "
            + "SignedHeaders=\(row.signed), Signature=\(row.signature)"
    }

    private static func presignedItems(_ row: SigningCase, region: String, seconds: Int) -> Set<HTTPQueryItem> {
        var items: Set = [
            HTTPQueryItem("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
            HTTPQueryItem("X-Amz-Credential", "\(SigningCase.keyID)/20261121/\(region)/s3/aws4_request"),
            HTTPQueryItem("X-Amz-Date", "20261121T020304Z"),
            HTTPQueryItem("X-Amz-Expires", "\(seconds)"),
            HTTPQueryItem("X-Amz-SignedHeaders", row.signed),
            HTTPQueryItem("X-Amz-Signature", row.signature),
        ]
        if row.hasToken { items.insert(HTTPQueryItem("X-Amz-Security-Token", SigningCase.token)) }
        return items
    }
}
