/// Looks again and again until something is found: for what tells of no change.
/// - Parameter what: ends the sentence "… did not come about".
/// - Throws: ``Overdue``; whatever `look` throws.
func eventually<Found>(
    _ what: String, within limit: Duration = Patience.limit, _ look: () async throws -> Found?
) async throws -> Found {
    let deadline = ContinuousClock.now + limit
    while true {
        if let found = try await look() { return found }
        guard ContinuousClock.now < deadline else { throw Overdue(what: what, seen: "nothing of it") }
        // The one sleep of the suite: it leaves the processor to the program that is asked about.
        try await Task.sleep(for: .milliseconds(20))
    }
}
