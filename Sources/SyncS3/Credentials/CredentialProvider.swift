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
