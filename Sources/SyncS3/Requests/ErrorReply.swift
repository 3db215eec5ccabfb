/// The `<Error>` of S3 (S3 API Reference, "REST error responses"). Every field may be missing. What a server says is
/// bounded here, cleaned and without secrets, so that whoever prints a field may.
package struct ErrorReply: Hashable, Sendable {
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

    /// An error within a reply.
    package init(code: String?, message: String?) {
        self.code = code.map { Redaction.quote($0, limit: Self.longestName) }
        self.message = message.map { Redaction.quote($0) }
    }

    /// Characters of a code, a header's name or a region; and of a host.
    private static let longestName = 80
    private static let longestHost = 255

    /// Headers fill in what the body does not say: the reply to a HEAD has none.
    package init(_ response: HTTPResponse) {
        let error = try? XMLElement(document: response.body, root: "Error")
        func name(_ text: String?) -> String? { text.map { Redaction.quote($0, limit: Self.longestName) } }
        code = name(error?["Code"])
        message = error?["Message"].map { Redaction.quote($0) }
        endpoint = error?["Endpoint"].map { Redaction.quote($0, limit: Self.longestHost) }
        header = name(error?["Header"])
        argument = name(error?["ArgumentName"])
        region = name(error?["Region"] ?? response.headers["x-amz-bucket-region"])
        requestID = name(error?["RequestId"] ?? response.headers["x-amz-request-id"])
    }
}
