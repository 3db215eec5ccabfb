package import SyncCore
import SyncDigest
package import SystemPackage

/// Sends requests. The fake one of the tests answers from a script.
package protocol HTTPTransport: Sendable {
    /// Sends one request and waits for the end of the reply. Redirects are not followed, nothing is repeated.
    ///
    /// When this returns or throws, the transfer is over: no file of the request is open, but one whose disk does not
    /// answer, and no sink is called any more.
    /// - Throws: ``TransportError``; what a sink threw; `CancellationError`, after the connection was closed.
    func send(_ request: HTTPRequest, target: HTTPResponseTarget) async throws -> HTTPResponse

    /// Ends all transfers and waits until threads and connections are gone. Later requests throw `.closed`.
    func close() async
}

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
    /// One that sends a file does: a disk may hold that for ever.
    package var isCancellable = true
    /// How long one that does not end with its task may go on after that; `nil`: to its own end.
    package var patienceAtEnd: Duration?

    package init(_ method: Method, _ url: HTTPURL, headers: HTTPHeaders = [:], body: HTTPBody? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// The parts of a URL that S3 signs. Path and query go out exactly as they were signed.
package struct HTTPURL: Hashable, Sendable, CustomStringConvertible {
    /// `https` or `http`.
    package var scheme: String
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    package var host: String
    /// `nil` for the scheme's own.
    package var port: Int?
    /// Percent-encoded, from its first `/`.
    package var path: String
    /// Not encoded.
    package var query: [HTTPQueryItem]

    package init(scheme: String, host: String, port: Int? = nil, path: String, query: [HTTPQueryItem] = []) {
        self.scheme = scheme
        self.host = host
        self.port = port == (scheme == "https" ? 443 : 80) ? nil : port
        self.path = path
        self.query = query
    }

    /// What the `Host` header says: curl derives the same from the URL.
    package var authority: String { port.map { "\(host):\($0)" } ?? host }

    /// Also what is told of a URL: the rest may be a secret.
    package var origin: String { "\(scheme)://\(authority)" }

    /// The URL of something below it.
    /// - Parameter path: begins with `/`.
    func appending(_ path: String) -> HTTPURL {
        var url = self
        url.path = (url.path == "/" ? "" : url.path) + path
        return url
    }

    package var description: String {
        let text = "\(origin)\(path)"
        return query.isEmpty ? text : "\(text)?\(CanonicalRequest.canonicalQuery(query))"
    }
}

package struct HTTPQueryItem: Hashable, Sendable {
    package var name: String
    /// Empty for a name without a value, such as `?lifecycle`.
    package var value: String

    package init(_ name: String, _ value: String = "") {
        self.name = name
        self.value = value
    }
}

/// The bytes of one request, with the digests that prove them: an object whole, or a part of a file.
package struct HTTPBody: Hashable, Sendable {
    package enum Source: Hashable, Sendable {
        case bytes([UInt8])
        /// From the disk, without a copy in memory, beginning at a byte of the file. The file has to have the stamp.
        case file(FilePath, FileStamp, from: Int64)
    }

    package let source: Source
    /// Of the file, whose bytes they change on their way.
    package let patches: FilePatches
    package let size: Int64
    package let digest: ContentDigest

    package init(_ body: ObjectBody) {
        source =
            switch body.source {
            case .bytes(let bytes): .bytes(bytes)
            case .file(let path, let stamp): .file(path, stamp, from: 0)
            }
        patches = body.patches
        size = body.size
        digest = body.digest
    }

    package init(bytes: [UInt8]) {
        source = .bytes(bytes)
        patches = .none
        size = Int64(bytes.count)
        digest = ContentDigest(of: bytes)
    }

    /// - Parameter digest: of the part alone.
    package init(
        file: FilePath, stamp: FileStamp, patches: FilePatches = .none, range: Range<Int64>, digest: ContentDigest
    ) {
        source = .file(file, stamp, from: range.lowerBound)
        self.patches = patches
        size = range.upperBound - range.lowerBound
        self.digest = digest
    }
}

/// Header fields in their order. Names are compared without case (RFC 9110, 5.1).
package struct HTTPHeaders: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    package struct Field: Hashable, Sendable {
        package var name: String
        package var value: String
    }

    package private(set) var fields: [Field]

    package init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The first value of that name. Setting replaces all of them; `nil` removes them.
    package subscript(name: String) -> String? {
        get {
            let name = name.lowercased()
            return fields.first { $0.name.lowercased() == name }?.value
        }
        set {
            let lowered = name.lowercased()
            fields.removeAll { $0.name.lowercased() == lowered }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    package mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }
}

/// The reply to a request, whatever its status.
package struct HTTPResponse: Hashable, Sendable {
    package var status: Int
    package var headers: HTTPHeaders = [:]
    /// Empty where the bytes went to a sink.
    package var body: [UInt8] = []
    /// Connections that had to be opened for it: 0 when one was reused.
    package var newConnections = 0
    /// Bytes of the request's body that went out, in all tries of curl's.
    package var sentBytes: Int64 = 0
}

/// Where the bytes of a reply go.
package enum HTTPResponseTarget: Sendable {
    /// Into memory, at most so many bytes; more is an error.
    case memory(limit: Int)
    /// To a closure on the transport's thread, in order, when `accepts` says yes to the reply's head; what it throws ends
    /// the transfer. The body of any other reply goes to memory, up to ``errorLimit``.
    case sink(accepts: @Sendable (HTTPResponse) -> Bool, @Sendable (UnsafeRawBufferPointer) throws -> Void)

    /// Bytes. An S3 error is below 2 KB.
    package static let errorLimit = 1 << 20
}

/// Why there is no reply. A reply of any status is no error here.
package struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// The name does not resolve, or nobody answers at the address.
        case unreachable
        /// The proxy cannot be reached, or lets nothing through.
        case proxyFailed
        /// The TLS handshake failed.
        case insecure
        /// The certificate is not trusted, or the file of trusted ones cannot be read.
        case untrusted
        /// No connection in time, or no bytes for too long.
        case timedOut
        /// The connection broke, or ended before the reply did.
        case connectionLost
        /// The request's file is not the one that was promised.
        case sourceChanged
        /// The request's file cannot be read now: it says nothing of the file as it was promised.
        case sourceUnreadable
        /// The disk of the request's file does not answer.
        case sourceSilent
        /// The request's bytes do not have the promised digest.
        case digestMismatch
        /// What answers speaks no HTTP.
        case notHTTP
        /// The reply is longer than allowed.
        case invalidReply
        /// The request cannot be sent: a malformed URL or proxy, no memory.
        case failed
        /// The transport was closed.
        case closed
    }

    package var code: Code
    /// curl's or the system's words.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}

/// How connections are made. Times are chosen for a home line: slow is fine, silent is not.
package struct TransportSettings: Hashable, Sendable {
    /// A connection that was idle for longer is not used again: servers and NATs drop them, and curl 7.88 notices late.
    package var idleConnectionAge: Duration = .seconds(25)
    /// For name resolution, TCP and TLS together.
    package var connectTimeout: Duration
    /// How long a large body waits for the server's word that it may come (`Expect: 100-continue`). A server that knows no
    /// such thing never says it, and each large upload to it begins so much later.
    package var continueTimeout: Duration = .seconds(1)
    /// A transfer that moves less than ``stallSpeed`` for so long is given up. There is no limit on the whole.
    package var stallTimeout: Duration
    /// Bytes a second.
    package var stallSpeed = 1_024
    /// Open connections to one host; further requests wait for one.
    package var hostConnections: Int
    /// Bytes a second, for all uploads together; `nil` for no limit. At least 16 KiB: below it a transfer that has only
    /// its share of it would pass for a stalled one.
    package var uploadBytesPerSecond: Int?
    /// A PEM file of the authorities to trust, in place of the system's.
    package var caBundle: String?

    package init(
        connectTimeout: Duration = .seconds(10), stallTimeout: Duration = .seconds(60),
        hostConnections: Int = 8, uploadBytesPerSecond: Int? = nil, caBundle: String? = nil
    ) {
        self.connectTimeout = connectTimeout
        self.stallTimeout = stallTimeout
        self.hostConnections = hostConnections
        self.uploadBytesPerSecond = uploadBytesPerSecond
        self.caBundle = caBundle
    }
}
