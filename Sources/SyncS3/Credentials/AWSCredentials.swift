/// A key pair that signs requests. Its secret parts never print: not in a description, a dump or an error.
package struct AWSCredentials: Hashable, Sendable {
    package let accessKeyID: String
    package let secretAccessKey: String
    /// For temporary credentials.
    package let sessionToken: String?

    package init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }
}

extension AWSCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "AWSCredentials(\(accessKeyID), secret redacted)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["accessKeyID": accessKeyID]) }
}
