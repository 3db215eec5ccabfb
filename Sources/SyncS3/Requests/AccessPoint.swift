import SyncCore

/// Which of Amazon's endpoints of a region are asked (Amazon S3 User Guide, "Dual-stack endpoints"; AWS General Reference,
/// "Amazon S3 endpoints and quotas").
package struct EndpointForm: OptionSet, Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Reached by IPv6 and IPv4.
    package static let dualStack = EndpointForm(rawValue: 1)
    /// With cryptography validated by FIPS 140; in some regions only.
    package static let fips = EndpointForm(rawValue: 2)

    /// - Parameter service: `s3`, or `s3-accesspoint`.
    func host(_ service: String, in region: String) -> String {
        let end = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
        let name = service + (contains(.fips) ? "-fips" : "") + (contains(.dualStack) ? ".dualstack" : "")
        return "\(name).\(region).\(end)"
    }

    /// Of a service that gives credentials (`sts`, `portal.sso`, `oidc`). Those of GovCloud meet FIPS under their plain names.
    ///
    /// Source: the endpoint rules of botocore 1.43 for sts, sso and sso-oidc.
    func credentialHost(_ service: String, in region: String) -> String {
        let isChinese = region.hasPrefix("cn-")
        let isFIPS = contains(.fips) && (contains(.dualStack) || !region.hasPrefix("us-gov-"))
        let end =
            contains(.dualStack)
            ? isChinese ? "api.amazonwebservices.com.cn" : "api.aws"
            : isChinese ? "amazonaws.com.cn" : "amazonaws.com"
        return "\(service)\(isFIPS ? "-fips" : "").\(region).\(end)"
    }
}

/// An access point of a bucket, named by its ARN in the bucket's place: `arn:aws:s3:eu-west-1:123456789012:accesspoint/photos`
/// (Amazon S3 User Guide, "Using access points", "Access point ARNs").
struct AccessPoint: Hashable, Sendable {
    let region: String
    /// What its host begins with.
    let label: String

    /// `nil` for what is no ARN.
    /// - Throws: `StoreError` `.invalidRequest` for an ARN of something else.
    init?(_ bucket: String) throws(StoreError) {
        guard bucket.hasPrefix("arn:") else { return nil }
        let parts = bucket.split(separator: ":", maxSplits: 5, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6, parts[2] == "s3", ["aws", "aws-cn", "aws-us-gov"].contains(parts[1]) else {
            throw Self.invalid(bucket, "it is no ARN of an access point of S3")
        }
        let resource = parts[5].split(omittingEmptySubsequences: false) { $0 == "/" || $0 == ":" }.map(String.init)
        guard resource.count == 2, resource[0] == "accesspoint", !resource[1].isEmpty else {
            throw Self.invalid(bucket, "it is no ARN of an access point")
        }
        guard !parts[3].isEmpty, !resource[1].hasSuffix(".mrap") else {
            throw Self.invalid(
                bucket,
                "a multi-region access point needs signatures of the kind SigV4A, which sync-agent does not make")
        }
        guard parts[4].count == 12, parts[4].allSatisfy({ $0.isASCII && $0.isNumber }), Self.isLabel(resource[1]),
            Self.isLabel(parts[3])
        else { throw Self.invalid(bucket, "region, account or name in it are none") }
        region = parts[3]
        label = "\(resource[1])-\(parts[4])"
    }

    private static func isLabel(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0.isAlphanumeric && !$0.isUppercase || $0 == UInt8(ascii: "-") }
    }

    private static func invalid(_ bucket: String, _ reason: String) -> StoreError {
        StoreError(
            .invalidRequest, operation: "configure",
            message:
                "store.bucket is \"\(bucket.escapingControls)\": \(reason); name the bucket, or an access point of one "
                + "region")
    }
}
