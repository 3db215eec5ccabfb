import GRDB

/// What was found in a file of gallery events, for people.
package struct EventFileNote: Hashable, Sendable {
    /// Elements that are events, duplicates left out.
    package var events: Int
    package var malformed: Int
    /// One line, made by us: it quotes nothing of the file but ids.
    package var text: String

    package init(events: Int, malformed: Int, text: String) {
        self.events = events
        self.malformed = malformed
        self.text = text
    }
}

extension Database {
    /// Sets the note of a file, or removes it.
    func setEventNote(_ note: EventFileNote?, of photo: Int64) throws {
        guard let note else {
            try run("DELETE FROM event_notes WHERE photo_id = ?", [photo])
            return
        }
        try run(
            "INSERT OR REPLACE INTO event_notes VALUES (?, ?, ?, ?)", [photo, note.events, note.malformed, note.text])
    }
}
