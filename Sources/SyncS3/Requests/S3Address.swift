import FoundationEssentials
package import SyncCore

/// Where a bucket answers, and how its objects are addressed.
///
/// Source: Amazon S3 User Guide, "Virtual hosting of buckets" and "Bucket naming rules".
package struct S3Address: Hashable, Sendable {
    package let bucket: String
    package let region: String
    /// `https://s3.eu-central-1.amazonaws.com`: scheme, host and port, for messages.
    package let endpoint: String
    package let isAmazon: Bool
    private let base: HTTPURL
    private let addressing: BucketAddressing
    private let isPathStyle: Bool
    private let form: EndpointForm
    private let accessPoint: AccessPoint?

    /// - Parameters:
    ///   - bucket: its name, or the ARN of an access point, whose region counts then.
    ///   - endpoint: an `http` or `https` URL; `nil` for Amazon's of the region.
    ///   - form: of Amazon's endpoint.
    /// - Throws: `StoreError` `.invalidRequest` that names the setting.
    package init(
        bucket: String, region: String, endpoint: String?, addressing: BucketAddressing, form: EndpointForm = []
    ) throws(StoreError) {
        self.form = form
        let accessPoint = try AccessPoint(bucket)
        self.accessPoint = accessPoint
        if let endpoint, accessPoint != nil || !form.isEmpty {
            let what =
                accessPoint == nil ? "store.dualstack and store.fips choose" : "the access point in store.bucket is at"
            throw Self.invalid(
                "\(what) an endpoint of Amazon's, and another one is named: \(WebLink.withoutSecrets(endpoint).escapingControls) "
                    + "(store.endpoint, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL or the AWS configuration); take one of them out"
            )
        }
        if let accessPoint {
            if addressing == .path {
                throw Self.invalid(
                    "store.addressing is path, and an access point has a host of its own: write virtual or auto")
            }
            (self.bucket, self.region, self.addressing) = (bucket, accessPoint.region, addressing)
            let host = form.host("s3-accesspoint", in: accessPoint.region)
            base = HTTPURL(scheme: "https", host: host, path: "")
            self.endpoint = "https://\(host)"
            (isAmazon, isPathStyle) = (true, false)
            return
        }
        guard !bucket.isEmpty, bucket.utf8.allSatisfy(Self.isBucketByte) else {
            throw Self.invalid(
                "store.bucket is \"\(bucket.escapingControls)\": a bucket's name has letters, digits, \"-\", \".\" and \"_\""
            )
        }
        guard !region.isEmpty, region.utf8.allSatisfy(Self.isBucketByte) else {
            throw Self.invalid("store.region is \"\(region.escapingControls)\": write one such as eu-central-1")
        }
        let url = try Self.parse(endpoint ?? "https://\(form.host("s3", in: region))")
        isAmazon = url.host.hasSuffix(".amazonaws.com") || url.host.hasSuffix(".amazonaws.com.cn")
        let isNumeric = url.host.hasPrefix("[") || url.host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || $0.isDigit }
        switch addressing {
        case .path: isPathStyle = true
        case .virtual:
            if isNumeric {
                throw Self.invalid("store.addressing is virtual, and \(url.host) is no name: write path or auto")
            }
            isPathStyle = false
        case .auto: isPathStyle = !isAmazon || !Self.fitsHostName(bucket)
        }
        self.addressing = addressing
        self.bucket = bucket
        self.region = region
        self.endpoint = url.origin
        base = url
    }

    /// The URL of the bucket, or of an object in it.
    package func url(key: String? = nil, query: [HTTPQueryItem] = []) -> HTTPURL {
        var url = base
        if isPathStyle {
            url.path += "/\(bucket.uriEncoded())"
        } else {
            url.host = "\(accessPoint?.label ?? bucket).\(base.host)"
        }
        if let key { url.path += "/\(key.uriEncoded(keepingSlashes: true))" }
        if url.path.isEmpty { url.path = "/" }
        url.query = query
        return url
    }

    /// The same bucket where another region has it: at Amazon each has an endpoint of its own, in place of the one that
    /// was set; elsewhere the region only counts for the signature.
    package func moved(to region: String) throws(StoreError) -> S3Address {
        // The region of an access point is a part of its name.
        if accessPoint != nil { return self }
        return try S3Address(
            bucket: bucket, region: region, endpoint: isAmazon ? nil : "\(endpoint)\(base.path)",
            addressing: addressing,
            form: form)
    }

    /// Whether ``bucket`` is the ARN of an access point.
    package var isAccessPoint: Bool { accessPoint != nil }

    /// As a copy names an object of this bucket.
    func copySource(key: String) -> String {
        "\(bucket)/\(isAccessPoint ? "object/" : "")\(key.uriEncoded(keepingSlashes: true))"
    }

    private static func parse(_ text: String) throws(StoreError) -> HTTPURL {
        guard
            let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            scheme == "http" || scheme == "https", let host = parts.percentEncodedHost?.lowercased(), !host.isEmpty,
            parts.query == nil, parts.fragment == nil, parts.user == nil
        else {
            // It may come from the environment or an AWS file, and have a password where it has none to have.
            throw invalid(
                """
                store.endpoint is "\(WebLink.withoutSecrets(text).escapingControls)" (where it is not set: \
                AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL or endpoint_url of the AWS configuration): write a URL such as \
                https://s3.example.org, without a name, a password or a query
                """)
        }
        var path = parts.percentEncodedPath
        while path.hasSuffix("/") { path.removeLast() }
        return HTTPURL(scheme: scheme, host: host, port: parts.port, path: path)
    }

    /// A dot in the bucket breaks the wildcard certificate; capitals and `_` do not live in host names.
    private static func fitsHostName(_ bucket: String) -> Bool {
        bucket.utf8.allSatisfy {
            isBucketByte($0) && !$0.isUppercase && $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "_")
        }
    }

    private static func isBucketByte(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || "-._".utf8.contains(byte)
    }

    private static func invalid(_ message: String) -> StoreError {
        StoreError(.invalidRequest, operation: "configure", message: message)
    }
}

extension String {
    /// What comes behind the store's prefix; `nil` where the text does not begin with it. By bytes: for `String`, a `/` and
    /// a combining accent behind it are one character.
    func below(_ prefix: String) -> String? {
        if prefix.isEmpty { return self }
        guard utf8.starts(with: prefix.utf8) else { return nil }
        return String(Substring(utf8.dropFirst(prefix.utf8.count)))
    }
}

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
