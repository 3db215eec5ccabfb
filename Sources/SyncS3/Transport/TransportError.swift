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

/// How connections are made. Times are chosen for a home line: slow is fine, silent is not.
package struct TransportSettings: Hashable, Sendable {
    /// A connection that was idle for longer is not used again: servers and NATs drop them, and curl 7.88 notices late.
    package var idleConnectionAge: Duration = .seconds(25)
    /// For name resolution, TCP and TLS together.
    package var connectTimeout: Duration
    /// How long a large body waits for the server's word that it may come (`Expect: 100-continue`). A server that knows no
    /// such thing never says it, and each large upload to it begins so much later.
    package var continueTimeout: Duration = .seconds(1)
    /// A transfer that moves less than ``stallSpeed`` for so long is given up. There is no limit on the whole.
    package var stallTimeout: Duration
    /// Bytes a second.
    package var stallSpeed: Int
    /// Open connections to one host; further requests wait for one.
    package var hostConnections: Int
    /// Bytes a second, for all uploads together; `nil` for no limit. At least 16 KiB: below it a transfer that has only
    /// its share of it would pass for a stalled one.
    package var uploadBytesPerSecond: Int?
    /// A PEM file of the authorities to trust, in place of the system's.
    package var caBundle: String?

    package init(
        connectTimeout: Duration = .seconds(10), stallTimeout: Duration = .seconds(60), stallSpeed: Int = 1_024,
        hostConnections: Int = 8, uploadBytesPerSecond: Int? = nil, caBundle: String? = nil
    ) {
        self.connectTimeout = connectTimeout
        self.stallTimeout = stallTimeout
        self.stallSpeed = stallSpeed
        self.hostConnections = hostConnections
        self.uploadBytesPerSecond = uploadBytesPerSecond
        self.caBundle = caBundle
    }
}
