package import FoundationEssentials
import SyncCore
package import SyncSystem

/// The places that may have credentials, in the order in which they are asked. The first that is set up decides.
///
/// Order of botocore (`credentials.py`), without what needs a service of its own: single sign-on, roles, web identity.
/// A `credential_process` reaches those.
package struct CredentialChain: Sendable {
    private let providers: [any CredentialProvider]
    private let remedy: String
    private let now: @Sendable () -> Date

    /// - Parameter remedy: what to do when no place has any.
    package init(providers: [any CredentialProvider], remedy: String, now: @escaping @Sendable () -> Date) {
        self.providers = providers
        self.remedy = remedy
        self.now = now
    }

    /// - Parameters:
    ///   - transport: reaches the endpoints on this machine and network, past any proxy.
    ///   - pool: reads files and waits for programs.
    ///   - patience: with each answer of such an endpoint; by default a second or two, as most machines have none.
    package init(
        environment: AWSEnvironment, transport: any HTTPTransport, pool: BlockingPool, patience: Duration? = nil,
        now: @escaping @Sendable () -> Date
    ) {
        let shared =
            [
                ProfileCredentials(environment: environment, pool: pool),
                ContainerCredentials(
                    environment: environment, transport: transport, pool: pool, patience: patience),
                InstanceCredentials(environment: environment, transport: transport, patience: patience),
            ] as [any CredentialProvider]
        if environment.isProfileConfigured {
            self.init(providers: shared, remedy: "add the keys to the profile or correct store.profile", now: now)
        } else {
            self.init(
                providers: [EnvironmentCredentials(environment: environment)] + shared,
                remedy: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or add the profile", now: now)
        }
    }

    /// The credentials of the first place that has some.
    /// - Throws: `StoreError` `.credentialsMissing` that lists every place; `.credentialsRejected` for expired ones; what
    ///   a place that is set up throws when it fails.
    package func resolve() async throws -> AWSCredentials {
        var reasons: [String] = []
        for provider in providers {
            switch try await provider.credentials() {
            case .found(let credentials):
                try check(credentials)
                return credentials
            case .absent(let reason):
                reasons.append(reason)
            }
        }
        throw StoreError(
            .credentialsMissing,
            "no S3 credentials: \(reasons.joined(separator: "; ")). To go on, \(remedy)")
    }

    private func check(_ credentials: AWSCredentials) throws(StoreError) {
        let now = now()
        guard RefreshRule(expiration: credentials.expiration, now: now) == .expired else { return }
        throw StoreError(.credentialsRejected, "the credentials are \(credentials.provenance(at: now)); get new ones")
    }
}

extension StoreError {
    /// The error of a provider. Who asked for the credentials puts in his operation.
    init(_ code: Code, _ message: String) {
        self.init(code, operation: "credentials", message: message)
    }
}
