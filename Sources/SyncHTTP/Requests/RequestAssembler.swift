import FoundationEssentials
import NIOCore
import NIOHTTP1
import SyncCore

/// A request, or what is answered in its place.
struct IncomingRequest: Sendable {
    enum Content: Sendable {
        case request(WebRequest)
        case refused(Int)
    }

    let content: Content
    let version: HTTPVersion
    let isHead: Bool
    /// Whether the connection may go on after the answer.
    let isKeptAlive: Bool
    /// What its body takes, until it is answered; `nil` for a small one.
    let room: BodyRoom?
}

/// A status that is answered before there is a request.
struct Refusal: Error {
    let status: Int
}

/// Makes whole requests of what is parsed, and refuses what RFC 9112 and the limits do not allow. Bound to its event loop.
final class RequestAssembler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private static let mostPending = 64

    private let limits: HTTPLimits
    private let handler: any WebHandler
    private let watch: ConnectionWatch
    private let peer: String?
    private let requests: AsyncStream<IncomingRequest>.Continuation

    private var head: HTTPRequestHead?
    private var target: RequestTarget?
    private var body = Data()
    /// Bytes that the body may have.
    private var bodyLimit = 0
    /// Of a large one.
    private var bodyRoom: BodyRoom?
    /// Nothing more is taken from this client.
    private var hasRefused = false
    /// A request was handed on, and its answer is not over.
    private var isAnswering = false
    /// What has come behind it.
    private var pending = CircularBuffer<Result<HTTPServerRequestPart, Refusal>>()
    private var wantsRead = false

    init(
        _ limits: HTTPLimits, _ handler: any WebHandler, _ watch: ConnectionWatch, peer: String?,
        _ requests: AsyncStream<IncomingRequest>.Continuation
    ) {
        (self.limits, self.handler, self.watch, self.peer, self.requests) = (limits, handler, watch, peer, requests)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        take(.success(unwrapInboundIn(data)), context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case let refusal as Refusal: take(.failure(refusal), context)
        case HTTPParserError.headerOverflow: take(.failure(Refusal(status: 431)), context)
        case HTTPParserError.invalidMethod: take(.failure(Refusal(status: 501)), context)
        case is HTTPParserError: take(.failure(Refusal(status: 400)), context)
        // The connection is gone, or no use any more.
        default: context.close(promise: nil)
        }
    }

    /// Nothing is read while a request is answered.
    func read(context: ChannelHandlerContext) {
        wantsRead = isAnswering
        if !isAnswering { context.read() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        requests.finish()
        context.fireChannelInactive()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        context.write(data, promise: promise)
        guard case .end = unwrapOutboundIn(data) else { return }
        isAnswering = false
        watch.requestIsAnswered()
        while !isAnswering, let next = pending.popFirst() { take(next, context) }
        if wantsRead { read(context: context) }
    }

    private func take(_ part: Result<HTTPServerRequestPart, Refusal>, _ context: ChannelHandlerContext) {
        guard !hasRefused else { return }
        if isAnswering {
            pending.append(part)
            // No browser sends requests ahead; whoever sends so many has something else in mind.
            if pending.count > Self.mostPending { context.close(promise: nil) }
            return
        }
        do throws(Refusal) {
            switch try part.get() {
            case .head(let head): try begin(head, context)
            case .body(let piece): try append(piece)
            case .end: end()
            }
        } catch {
            refuse(error.status)
        }
    }

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) throws(Refusal) {
        self.head = head
        guard head.version.major == 1 else { throw Refusal(status: 505) }
        guard head.uri.utf8.count <= limits.target else { throw Refusal(status: 414) }
        // More than one Host, or none, are two readings of one request (RFC 9112, 3.2).
        let hosts = head.headers["host"].count
        guard hosts == 1 || head.version == .http1_0 && hosts == 0 else { throw Refusal(status: 400) }
        let length = try bodyLength(head)
        target = try RequestTarget(head.uri)
        switch head.method {
        case .GET, .HEAD: break
        case .POST: if length == nil { throw Refusal(status: 411) }
        case .PUT, .DELETE, .OPTIONS, .PATCH, .TRACE, .CONNECT: throw Refusal(status: 405)
        default: throw Refusal(status: 501)
        }
        body = Data()
        bodyLimit = limits.body
        if let length, length > limits.body {
            guard head.method == .POST, length <= target.map({ handler.mostBytes(inBodyTo: $0.segments) }) ?? 0 else {
                throw Refusal(status: 413)
            }
            guard let room = watch.room(for: length) else { throw Refusal(status: 503) }
            bodyRoom = room
            bodyLimit = length
            body.reserveCapacity(length)
        }
        if head.headers["expect"].contains(where: { $0.lowercased() == "100-continue" }) {
            let answer = HTTPResponseHead(version: head.version, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(answer)), promise: nil)
        }
        watch.headerIsRead(bodyTime: bodyLimit > limits.body ? limits.largeBodyTime : limits.bodyTime)
    }

    /// - Returns: bytes, 0 when the body is in chunks; `nil` when the request tells none.
    private func bodyLength(_ head: HTTPRequestHead) throws(Refusal) -> Int? {
        let lengths = head.headers["content-length"]
        let codings = head.headers["transfer-encoding"]
        // Whoever stands before us may have believed the other one (request smuggling; RFC 9112, 6.3).
        guard lengths.count + min(codings.count, 1) <= 1 else { throw Refusal(status: 400) }
        if !codings.isEmpty {
            guard head.version != .http1_0 else { throw Refusal(status: 400) }
            guard codings.map({ $0.lowercased() }) == ["chunked"] else { throw Refusal(status: 501) }
            return 0
        }
        guard let text = lengths.first else { return nil }
        guard text.utf8.allSatisfy(\.isDigit), !text.isEmpty else { throw Refusal(status: 400) }
        // What does not fit into an Int is too long, too.
        guard let length = Int(text) else { throw Refusal(status: 413) }
        return length
    }

    private func append(_ piece: ByteBuffer) throws(Refusal) {
        guard body.count + piece.readableBytes <= bodyLimit else { throw Refusal(status: 413) }
        body.append(contentsOf: piece.readableBytesView)
    }

    private func end() {
        guard let head, let target else { return }
        let method: WebRequest.Method = head.method == .GET ? .get : head.method == .HEAD ? .head : .post
        let request = WebRequest(
            method, target.segments, isFolder: target.isFolder, query: target.query,
            headers: head.headers.map { field in
                let name = field.name.lowercased()
                return WebRequest.Field(name, name == "host" ? target.authority ?? field.value : field.value)
            }, body: body, peer: peer)
        isAnswering = true
        watch.requestIsRead()
        requests.yield(incoming(.request(request), head.isKeepAlive && !head.headers.contains(name: "upgrade")))
        (self.head, self.target) = (nil, nil)
        body = Data()
        bodyRoom = nil
    }

    private func refuse(_ status: Int) {
        guard !hasRefused else { return }
        hasRefused = true
        body = Data()
        bodyRoom = nil
        watch.requestIsRefused()
        requests.yield(incoming(.refused(status), false))
    }

    private func incoming(_ content: IncomingRequest.Content, _ isKeptAlive: Bool) -> IncomingRequest {
        IncomingRequest(
            content: content, version: head?.version ?? .http1_1, isHead: head?.method == .HEAD,
            isKeptAlive: isKeptAlive, room: bodyRoom)
    }
}
