package import SyncCore

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
    package var body: ObjectBody?

    package init(_ method: Method, _ url: HTTPURL, headers: HTTPHeaders = [:], body: ObjectBody? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}
