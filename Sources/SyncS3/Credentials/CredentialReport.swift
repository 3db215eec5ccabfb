package import FoundationEssentials

/// What may be shown of credentials.
package struct CredentialReport: Hashable, Sendable {
    package let source: CredentialSource
    /// It names the key pair and is no secret.
    package let accessKeyID: String
    /// When they end; `nil` for those that last.
    package let expiration: Date?

    package init(_ credentials: AWSCredentials) {
        source = credentials.source
        accessKeyID = credentials.accessKeyID
        expiration = credentials.expiration
    }
}
