import NIOCore

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

    func reserve(_ bytes: Int) -> Bool {
        guard bytes <= bodyLimit - bodyBytes else { return false }
        bodyBytes += bytes
        return true
    }

    func free(_ bytes: Int) { bodyBytes -= bytes }

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
