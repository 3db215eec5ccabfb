package import FoundationEssentials
import SyncCore

/// What `doctor` asks. None of it changes anything, and none of it is retried.
extension S3Store {
    /// Where the credentials come from that requests are signed with, without the secrets.
    /// - Throws: ``StoreError`` `.credentialsMissing` or `.credentialsRejected` that says where they were looked for.
    package func credentialSource() async throws -> CredentialReport {
        CredentialReport(try await client.credentials.current(for: "check"))
    }

    /// The store's clock minus ours, in seconds, to a second or so; `nil` where the store does not tell its time.
    ///
    /// The request carries no signature: a clock that is far off, or missing credentials, do not stand in the way.
    package func serverTime() async throws -> TimeInterval? {
        let response = try await client.sendUnsigned(client.context("check", nil)) { $0.headBucket() }
        return response.headers["Date"].flatMap(S3Date.http)?.timeIntervalSince(client.now())
    }

    /// The bucket's region, as the store tells it also to those whom it refuses; `nil` where it does not.
    package func bucketRegion() async throws -> String? {
        let response = try await client.sendUnsigned(client.context("check", nil)) { $0.headBucket() }
        return ErrorReply(response).region
    }
}
