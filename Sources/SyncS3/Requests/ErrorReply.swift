/// The `<Error>` of S3 (S3 API Reference, "REST error responses"). Every field may be missing.
package struct ErrorReply: Hashable, Sendable, Decodable {
    package var code: String?
    package var message: String?
    package var requestID: String?
    /// In `PermanentRedirect` and `AuthorizationHeaderMalformed`: where the bucket is.
    package var region: String?
    package var endpoint: String?
    /// In `NotImplemented`: the header that is not known.
    package var header: String?
    /// In `InvalidArgument`: the header or query item.
    package var argument: String?

    private enum CodingKeys: String, CodingKey {
        case code = "Code"
        case message = "Message"
        case requestID = "RequestId"
        case region = "Region"
        case endpoint = "Endpoint"
        case header = "Header"
        case argument = "ArgumentName"
    }

    /// An error within a reply.
    package init(code: String?, message: String?) {
        self.code = code
        self.message = message
    }

    /// Headers fill in what the body does not say: the reply to a HEAD has none.
    package init(_ response: HTTPResponse) {
        let decoded = try? XMLReply.decode(Self.self, root: "Error", from: response.body)
        code = decoded?.code
        message = decoded?.message
        endpoint = decoded?.endpoint
        header = decoded?.header
        argument = decoded?.argument
        region = decoded?.region ?? response.headers["x-amz-bucket-region"]
        requestID = decoded?.requestID ?? response.headers["x-amz-request-id"]
    }
}
