/// One request, as the server saw it.
package struct RequestRecord: Sendable {
    /// From 1, in the order of arrival.
    package let number: Int
    /// As ``number``, and never again from 1: it tells the request from one of its number after all were forgotten.
    let arrival: Int
    /// From 1: which connection brought it.
    package let connection: Int
    package let method: String
    package let operation: S3Operation
    package let bucket: String?
    package let key: String?
    /// Decoded, in their order, without those of a signature.
    package let query: [String]
    /// Names in lower case. Without the signature and the session token.
    package let headers: [String: String]
    /// Bytes of the request's body that were read.
    package internal(set) var received = 0
    /// Of the reply; `nil` when none was begun.
    package internal(set) var status: Int?
    /// The S3 error code of the reply.
    package internal(set) var code: String?
    /// Length of the reply's body, whether or not all of it was sent.
    package internal(set) var sent = 0
    package internal(set) var fault: Fault?

    init(number: Int, arrival: Int, connection: Int, _ request: S3Request) {
        self.number = number
        self.arrival = arrival
        self.connection = connection
        method = request.head.method
        operation = request.operation
        bucket = request.bucket
        key = request.key?.text
        query = request.query.filter { !$0.name.hasPrefix("X-Amz-") }.map { "\($0.name)=\($0.value)" }
        headers = request.head.headers.reduce(into: [:]) { headers, header in
            if header.name != "authorization" && header.name != "x-amz-security-token" {
                headers[header.name] = header.value
            }
        }
    }
}
