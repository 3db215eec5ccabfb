/// A migration: who has a share that several machines know. It has shipped when you read this: see ``Schema``.
enum ShareOwnerSchema {
    static let name = "owners of shares"
    static let all = [
        // The number of the take-over by which this machine has the share; 0: it has made it; NULL: it has taken it up from
        // a catalogue, and the store does not tell the others so yet.
        "ALTER TABLE shares ADD COLUMN ownership INTEGER DEFAULT 0 CHECK (ownership >= 0)"
    ]
}
