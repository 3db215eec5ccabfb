package import FoundationEssentials
import SyncCore

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

/// Where credentials came from: what `doctor` prints and errors name.
package enum CredentialSource: Hashable, Sendable {
    case environment
    case profile(String, file: String)
    /// The program that a profile names.
    case process(profile: String)
    /// The endpoint of ECS, EKS or a like of theirs.
    case container
    /// The role of the EC2 instance.
    case instanceRole(String)
}

extension CredentialSource: CustomStringConvertible {
    package var description: String {
        switch self {
        case .environment: "environment"
        case .profile(let name, let file): "profile \"\(name.escapingControls)\" of \(file.escapingControls)"
        case .process(let profile): "credential_process of profile \"\(profile.escapingControls)\""
        case .container: "container"
        case .instanceRole(let name): "instance role \(name.escapingControls)"
        }
    }
}

/// One place that may have credentials.
package protocol CredentialProvider: Sendable {
    /// Looks anew each time; keeps nothing.
    /// - Throws: `StoreError` when the place is set up and fails: nothing further is tried then, because credentials of
    ///   another identity are worse than none. `CancellationError`.
    func credentials() async throws -> CredentialAnswer
}

package enum CredentialAnswer: Hashable, Sendable {
    case found(AWSCredentials)
    /// Nobody set this place up.
    /// - `reason`: a clause for the message that there are none at all: `AWS_ACCESS_KEY_ID is not set`.
    case absent(reason: String)
}

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

/// How long credentials are used before others are asked for.
///
/// Figures of botocore (`credentials.py`, `RefreshableCredentials`).
package enum RefreshRule: Hashable, Sendable {
    /// They are good for a while.
    case keep
    /// One caller gets others; the rest go on with these.
    case advisory
    /// All callers wait for others.
    case mandatory
    /// These are of no use any more.
    case expired

    /// Seconds before the end.
    package static let advisoryMargin: TimeInterval = 15 * 60
    package static let mandatoryMargin: TimeInterval = 10 * 60
    /// Seconds from one try to the next while the old ones still work: the source may be down, or hand out the same
    /// again until they end.
    package static let pause: TimeInterval = 60

    package init(expiration: Date?, now: Date) {
        let left = expiration?.timeIntervalSince(now) ?? .infinity
        self =
            if left <= 0 {
                .expired
            } else if left <= Self.mandatoryMargin {
                .mandatory
            } else if left <= Self.advisoryMargin {
                .advisory
            } else {
                .keep
            }
    }
}
