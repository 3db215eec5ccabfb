/// One request to a store.
package struct HTTPRequest: Hashable, Sendable {
    package enum Method: String, Hashable, Sendable {
        case get = "GET"
        case head = "HEAD"
        case put = "PUT"
        case post = "POST"
        case delete = "DELETE"
    }

    package var method: Method
    package var url: HTTPURL
    package var headers: HTTPHeaders
    /// Sent with its `Content-Length`, never in chunks. `nil` sends no body at all.
    package var body: HTTPBody?
    /// How long the store may be silent, where the transport's own stall timeout does not fit.
    package var patience: Duration?
    /// How long the whole of it may take; `nil`: as long as something comes.
    package var limit: Duration?
    /// Whether it goes past any proxy, to a neighbour. Its patience is also that for the connection then.
    package var isDirect = false
    /// Whether it ends when its task is cancelled. What tidies up after a cancellation is not to be cancelled by it.
    package var isCancellable = true

    package init(_ method: Method, _ url: HTTPURL, headers: HTTPHeaders = [:], body: HTTPBody? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}
