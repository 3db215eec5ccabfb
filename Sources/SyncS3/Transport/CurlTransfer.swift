import CSyncCurl

/// One request on its way: curl's handle, and the exchange that its callbacks feed. Belongs to the transport's thread.
final class CurlTransfer {
    let reply: CurlMailbox.Reply
    let handle: OpaquePointer
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
        try configure(for: submission.request, settings: settings)
    }

    deinit {
        CSyncCurl_TransferFree(handle)
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
            let text = String(cString: CSyncCurl_TransferErrorText(handle, code))
            return .failure(TransportError(TransportError.Code(curl: code), text))
        }
        var response = exchange.response
        response.newConnections = Int(CSyncCurl_TransferNewConnections(handle))
        return .success(response)
    }
}

extension TransportError.Code {
    /// libcurl-errors(3).
    init(curl code: Int32) {
        self =
            switch CSyncCurl_Code(rawValue: UInt32(bitPattern: code)) {
            case CSyncCurl_CodeCouldNotResolveHost, CSyncCurl_CodeCouldNotResolveProxy, CSyncCurl_CodeCouldNotConnect,
                CSyncCurl_CodeProxy:
                .unreachable
            case CSyncCurl_CodeTLSConnectError, CSyncCurl_CodeCertificateProblem, CSyncCurl_CodeTLSCipher,
                CSyncCurl_CodePeerFailedVerification, CSyncCurl_CodeCABadFile, CSyncCurl_CodeTLSIssuerError:
                .insecure
            case CSyncCurl_CodeTimedOut: .timedOut
            case CSyncCurl_CodePartialFile, CSyncCurl_CodeGotNothing, CSyncCurl_CodeSendError,
                CSyncCurl_CodeReceiveError, CSyncCurl_CodeSendFailedRewind:
                .connectionLost
            case CSyncCurl_CodeWeirdServerReply, CSyncCurl_CodeUnsupportedProtocol: .invalidReply
            default: .failed
            }
    }
}
