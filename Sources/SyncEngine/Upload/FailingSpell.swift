import SyncCore

/// Since when a store has failed at each photo in a way that may pass (`SlowDown`, 500, a connection that breaks),
/// though it answers well when it is asked. That closes no gate, as each photo is tried again by itself; where it
/// lasts, people have to know that nothing is stored.
struct FailingSpell: Hashable, Sendable {
    /// Servers that are busy, or are being updated, take minutes.
    static let patience = Duration.seconds(15 * 60)
    /// What fails is tried again within an hour: who has met nothing for longer had nothing to send.
    private static let longestGap = Duration.seconds(2 * 3_600)

    private var since: Duration?
    private var last: Duration?
    /// As many as are no accident.
    private var photos: Set<Int64> = []
    private var isTold = false

    /// - Parameter now: by a clock that only goes forward.
    /// - Returns: how long it lasts, once that is long: the one moment to tell somebody.
    mutating func note(_ photo: Int64, at now: Duration) -> Duration? {
        if let last, now - last > Self.longestGap { self = FailingSpell() }
        let begin = since ?? now
        (since, last) = (begin, now)
        if photos.count < CircuitBreaker.mostRefusals { photos.insert(photo) }
        guard !isTold, photos.count == CircuitBreaker.mostRefusals, now - begin >= Self.patience else { return nil }
        isTold = true
        return now - begin
    }
}

extension StoreError {
    /// Whether a server has failed at a photo, or the way to it, and may take the same photo a moment later.
    var isOfBusyServer: Bool { [.throttled, .serverFailed, .connectionLost].contains(code) }
}
