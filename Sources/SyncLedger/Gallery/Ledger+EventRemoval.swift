import GRDB

extension Ledger {
    /// A page of the events that give a profile in one spelling, in the order in which they became known, each with the
    /// files that it was seen in.
    /// - Parameter last: the last one of the page before; `nil` for the first page.
    package func events(
        ofProfile spelling: String, after last: EventRecord?, limit: Int
    ) throws(LedgerError) -> [DueEvent] {
        try read("list the events of a profile") { db in
            let events = try db.rows(
                LedgerQuery.eventsOfProfile, [spelling, last?.id ?? 0, limit], as: EventRecord.self)
            return try events.map { event in
                DueEvent(event: event, places: try db.rows(LedgerQuery.filesOfEvent, [event.id]))
            }
        }
    }

    /// Forgets an event of which no text is left. What was signed off, and what is stored, stays.
    /// - Returns: `false`, with nothing forgotten, when a file is known that was not noted as clean.
    package func removeEvent(_ event: EventRecord) throws(LedgerError) -> Bool {
        try write("forget an event") { db in
            let places = try db.rows(LedgerQuery.filesOfEvent, [event.id], as: EventPlace.self)
            guard places.allSatisfy(\.isClean) else { return false }
            try db.run("DELETE FROM events WHERE id = ?", [event.id])
            return true
        }
    }
}
