package import FoundationEssentials

/// A key pair that the server knows.
package struct ServerCredentials: Hashable, Sendable {
    package var accessKeyID: String
    package var secretAccessKey: String
    /// Present for temporary credentials; then each request has to carry it.
    package var sessionToken: String?
    /// When a temporary pair ends.
    package var expires: Date?

    package init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil, expires: Date? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
        self.expires = expires
    }

    /// The pair that a server knows unless a test says otherwise. Not a secret of anybody.
    package static let usual = ServerCredentials(
        accessKeyID: "AKIASCRIPTEDSERVER01", secretAccessKey: "scripted/server+secret/not/for/anyone/00")
}
