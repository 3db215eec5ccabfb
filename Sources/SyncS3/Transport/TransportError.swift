/// Why there is no reply. A reply of any status is no error here.
package struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// The name does not resolve, or nobody answers at the address.
        case unreachable
        /// The proxy cannot be reached, or lets nothing through.
        case proxyFailed
        /// The TLS handshake failed.
        case insecure
        /// The certificate is not trusted, or the file of trusted ones cannot be read.
        case untrusted
        /// No connection in time, or no bytes for too long.
        case timedOut
        /// The connection broke, or ended before the reply did.
        case connectionLost
        /// The request's file is not the one that was promised.
        case sourceChanged
        /// The request's bytes do not have the promised digest.
        case digestMismatch
        /// What answers speaks no HTTP.
        case notHTTP
        /// The reply is longer than allowed.
        case invalidReply
        /// The request cannot be sent: a malformed URL or proxy, no memory.
        case failed
        /// The transport was closed.
        case closed
    }

    package var code: Code
    /// curl's or the system's words.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
