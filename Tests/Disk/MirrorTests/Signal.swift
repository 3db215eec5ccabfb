import SyncSystem

/// Something that threads note and a test waits for.
final class Signal: Sendable {
    private let number: Int
    private let count = Lock(0)
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    /// - Parameter number: how often it has to be noted.
    init(_ number: Int) {
        self.number = number
        (stream, continuation) = AsyncStream.makeStream()
    }

    func note() {
        let count = count.withLock { count in
            count += 1
            return count
        }
        if count == number { continuation.finish() }
    }

    func wait() async {
        for await _ in stream {}
    }
}
