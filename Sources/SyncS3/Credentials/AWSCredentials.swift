package import FoundationEssentials
import SyncCore

/// A key pair that signs requests. Its secret parts never print: not in a description, a dump or an error.
package struct AWSCredentials: Hashable, Sendable {
    package let accessKeyID: String
    package let secretAccessKey: String
    /// For temporary credentials.
    package var sessionToken: String?
    /// When they end; `nil` for those that last.
    package var expiration: Date?
    package var source = CredentialSource.environment

    /// `from environment, expired at 2026-01-31T12:00:00Z`: what an error says of them.
    package func provenance(at now: Date) -> String {
        guard let expiration else { return "from \(source)" }
        return "from \(source), \(expiration <= now ? "expired at" : "good until") \(expiration.formatted(.iso8601))"
    }
}

extension AWSCredentials: CustomStringConvertible, CustomReflectable {
    package var description: String { "AWSCredentials(\(accessKeyID), secret redacted, from \(source))" }
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
    /// A role that a profile takes with the credentials of another one, or of this machine.
    case role(String, profile: String)
    /// A role for the token of a file.
    case webIdentity(role: String)
    /// A role of an account that somebody has signed in for.
    case signOn(role: String, account: String, profile: String)
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
        case .role(let arn, let profile):
            "role \(arn.escapingControls) of profile \"\(profile.escapingControls)\""
        case .webIdentity(let arn): "role \(arn.escapingControls) by web identity"
        case .signOn(let role, let account, let profile):
            "role \(role.escapingControls) of account \(account.escapingControls) by single sign-on of profile "
                + "\"\(profile.escapingControls)\""
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

/// Credentials as JSON: what a `credential_process` prints and the endpoints of containers and instances answer.
///
/// Source: AWS SDKs and Tools Reference Guide, "Process credential provider", "Container credential provider".
package struct CredentialReply: Decodable, Sendable {
    package struct Invalid: Error, Hashable, Sendable {
        /// A predicate: `prints no JSON object`, without any of the reply's words. No secrets.
        package let reason: String
    }

    private var Version: Int?
    private var Code: String?
    private var AccessKeyId: String?
    private var SecretAccessKey: String?
    private var SessionToken: String?
    private var Token: String?
    private var Expiration: String?

    package init(_ json: [UInt8]) throws(Invalid) {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(json))
        } catch {
            // The decoder's words may quote the reply.
            throw Invalid(reason: "is no JSON object of credentials")
        }
    }

    /// `nil` where the field is missing, as endpoints do not send it.
    package var version: Int? { Version }

    /// The instance's service says "Success", or in a reply of status 200 why there are none.
    package var code: String? { Code }

    package func credentials(from source: CredentialSource) throws(Invalid) -> AWSCredentials {
        guard let id = AccessKeyId, !id.isEmpty else { throw Invalid(reason: "has no AccessKeyId") }
        guard let secret = SecretAccessKey, !secret.isEmpty else {
            throw Invalid(reason: "has no SecretAccessKey")
        }
        return AWSCredentials(
            accessKeyID: id, secretAccessKey: secret, sessionToken: SessionToken ?? Token,
            expiration: try expiration(), source: source)
    }

    private func expiration() throws(Invalid) -> Date? {
        guard let text = Expiration, !text.isEmpty else { return nil }
        guard let date = S3Date.iso8601(text) else { throw Invalid(reason: "has an Expiration that is no time") }
        return date
    }
}

extension CredentialReply: CustomStringConvertible, CustomReflectable {
    package var description: String { "CredentialReply(redacted)" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Takes secrets out of words that others wrote, before they become part of an error.
package struct Redaction: Sendable {
    /// Characters: an AWS secret key has 40, tokens have hundreds, access key ids have 20.
    private static let secretLength = 40

    private let known: [String]

    /// - Parameter known: secrets that are taken out whatever they look like.
    package init(known: [String]) {
        self.known = known.filter { !$0.isEmpty }.sorted { $0.count > $1.count }
    }

    /// The last `limit` characters on one line, without what is known and what looks like a key or a token: of a program's
    /// words, the end tells the reason.
    package func text(_ bytes: some Sequence<UInt8>, limit: Int = 400) -> String {
        let words = words(String(decoding: Array(bytes), as: UTF8.self))
        return words.count <= limit ? words.escapingControls : "…" + String(words.suffix(limit)).escapingControls
    }

    /// The first `limit` characters of what a server says, in the same way: nobody knows how much it sends, and what of our
    /// request it repeats.
    static func quote(_ said: String, limit: Int = 200) -> String {
        // Some may become less.
        let start = String(decoding: said.utf8.prefix(16 * limit), as: UTF8.self)
        let words = Redaction(known: []).words(start)
        return words.count <= limit ? words.escapingControls : String(words.prefix(limit)).escapingControls + "…"
    }

    private func words(_ text: String) -> String {
        var text = text
        for secret in known {
            text = text.split(separator: secret, omittingEmptySubsequences: false).joined(separator: "***")
        }
        text = text.split(whereSeparator: \.isWhitespace).map(Self.withoutKeys).joined(separator: " ")
        return text.replacing(Self.namedSecret) { match in "\(match.1)***" }
    }

    /// With what stands behind the name of a secret, in a query, in JSON or in words: `X-Amz-Signature=…`, `"token": "…"`.
    private nonisolated(unsafe) static let namedSecret =
        #/
        ( (?i: signature|credential|secret|password|token|authorization ) [A-Za-z_\-]* ["']? \s? [=:] \s? ["']?
          (?: (?i: bearer|basic|aws4-hmac-sha256 ) \s )? )
        [^\s"'&,;<>]+
        /#

    private static func withoutKeys(_ word: Substring) -> String {
        var clean = ""
        var run = ""
        for character in word {
            if isKeyCharacter(character) {
                run.append(character)
            } else {
                clean += isSecret(run) ? "***" : run
                clean.append(character)
                run = ""
            }
        }
        return clean + (isSecret(run) ? "***" : run)
    }

    /// Base64, and its form for URLs.
    private static func isKeyCharacter(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "+/=_-".contains(character))
    }

    private static func isSecret(_ run: String) -> Bool {
        guard run.count >= secretLength else { return false }
        // A signature is 64 hexadecimal digits. (Digests of that length are told nowhere that we quote.)
        return run.contains(where: \.isUppercase) && run.contains(where: \.isLowercase) || run.allSatisfy(\.isHexDigit)
    }
}
