import NIOCore

/// All connections of a server, on its one event loop.
final class OpenConnections {
    private let limit: Int
    private var open: [ObjectIdentifier: ConnectionWatch] = [:]

    init(limit: Int) {
        self.limit = limit
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
