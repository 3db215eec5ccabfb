/// A migration: what a stored copy has not of its photo, and what else is to be known of it. It has shipped when you read
/// this: see ``Schema``.
enum CopySchema {
    static let name = "what copies leave out"

    static let all = [
        "ALTER TABLE objects ADD COLUMN dropped TEXT",  // names, with commas between; NULL: nothing that is known
        "ALTER TABLE objects ADD COLUMN note TEXT",
    ]
}
