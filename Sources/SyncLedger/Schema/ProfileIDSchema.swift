/// A migration: profiles of which the store's catalogue has told the id, and nobody here the number. It has shipped when you
/// read this: see ``Schema``.
enum ProfileIDSchema {
    static let name = "ids of profiles from the catalogue"
    static let all = [
        """
        CREATE TABLE profile_ids (
            uuid TEXT PRIMARY KEY                              -- as in profiles; none that is there
        ) STRICT, WITHOUT ROWID;
        """
    ]
}
