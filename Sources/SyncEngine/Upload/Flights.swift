import SyncSystem

/// Objects on their way to the store: as many at once as ``FlightWidth`` says.
final class Flights: Sendable {
    let most: Int
    /// What is on its way.
    let slots: Slots
    /// Those who take what is prepared, and see it to its end: as many as there are slots.
    let hands: Slots
    private let width: Lock<FlightWidth>
    private let throttling: Throttling?
    private let clock: @Sendable () -> Duration

    /// - Parameter clock: one that only goes forward.
    init(from least: Int, to most: Int, throttling: Throttling?, clock: @escaping @Sendable () -> Duration) {
        let width = FlightWidth(from: least, to: most)
        self.most = width.most
        slots = Slots(width.count)
        hands = Slots(width.count)
        self.width = Lock(width)
        self.throttling = throttling
        self.clock = clock
    }

    /// Waits for a slot, and learns from how long the work takes.
    /// - Parameter bytes: what it sends.
    func carry<Result>(_ bytes: Int64, _ work: () async throws -> Result) async throws -> Result {
        try await slots.withSlot {
            let began = clock()
            width.withLock { $0.begin(at: began) }
            var isDone = false
            defer { note(isDone ? bytes : nil, since: began) }
            let result = try await work()
            isDone = true
            return result
        }
    }

    /// - Parameter bytes: `nil` of what failed.
    private func note(_ bytes: Int64?, since began: Duration) {
        let now = clock()
        let isThrottled = throttling?.take() ?? false
        width.withLock { width in
            let before = width.count
            if let bytes { width.end(bytes, began: began, now: now) } else { width.fail() }
            if isThrottled { width.slowDown(at: now) }
            guard width.count != before else { return }
            // Under the lock: who changes it last says how many there are.
            slots.resize(to: width.count)
            hands.resize(to: width.count)
        }
    }
}
