/// How often `eventually` looks at the least. Where each look takes seconds, because the machine is busy, so does what is
/// waited for.
private let leastLooks = 100

/// Looks again and again until something is found: for what tells of no change.
/// - Parameters:
///   - what: begins the sentence "… did not come about".
///   - limit: on a machine that has the time to look ``leastLooks`` times in it.
/// - Throws: ``Overdue``; whatever `look` throws.
func eventually<Found>(
    _ what: String, within limit: Duration = Patience.limit, _ look: () async throws -> Found?
) async throws -> Found {
    let deadline = ContinuousClock.now + limit
    var looks = 0
    while true {
        if let found = try await look() { return found }
        looks += 1
        guard ContinuousClock.now < deadline || looks < leastLooks else {
            throw Overdue(what: what, seen: "nothing of it")
        }
        // The one sleep of the suite: it leaves the processor to the program that is asked about.
        try await Task.sleep(for: .milliseconds(20))
    }
}
