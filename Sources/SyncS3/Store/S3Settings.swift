package import SyncCore

/// The `store` section of the configuration, for `type: s3`. What is `nil` comes from the AWS environment.
package struct S3Settings: Hashable, Sendable {
    package var bucket: String
    package var region: String?
    /// An `http` or `https` URL; `nil` for Amazon.
    package var endpoint: String?
    package var addressing: BucketAddressing
    /// Put before every key; slashes at its ends do not count.
    package var prefix: String
    /// A profile of the shared AWS files. Naming one leaves the key pair of the environment aside.
    package var profile: String?
    package var encryption: S3Encryption
    /// Whether `x-amz-checksum-sha256` goes with every put: always or never; `nil` where the store is known to keep it.
    package var checksums: Bool?
    /// Whether the store honours `If-None-Match: *`: surely or surely not; `nil` to find out.
    package var conditionalWrites: Bool?
    /// Of new photos, originals and photos of events; everything else is in STANDARD.
    package var storageClass = StorageClass.standard
    package var tags: [String: String] = [:]
    package var requesterPays = false
    package var parts = PartSizes()
    /// Whether Amazon's endpoints of this kind are asked; `nil` where environment and profile decide.
    package var dualStack: Bool?
    package var fips: Bool?

    package init(
        bucket: String, region: String? = nil, endpoint: String? = nil, addressing: BucketAddressing = .auto,
        prefix: String = "", encryption: S3Encryption = .byBucket, checksums: Bool? = nil,
        conditionalWrites: Bool? = nil
    ) {
        self.bucket = bucket
        self.region = region
        self.endpoint = endpoint
        self.addressing = addressing
        self.prefix = prefix
        self.encryption = encryption
        self.checksums = checksums
        self.conditionalWrites = conditionalWrites
    }

    /// Whether the store is Amazon's own, and bills as it does.
    /// - Parameter variables: the process's environment.
    /// - Throws: ``StoreError`` when a setting cannot be used.
    package func isAmazon(environment variables: [String: String]) throws(StoreError) -> Bool {
        try address(in: AWSEnvironment(variables: variables, profile: profile, readFile: SharedFile.read)).isAmazon
    }

    func address(in environment: AWSEnvironment) throws(StoreError) -> S3Address {
        let endpoint = try environment.endpoint(configured: endpoint)
        // Environment and profile mean Amazon's endpoints, and not one that is named.
        let form =
            try endpoint == nil
            ? self.form(in: environment)
            : environment.form(dualStack: dualStack ?? false, fips: fips ?? false)
        return try S3Address(
            bucket: bucket, region: try environment.region(configured: region), endpoint: endpoint,
            addressing: addressing, form: form)
    }

    /// Of all endpoints of Amazon's.
    func form(in environment: AWSEnvironment) throws(StoreError) -> EndpointForm {
        try environment.form(dualStack: dualStack, fips: fips)
    }
}
