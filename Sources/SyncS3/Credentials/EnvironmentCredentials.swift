import FoundationEssentials
import SyncCore

/// The key pair of the environment's variables.
package struct EnvironmentCredentials: CredentialProvider {
    private let environment: AWSEnvironment

    package init(environment: AWSEnvironment) {
        self.environment = environment
    }

    package func credentials() async throws -> CredentialAnswer {
        let variables = environment.variables
        switch (variables["AWS_ACCESS_KEY_ID"], variables["AWS_SECRET_ACCESS_KEY"]) {
        case (let id?, let secret?):
            return .found(
                AWSCredentials(
                    accessKeyID: id, secretAccessKey: secret,
                    sessionToken: variables["AWS_SESSION_TOKEN"] ?? variables["AWS_SECURITY_TOKEN"],
                    expiration: try expiration(), source: .environment))
        case (nil, nil):
            if variables["AWS_WEB_IDENTITY_TOKEN_FILE"] != nil, variables["AWS_ROLE_ARN"] != nil {
                throw StoreError(
                    .credentialsMissing,
                    "AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN are set, and sync-agent takes no role by web "
                        + "identity: unset them and use EKS Pod Identity or a credential_process")
            }
            return .absent(reason: "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set")
        case (nil, _):
            throw half("AWS_SECRET_ACCESS_KEY is set, AWS_ACCESS_KEY_ID is not")
        case (_, nil):
            throw half("AWS_ACCESS_KEY_ID is set, AWS_SECRET_ACCESS_KEY is not")
        }
    }

    private func half(_ finding: String) -> StoreError {
        StoreError(.credentialsMissing, "\(finding): set both or neither")
    }

    private func expiration() throws(StoreError) -> Date? {
        guard let text = environment.variables["AWS_CREDENTIAL_EXPIRATION"] else { return nil }
        if let date = S3Date.iso8601(text) { return date }
        throw StoreError(
            .credentialsRejected,
            "AWS_CREDENTIAL_EXPIRATION is \"\(text.escapingControls)\": write a time such as 2026-01-31T12:00:00Z")
    }
}
