/// How many objects are on their way at once. A small one leaves the line idle for most of its round trip: more of them
/// at once make it faster, until the line is full.
///
/// It begins with the fewest, and doubles where they take as long as round trips to a server that is far away. What
/// does not pay is taken back, and tried again after a while: lines change. Where objects take longer than round trips
/// do, the line is slow, and a few of them are enough: what is cut off is sent again. A server that asks to slow down
/// gets half of them, and then one more after the other up to as many as before, as TCP does after a loss (RFC 5681).
struct FlightWidth: Sendable {
    /// Bytes. What is smaller takes a round trip, and next to nothing of the line.
    private static let small: Int64 = 64 << 10
    /// In less time a few keep a processor busy; a server on the same network takes less.
    private static let nearest = Duration.milliseconds(20)
    private static let longest = Duration.seconds(1)
    /// Until more are tried again.
    private static let pause = Duration.seconds(30)
    private static let pauseAfterThrottling = Duration.seconds(60)
    /// What was on its way together is refused together, and counts once.
    private static let sameRefusal = Duration.seconds(1)
    /// From one more to the next.
    private static let step = Duration.seconds(2)

    /// What has ended since the width changed, or was judged last.
    private struct Round: Sendable {
        let begin: Duration
        /// So many began before the width changed, and tell nothing about it.
        var left: Int
        var objects = 0
        /// Of all objects, what is small counted as ``FlightWidth/small``.
        var bytes: Int64 = 0
        var time = Duration.zero
        /// The sum of how many were on their way when each ended.
        var underWay = 0
    }

    /// What the width was before it grew, and what it brought: bytes a second.
    private struct Trial: Sendable {
        let count: Int
        let rate: Double
    }

    let least: Int
    let most: Int
    private(set) var count: Int
    private var underWay = 0
    private var round: Round
    private var trial: Trial?
    private var nextTrial = Duration.zero
    private var lastRefusal: Duration?
    /// What the width was before the server asked to slow down, until it is that again.
    private var refused: Int?
    private var nextStep = Duration.zero
    private var lastEnd: Duration?

    init(from least: Int, to most: Int) {
        self.least = least
        self.most = max(least, most)
        count = least
        // The first ones make the connections.
        round = Round(begin: .zero, left: least)
    }

    /// - Parameter now: by a clock that only goes forward.
    mutating func begin(at now: Duration) {
        // Nothing was there to be sent: that tells nothing about the line, whose connections are made anew.
        if underWay == 0, let lastEnd, now - lastEnd > Self.longest { round = Round(begin: now, left: count) }
        underWay += 1
    }

    /// One was not stored, and tells nothing about the line.
    mutating func fail() { underWay -= 1 }

    /// - Parameters:
    ///   - bytes: of the object.
    ///   - began: as it was told to ``begin(at:)``.
    ///   - now: by the same clock.
    mutating func end(_ bytes: Int64, began: Duration, now: Duration) {
        let together = underWay
        underWay -= 1
        lastEnd = now
        guard round.left == 0 else {
            round.left -= 1
            if round.left == 0 { round = Round(begin: now, left: 0) }
            return
        }
        round.objects += 1
        round.bytes += max(bytes, Self.small)
        round.time += now - began
        round.underWay += together
        guard round.objects >= 2 * count, now > round.begin else { return }
        let before = count
        judge(at: now)
        round = Round(begin: now, left: count == before ? 0 : max(count, underWay))
    }

    /// The server asks to slow down.
    mutating func slowDown(at now: Duration) {
        if let lastRefusal, now - lastRefusal < Self.sameRefusal { return }
        lastRefusal = now
        // What is on trial has not proved yet that it pays.
        refused = max(refused ?? least, trial?.count ?? count)
        nextStep = now + Self.step
        shrink(until: now + Self.pauseAfterThrottling)
        // More than may go now are on their way: they wait before they try again, and pass for a slow line.
        round = Round(begin: now, left: max(count, underWay))
    }

    private mutating func judge(at now: Duration) {
        let mean = round.time / round.objects
        let span: Double = (now - round.begin) / .seconds(1)
        let rate = Double(round.bytes) / span
        if mean > Self.longest {
            refused = nil
            return shrink(until: now + Self.pause)
        }
        // Who prepares them is slower than the line: that more may go tells nothing.
        guard 2 * round.underWay >= count * round.objects else { return }
        if let refused {
            if count < refused {
                guard now >= nextStep else { return }
                count += 1
                nextStep = now + Self.step
                return
            }
            self.refused = nil
        }
        if let trial {
            self.trial = nil
            let growth = Double(count) / Double(trial.count) - 1
            if rate < trial.rate * (1 + growth / 4) {
                count = trial.count
                nextTrial = now + Self.pause
                return
            }
        }
        guard count < most, mean >= Self.nearest, now >= nextTrial else { return }
        trial = Trial(count: count, rate: rate)
        count = min(2 * count, most)
    }

    private mutating func shrink(until end: Duration) {
        count = max(count / 2, least)
        trial = nil
        nextTrial = max(nextTrial, end)
    }
}
