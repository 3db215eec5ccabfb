import SyncCore
import SystemPackage

/// How often one root, or what has no watch below it, is polled.
///
/// A poll asks for scans. They tell what they took (``noteScan(of:_:endedAt:)``), and the pause after the last of them
/// is ``pausePerScan`` times as long as the processor was at work: what is polled takes 5 % of one. How long they lasted
/// does not count: a server that answers slowly costs nothing here.
struct PollPace {
    static let pausePerScan = 20
    /// With scans beyond three minutes, the share grows. All is read anew each hour in any case
    /// (`upload.rescan_minutes`).
    static let longest = Duration.seconds(3_600)

    /// The pause after a scan, at least.
    private let shortest: Duration
    private(set) var interval: Duration
    /// What was asked for was scanned once, so that ``interval`` is one that was measured.
    private var isMeasured = false
    /// What was asked for and is still to be scanned.
    private var awaited: Set<FilePath> = []
    private var asked = Duration.zero
    private var spent = Duration.zero
    /// When to look whether a poll is due.
    private(set) var nextPoll: Duration

    /// Times are of one monotonic clock.
    init(shortest: Duration, from now: Duration) {
        self.shortest = shortest
        interval = shortest
        nextPoll = now + shortest
    }

    /// As the notes tell it.
    var words: String {
        isMeasured
            ? "looked at every \(interval.inWords)"
            : "looked at every \(interval.inWords), less often where that takes long"
    }

    /// Whether to poll now. Not while scans of the last poll are to come: those of a large tree may last longer than
    /// the pause. That they do not come at all is found out after ``longest``.
    mutating func isDue(at now: Duration) -> Bool {
        guard now >= nextPoll else { return false }
        guard !awaited.isEmpty, now - asked < Self.longest else { return true }
        nextPoll = now + shortest
        return false
    }

    /// - Parameters:
    ///   - places: what scans are asked for; none is below another one.
    ///   - spent: the processor's time that it took to find them.
    mutating func begin(_ places: [FilePath], spent: Duration, at now: Duration) {
        awaited = Set(places)
        (asked, self.spent) = (now, spent)
        nextPoll = now + shortest
    }

    /// A scan has ended. One that began before it was asked for does not count: it may have passed by already.
    mutating func noteScan(of tree: FilePath, _ cost: ScanCost, endedAt now: Duration) {
        guard !awaited.isEmpty, now - cost.lasted >= asked else { return }
        if awaited.remove(tree) == nil {
            let left = awaited.filter { !$0.starts(with: tree) }
            guard left.count < awaited.count else { return }
            awaited = left
        }
        spent += cost.processor
        if awaited.isEmpty { end(at: now) }
    }

    /// A folder is gone, or moved: nobody may scan it by this name, and the others wait for no scan of it.
    mutating func forget(_ place: FilePath, at now: Duration) {
        let left = awaited.filter { !$0.starts(with: place) }
        guard left.count < awaited.count else { return }
        awaited = left
        if awaited.isEmpty { end(at: now) }
    }

    private mutating func end(at now: Duration) {
        isMeasured = true
        interval = max(shortest, min((spent * Self.pausePerScan).rounded, Self.longest))
        nextPoll = now + interval
    }

    /// Polls at once, whatever is awaited.
    mutating func pollNow(at now: Duration) {
        awaited = []
        nextPoll = now
    }
}

extension Duration {
    private static let longestInSeconds: Int64 = 120

    /// Up to what ``inWords`` tells.
    fileprivate var rounded: Duration {
        let (seconds, attoseconds) = components
        let whole = seconds + (attoseconds > 0 ? 1 : 0)
        return .seconds(whole > Self.longestInSeconds ? (whole + 59) / 60 * 60 : whole)
    }

    /// Minutes, where they are some and whole, else seconds.
    var inWords: String {
        let (seconds, attoseconds) = components
        if seconds > Self.longestInSeconds, seconds % 60 == 0, attoseconds == 0 { return "\(seconds / 60) min" }
        let tenths = seconds * 10 + attoseconds / 100_000_000_000_000_000
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
    }
}
