import NIOCore
import SyncSystem

/// Memory for a large body, as long as somebody holds this: the client may be gone while its request is answered.
final class BodyRoom: Sendable {
    private let free: @Sendable () -> Void
    private let isGivenBack = Mutex(false)

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
