/// `<DeleteResult>`: what DeleteObjects could not remove.
package struct DeleteReply: Hashable, Sendable {
    package struct Failure: Hashable, Sendable {
        /// With the store's own prefix.
        package let key: String
        package let error: ErrorReply
    }

    package let failures: [Failure]

    /// - Throws: `XMLReply.Invalid`, also where it does not tell what failed.
    package init(_ body: [UInt8]) throws(XMLReply.Invalid) {
        let reply = try XMLReply.decode(Wire.self, root: "DeleteResult", from: body)
        var failures: [Failure] = []
        for entry in reply.errors {
            guard let key = entry.key else { throw XMLReply.Invalid(reason: "an error in it names no key") }
            failures.append(Failure(key: key, error: ErrorReply(code: entry.code, message: entry.message)))
        }
        self.failures = failures
    }

    private struct Wire: Decodable {
        var errors: [Entry]

        enum CodingKeys: String, CodingKey {
            case errors = "Error"
        }
    }

    private struct Entry: Decodable {
        var key: String?
        var code: String?
        var message: String?

        enum CodingKeys: String, CodingKey {
            case key = "Key"
            case code = "Code"
            case message = "Message"
        }
    }
}
