/// The reply to a request, whatever its status.
package struct HTTPResponse: Hashable, Sendable {
    package var status: Int
    package var headers: HTTPHeaders
    /// Empty where the bytes went to a sink.
    package var body: [UInt8]
    /// Connections that had to be opened for it: 0 when one was reused.
    package var newConnections: Int
    /// Bytes of the request's body that went out, in all tries of curl's.
    package var sentBytes: Int64 = 0

    package init(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = [], newConnections: Int = 0) {
        self.status = status
        self.headers = headers
        self.body = body
        self.newConnections = newConnections
    }
}

/// Where the bytes of a reply go.
package enum HTTPResponseTarget: Sendable {
    /// Into memory, at most so many bytes; more is an error.
    case memory(limit: Int)
    /// To a closure on the transport's thread, in order, when `accepts` says yes to the reply's head; what it throws ends
    /// the transfer. The body of any other reply goes to memory, up to ``errorLimit``.
    case sink(
        accepts: @Sendable (HTTPResponse) -> Bool, @Sendable (UnsafeRawBufferPointer) throws -> Void)

    /// Bytes. An S3 error is below 2 KB.
    package static let errorLimit = 1 << 20
}
