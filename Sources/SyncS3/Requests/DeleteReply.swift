/// `<DeleteResult>`: what DeleteObjects could not remove.
package struct DeleteReply: Hashable, Sendable {
    package struct Failure: Hashable, Sendable {
        /// With the store's own prefix.
        package let key: String
        package let error: ErrorReply
    }

    package let failures: [Failure]

    /// - Throws: ``InvalidReply``, also where it does not tell what failed.
    package init(_ body: [UInt8]) throws(InvalidReply) {
        let reply = try XMLElement(document: body, root: "DeleteResult")
        var failures: [Failure] = []
        for entry in reply.all("Error") {
            guard let key = entry["Key"] else { throw InvalidReply(reason: "an error in it names no key") }
            failures.append(Failure(key: key, error: ErrorReply(code: entry["Code"], message: entry["Message"])))
        }
        self.failures = failures
    }
}
