package import FoundationEssentials

/// A key pair that signs requests. Its secret parts never print: not in a description, a dump or an error.
package struct AWSCredentials: Hashable, Sendable {
    package let accessKeyID: String
    package let secretAccessKey: String
    /// For temporary credentials.
    package let sessionToken: String?
    /// When they end; `nil` for those that last.
    package let expiration: Date?
    package let source: CredentialSource

    package init(
        accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil, expiration: Date? = nil,
        source: CredentialSource = .environment
    ) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
        self.expiration = expiration
        self.source = source
    }
}

extension AWSCredentials {
    /// `from environment, expired at 2026-01-31T12:00:00Z`: what an error says of them.
    package func provenance(at now: Date) -> String {
        guard let expiration else { return "from \(source)" }
        return "from \(source), \(expiration <= now ? "expired at" : "good until") \(expiration.formatted(.iso8601))"
    }
}

extension AWSCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "AWSCredentials(\(accessKeyID), secret redacted, from \(source))" }
    package var debugDescription: String { description }
    package var customMirror: Mirror {
        Mirror(self, children: ["accessKeyID": accessKeyID, "source": source.description])
    }
}
