/// The `store` section of the configuration, for `type: s3`. What is `nil` comes from the AWS environment.
package struct S3Settings: Hashable, Sendable {
    package var bucket: String
    package var region: String?
    /// An `http` or `https` URL; `nil` for Amazon.
    package var endpoint: String?
    package var addressing: S3Address.Addressing
    /// Put before every key; slashes at its ends do not count.
    package var prefix: String
    /// A profile of the shared AWS files. Naming one leaves the key pair of the environment aside.
    package var profile: String?

    package init(
        bucket: String, region: String? = nil, endpoint: String? = nil, addressing: S3Address.Addressing = .auto,
        prefix: String = "", profile: String? = nil
    ) {
        self.bucket = bucket
        self.region = region
        self.endpoint = endpoint
        self.addressing = addressing
        self.prefix = prefix
        self.profile = profile
    }
}
