import CSyncCurl

/// One request on its way: curl's handle, and the exchange that its callbacks feed. Belongs to the transport's thread.
final class CurlTransfer {
    let reply: CurlMailbox.Reply
    let handle: OpaquePointer
    /// Whether it has bytes to send.
    let isUpload: Bool
    private let host: HTTPURL
    private let exchange: CurlExchange

    /// - Throws: ``TransportError`` when the body cannot be read or curl refuses the request.
    init(_ submission: CurlMailbox.Submission, settings: TransportSettings) throws(TransportError) {
        let exchange = try CurlExchange(body: submission.request.body, target: submission.target)
        // Not retained: this object keeps the exchange for as long as it keeps the handle.
        let context = Unmanaged.passUnretained(exchange).toOpaque()
        guard let handle = CSyncCurl_TransferCreate(CurlExchange.callbacks, context) else {
            throw TransportError(.failed, "no memory for a transfer")
        }
        self.reply = submission.reply
        self.handle = handle
        self.exchange = exchange
        isUpload = submission.request.body.map { $0.size > 0 } ?? false
        host = submission.request.url
        try configure(for: submission.request, settings: settings)
    }

    deinit {
        CSyncCurl_TransferFree(handle)
    }

    /// Bytes a second, from now on.
    func limit(_ speed: Int64) {
        CSyncCurl_TransferSetNumber(handle, .maximumSendSpeed, speed)
    }

    /// The request's file is closed now and not when this object goes.
    func closeBody() {
        exchange.upload = nil
    }

    /// What the caller gets to hear.
    /// - Parameter code: curl's.
    func outcome(code: Int32) -> Result<HTTPResponse, any Error> {
        if let failure = exchange.failure { return .failure(failure) }
        guard code == 0 else {
            let text = TransportError.withoutPassword(String(cString: CSyncCurl_TransferErrorText(handle, code)))
            return .failure(TransportError(TransportError.Code(curl: code, text: text, host: host), text))
        }
        guard exchange.hasHead else {
            return .failure(TransportError(.connectionLost, "the reply ended within its head"))
        }
        var response = exchange.response
        response.sentBytes = exchange.sentBytes
        response.newConnections = Int(CSyncCurl_TransferNewConnections(handle))
        return .success(response)
    }
}

extension TransportError.Code {
    /// libcurl-errors(3).
    /// - Parameters:
    ///   - text: curl's words. They alone tell a proxy that is down from a store that is.
    ///   - host: whom the request was for.
    package init(curl code: Int32, text: String, host: HTTPURL) {
        self =
            switch CSyncCurl_Code(rawValue: UInt32(bitPattern: code)) {
            case CSyncCurl_CodeCouldNotConnect: Self.isOfProxy(text, host) ? .proxyFailed : .unreachable
            case CSyncCurl_CodeCouldNotResolveHost: .unreachable
            case CSyncCurl_CodeCouldNotResolveProxy, CSyncCurl_CodeProxy: .proxyFailed
            case CSyncCurl_CodeTLSConnectError, CSyncCurl_CodeTLSCipher: .insecure
            case CSyncCurl_CodeCertificateProblem, CSyncCurl_CodePeerFailedVerification, CSyncCurl_CodeCABadFile,
                CSyncCurl_CodeTLSIssuerError:
                .untrusted
            case CSyncCurl_CodeTimedOut: .timedOut
            case CSyncCurl_CodeReceiveError where text.contains("CONNECT"): .proxyFailed
            case CSyncCurl_CodePartialFile, CSyncCurl_CodeGotNothing, CSyncCurl_CodeSendError,
                CSyncCurl_CodeReceiveError, CSyncCurl_CodeSendFailedRewind:
                .connectionLost
            case CSyncCurl_CodeWeirdServerReply, CSyncCurl_CodeUnsupportedProtocol: .notHTTP
            default: .failed
            }
    }

    /// "Failed to connect to HOST port PORT": of somebody else, or "via" somebody else.
    private static func isOfProxy(_ text: String, _ host: HTTPURL) -> Bool {
        let name = host.host.filter { $0 != "[" && $0 != "]" }
        let port = host.port ?? (host.scheme == "https" ? 443 : 80)
        if text.hasPrefix("Unsupported proxy") { return true }
        return text.hasPrefix("Failed to connect to")
            && (!text.contains("\(name) port \(port)") || text.contains(" via "))
    }
}

extension TransportError {
    /// curl quotes a proxy that it does not understand as it was given: with user and password, and without a scheme where
    /// it has none.
    package static func withoutPassword(_ text: String) -> String {
        let quote = text.firstIndex { $0 == "'" || $0 == "\"" }.map(text.index(after:))
        let scheme = text.firstRange(of: "://")
        var start = quote ?? scheme?.upperBound
        // A scheme may stay; in a password the same characters may not.
        if let quote, let scheme, scheme.lowerBound > quote,
            !text[quote..<scheme.lowerBound].contains(where: { ":@".contains($0) })
        {
            start = scheme.upperBound
        }
        guard let start, let end = text[start...].lastIndex(of: "@") else { return text }
        return text[..<start] + "***" + text[end...]
    }
}
