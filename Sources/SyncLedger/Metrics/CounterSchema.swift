/// A migration: counters. It has shipped when you read this: see ``Schema``.
enum CounterSchema {
    static let name = "counters"

    // They only grow, for as long as there is this ledger.
    static let all = [
        """
        CREATE TABLE counters (
            name TEXT NOT NULL,
            label TEXT NOT NULL,                               -- '' where the counter has none
            value INTEGER NOT NULL,
            PRIMARY KEY (name, label)
        ) STRICT, WITHOUT ROWID;
        """
    ]
}
