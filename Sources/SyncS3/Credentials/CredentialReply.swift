import FoundationEssentials

/// Credentials as JSON: what a `credential_process` prints and the endpoints of containers and instances answer.
///
/// Source: AWS SDKs and Tools Reference Guide, "Process credential provider", "Container credential provider".
package struct CredentialReply: Sendable {
    package struct Invalid: Error, Hashable, Sendable {
        /// A predicate: `prints no JSON object`, without any of the reply's words. No secrets.
        package let reason: String
    }

    private struct Fields: Decodable {
        var Version: Int?
        var Code: String?
        var AccessKeyId: String?
        var SecretAccessKey: String?
        var SessionToken: String?
        var Token: String?
        var Expiration: String?
    }

    private let fields: Fields

    package init(_ json: [UInt8]) throws(Invalid) {
        do {
            fields = try JSONDecoder().decode(Fields.self, from: Data(json))
        } catch {
            // The decoder's words may quote the reply.
            throw Invalid(reason: "is no JSON object of credentials")
        }
    }

    /// `nil` where the field is missing, as endpoints do not send it.
    package var version: Int? { fields.Version }

    /// The instance's service says "Success", or in a reply of status 200 why there are none.
    package var code: String? { fields.Code }

    package func credentials(from source: CredentialSource) throws(Invalid) -> AWSCredentials {
        guard let id = fields.AccessKeyId, !id.isEmpty else { throw Invalid(reason: "has no AccessKeyId") }
        guard let secret = fields.SecretAccessKey, !secret.isEmpty else {
            throw Invalid(reason: "has no SecretAccessKey")
        }
        return AWSCredentials(
            accessKeyID: id, secretAccessKey: secret, sessionToken: fields.SessionToken ?? fields.Token,
            expiration: try expiration(), source: source)
    }

    private func expiration() throws(Invalid) -> Date? {
        guard let text = fields.Expiration, !text.isEmpty else { return nil }
        guard let date = S3Date.iso8601(text) else { throw Invalid(reason: "has an Expiration that is no time") }
        return date
    }
}

extension CredentialReply: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "CredentialReply(redacted)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
