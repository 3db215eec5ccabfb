package import FoundationEssentials

/// What a store learns of its endpoint on the way. Only the capabilities outlive it.
package struct S3Knowledge: Hashable, Sendable {
    /// Where the bucket is: as it was configured, until a redirect told better.
    package internal(set) var address: S3Address
    /// What has to be added to our clock to get the store's, in seconds. 0 until a request was refused for it.
    package internal(set) var clockOffset: TimeInterval = 0
    package internal(set) var capabilities: S3Capabilities

    package init(address: S3Address, capabilities: S3Capabilities? = nil) {
        self.address = address
        self.capabilities = capabilities ?? S3Capabilities(isAmazon: address.isAmazon)
    }
}
