/// Sends requests. The fake one of the tests answers from a script.
package protocol HTTPTransport: Sendable {
    /// Sends one request and waits for the end of the reply. Redirects are not followed, nothing is repeated.
    ///
    /// When this returns or throws, the transfer is over: no file of the request is open, no sink is called any more.
    /// - Throws: ``TransportError``; what a sink threw; `CancellationError`, after the connection was closed.
    func send(_ request: HTTPRequest, target: HTTPResponseTarget) async throws -> HTTPResponse

    /// Ends all transfers and waits until threads and connections are gone. Later requests throw `.closed`.
    func close() async
}
