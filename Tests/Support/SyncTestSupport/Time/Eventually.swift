/// How often `eventually` looks at the least. Where each look takes seconds, because the machine is busy, so does what is
/// waited for.
private let leastTries = 100

/// Looks again and again until something is found: for what tells of no change. Whatever does (a line of a log, a datagram,
/// a gate, a hint) is waited for itself, by ``Observed`` or ``Gate``. What is looked for has to stay: a state that passes
/// is missed on a busy machine.
/// - Parameters:
///   - what: begins the sentence "… did not come about".
///   - limit: on a machine that has the time to look ``leastTries`` times in it.
///   - seen: what the last look has met, for the message.
/// - Throws: ``Overdue``; whatever `look` throws.
@discardableResult
package func eventually<Found>(
    _ what: String, within limit: Duration = Patience.limit, seen: () -> String = { "nothing of it" },
    _ look: () async throws -> Found?
) async throws -> Found {
    let deadline = ContinuousClock.now + limit
    var looks = 0
    while true {
        if let found = try await look() { return found }
        looks += 1
        guard ContinuousClock.now < deadline || looks < leastTries else {
            throw Overdue(what: what, seen: seen())
        }
        // With that of ``Patience``, the one sleep of the tests: it leaves the processor to the program that is asked about.
        try await Task.sleep(for: .milliseconds(20))
    }
}
