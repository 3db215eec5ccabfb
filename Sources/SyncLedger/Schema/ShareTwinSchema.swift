/// A migration: shares that a rebuild finds open beside another one of the same. It has shipped when you read this: see
/// ``Schema``.
enum ShareTwinSchema {
    static let name = "shares beside another of the same"
    static let all = [
        // 0: the only one that is ever made of its folder, selection and quality; else it was shared with a ledger that did
        // not know of the other one.
        "ALTER TABLE shares ADD COLUMN twin INTEGER NOT NULL DEFAULT 0 CHECK (twin >= 0)",
        "DROP INDEX shares_open",
        """
        CREATE UNIQUE INDEX shares_open ON shares (folder, selection, quality, twin)
            WHERE state IN ('preparing', 'waiting', 'live')
        """,
    ]
}
