import FoundationEssentials

/// Decides whether a request may be carried out, in the order in which S3 looks.
struct SignatureCheck: Sendable {
    /// How far a client's clock may be off.
    static let allowedSkew: TimeInterval = 900

    let credentials: [ServerCredentials]
    let now: Date

    /// - Parameters:
    ///   - region: of the bucket, and of the endpoint where there is none.
    ///   - redirects: what a wrong region is answered with: 301, or 400.
    func check(
        _ request: S3Request, region: String, redirects: Bool
    ) throws(S3Failure) -> SignedRequest {
        let signed = try SignedRequest(request)
        let pair = try credentials(of: signed)
        try checkRegion(signed, request, region: region, redirects: redirects)
        try checkTime(signed)
        try checkSignedHeaders(request, signed)
        let canonical = CanonicalForm(request, signed)
        guard canonical.signature(signed, secret: pair.secretAccessKey) == signed.signature else {
            throw S3Failure(
                403, "SignatureDoesNotMatch",
                "The request signature we calculated does not match the signature you provided. Check your key and "
                    + "signing method.",
                details: [
                    ("AWSAccessKeyId", signed.accessKeyID), ("StringToSign", canonical.stringToSign(signed)),
                    ("SignatureProvided", signed.signature), ("CanonicalRequest", canonical.text),
                ])
        }
        return signed
    }

    private func credentials(of signed: SignedRequest) throws(S3Failure) -> ServerCredentials {
        let pair = credentials.first { $0.accessKeyID == signed.accessKeyID }
        // A temporary pair without its token is as unknown as none.
        guard let pair, pair.sessionToken == nil || signed.sessionToken != nil else {
            throw S3Failure(
                403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.",
                details: [("AWSAccessKeyId", signed.accessKeyID)])
        }
        guard pair.sessionToken == signed.sessionToken else {
            throw S3Failure(400, "InvalidToken", "The provided token is malformed or otherwise invalid.")
        }
        if let end = pair.expires, end <= now {
            throw S3Failure(400, "ExpiredToken", "The provided token has expired.")
        }
        return pair
    }

    private func checkRegion(
        _ signed: SignedRequest, _ request: S3Request, region: String, redirects: Bool
    ) throws(S3Failure) {
        guard signed.scope[1] != region else { return }
        let header = [(name: "x-amz-bucket-region", value: region)]
        if redirects {
            throw S3Failure(
                301, "PermanentRedirect",
                "The bucket you are attempting to access must be addressed using the specified endpoint. Please send "
                    + "all future requests to this endpoint.",
                details: [
                    ("Bucket", request.bucket ?? ""),
                    ("Endpoint", "\(request.bucket ?? "").s3.\(region).amazonaws.com"),
                ],
                headers: header)
        }
        // The answer to a HEAD has no body to tell the region in.
        throw S3Failure(
            400, signed.life == nil ? "AuthorizationHeaderMalformed" : "AuthorizationQueryParametersError",
            "The authorization header is malformed; the region '\(signed.scope[1])' is wrong; expecting '\(region)'",
            details: [("Region", region)], headers: request.head.method == "HEAD" ? header : [])
    }

    private func checkTime(_ signed: SignedRequest) throws(S3Failure) {
        let skew = signed.time.timeIntervalSince(now)
        let serverTime = now.formatted(.iso8601)
        if let life = signed.life {
            guard skew <= Self.allowedSkew else {
                throw S3Failure(
                    403, "AccessDenied", "Request is not valid yet",
                    details: [("X-Amz-Date", signed.timestamp), ("ServerTime", serverTime)])
            }
            guard -skew < Double(life) else {
                throw S3Failure(
                    403, "AccessDenied", "Request has expired",
                    details: [
                        ("X-Amz-Expires", "\(life)"),
                        ("Expires", signed.time.addingTimeInterval(Double(life)).formatted(.iso8601)),
                        ("ServerTime", serverTime),
                    ])
            }
        } else if abs(skew) > Self.allowedSkew {
            throw S3Failure(
                403, "RequestTimeTooSkewed",
                "The difference between the request time and the current time is too large.",
                details: [
                    ("RequestTime", signed.timestamp), ("ServerTime", serverTime),
                    ("MaxAllowedSkewMilliseconds", "900000"),
                ])
        }
    }

    private func checkSignedHeaders(_ request: S3Request, _ signed: SignedRequest) throws(S3Failure) {
        let unsigned = request.head.headers.map(\.name)
            .filter { $0 == "host" || $0.hasPrefix("x-amz-") }
            .filter { !signed.signedHeaders.contains($0) }
        guard unsigned.isEmpty, signed.signedHeaders == signed.signedHeaders.sorted() else {
            throw S3Failure(
                403, "AccessDenied", "There were headers present in the request which were not signed",
                details: [("HeadersNotSigned", unsigned.joined(separator: ", "))])
        }
    }
}
