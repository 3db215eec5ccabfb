/// Where the bucket's name goes in the URLs of an S3 endpoint, by the words of the configuration.
package enum BucketAddressing: String, Hashable, Sendable, CaseIterable {
    /// Virtual at Amazon, path everywhere else, and for buckets that no certificate covers.
    case auto
    /// `https://host/bucket/key`
    case path
    /// `https://bucket.host/key`
    case virtual
}
