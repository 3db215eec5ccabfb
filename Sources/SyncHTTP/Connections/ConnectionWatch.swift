import NIOCore
import SyncSystem

/// The first to see what comes and the last to see what goes: holds a connection to its times, and counts the bytes of
/// headers. Bound to its event loop.
final class ConnectionWatch: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private enum Phase {
        /// Nothing of a request has come.
        case idle
        /// Bytes of the header so far, and whether its first line is over.
        case header(bytes: Int, hasLine: Bool)
        case body
        case answering
        /// What comes is thrown away; the connection ends soon.
        case refused
    }

    private let limits: HTTPLimits
    private let connections: OpenConnections
    private var context: ChannelHandlerContext?
    private var phase = Phase.idle
    private var timer: Scheduled<Void>?
    private var stallTimer: Scheduled<Void>?
    /// Of a body that takes room: since when it comes, and how much has.
    private var largeBody: (began: NIODeadline, bytes: Int)?
    /// Bytes handed to the socket, sent or not.
    private var written = 0
    /// When the client was last answered, or came. What is closed first goes by it.
    private(set) var waitsSince = NIODeadline.now()

    init(_ limits: HTTPLimits, _ connections: OpenConnections) {
        (self.limits, self.connections) = (limits, connections)
    }

    /// Whether it is the client's turn.
    var isWaiting: Bool {
        switch phase {
        case .idle, .header, .body: true
        case .answering, .refused: false
        }
    }

    /// Whether a body comes so slowly that somebody holds room with it, rather than sends it.
    var isDribbling: Bool {
        guard case .body = phase, let (began, bytes) = largeBody else { return false }
        let time = NIODeadline.now() - began
        guard time > TimeAmount(limits.slowBodyTime) else { return false }
        return Double(bytes) < Double(time.nanoseconds) / 1e9 * Double(limits.slowBodyPace)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    /// The connection is closed, or was never opened.
    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        timer?.cancel()
        stallTimer?.cancel()
        connections.remove(self)
    }

    func channelActive(context: ChannelHandlerContext) {
        closes(after: limits.idleTime)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        var (count, hasLine) = (0, false)
        switch phase {
        case .refused: return
        case .idle: refuses(after: limits.headerTime)
        case .header(let before, let line): (count, hasLine) = (before, line)
        case .body, .answering:
            largeBody?.bytes += bytes.readableBytes
            context.fireChannelRead(data)
            return
        }
        let isFirstLineOver = hasLine || bytes.readableBytesView.contains(UInt8(ascii: "\n"))
        phase = .header(bytes: count + bytes.readableBytes, hasLine: isFirstLineOver)
        context.fireChannelRead(data)
        // Behind its end there may be a body.
        if case .header(let count, let hasLine) = phase, count > limits.header {
            context.fireErrorCaught(Refusal(status: hasLine ? 431 : 414))
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        written += unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
        if stallTimer == nil { checkForStall(context) }
    }

    // What the assembler tells.

    /// - Returns: `nil` when all connections together hold too much now.
    func room(for bytes: Int) -> BodyRoom? {
        guard let context, let room = connections.room(for: bytes, on: context.eventLoop) else { return nil }
        largeBody = (.now(), 0)
        return room
    }

    /// The client is too slow.
    func refuse() {
        context?.fireErrorCaught(Refusal(status: 408))
    }

    func headerIsRead(bodyTime: Duration) {
        phase = .body
        refuses(after: bodyTime)
    }

    func requestIsRead() {
        phase = .answering
        largeBody = nil
        timer?.cancel()
    }

    func requestIsAnswered() {
        switch phase {
        case .refused: closes(after: limits.lingerTime)
        case .answering:
            phase = .idle
            waitsSince = .now()
            closes(after: limits.idleTime)
        case .idle, .header, .body: break
        }
    }

    func requestIsRefused() {
        phase = .refused
        closes(after: limits.stallTime)
    }

    func close() {
        context?.close(promise: nil)
    }

    private func refuses(after time: Duration) {
        schedule(after: time) { [weak self] _ in self?.refuse() }
    }

    private func closes(after time: Duration) {
        schedule(after: time) { $0.close(promise: nil) }
    }

    private func schedule(after time: Duration, _ body: @escaping (ChannelHandlerContext) -> Void) {
        timer?.cancel()
        guard let context else { return }
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) { [weak self] in
            if let context = self?.context { body(context) }
        }
    }

    /// Looks once in a while whether anything has left since the last look, as long as something is waiting to.
    private func checkForStall(_ context: ChannelHandlerContext) {
        let sent = written - waiting(context)
        stallTimer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.stallTime)) { [weak self] in
            guard let self, let context = self.context else { return }
            stallTimer = nil
            let waiting = waiting(context)
            if waiting == 0 { return }
            if written - waiting == sent { return close() }
            checkForStall(context)
        }
    }

    private func waiting(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}

/// Memory for a large body, as long as somebody holds this: the client may be gone while its request is answered.
final class BodyRoom: Sendable {
    private let free: @Sendable () -> Void
    private let isGivenBack = Lock(false)

    init(free: @escaping @Sendable () -> Void) { self.free = free }

    deinit { giveBack() }

    /// Before the answer leaves: whoever has it may send the next one.
    func giveBack() {
        let isFirst = isGivenBack.withLock { isGivenBack in
            defer { isGivenBack = true }
            return !isGivenBack
        }
        if isFirst { free() }
    }
}

/// All connections of a server, on its one event loop.
final class OpenConnections {
    private let limit: Int
    private var open: [ObjectIdentifier: ConnectionWatch] = [:]

    /// Bytes of large bodies that are held, and may be.
    private var bodyBytes = 0
    private let bodyLimit: Int

    init(limit: Int, bodyLimit: Int) {
        self.limit = limit
        self.bodyLimit = bodyLimit
    }

    /// Where there is too little, bodies that dribble give theirs.
    /// - Returns: `nil` where there is none now.
    func room(for bytes: Int, on loop: any EventLoop) -> BodyRoom? {
        for connection in open.values.filter(\.isDribbling) where bytes > bodyLimit - bodyBytes {
            connection.refuse()
        }
        guard bytes <= bodyLimit - bodyBytes else { return nil }
        bodyBytes += bytes
        let connections = NIOLoopBound(self, eventLoop: loop)
        return BodyRoom {
            if loop.inEventLoop {
                connections.value.bodyBytes -= bytes
            } else {
                loop.execute { connections.value.bodyBytes -= bytes }
            }
        }
    }

    /// Makes room where there is none.
    /// - Returns: `false` when all connections are being answered.
    func add(_ connection: ConnectionWatch) -> Bool {
        if open.count >= limit {
            let waiting = open.values.lazy.filter(\.isWaiting)
            guard let oldest = waiting.min(by: { $0.waitsSince < $1.waitsSince }) else { return false }
            remove(oldest)
            oldest.close()
        }
        open[ObjectIdentifier(connection)] = connection
        return true
    }

    func remove(_ connection: ConnectionWatch) {
        open[ObjectIdentifier(connection)] = nil
    }

    func closeAll() {
        for connection in open.values { connection.close() }
    }
}
