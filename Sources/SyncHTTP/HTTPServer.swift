package import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
package import SyncCore
import SyncSystem
import SystemPackage

/// A server of HTTP/1.1 (RFC 9112) for pages of this machine, without TLS. It has a thread while it runs, and two more once
/// it sends files; before and afterwards there is nothing of it.
///
/// Names, dates and framing are its own; which pages there are, and what they allow, is its handler's.
package struct HTTPServer: Sendable {
    private let address: ListenAddress
    private let handler: any WebHandler
    private let limits: HTTPLimits
    private let logger: Logger

    /// - Parameter logger: is told each answer at debug level: method, path and status, and never a query.
    package init(
        address: ListenAddress, handler: any WebHandler, limits: HTTPLimits = HTTPLimits(), logger: Logger
    ) {
        (self.address, self.handler, self.limits, self.logger) = (address, handler, limits, logger)
    }

    /// Listens until the task is cancelled. Then no connection is taken, those that wait are closed, handlers are cancelled,
    /// streams end, and what is being answered is sent to its end within ``HTTPLimits/endTime``.
    /// - Parameter isListening: is told where, once.
    /// - Throws: ``HTTPServerError`` when it cannot listen.
    package func run(isListening: @escaping @Sendable (ListenAddress) -> Void = { _ in }) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let files = BlockingPool(name: "http-files", threads: 2)
        var failure: HTTPServerError?
        do throws(HTTPServerError) {
            try await serve(on: group.next(), files, isListening)
        } catch {
            failure = error
        }
        await files.shutDown()
        // All of it is closed: nothing is left that could fail.
        try? await group.shutdownGracefully()
        if let failure { throw failure }
    }

    private func serve(
        on loop: any EventLoop, _ files: BlockingPool, _ isListening: @Sendable (ListenAddress) -> Void
    ) async throws(HTTPServerError) {
        let (connections, arrivals) = AsyncStream.makeStream(of: HTTPConnection.self)
        let open: NIOLoopBound<OpenConnections>
        let listener: any Channel
        do {
            open = try await loop.submit { [limits] in
                NIOLoopBound(
                    OpenConnections(limit: limits.connections, bodyLimit: limits.largeBodies), eventLoop: loop)
            }.get()
            // `localhost` is the address of old: whoever means the other one writes it.
            let host = address.host == "localhost" ? "127.0.0.1" : address.host
            listener = try await bootstrap(on: loop, open, arrivals)
                .bind(to: SocketAddress(ipAddress: host, port: address.port)).get()
        } catch {
            throw HTTPServerError(error, address)
        }
        if let port = listener.localAddress?.port, let bound = ListenAddress(host: address.host, port: port) {
            isListening(bound)
        }
        let responder = Responder(handler: handler, files: files, logger: logger)
        await withDiscardingTaskGroup { group in
            for await connection in connections {
                group.addTask { await connection.serve(responder) }
            }
            // Cancelled, and with it all that is served.
            try? await listener.close()
            loop.scheduleTask(in: TimeAmount(limits.endTime)) { open.value.closeAll() }
        }
    }

    private func bootstrap(
        on loop: any EventLoop, _ open: NIOLoopBound<OpenConnections>,
        _ arrivals: AsyncStream<HTTPConnection>.Continuation
    ) -> ServerBootstrap {
        ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: 256)
            // Else the port of a server that has ended could not be taken for a minute.
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // What one client makes us hold at once.
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 16 << 10))
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { [limits, handler] channel in
                channel.eventLoop.makeCompletedFuture {
                    let watch = ConnectionWatch(limits, open.value)
                    guard open.value.add(watch) else {
                        return try channel.pipeline.syncOperations.addHandler(NoRoom())
                    }
                    arrivals.yield(try HTTPConnection(channel, watch, limits, handler))
                }
            }
    }
}

/// For one connection too many, when none can be closed for it.
private final class NoRoom: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let answer = """
        HTTP/1.1 503 Service Unavailable\r
        Connection: close\r
        Content-Length: 0\r
        Retry-After: 1\r
        \r\n
        """

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: Self.answer)), promise: nil)
        context.close(promise: nil)
    }
}

/// What one client, and all of them together, may take.
package struct HTTPLimits: Sendable {
    /// Bytes of request line and header; beyond: 431.
    package var header = 16 << 10
    /// Lines of the header; beyond: 431.
    package var headerLines = 64
    /// Bytes of the target; beyond: 414.
    package var target = 8 << 10
    /// Bytes of a body; beyond, and beyond what the handler takes there: 413.
    package var body = 64 << 10
    /// Bytes of all larger bodies that are held at one time; beyond: 503.
    package var largeBodies = 40 << 20
    /// From the first byte of a header to its end; then 408.
    package var headerTime = Duration.seconds(10)
    /// From the end of the header to that of the body; then 408.
    package var bodyTime = Duration.seconds(30)
    /// The same of a larger one.
    package var largeBodyTime = Duration.seconds(300)
    /// A larger body that has taken so long, and comes by fewer bytes a second, makes room for one that finds none: 408.
    package var slowBodyTime = Duration.seconds(10)
    package var slowBodyPace = 16 << 10
    /// Between two requests, and before the first.
    package var idleTime = Duration.seconds(60)
    /// How long nothing of an answer may leave; seen before twice that time is over.
    package var stallTime = Duration.seconds(30)
    /// How long answers may go on when the server ends.
    package var endTime = Duration.seconds(5)
    /// How long a refused client may go on sending after the answer: closed at once, it would not see why.
    package var lingerTime = Duration.seconds(1)
    /// Connections. Beyond, the one that has waited for a whole request of its client longest is closed; when all are being
    /// answered, the new one gets 503.
    package var connections = 512

    package init() {}
}

/// Why the server does not listen.
package struct HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// Something listens there already.
        case portTaken
        /// No interface of this machine has the address.
        case addressNotHere
        /// A port below 1024, without the right to it.
        case notPermitted
        case failed
    }

    package let code: Code
    package let address: ListenAddress
    /// The reason, with the next step.
    package let message: String

    init(_ error: any Error, _ address: ListenAddress) {
        self.address = address
        let errno = (error as? IOError).map { Errno(rawValue: $0.errnoCode) }
        switch errno {
        case .addressInUse?:
            code = .portTaken
            message = "another program listens there: stop it, or choose another port"
        case .addressNotAvailable?, .addressFamilyNotSupported?:
            code = .addressNotHere
            message = "this machine does not have that address: choose one that `ip address` shows, or 127.0.0.1"
        case .permissionDenied?, .notPermitted?:
            code = .notPermitted
            message = "ports below 1024 need a right of their own: choose a higher one, as 8420"
        case let errno:
            code = .failed
            message = errno.map { "\($0)" } ?? "\(error)"
        }
    }

    package var description: String { "cannot listen at \(address): \(message)" }
}

/// A connection, whose requests are answered one after the other.
struct HTTPConnection: Sendable {
    private let channel: any Channel
    private let requests: AsyncStream<IncomingRequest>

    /// On the channel's event loop, before anything is read.
    init(_ channel: any Channel, _ watch: ConnectionWatch, _ limits: HTTPLimits, _ handler: any WebHandler) throws {
        self.channel = channel
        let (requests, continuation) = AsyncStream.makeStream(of: IncomingRequest.self)
        self.requests = requests
        var decoding = NIOHTTPDecoderLimitConfiguration()
        // The watch counts first; this is for the fields behind a body in chunks.
        decoding.maxHeaderFieldSize = 4 * limits.header
        decoding.maxHeaderListSize = 4 * limits.header
        decoding.maxHeaderFieldCount = limits.headerLines
        // Which answers are in chunks is said by us: the encoder does not know of HEAD.
        var encoding = HTTPResponseEncoder.Configuration()
        encoding.automaticallySetFramingHeaders = false
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(watch)
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: true,
            withEncoderConfiguration: encoding, withDecoderLimitConfiguration: decoding)
        try pipeline.addHandler(
            RequestAssembler(limits, handler, watch, peer: channel.remoteAddress?.ipAddress, continuation))
    }

    /// Answers until the connection is gone, which cancels what is being answered, or the task is cancelled.
    func serve(_ responder: Responder) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await answerAll(responder) }
            // Never fails.
            try? await channel.closeFuture.get()
            group.cancelAll()
        }
    }

    private func answerAll(_ responder: Responder) async {
        for await request in requests {
            do {
                let goesOn = try await responder.answer(request, on: channel)
                if case .refused = request.content {
                    // The rest is the watch's: closed now, over bytes that nobody has read, the answer might be lost.
                    try? await channel.close(mode: .output).get()
                    return
                }
                if !goesOn { break }
            } catch {
                break
            }
        }
        try? await channel.close().get()
    }
}
