package import SyncCore

/// Failures of the transport, with what to do about them.
extension StoreError {
    package init(_ error: TransportError, in context: S3RequestContext) {
        let (code, message) = Self.mapped(error, context.address)
        self.init(code, operation: context.operation, key: context.key, message: message)
    }

    private static func mapped(_ error: TransportError, _ address: S3Address) -> (Code, String) {
        let endpoint = address.endpoint
        switch error.code {
        case .unreachable:
            return (
                .unreachable,
                "cannot reach \(endpoint): \(error.message); check the network, and store.endpoint"
            )
        case .proxyFailed:
            return (
                .unreachable,
                "the proxy on the way to \(endpoint) fails: \(error.message); correct https_proxy or http_proxy, or add "
                    + "the store's host to no_proxy"
            )
        case .insecure:
            return (
                .unreachable,
                "no secure connection to \(endpoint): \(error.message); check that its port speaks TLS, else write http:// "
                    + "in store.endpoint"
            )
        case .untrusted:
            return (
                .unreachable,
                "the certificate of \(endpoint) is not trusted: \(error.message); name the file of its authority in "
                    + "AWS_CA_BUNDLE, or correct store.endpoint"
            )
        case .timedOut:
            return (.timedOut, "\(endpoint) takes too long: \(error.message); check the network, and store.endpoint")
        case .connectionLost where error.message.contains("Empty reply") && !speaksTLS(address):
            return (
                .connectionLost,
                "\(endpoint) hung up without a reply; where its port speaks TLS, write https:// in store.endpoint"
            )
        case .connectionLost:
            return (.connectionLost, "the connection to \(endpoint) broke: \(error.message)")
        case .sourceChanged:
            return (.sourceChanged, error.message)
        case .digestMismatch:
            return (.badDigest, error.message)
        case .notHTTP:
            let remedy = speaksTLS(address) ? "" : ", or write https:// where its port speaks TLS"
            return (
                .unreachable,
                "what answers at \(endpoint) speaks no HTTP: \(error.message); correct store.endpoint\(remedy)"
            )
        case .invalidReply:
            return (.invalidResponse, "\(endpoint) sent no valid reply: \(error.message)")
        case .failed:
            return (.invalidRequest, "the request cannot be sent: \(error.message)")
        case .closed:
            return (.unreachable, error.message)
        }
    }

    private static func speaksTLS(_ address: S3Address) -> Bool { address.endpoint.hasPrefix("https:") }
}
