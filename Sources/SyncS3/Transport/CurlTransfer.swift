import CSyncCurl
import SyncCore

/// One request on its way: curl's handle, and the exchange that its callbacks feed. Belongs to the transport's thread.
final class CurlTransfer {
    let reply: CurlMailbox.Reply
    let handle: OpaquePointer
    /// Whether it has bytes to send.
    let isUpload: Bool
    private let host: HTTPURL
    private let caBundle: String?
    private let exchange: CurlExchange

    /// - Throws: ``TransportError`` when the body cannot be read or curl refuses the request.
    init(_ submission: CurlMailbox.Submission, settings: TransportSettings) throws(TransportError) {
        let exchange = try CurlExchange(
            body: submission.request.body, submission.feed, target: submission.target)
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
        caBundle = settings.caBundle
        try configure(for: submission.request, settings: settings)
    }

    deinit {
        CSyncCurl_TransferFree(handle)
    }

    /// Bytes a second of an upload or of a reply, from now on; 0 for no limit.
    func limit(_ speed: Int64) {
        CSyncCurl_TransferSetNumber(handle, isUpload ? .maximumSendSpeed : .maximumReceiveSpeed, speed)
    }

    /// There are bytes again for its body, for want of which it has paused.
    func goOn() { CSyncCurl_TransferGoOn(handle) }

    /// The request's body is let go of now and not when this object goes.
    func closeBody() {
        exchange.upload = nil
    }

    /// What the caller gets to hear.
    /// - Parameter code: curl's.
    func outcome(code: Int32) -> Result<HTTPResponse, any Error> {
        if let failure = exchange.failure { return .failure(failure) }
        guard code == 0 else {
            let text = TransportError.withoutPassword(words(of: code))
            let error = TransportError(TransportError.Code(curl: code, text: text, host: host), text)
            // Most versions of curl take a pause of the body for a stall: the store is not to blame for it.
            if error.code == .timedOut, let silence = exchange.upload?.silence { return .failure(silence) }
            return .failure(error)
        }
        guard exchange.hasHead else {
            return .failure(TransportError(.connectionLost, "the reply ended within its head"))
        }
        var response = exchange.response
        response.sentBytes = exchange.sentBytes
        response.newConnections = Int(CSyncCurl_TransferNewConnections(handle))
        return .success(response)
    }

    /// curl keeps its first words: those of a server that has hung up, where it cannot read the file of certificates then.
    private func words(of code: Int32) -> String {
        let text = String(cString: CSyncCurl_TransferErrorText(handle, code))
        guard let caBundle, CSyncCurl_Code(rawValue: UInt32(bitPattern: code)) == CSyncCurl_CodeCABadFile,
            !text.contains(caBundle)
        else { return text }
        return "\(caBundle) cannot be read (\(text))"
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

extension CurlTransfer {
    /// Below it a body goes out at once. Above it curl asks first (`Expect: 100-continue`), so that a refusal costs no
    /// upload; it does not wait for ever for a server that knows no such thing. Bytes.
    private static let expectThreshold: Int64 = 1 << 20
    /// Bytes: how much of a file is read at a time. curl's own is 64 KiB, eight times the calls for the same file.
    private static let uploadBuffer: Int64 = 512 << 10
    /// Bytes: curl takes no less.
    private static let smallestUploadBuffer: Int64 = 16 << 10

    /// Below a limit the buffer is what goes out between two pauses. A pause has to end before it passes for a stall.
    private static func uploadBuffer(_ settings: TransportSettings) -> Int64 {
        guard let limit = settings.uploadBytesPerSecond else { return uploadBuffer }
        return min(max(Int64(limit) / 8, smallestUploadBuffer), uploadBuffer)
    }

    /// Sets the handle up: curl_easy_setopt(3).
    func configure(for request: HTTPRequest, settings: TransportSettings) throws(TransportError) {
        try configureConnection(settings, patience: request.patience)
        if let limit = request.limit { try set(.timeoutMilliseconds, Int64(max(limit / .milliseconds(1), 1))) }
        if request.isDirect {
            // A link-local endpoint answers at once or is not there; a proxy would ask its own, and see the reply.
            // Empty is how curl is told to use none, whatever the environment says.
            try set(.proxy, "")
            let patience = request.patience ?? settings.connectTimeout
            try set(.connectTimeoutMilliseconds, Int64(patience / .milliseconds(1)))
        }
        try set(.URL, "\(request.url)")
        switch request.method {
        case .get: try set(.httpGet, 1)
        case .head: try set(.noBody, 1)
        case .put, .post, .delete: try set(.customRequest, request.method.rawValue)
        }
        if let body = request.body {
            // The size is always known: without it curl would send chunks, which S3 refuses.
            try set(.upload, 1)
            try set(.uploadSize, body.size)
            try set(.uploadBufferSize, Self.uploadBuffer(settings))
            if body.size <= Self.expectThreshold { try add(header: "Expect:") }
        }
        for field in request.headers.fields where field.name.lowercased() != "host" {
            guard !field.value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
                throw TransportError(.failed, "the header \(field.name) has control characters in its value")
            }
            // "name;" is how curl spells a header without a value.
            try add(header: field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
    }

    private func configureConnection(_ settings: TransportSettings, patience: Duration?) throws(TransportError) {
        try set(.httpOneOnly, 1)
        // A signature is made for one host and path: following a redirect would only leak it.
        try set(.followLocation, 0)
        try set(.protocols, "http,https")
        try set(.verifyPeer, 1)
        try set(.verifyHost, 2)
        if let bundle = settings.caBundle { try set(.caBundle, bundle) }
        // Without it curl squeezes "a/../b", and a valid signature lands on another key.
        try set(.pathAsIs, 1)
        try set(.suppressConnectHeaders, 1)
        try set(.noSignal, 1)
        try set(.tcpKeepAlive, 1)
        try set(.maximumConnectionAge, settings.idleConnectionAge.components.seconds)
        try set(.connectTimeoutMilliseconds, Int64(settings.connectTimeout / .milliseconds(1)))
        try set(.continueTimeoutMilliseconds, Int64(settings.continueTimeout / .milliseconds(1)))
        try set(.lowSpeedLimit, Int64(settings.stallSpeed))
        try set(.lowSpeedTime, Int64(max((patience ?? settings.stallTimeout).components.seconds, 1)))
        try add(header: "User-Agent: sync-agent")
    }

    private func set(_ option: CSyncCurl_NumberOption, _ value: Int64) throws(TransportError) {
        try check(CSyncCurl_TransferSetNumber(handle, option, value), "option \(option)")
    }

    private func set(_ option: CSyncCurl_TextOption, _ value: String) throws(TransportError) {
        try check(CSyncCurl_TransferSetText(handle, option, value), value)
    }

    private func add(header: String) throws(TransportError) {
        try check(CSyncCurl_TransferAddHeader(handle, header), "a header")
    }

    /// - Parameter what: only asked for where it failed: to spell an option takes longer than to set it.
    private func check(_ code: Int32, _ what: @autoclosure () -> String) throws(TransportError) {
        guard code != 0 else { return }
        throw TransportError(.failed, "curl refused \(what()): \(String(cString: CSyncCurl_CodeText(code)))")
    }
}

/// What goes over the wire for one request: the callbacks of curl write the reply in here and read the body from here.
/// Belongs to the transport's thread.
final class CurlExchange {
    var upload: UploadSource?
    /// Bytes of the body that curl has taken to send.
    private(set) var sentBytes: Int64 = 0
    private(set) var response = HTTPResponse(status: 0)
    /// Whether the reply's head has come to its end. curl takes a connection that is closed within it for a reply.
    private(set) var hasHead = false
    /// Why a callback ended the transfer; the caller hears of it in place of curl's "aborted by callback".
    private(set) var failure: (any Error)?
    /// Bytes of all heads of the reply; S3's have a few kilobytes. curl itself bounds them only from 8.3 on.
    private static let headLimit = 256 << 10
    private var headLength = 0
    private let target: HTTPResponseTarget
    /// Whether the sink takes this reply; asked once, at its first byte.
    private var isForSink: Bool?

    init(body: HTTPBody?, _ feed: FileFeed?, target: HTTPResponseTarget) throws(TransportError) {
        self.target = target
        upload = if let body { try UploadSource(body, feed) } else { nil }
    }

    static let callbacks = CSyncCurl_Callbacks(
        read: { context, buffer, capacity in
            CurlExchange.at(context).read(into: UnsafeMutableRawBufferPointer(start: buffer, count: capacity))
        },
        seek: { context, offset in
            CurlExchange.at(context).upload?.rewind(to: offset) == true ? 1 : 0
        },
        write: { context, bytes, count in
            CurlExchange.at(context).write(UnsafeRawBufferPointer(start: bytes, count: count)) ? 1 : 0
        },
        header: { context, bytes, count in
            CurlExchange.at(context).header(UnsafeRawBufferPointer(start: bytes, count: count)) ? 1 : 0
        }
    )

    private static func at(_ context: UnsafeMutableRawPointer) -> CurlExchange {
        Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue()
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int64 {
        guard let upload else { return 0 }
        do {
            guard let count = try upload.read(into: buffer) else { return Int64(CSyncCurl_ReadPause) }
            sentBytes += Int64(count)
            return Int64(count)
        } catch {
            failure = error
            return Int64(CSyncCurl_ReadAbort)
        }
    }

    /// A status line begins the reply anew: one of 1xx was not the last.
    private func header(_ bytes: UnsafeRawBufferPointer) -> Bool {
        headLength += bytes.count
        guard headLength <= Self.headLimit else {
            failure = TransportError(.invalidReply, "the head of the reply is longer than \(Self.headLimit) bytes")
            return false
        }
        let line = String(decoding: bytes, as: UTF8.self).trimmingLineEnd()
        if line.hasPrefix("HTTP/") {
            let status = line.split(separator: " ").dropFirst().first.flatMap { Int($0) }
            response = HTTPResponse(status: status ?? 0)
            isForSink = nil
            hasHead = false
        } else if line.isEmpty {
            hasHead = true
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            response.headers.append(String(line[..<colon]), String(value))
        }
        return true
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch target {
        case .sink(let accepts, let sink):
            let isForSink = isForSink ?? accepts(response)
            self.isForSink = isForSink
            guard isForSink else { return keep(bytes, limit: HTTPResponseTarget.errorLimit) }
            do {
                try sink(bytes)
                return true
            } catch {
                failure = error
                return false
            }
        case .memory(let limit): return keep(bytes, limit: limit)
        }
    }

    private func keep(_ bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
        guard response.body.count + bytes.count <= limit else {
            failure = TransportError(.invalidReply, "the reply is longer than \(limit) bytes")
            return false
        }
        // In pieces of 16 KiB: without it, what has come is copied each time that it no longer fits.
        if response.body.isEmpty, let length = response.headers["Content-Length"].flatMap({ Int($0) }),
            (bytes.count...limit).contains(length)
        {
            response.body.reserveCapacity(length)
        }
        response.body.append(contentsOf: bytes)
        return true
    }
}

extension String {
    fileprivate func trimmingLineEnd() -> Substring {
        var line = self[...]
        while let last = line.last, last.isWhitespace { line.removeLast() }
        return line
    }
}
