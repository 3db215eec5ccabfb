package import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
package import SyncCore
import SyncSystem

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
        let result = await Result { () async throws(HTTPServerError) in
            try await serve(on: group.next(), files, isListening)
        }
        await files.shutDown()
        // All of it is closed: nothing is left that could fail.
        try? await group.shutdownGracefully()
        try result.get()
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

extension Result where Success == Void {
    /// Of what waits.
    fileprivate init(_ body: () async throws(Failure) -> Void) async {
        do throws(Failure) {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
